"""The locks, and the world of servers that each family of them lives in."""
from processes import eventually
from proxy import Proxy
from servers import Etcd, Maria, Missing, Redis, ZooKeeper, ask, start_three


class Lock:
    def __init__(self, name, family, text, has_fixed=False, commands=()):
        self.name, self.family, self.text = name, family, text
        self.has_fixed = has_fixed  # a fixed time to live can be asked for, without renewal
        self.commands = commands    # of Redis, as its clients send them

    @property
    def is_optimistic(self):
        """Its own row is the resource, and everybody is let in."""
        return self.name == "mysql-version"


LOCKS = [
    Lock("redis-naive", "redis", "SETNX, EXPIRE, DEL", commands=("setnx", "expire", "del")),
    Lock("redis-set", "redis", "SET NX PX, scripts, renewal", True, ("set", "eval")),
    Lock("redisson", "redis", "hash, watchdog, publish/subscribe", True, ("eval", "subscribe")),
    Lock("redlock", "redis", "five masters, majority", commands=("set", "eval")),
    Lock("etcd", "etcd", "lease, create revision, watch", True),
    Lock("mysql-row", "mysql", "SELECT ... FOR UPDATE"),
    Lock("mysql-key", "mysql", "row under a unique key"),
    Lock("mysql-version", "mysql", "version column"),
    Lock("zk-node", "zookeeper", "one node, all watch it"),
    Lock("zklock", "zookeeper", "queue, lease, token"),
]


class World:
    """Servers of one family, started when first asked for."""

    def __init__(self, place):
        self.place = place
        self.named = {}
        self.missing = None
        self.count = 0
        self.link = None

    def get(self, name, make):
        """The servers of this name, made at the first time. What cannot be started is tried once."""
        if self.missing:
            raise Missing(self.missing)
        if name not in self.named:
            try:
                self.named[name] = make()
            except Missing as reason:
                self.missing = str(reason)
                raise
        return self.named[name]

    def fresh(self, name):
        """A name that no server has had."""
        self.count += 1
        return "%s%d" % (name, self.count)

    def end(self):
        for server in [server for servers in self.named.values() for server in servers]:
            server.kill()

    def follow(self, master, replica):
        """A replica behind a link that can be silent."""
        self.link = Proxy(master.port)
        replica.follow(self.link.port)
        return [master, replica]

    def hold_back(self, servers):
        """From here on what the master is told stays with it."""
        self.link.is_silent = True

    def lose_master(self, servers):
        """The master dies before its replica has heard of the last writes; returns who serves now."""
        servers[0].kill()
        servers[1].promote()
        self.link.close()
        return servers[1:]

    def requests(self, lock):
        return sum(server.requests(lock.commands) for server in self.servers(lock))

    def arrival(self, cell, proxies):
        """A function that says whether another request to take the lock has been served since now: there is an answer,
        even if it is held back."""
        before = sum(proxy.answered for proxy in proxies)
        return lambda: sum(proxy.answered for proxy in proxies) > before

    def end_idle_connections(self, is_wanted):
        """Whether the server soon ends connections that say nothing, if that is a thing it does."""


class RedisWorld(World):
    def servers(self, lock):
        if lock.name == "redlock":
            return self.get("five", lambda: [Redis(self.place, "master%d" % i).start() for i in range(1, 6)])
        return self.get("one", lambda: [Redis(self.place, "redis").start()])

    def synced(self, lock):
        """The same, but each write is on the disk before it is answered."""
        count = 5 if lock.name == "redlock" else 1
        return self.get("synced%d" % count, lambda: [
            Redis(self.place, "synced%d-%d" % (count, i), "--appendonly", "yes", "--appendfsync", "always").start()
            for i in range(count)])

    def pair(self):
        master, replica = [Redis(self.place, self.fresh(name)).start() for name in ("first", "second")]
        return self.follow(master, replica)


class EtcdWorld(World):
    def servers(self, lock):
        return self.get("one", lambda: [Etcd(self.place, "etcd").start()])

    synced = servers

    kind, name = Etcd, "member"

    def pair(self):
        """Three; the leader first."""
        members = start_three(self.kind, self.place, self.fresh(self.name))
        return sorted(members, key=lambda member: not member.is_leader())

    def hold_back(self, servers):
        for member in servers[1:]:
            member.pause()

    def lose_master(self, servers):
        servers[0].kill()
        for member in servers[1:]:
            member.resume()
        eventually(lambda: any(member.is_leader() for member in servers[1:]), 60, "an election")
        return [member for member in servers[1:] if member.is_leader()]


class ZooKeeperWorld(EtcdWorld):
    kind, name = ZooKeeper, "server"

    def servers(self, lock):
        return self.get("one", lambda: [ZooKeeper(self.place, "zookeeper").start()])

    synced = servers

    def arrival(self, cell, proxies):
        """Heartbeats pass the proxies too; a contender is an ephemeral node."""
        def contenders():
            return (ask(self.servers(cell.lock)[0].port, "dump", is_whole=True) or "").count(cell.name)
        before = contenders()
        return lambda: contenders() > before


class MysqlWorld(World):
    def servers(self, lock):
        return self.get("one", lambda: [Maria(self.place, "mariadb").start()])

    synced = servers

    def end_idle_connections(self, is_wanted):
        self.servers(None)[0].say("SET GLOBAL wait_timeout = %d" % (
            Maria.WAIT_TIMEOUT_S if is_wanted else Maria.USUAL_WAIT_TIMEOUT_S))

    def pair(self):
        master, replica = [Maria(self.place, self.fresh(name), number).start()
                           for number, name in ((1, "maria-first"), (2, "maria-second"))]
        return self.follow(master, replica)


WORLDS = {"redis": RedisWorld, "etcd": EtcdWorld, "mysql": MysqlWorld, "zookeeper": ZooKeeperWorld}


def addresses(servers):
    return ",".join(server.address for server in servers)


def proxies_of(servers):
    return [Proxy(server.port) for server in servers]
