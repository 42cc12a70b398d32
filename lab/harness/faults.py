"""The faults, each as a story that is told in the same order every time: steps wait for what they need, never for time."""
from processes import eventually
from worlds import addresses, proxies_of

LIMIT_MS = 20000
# Where a server goes or its clock does, what is seen is not to be the end of the time to live.
WIDE_TTL_MS, WIDE_WAIT_MS = 20000, 3000
# How long the followers of a leader that is to die stand still.
STANDSTILL_S = 2
# How long the next one is waited for where it may never be granted.
PATIENCE_S = 10


class NotHere(Exception):
    """The fault means nothing for this lock; its text stands in the cell."""


def begin_two(cell, **first):
    """A has the lock, B has asked for it."""
    a, b = cell.worker("A", **first), cell.worker("B")
    take(a)
    ask_for_it(b)
    return a, b


def take(worker, limit_ms=LIMIT_MS):
    worker.send("take %d" % limit_ms)
    return worker.wait("granted", "refused") and bool(worker.has("granted"))


def ask_for_it(worker, limit_ms=LIMIT_MS):
    asked = len(worker.has("ask"))
    worker.send("take %d" % limit_ms)
    worker.wait("ask", count=asked + 1)


def finish(*workers):
    """Those who are inside write and let go, in this order."""
    for worker in workers:
        if worker.has("granted"):
            worker.send("write", "release")
            worker.wait("released", limit_s=15)


def stay(worker, duration_ms=500):
    """Whoever is inside works on for a while."""
    if worker.has("granted"):
        worker.send("work %d" % duration_ms)
        worker.wait("worked")


def warm_up(cell, worker):
    """One round before the story, so that nothing has to be made in it."""
    take(worker)
    worker.send("release")
    worker.wait("released")
    del cell.story.events[:]


def wait_for(b, limit_s):
    """B is waited for; false: not within the limit."""
    return b.wait("granted", limit_s=limit_s)


def kill(cell):
    a, b = begin_two(cell)
    a.kill()
    wait_for(b, PATIENCE_S)
    finish(b)


def split(cell):
    a, b = cell.worker("A"), cell.worker("B")
    a.send("at between die", "take %d" % LIMIT_MS)
    a.wait_dead()
    ask_for_it(b)
    wait_for(b, PATIENCE_S)
    finish(b)


def long_section(cell, is_renewed=True):
    a, b = begin_two(cell, is_renewed=is_renewed)
    a.send("work %d" % (2 * cell.ttl_ms), "write", "release")
    a.wait("leave")
    wait_for(b, PATIENCE_S)
    finish(b)


def fixed(cell):
    if not cell.lock.has_fixed:
        raise NotHere("knows no fixed lease")
    long_section(cell, False)


def freeze(cell):
    a, b = begin_two(cell)
    a.stop()
    wait_for(b, 2 * cell.ttl_ms / 1000)
    stay(b)
    a.go_on()
    a.send("work 1500", "write", "release")
    a.wait("leave")
    wait_for(b, PATIENCE_S)
    finish(b)


def pause(cell):
    a, b = begin_two(cell)
    a.send("at check stop", "write", "release")
    a.was_stopped()
    wait_for(b, 2 * cell.ttl_ms / 1000)
    stay(b)
    a.go_on()
    a.wait("leave")
    wait_for(b, PATIENCE_S)
    finish(b)


def foreign(cell):
    a, b = begin_two(cell)
    c = cell.worker("C")
    a.send("write")
    a.wait("leave")
    a.stop()
    wait_for(b, 2 * cell.ttl_ms / 1000)
    a.go_on()
    a.send("release")
    a.wait("released")
    wait_for(b, PATIENCE_S)
    take(c, 1000)
    stay(c)
    finish(c, b)


