#!/usr/bin/python3
"""zklock beside real clients of Curator, kazoo and go-zookeeper on the same paths of a real server.

usage: fleet.py CASE ZKLOCK PEERS
CASE: pair-FAMILY-OTHER, queue-FAMILY, readers-FAMILY (see FAMILIES and READERS)
PEERS: the directory with CuratorPeer.class, go-peer and kazoo_peer.py
Exit status: 0 right, 1 wrong, 77 a part is missing here.
"""
import json
import logging
import os
import queue
import subprocess
import sys
import threading

from kazoo.client import KazooClient

LIMIT_S = 120
SHORT_LIMIT = "2"
SESSION_S = "4"
SKIPPED = 77
JARS = ["/usr/share/java/%s.jar" % name for name in (
    "curator-recipes", "curator-framework", "curator-client", "zookeeper", "guava", "slf4j-nop")]
PATH = "/fleet/lock"

# Who shares one path: each with the options of zklock and of kazoo that it takes (src/README.md, "shared with others").
FAMILIES = {
    "curator": {"zklock": [], "curator": [], "go": [], "kazoo": ["extra"]},
    "kazoo": {"zklock": ["--style", "kazoo"], "kazoo": ["plain"], "go": []},
    "rw": {"zklock": ["--style", "curator-rw"], "curator": []},
    "semaphore": {"zklock": ["--permits", "1"], "curator": []},
    "latch": {"zklock": ["--style", "curator-latch"], "curator": []},
}
MODES = {"curator": "mutex", "kazoo": "mutex", "rw": "write", "semaphore": "semaphore:1", "latch": "latch"}
# Where those stand who hold or come next, if not in the path itself.
DIRECTORIES = {"semaphore": PATH + "/leases"}
# Families with readers beside their writers.
READERS = {"rw": "curator"}


def fail(text):
    print("fleet: " + text)
    sys.exit(1)


class Peer:
    """A client in a process of its own. Its lines come through a queue, so that a wait for one has an end."""

    def __init__(self, name, arguments):
        self.name = name
        self.lines = queue.Queue()
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        # zklock says with its status that it was kept out.
        self.lines.put("out" if self.process.wait() == 1 and self.name.startswith("zklock") else "end")

    def expect(self, word):
        try:
            line = self.lines.get(timeout=LIMIT_S)
        except queue.Empty:
            fail("%s: no word in %s s, expected: %s" % (self.name, LIMIT_S, word))
        if line != word:
            fail("%s: %s instead of %s" % (self.name, line, word))

    def is_silent(self):
        return self.lines.empty()

    def release(self):
        self.process.stdin.close()
        self.expect("released")
        self.end()

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        self.process.wait(LIMIT_S)
        if not self.process.stdin.closed:
            self.process.stdin.close()


class Stage:
    """A private server, and clients on it that end with the test."""

    def __init__(self, zklock, peers):
        self.zklock, self.directory = zklock, peers
        self.peers = []
        self.family = None
        self.server = subprocess.Popen([zklock, "server"], stdout=subprocess.PIPE, text=True)
        line = self.server.stdout.readline()
        if "=" not in line:
            fail("no private server")
        self.servers = line.strip().split("=", 1)[1]
        self.observer = KazooClient(self.servers, timeout=30)
        self.observer.start(LIMIT_S)

    def start(self, family, client, limit="-", mode=None):
        mode = mode or MODES[family]
        self.family = family
        more = FAMILIES[family][client]
        if client == "zklock":
            arguments = [self.zklock, "exec", "-q", "-S", self.servers, "-T", SESSION_S, *more,
                         *(["-s"] if mode == "read" else []), *([] if limit == "-" else ["-w", limit]),
                         PATH, "--", "sh", "-c", "echo held; cat; echo released"]
        else:
            program = {"curator": ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                                   "-cp", ":".join([self.directory, *JARS]), "CuratorPeer"],
                       "go": [os.path.join(self.directory, "go-peer")],
                       "kazoo": ["/usr/bin/python3", os.path.join(self.directory, "kazoo_peer.py")]}[client]
            arguments = [*program, mode, self.servers, PATH, limit, *more]
        self.peers.append(Peer("%s %s" % (client, mode), arguments))
        return self.peers[-1]

    def count(self):
        directory = DIRECTORIES.get(self.family, PATH)
        return len(self.observer.get_children(directory)) if self.observer.exists(directory) else 0

    def await_count(self, count):
        """Until so many contenders are in the queue."""
        changed = threading.Event()
        for _ in range(LIMIT_S * 20):
            if self.count() == count:
                return
            changed.wait(0.05)
        fail("%d contenders instead of %d: %s" % (self.count(), count, self.observer.get_children(PATH)))

    def hold(self, family, client, mode=None):
        peer = self.start(family, client, mode=mode)
        peer.expect("held")
        return peer

    def zklock_json(self, *words):
        result = subprocess.run([self.zklock, *words, "--json", "-S", self.servers, PATH], stdout=subprocess.PIPE,
                                text=True, check=False)
        return json.loads(result.stdout)

    def close(self):
        for peer in self.peers:
            if peer.process.poll() is None:
                peer.kill()
        self.observer.stop()
        self.observer.close()
        self.server.terminate()
        self.server.wait(LIMIT_S)


