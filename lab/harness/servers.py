"""The servers, each kind as its Debian package has it, on free ports of 127.0.0.1 and in directories of their own."""
import glob
import os
import shutil
import socket
import struct
import subprocess
import urllib.request

from processes import Program, eventually, free_port

START_LIMIT_S = 90


class Missing(Exception):
    """A server cannot be started here; its text stands in the cells."""


def program(name, *others):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    if not found:
        raise Missing("no %s here" % name)
    return found


def ask(port, text, limit_s=5, is_whole=False):
    """Sends a line and returns the first piece of the answer, or all up to the end of the connection; or None."""
    try:
        with socket.create_connection(("127.0.0.1", port), limit_s) as link:
            link.settimeout(limit_s)
            link.sendall(text.encode())
            answer = link.recv(1 << 16)
            while is_whole and (piece := link.recv(1 << 16)):
                answer += piece
            return answer.decode(errors="replace")
    except OSError:
        return None


class Server:
    """One server: start, kill, stop and go on. `clock` is the file with the seconds by which its wall clock is off."""

    def __init__(self, place, name):
        self.directory = os.path.join(place.directory, name)
        os.makedirs(self.directory)
        self.port = free_port()
        self.log = os.path.join(place.directory, name + ".log")
        self.clock = os.path.join(place.directory, name + ".clock")
        self.set_clock(0)
        self.shim = {"LD_PRELOAD": place.clock_shim, "ZKLOCK_TEST_CLOCK": self.clock}
        self.program = None

    @property
    def address(self):
        return "127.0.0.1:%d" % self.port

    def set_clock(self, off_s):
        mode = "r+b" if os.path.exists(self.clock) else "wb"
        with open(self.clock, mode) as clock:
            clock.write(struct.pack("=q", off_s))

    def start(self):
        self.program = Program(self.words(), self.log, self.shim)
        self.wait_ready()
        return self

    def wait_ready(self):
        def is_ready():
            if not self.program.is_running():
                with open(self.log, encoding="utf-8", errors="replace") as log:
                    last = (log.read().strip().splitlines() or ["no word"])[-1]
                raise Missing("%s ended at once: %s" % (os.path.basename(self.words()[0]), last[-120:]))
            return self.is_ready()
        try:
            eventually(is_ready, START_LIMIT_S, "starting a server")
        except TimeoutError as error:
            self.kill()
            raise Missing(str(error)) from error

    def kill(self):
        if self.program:
            self.program.kill()

    def pause(self):
        self.program.stop()

    def resume(self):
        self.program.go_on()


class Redis(Server):
    def __init__(self, place, name, *options):
        super().__init__(place, name)
        self.options = options

    def words(self):
        return [program("redis-server"), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.directory,
                "--save", "", "--daemonize", "no", *self.options]

    def is_ready(self):
        return (ask(self.port, "PING\r\n") or "").startswith("+PONG")

    def follow(self, master_port):
        ask(self.port, "REPLICAOF 127.0.0.1 %d\r\n" % master_port)
        self.wait_for_info("master_link_status:up")

    def promote(self):
        ask(self.port, "REPLICAOF NO ONE\r\n")
        self.wait_for_info("role:master")

    def wait_for_info(self, wanted):
        eventually(lambda: wanted in (ask(self.port, "INFO replication\r\n") or ""), 60, wanted)

    def requests(self, commands):
        """Commands of clients; those inside scripts have other names."""
        answer = ask(self.port, "INFO commandstats\r\n") or ""
        return sum(int(line.split("calls=")[1].split(",")[0]) for line in answer.splitlines()
                   if line.startswith("cmdstat_") and line[8:].split(":")[0] in commands)