def failover(cell):
    if cell.lock.name == "redlock":
        raise NotHere("has no replicas")
    pair = cell.own_servers = cell.world.pair()
    if len(pair) == 2:
        cell.ttl_ms = WIDE_TTL_MS
    a = cell.worker("A", addresses(pair if cell.lock.family == "zookeeper" else pair[:1]))
    cell.world.hold_back(pair)
    cell.mark("replication stands still")
    ask_for_it(a)
    a.wait("granted", "refused", limit_s=STANDSTILL_S)
    cell.mark("master killed")
    b = cell.worker("B", addresses(cell.world.lose_master(pair)))
    cell.mark("replica promoted")
    ask_for_it(b)
    b.wait("granted", limit_s=WIDE_WAIT_MS / 1000)
    if not a.has("granted", "refused"):
        a.wait("granted", "refused", limit_s=20)
    stay(a)
    finish(a)
    wait_for(b, PATIENCE_S)
    finish(b)


def restart(cell, is_synced=False):
    cell.ttl_ms = WIDE_TTL_MS
    servers = cell.world.synced(cell.lock) if is_synced else cell.world.servers(cell.lock)
    unreachable = proxies_of(servers[3:])
    for proxy in unreachable:
        proxy.is_silent = True
    a = cell.worker("A", addresses(servers[:3] + unreachable))
    take(a)
    cell.mark("server killed")
    servers[0].kill()
    servers[0].start()
    cell.mark("started again")
    b = cell.worker("B", addresses(servers))
    ask_for_it(b, WIDE_WAIT_MS)
    b.wait("granted", "refused", limit_s=30)
    stay(a)
    finish(a)
    finish(b)
    for proxy in unreachable:
        proxy.close()


def synced(cell):
    restart(cell, True)


def clock(cell, count=1):
    servers = cell.world.servers(cell.lock)
    if count > len(servers):
        raise NotHere("has one server")
    cell.ttl_ms = WIDE_TTL_MS
    a, b = begin_two(cell)
    cell.mark("clock + 60 s")
    for server in servers[:count]:
        server.set_clock(60)
    wait_for(b, WIDE_WAIT_MS / 1000)
    stay(a)
    finish(a)
    wait_for(b, PATIENCE_S)
    finish(b)
    for server in servers[:count]:
        server.set_clock(0)


def clocks(cell):
    clock(cell, 3)


def slow(cell):
    proxies = proxies_of(cell.world.servers(cell.lock))
    a, b = cell.worker("A", addresses(proxies)), cell.worker("B")
    warm_up(cell, b)
    has_arrived = cell.world.arrival(cell, proxies)
    cell.mark("answers to A take %.0f s" % (cell.ttl_ms / 1000 + 1))
    for proxy in proxies:
        proxy.delay_s = cell.ttl_ms / 1000 + 1
    ask_for_it(a, 6000)
    eventually(has_arrived, 10, "a request on its way")
    ask_for_it(b)
    a.wait("granted", "refused", limit_s=15)
    if a.has("granted"):
        a.send("work 500", "write", "release")
        a.wait("leave")
    wait_for(b, PATIENCE_S)
    finish(b)
    for proxy in proxies:
        proxy.close()


def cut(cell):
    proxies = proxies_of(cell.world.servers(cell.lock))
    cell.world.end_idle_connections(True)
    a, b = begin_two(cell, servers=addresses(proxies))
    cell.world.end_idle_connections(False)
    cell.mark("network of A silent")
    for proxy in proxies:
        proxy.is_silent = True
    a.send("work %d" % (4 * cell.ttl_ms), "write", "release")
    a.wait("leave", limit_s=4 * cell.ttl_ms / 1000 + 3)
    wait_for(b, PATIENCE_S)
    finish(b)
    for proxy in proxies:
        proxy.close()


# Name, what happens, function.
FAULTS = [
    ("kill", "holder killed", kill),
    ("split", "killed inside the acquire", split),
    ("long", "section longer than the TTL", long_section),
    ("fixed", "the same, without renewal", fixed),
    ("freeze", "holder frozen, goes on", freeze),
    ("pause", "frozen between check and write", pause),
    ("foreign", "late release", foreign),
    ("failover", "master lost, replica promoted", failover),
    ("restart", "server killed, started again", restart),
    ("synced", "the same, writes synced", synced),
    ("clock", "a server's clock jumps", clock),
    ("clocks", "three servers' clocks jump", clocks),
    ("slow", "answers slower than the TTL", slow),
    ("cut", "holder's network silent", cut),
]
