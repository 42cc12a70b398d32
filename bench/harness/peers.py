"""The peers: how each is built, what is missing for it, and a running one that takes orders."""
import os
import select
import shutil
import subprocess

from . import children

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CURATOR_JARS = [f"/usr/share/java/{name}.jar" for name in (
    "curator-client", "curator-framework", "curator-recipes", "guava", "slf4j-nop", "zookeeper", "zookeeper-jute")]
ANSWER_LIMIT_S = 600


class Peer:
    """`server` is the kind of server that it needs, `is_context` that it is shown beside, and not compared with."""

    def __init__(self, name, server="zookeeper", is_context=False):
        self.name, self.server, self.is_context = name, server, is_context

    takes_long_to_build = False

    def command(self, build):
        return [os.path.join(build, "bench", "peers", f"bench-{self.name}")]

    def build(self, build):
        pass

    def missing(self, build):
        """Why it is left out, or None."""
        program = self.command(build)[0]
        return None if os.path.exists(program) else f"{os.path.relpath(program)} was not built; build the project first"


class Go(Peer):
    takes_long_to_build = True

    def command(self, build):
        return [os.path.join(build, "bench", "go", self.name.replace("go-zookeeper", "gozookeeper"))]

    def build(self, build):
        if not shutil.which("go"):
            return
        package = "./" + os.path.basename(self.command(build)[0])
        run_tool(["go", "build", "-o", os.path.join(build, "bench", "go") + "/", package],
                 os.path.join(HERE, "peers", "go"), self.name)

    def missing(self, build):
        if os.path.exists(self.command(build)[0]):
            return None
        return f"{self.name} was not built" if shutil.which("go") else "no go"


class Curator(Peer):
    def command(self, build):
        path = ":".join([os.path.join(build, "bench", "curator"), *CURATOR_JARS])
        return ["java", "-Xmx2g", "-cp", path, "CuratorPeer"]

    def compiled(self, build):
        return os.path.join(build, "bench", "curator", "CuratorPeer.class")

    def build(self, build):
        source = os.path.join(HERE, "peers", "curator", "CuratorPeer.java")
        is_fresh = os.path.exists(self.compiled(build)) and \
            os.path.getmtime(self.compiled(build)) > os.path.getmtime(source)
        if is_fresh or not shutil.which("javac") or self.absent_jar():
            return
        target = os.path.dirname(self.compiled(build))
        os.makedirs(target, exist_ok=True)
        run_tool(["javac", "-cp", ":".join(CURATOR_JARS), "-d", target, source], HERE, self.name)

    @staticmethod
    def absent_jar():
        return next((jar for jar in CURATOR_JARS if not os.path.exists(jar)), None)

    def missing(self, build):
        if self.absent_jar():
            return f"no {self.absent_jar()} (Debian: libcurator-recipes-java, libzookeeper-java)"
        if os.path.exists(self.compiled(build)):
            return None
        return "CuratorPeer was not built" if shutil.which("javac") else "no javac (Debian: default-jdk-headless)"


class Kazoo(Peer):
    def command(self, build):
        return ["/usr/bin/python3", os.path.join(HERE, "peers", "kazoo_peer.py")]

    def missing(self, build):
        tried = subprocess.run(["/usr/bin/python3", "-c", "import kazoo"], capture_output=True, check=False)
        return None if tried.returncode == 0 else "no kazoo (Debian: python3-kazoo)"


def run_tool(command, directory, name):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it said nothing"]
        print(f"bench: {name} cannot be built: {lines[0]}", flush=True)


ALL = {peer.name: peer for peer in (
    Peer("floor"), Peer("zklock"), Go("go-zookeeper"), Curator("curator"), Kazoo("kazoo"),
    Go("etcd", "etcd", True), Peer("redis", "redis", True))}


class Running:
    """A peer's process. One order at a time."""

    def __init__(self, peer, build, addresses, namespace):
        self.peer = peer
        self.process = children.start([*peer.command(build), addresses], namespace, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)

    def send(self, order):
        try:
            self.process.stdin.write(order + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its last answer says why

    def receive(self, limit_s=ANSWER_LIMIT_S):
        """The figures of the answer; None: the peer has no such thing."""
        if not select.select([self.process.stdout], [], [], limit_s)[0]:
            raise children.Failure(f"{self.peer.name} did not answer within {limit_s} s")
        words = self.process.stdout.readline().split()
        if words and words[0] == "ok":
            figures = {key: float(value) for key, _, value in (word.partition("=") for word in words[1:])}
            return None if figures.get("unsupported") else figures
        if words and words[0] == "unsupported":
            return None
        raise children.Failure(f"{self.peer.name}: {' '.join(words[1:]) or 'ended without an answer'}")

    def order(self, order):
        self.send(order)
        return self.receive()

    def close(self):
        children.end(self.process)