def pair(stage, family, one, other):
    """One holds: the other is kept out, then comes next, by a release and by a crash."""
    holder = stage.hold(family, one)
    stage.start(family, other, SHORT_LIMIT).expect("out")
    stage.await_count(1)
    waiter = stage.start(family, other)
    stage.await_count(2)
    if not waiter.is_silent():
        fail("%s beside %s: both hold" % (other, one))
    holder.release()
    waiter.expect("held")
    waiter.release()
    stage.await_count(0)
    holder = stage.hold(family, one)
    waiter = stage.start(family, other)
    stage.await_count(2)
    holder.kill()
    waiter.expect("held")
    waiter.release()
    stage.await_count(0)


def check_reports(stage, clients):
    """status and doctor on a queue in several languages."""
    contenders = stage.zklock_json("status")["locks"][0]["contenders"]
    if len(contenders) != len(clients):
        fail("status shows %d contenders of %d" % (len(contenders), len(clients)))
    if [contender["is_holder"] for contender in contenders] != [True] + [False] * (len(clients) - 1):
        fail("status does not show the first one as the holder: %s" % contenders)
    for finding in stage.zklock_json("doctor")["findings"]:
        if finding["kind"] != "payload":
            fail("doctor: %s" % finding)


def mixed_queue(stage, family):
    """A queue in several languages is served in the order in which it came."""
    clients = 2 * list(FAMILIES[family])
    peers = []
    for client in clients:
        peers.append(stage.start(family, client))
        stage.await_count(len(peers))
    check_reports(stage, clients)
    for index, peer in enumerate(peers):
        peer.expect("held")
        if not all(other.is_silent() for other in peers[index + 1:]):
            fail("somebody holds beside %s at place %d" % (peer.name, index + 1))
        peer.release()
    stage.await_count(0)


def readers(stage, family):
    """Readers of both share, and keep a writer out; a writer keeps readers out."""
    other = READERS[family]
    for writer, reader in (("zklock", other), (other, "zklock")):
        sharing = [stage.hold(family, client, "read") for client in ("zklock", other)]
        waiting = stage.start(family, writer, mode="write")
        stage.await_count(3)
        stage.start(family, reader, SHORT_LIMIT, "read").expect("out")
        sharing[0].release()
        if not waiting.is_silent():
            fail("a writer of %s holds beside a reader" % writer)
        sharing[1].release()
        waiting.expect("held")
        behind = stage.start(family, reader, mode="read")
        stage.await_count(2)
        if not behind.is_silent():
            fail("a reader of %s holds beside a writer" % reader)
        waiting.release()
        behind.expect("held")
        behind.release()
        stage.await_count(0)


def play(stage, case):
    kind, family, *rest = case.split("-")
    if kind == "pair":
        pair(stage, family, "zklock", rest[0])
        pair(stage, family, rest[0], "zklock")
    elif kind == "queue":
        mixed_queue(stage, family)
    else:
        readers(stage, family)


def main():
    case, zklock, peers = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    if not os.path.exists(os.path.join(peers, "go-peer")):
        print("skipped: the clients in other languages were not built")
        sys.exit(SKIPPED)
    stage = Stage(zklock, peers)
    try:
        play(stage, case)
    finally:
        stage.close()


main()
