"""What happens to servers, network, sessions and processes in a chaos run.

A fault is a generator: it does its harm, yields what the report shall say of it, and mends it when it is resumed. One
that finds nobody to harm ends without a word.
"""
import json
import logging
import signal
import time

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from crew import send
from world import clock_ns

logging.getLogger("kazoo").setLevel(logging.CRITICAL)
REACH_S = 4


class Nemesis:
    def __init__(self, world, crew, settings, chance):
        self.world, self.crew, self.settings, self.chance = world, crew, settings, chance
        self.active = []        # [due, generator, record]
        self.busy = set()       # what is being harmed: server and host names, process names
        self.log = open(settings.directory + "/faults", "w", buffering=1, encoding="utf-8")
        self.next_due = 0

    # ------------------------------------------------------------------------------------------ whom to harm

    def pick(self, places):
        free = [place for place in places if place.name not in self.busy]
        return self.chance.choice(free) if free else None

    def pick_server(self):
        leader = self.world.leader() if self.chance.random() < 0.5 else None
        return leader if leader and leader.name not in self.busy else self.pick(self.world.servers)

    def pick_member(self, is_fit, is_mortal=False):
        return self.pick([member for member in self.crew.members
                          if is_fit(member) and member.pid() and not (is_mortal and member.is_veteran)])

    # --------------------------------------------------------------------------------------------- servers

    def server_gone(self, is_kind):
        # One at a time: a server that starts takes the lowest free address, which has to be its own.
        server = self.pick_server()
        if not server or "a server is away" in self.busy:
            return
        with self.harmed(server.name, "a server is away"):
            server.stop(is_kind)
            yield {"target": server.name}
            server.start()

    def server_stop(self):
        return self.server_gone(True)

    def server_kill(self):
        return self.server_gone(False)

    def server_pause(self):
        server = self.pick_server()
        if not server:
            return
        with self.harmed(server.name):
            server.pause()
            yield {"target": server.name}
            server.resume()

    def server_cut(self, *chains):
        """From its peers; clients still reach it."""
        server = self.pick_server()
        if not server:
            return
        peers = [peer.address for peer in self.world.servers if peer is not server]
        with self.harmed(server.name):
            for chain in chains:
                for peer in peers:
                    server.drop(chain, peer, True)
            yield {"target": server.name}
            for chain in chains:
                for peer in peers:
                    server.drop(chain, peer, False)

    def server_apart(self):
        return self.server_cut("INPUT", "OUTPUT")

    def server_mute(self):
        return self.server_cut("OUTPUT")

    def server_deaf(self):
        return self.server_cut("INPUT")

    def server_unreachable(self):
        return self.place_cut(self.pick_server(), "INPUT", "OUTPUT")

    # ----------------------------------------------------------------------------------------------- hosts

    def place_cut(self, place, *chains, peer=None):
        if not place:
            return
        with self.harmed(place.name):
            for chain in chains:
                place.drop(chain, peer and peer.address, True)
            yield {"target": place.name + (" from " + peer.name if peer else "")}
            for chain in chains:
                place.drop(chain, peer and peer.address, False)

    def host_cut(self):
        return self.place_cut(self.pick(self.world.hosts), "INPUT", "OUTPUT")

    def host_mute(self):
        return self.place_cut(self.pick(self.world.hosts), "OUTPUT")

    def host_deaf(self):
        return self.place_cut(self.pick(self.world.hosts), "INPUT")

    def host_cut_from_one(self):
        return self.place_cut(self.pick(self.world.hosts), "INPUT", "OUTPUT",
                              peer=self.chance.choice(self.world.servers))

    def host_reset(self):
        host = self.pick(self.world.hosts)
        if not host:
            return
        with self.harmed(host.name):
            host.reset(True)
            yield {"target": host.name}
            host.reset(False)

    def spoil(self, **how):
        host = self.pick(self.world.hosts)
        if not host:
            return
        with self.harmed(host.name):
            host.spoil(**how)
            yield {"target": host.name}
            host.spoil()

    def link_delay(self):
        return self.spoil(delay_ms=self.chance.choice((20, 100, 400, 1000)), jitter_ms=self.chance.choice((0, 50, 300)))

    def link_loss(self):
        return self.spoil(lost_permille=self.chance.choice((20, 100, 300)))

    # ------------------------------------------------------------------------------------------- processes

    def freeze(self, member, is_alone):
        if not member:
            return
        with self.harmed(member.name):
            frozen = member.freeze(is_alone)
            try:
                # With the whole job stopped nobody is left to stop it; a command's keeper does, where it is not.
                yield {"target": member.name, "frozen": [] if is_alone else frozen}
            finally:
                for pid in frozen:
                    send(pid, signal.SIGCONT)

    def process_freeze(self):
        return self.freeze(self.pick_member(lambda member: True), False)

    def holder_freeze(self):
        return self.freeze(self.pick_member(lambda member: member.is_inside()), False)

    def command_freeze(self):
        return self.freeze(self.pick_member(lambda member: not hasattr(member, "listen")), True)

    def kill(self, member):
        if not member:
            return
        member.kill()
        yield {"target": member.name}

    def process_kill(self):
        return self.kill(self.pick_member(lambda member: True, is_mortal=True))

    def holder_kill(self):
        return self.kill(self.pick_member(lambda member: member.is_inside(), is_mortal=True))

    # ------------------------------------------------------------------------------------- an operator's deeds

    def reach(self, client_id=None):
        """A client of another make; None where the servers cannot be reached now."""
        client = KazooClient(hosts=self.world.addresses(), timeout=REACH_S, client_id=client_id, read_only=False)
        try:
            client.start(timeout=REACH_S)
            return client
        except KazooTimeoutError:
            client.stop()
            client.close()
            return None

    def session_expire(self):
        member = self.pick_member(lambda member: member.keys)
        if not member:
            return
        session, password = list(member.keys.items())[-1]
        number = int(session, 16)
        client = self.reach((number - (1 << 64) if number >> 63 else number, bytes.fromhex(password)))
        if client:
            client.stop()
            client.close()
            yield {"target": member.name}

    def contender_delete(self):
        client = self.reach()
        if not client:
            return
        try:
            path = self.chance.choice(self.settings.locks).split("=")[1]
            name = self.chance.choice(client.get_children(path) or [None])
            stat = client.exists(path + "/" + name) if name else None
            if stat:
                deleted = {"target": name, "token": stat.czxid, "lock": path.rsplit("/", 1)[1], "deleted": clock_ns()}
                self.try_to(client.delete, path + "/" + name)
                yield deleted
        except (KazooException, KazooTimeoutError):
            pass
        finally:
            client.stop()
            client.close()

    @staticmethod
    def try_to(do, *arguments):
        """What gets no answer may be done all the same."""
        try:
            do(*arguments)
        except (KazooException, KazooTimeoutError):
            pass

    # ------------------------------------------------------------------------------------------ the course of it

    def harmed(self, *names):
        return Harmed(self.busy, names)

    def begin(self, kind):
        record = {"kind": kind, "begin": clock_ns()}
        generator = getattr(self, kind.replace("-", "_"))()
        told = next(generator, None)
        if told is None:
            return False
        record.update(told)
        lasting_s = self.chance.uniform(0.3, 3) if self.chance.random() < 0.5 else self.chance.uniform(3, 12)
        self.active.append([time.monotonic() + lasting_s, generator, record])
        if kind in MOMENTARY:
            self.end(self.active[-1])
        return True

    def end(self, fault):
        self.active.remove(fault)
        next(fault[1], None)
        fault[2]["end"] = clock_ns()
        self.log.write(json.dumps(fault[2]) + "\n")

    def rage(self, kinds, most):
        """One step of a storm: to be called again and again."""
        now = time.monotonic()
        for fault in [fault for fault in self.active if fault[0] <= now]:
            self.end(fault)
        if len(self.active) < most and now >= self.next_due:
            self.begin(self.chance.choice(kinds))
            self.next_due = time.monotonic() + self.chance.uniform(0.2, 4)

    def is_raging(self):
        return bool(self.active)

    def mend(self):
        for fault in list(self.active):
            self.end(fault)
        for place in self.world.servers + self.world.hosts:
            place.pass_all()


class Harmed:
    """Keeps others away from what is being harmed."""

    def __init__(self, busy, names):
        self.busy, self.names = busy, names

    def __enter__(self):
        self.busy.update(self.names)

    def __exit__(self, *reason):
        self.busy.difference_update(self.names)


KINDS = ["server-stop", "server-kill", "server-pause", "server-apart", "server-mute", "server-deaf",
         "server-unreachable", "host-cut", "host-mute", "host-deaf", "host-cut-from-one", "host-reset", "link-delay",
         "link-loss", "process-freeze", "holder-freeze", "command-freeze", "process-kill", "holder-kill",
         "session-expire", "contender-delete"]
# What is over as soon as it is done.
MOMENTARY = ["process-kill", "holder-kill", "session-expire", "contender-delete"]
