"""Real servers on free ports, in private directories: ZooKeeper, etcd, Redis; one or three."""
import os
import shutil
import socket
import subprocess
import tempfile
import time

from . import children

START_LIMIT_S = 60
ZOOKEEPER_JARS = ["/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar"]
JAVA_FLAGS = ["-Xmx1g", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
              "-Dzookeeper.admin.enableServer=false"]


def free_ports(network, count):
    """Told apart by being bound at the same time."""
    with children.inside(network.server_namespace):
        sockets = [socket.socket() for _ in range(count)]
        for one in sockets:
            one.bind((network.address, 0))
        ports = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
    return ports


class Cluster:
    """`count` servers of one kind. `addresses` is what clients are given."""

    def __init__(self, network, count, has_fsync):
        self.network, self.count, self.has_fsync = network, count, has_fsync
        self.processes = []
        self.directory = tempfile.mkdtemp(prefix=f"zklock-bench-{self.name}-", dir=self.disk())
        self.ports = free_ports(network, self.ports_each * count)
        self.clients = self.ports[:count]
        self.addresses = ",".join(f"{network.address}:{port}" for port in self.clients)
        try:
            for number in range(count):
                self.start_one(number)
            self.wait_until_ready()
        except BaseException:
            self.close()
            raise

    def disk(self):
        return None

    def launch(self, number, command):
        directory = os.path.join(self.directory, str(number))
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "log"), "ab") as log:
            self.processes.append(children.start(command, self.network.server_namespace, stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log, cwd=directory))

    def wait_until_ready(self):
        limit = time.monotonic() + START_LIMIT_S
        for number in range(self.count):
            while not self.is_ready(self.clients[number]):
                if time.monotonic() > limit or self.processes[number].poll() is not None:
                    raise children.Failure(f"{self.name} did not start: {self.last_words(number)}")
                time.sleep(0.1)

    def last_words(self, number):
        with open(os.path.join(self.directory, str(number), "log"), encoding="utf-8", errors="replace") as log:
            lines = log.read().strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def ask(self, port, question):
        """What a server answers to a line; empty where it does not."""
        with children.inside(self.network.server_namespace):
            try:
                with socket.create_connection((self.network.address, port), 5) as connection:
                    connection.sendall(question)
                    answer = b""
                    for part in iter(lambda: connection.recv(65536), b""):
                        answer += part
            except OSError:
                return ""
        return answer.decode("utf-8", "replace")

    def close(self):
        for process in self.processes:
            children.end(process)
        shutil.rmtree(self.directory, ignore_errors=True)


class ZooKeeper(Cluster):
    name, ports_each = "zookeeper", 3
    tick_ms = 2000

    def start_one(self, number):
        data = os.path.join(self.directory, str(number), "data")
        os.makedirs(data)
        lines = [f"tickTime={self.tick_ms}", f"dataDir={data}", f"clientPort={self.clients[number]}",
                 f"clientPortAddress={self.network.address}", "maxClientCnxns=0", "4lw.commands.whitelist=*",
                 "initLimit=20", "syncLimit=10"]
        if self.count > 1:
            for other in range(self.count):
                quorum, election = self.ports[self.count + 2 * other:][:2]
                lines.append(f"server.{other + 1}={self.network.address}:{quorum}:{election}")
            with open(os.path.join(data, "myid"), "w", encoding="ascii") as myid:
                myid.write(str(number + 1))
        config = os.path.join(self.directory, str(number), "zoo.cfg")
        with open(config, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        fsync = [] if self.has_fsync else ["-Dzookeeper.forceSync=no"]
        self.launch(number, ["java", *JAVA_FLAGS, *fsync, "-cp", ":".join(ZOOKEEPER_JARS),
                             "org.apache.zookeeper.server.quorum.QuorumPeerMain", config])

    def is_ready(self, port):
        return "Mode:" in self.ask(port, b"srvr")

    def transactions(self):
        """How many writes there were, as the newest transaction's number says."""
        for line in self.ask(self.clients[0], b"srvr").splitlines():
            if line.startswith("Zxid:"):
                return int(line.split()[1], 16) & 0xFFFFFFFF
        raise children.Failure("zookeeper does not tell its zxid")

    @staticmethod
    def missing():
        gone = [jar for jar in ZOOKEEPER_JARS if not os.path.exists(jar)]
        if not shutil.which("java"):
            return "no java (Debian: default-jre-headless)"
        return f"no {gone[0]} (Debian: libzookeeper-java, libslf4j-java)" if gone else None


class Etcd(Cluster):
    name, ports_each = "etcd", 2

    def disk(self):
        """etcd knows no way without fsync; on a file system in memory it costs nothing."""
        return None if self.has_fsync else "/dev/shm"

    def start_one(self, number):
        host = f"http://{self.network.address}"
        peers = self.ports[self.count:]
        client = f"{host}:{self.clients[number]}"
        self.launch(number, [
            "etcd", "--name", f"n{number}", "--data-dir", os.path.join(self.directory, str(number), "data"),
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", f"{host}:{peers[number]}", "--initial-advertise-peer-urls", f"{host}:{peers[number]}",
            "--initial-cluster", ",".join(f"n{i}={host}:{peers[i]}" for i in range(self.count)), "--log-level", "error"])

    def is_ready(self, port):
        request = f"GET /health HTTP/1.0\r\nHost: {self.network.address}\r\n\r\n"
        return '"health":"true"' in self.ask(port, request.encode())

    @staticmethod
    def missing():
        return None if shutil.which("etcd") else "no etcd (Debian: etcd-server)"


class Redis(Cluster):
    name, ports_each = "redis", 1

    def start_one(self, number):
        keep = ["--appendonly", "yes", "--appendfsync", "always"] if self.has_fsync else ["--appendonly", "no"]
        self.launch(number, ["redis-server", "--bind", self.network.address, "--port", str(self.clients[number]),
                             "--dir", os.path.join(self.directory, str(number)), "--save", "", *keep])

    def is_ready(self, port):
        return "PONG" in self.ask(port, b"PING\r\nQUIT\r\n")

    @staticmethod
    def missing():
        return None if shutil.which("redis-server") else "no redis-server (Debian: redis-server)"


KINDS = {kind.name: kind for kind in (ZooKeeper, Etcd, Redis)}