class Etcd(Server):
    def __init__(self, place, name):
        super().__init__(place, name)
        self.name, self.peer_port, self.members = name, free_port(), [self]

    def words(self):
        cluster = ",".join("%s=http://127.0.0.1:%d" % (member.name, member.peer_port) for member in self.members)
        client, peer = "http://" + self.address, "http://127.0.0.1:%d" % self.peer_port
        return [program("etcd"), "--name", self.name, "--data-dir", self.directory, "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", cluster]

    def read(self, path):
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open("http://%s/%s" % (self.address, path), timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    def is_ready(self):
        return '"true"' in self.read("health")

    def is_leader(self):
        return "etcd_server_is_leader 1" in self.read("metrics")

    def requests(self, _):
        return sum(float(line.split()[-1]) for line in self.read("metrics").splitlines()
                   if line.startswith("grpc_server_msg_received_total"))


class Maria(Server):
    """wait_timeout, after which an idle connection is ended, is 8 hours where nobody changed it; for one fault it is
    short."""

    WAIT_TIMEOUT_S, USUAL_WAIT_TIMEOUT_S = 8, 28800

    def __init__(self, place, name, number=0):
        super().__init__(place, name)
        self.number = number  # of a pair that replicates

    def words(self):
        return [program("mariadbd"), "--no-defaults", "--user=root", "--datadir=" + self.directory + "/data",
                "--socket=" + self.directory + "/socket", "--bind-address=127.0.0.1", "--port=%d" % self.port,
                "--skip-grant-tables",
                *(["--log-bin", "--server-id=%d" % self.number] if self.number else ["--skip-log-bin"]),
                "--skip-name-resolve", "--max-connections=300",
                "--innodb-log-file-size=8M",
                "--general-log=1", "--general-log-file=" + self.general_log]

    @property
    def general_log(self):
        return self.directory + "/general.log"

    def start(self):
        if not os.path.exists(self.directory + "/data"):
            program("my_print_defaults")
            made = Program([program("mariadb-install-db"), "--no-defaults", "--user=root", "--skip-test-db",
                            "--auth-root-authentication-method=normal", "--innodb-log-file-size=8M",
                            "--datadir=" + self.directory + "/data"], self.log)
            made.wait_end(120)
            if made.process.returncode != 0:
                raise Missing("mariadb-install-db failed")
            os.makedirs(self.directory + "/data/lab", exist_ok=True)
        return super().start()

    def is_ready(self):
        return ask(self.port, "", 2) is not None

    def say(self, statement):
        return subprocess.run([program("mariadb"), "--no-defaults", "--protocol=tcp", "--host=127.0.0.1",
                               "--port=%d" % self.port, "--user=root", "--vertical", "--execute", statement],
                              stdout=subprocess.PIPE, check=True, text=True).stdout

    def follow(self, master_port):
        self.say("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='root'; START SLAVE"
                 % master_port)
        eventually(lambda: "Slave_IO_Running: Yes" in self.say("SHOW SLAVE STATUS"), 60, "a replica that follows")

    def promote(self):
        self.say("STOP SLAVE")

    def requests(self, _):
        with open(self.general_log, encoding="utf-8", errors="replace") as log:
            return sum("\tQuery\t" in line or " Query\t" in line for line in log)


class ZooKeeper(Server):
    def __init__(self, place, name):
        super().__init__(place, name)
        self.members, self.number = [self], 1
        self.peer_ports = free_port(), free_port()

    def write_config(self, tick_ms):
        with open(self.directory + "/zoo.cfg", "w", encoding="utf-8") as config:
            print("tickTime=%d\ndataDir=%s/data\nclientPort=%d\nclientPortAddress=127.0.0.1\ninitLimit=20\n"
                  "syncLimit=5\nmaxSessionTimeout=60000\nmaxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=*"
                  % (tick_ms, self.directory, self.port), file=config)
            if len(self.members) > 1:
                for member in self.members:
                    print("server.%d=127.0.0.1:%d:%d" % ((member.number,) + member.peer_ports), file=config)
        os.makedirs(self.directory + "/data", exist_ok=True)
        with open(self.directory + "/data/myid", "w", encoding="utf-8") as myid:
            print(self.number, file=myid)

    def class_path(self):
        home = os.environ.get("ZOOKEEPER_HOME", "")
        jars = home + "/lib/*" if glob.glob(home + "/lib/zookeeper-*.jar") else "/usr/share/java/zookeeper.jar:" \
            "/usr/share/java/slf4j-simple.jar"
        if not home and not os.path.exists("/usr/share/java/zookeeper.jar"):
            raise Missing("no ZooKeeper server here")
        return jars

    def words(self):
        self.write_config(500)
        return [program("java"), "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-Dzookeeper.jmx.log4j.disable=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
                self.class_path(), "org.apache.zookeeper.server.quorum.QuorumPeerMain", self.directory + "/zoo.cfg"]

    def role(self):
        for line in (ask(self.port, "srvr") or "").splitlines():
            if line.startswith("Mode: "):
                return line[6:]
        return None

    def is_ready(self):
        return self.role() is not None

    def is_leader(self):
        return self.role() == "leader"

    def requests(self, _):
        """Packets of clients, pings too."""
        for line in (ask(self.port, "mntr") or "").splitlines():
            if line.startswith("zk_packets_received\t"):
                return int(line.split()[1])
        return 0


def start_three(kind, place, name):
    """Three that elect one; started together, since none is ready before it has company."""
    members = [kind(place, "%s%d" % (name, number)) for number in (1, 2, 3)]
    for number, member in enumerate(members, 1):
        member.members, member.number = members, number
    for member in members:
        member.program = Program(member.words(), member.log, member.shim)
    for member in members:
        member.wait_ready()
    eventually(lambda: any(member.is_leader() for member in members), START_LIMIT_S, "an election")
    return members
