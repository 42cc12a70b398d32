"""The world of a chaos run: three servers in containers, three hosts in network namespaces, and what is done to them.

Servers come from docker/compose.yaml, on a bridge of their own; a host is a namespace with a cable to that bridge.
Everything is taken down when the run ends, in whatever way that is.
"""
import ipaddress
import os
import re
import shutil
import socket
import subprocess
import time

START_LIMIT_S = 300
# Generous limits: the machine may be busy with other work.
SETTINGS = {"ZOO_TICK_TIME": "1000", "ZOO_INIT_LIMIT": "60", "ZOO_SYNC_LIMIT": "8"}

# Waits for the end of the run, and removes what bears the project's name and the hosts' cables.
KEEPER = """
read -r nothing
label=label=com.docker.compose.project=$1
for container in $(docker ps -aq --filter $label); do docker rm -f -v $container; done
for network in $(docker network ls -q --filter $label); do docker network rm $network; done
"""


def clock_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def run(*command, is_needed=True):
    """What a command prints; None when it fails and is not needed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip()
    if is_needed:
        raise RuntimeError("%s: %s" % (" ".join(command), done.stderr.strip()))
    return None


def missing():
    """Why there can be no such world here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("docker", "ip", "iptables", "nsenter", "setpriv", "unshare"):
        if not shutil.which(tool):
            return "no %s command" % tool
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "no /dev/net/tun for the hosts' cables"
    if run("docker", "info", is_needed=False) is None:
        return "no Docker daemon answers, or it may not be used"
    if compose_command() is None:
        return "neither docker-compose nor the compose plugin"
    if run("docker", "image", "inspect", "zklock-server", is_needed=False) is None:
        return "no image zklock-server (the test ensemble.image makes it)"
    if run("unshare", "--net", "iptables", "-A", "OUTPUT", "-j", "DROP", is_needed=False) is None:
        return "no right to make network namespaces, or no iptables in them"
    return None


def compose_command():
    if run("docker", "compose", "version", is_needed=False) is not None:
        return ["docker", "compose"]
    return ["docker-compose", "--ansi", "never"] if shutil.which("docker-compose") else None


class Place:
    """Something with a network stack of its own, which the process `pid` is in."""

    def __init__(self, name):
        self.name = name
        self.pid = 0
        self.address = ""

    def enter(self, *command):
        return run("nsenter", "--target", str(self.pid), "--net", "--", *command)

    def drop(self, chain, peer, is_wanted):
        """Drops what comes in or goes out; of one peer's address, or None for all of it."""
        rule = ["iptables", "-A" if is_wanted else "-D", chain]
        if peer:
            rule += ["--source" if chain == "INPUT" else "--destination", peer]
        self.enter(*rule, "-j", "DROP")

    def reset(self, is_wanted):
        """Answers every segment of a client's connection with a reset."""
        self.enter("iptables", "-A" if is_wanted else "-D", "OUTPUT", "-p", "tcp", "--dport", "2181",
                   "-j", "REJECT", "--reject-with", "tcp-reset")

    def pass_all(self):
        self.enter("iptables", "-F")


class Server(Place):
    def __init__(self, name, container, address):
        super().__init__(name)
        self.container, self.address = container, address
        self.learn()

    def learn(self):
        text = run("docker", "inspect", "-f",
                   "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", self.container)
        pid, address = text.split()
        if self.address and address != self.address:
            raise RuntimeError("%s came back as %s, it was %s" % (self.name, address, self.address))
        self.pid, self.address = int(pid), address

    def ask(self, word):
        """The answer to a four-letter word; "" for none within a second."""
        answer = b""
        try:
            with socket.create_connection((self.address, 2181), 1) as link:
                link.settimeout(1)
                link.sendall(word.encode())
                while piece := link.recv(65536):
                    answer += piece
        except OSError:
            pass
        return answer.decode(errors="replace")

    def role(self):
        match = re.search(r"^Mode: (\w+)", self.ask("srvr"), re.M)
        return match[1] if match else None

    def watches(self):
        match = re.search(r"Total watches:(\d+)", self.ask("wchs"))
        return int(match[1]) if match else None

    def stop(self, is_kind):
        if is_kind:
            run("docker", "stop", "--time", "5", self.container)
        else:
            run("docker", "kill", self.container)

    def start(self):
        run("docker", "start", self.container)
        self.learn()

    def pause(self):
        run("docker", "pause", self.container)

    def resume(self):
        run("docker", "unpause", self.container)


class Host(Place):
    def __init__(self, number, bridge, subnet, cable_program):
        super().__init__("host%d" % number)
        network = ipaddress.ip_network(subnet)
        # Docker gives out addresses from the low end.
        self.address = str(network.broadcast_address - number)
        self.owner = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; read -r nothing"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.owner.stdout.readline()
        self.pid = self.owner.pid
        here, there = "zc%d" % self.pid, "zi%d" % self.pid
        self.cable = subprocess.Popen([cable_program, here, str(self.pid), there], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.cable.stdout.readline() != "ready\n":
            raise RuntimeError("no cable to %s" % self.name)
        run("ip", "link", "set", here, "master", bridge, "up")
        self.enter("ip", "link", "set", "lo", "up")
        self.enter("ip", "addr", "add", "%s/%d" % (self.address, network.prefixlen), "dev", there)
        self.enter("ip", "link", "set", there, "up")

    def spoil(self, delay_ms=0, jitter_ms=0, lost_permille=0):
        """What becomes of each frame on the cable, both ways; all is well without numbers."""
        self.cable.stdin.write("%d %d %d\n" % (delay_ms, jitter_ms, lost_permille))
        self.cable.stdin.flush()

    def close(self):
        for process in (self.cable, self.owner):
            process.stdin.close()
            process.wait()


class World:
    def __init__(self, source_dir, cable_program):
        self.project = "zklockchaos%d" % os.getpid()
        self.hosts, self.servers = [], []
        self.keeper = subprocess.Popen(["sh", "-c", KEEPER, "keeper", self.project], stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        environment = dict(os.environ, ZKLOCK_HEALTH_INTERVAL="1h", **SETTINGS, **self.free_ports())
        subprocess.run(compose_command() + ["-p", self.project, "-f", source_dir + "/docker/compose.yaml", "up", "-d"],
                       env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.learn_servers()
        self.wait_serving(START_LIMIT_S)
        self.start_hosts(cable_program)

    @staticmethod
    def free_ports():
        links = [socket.socket() for _ in range(3)]
        for link in links:
            link.bind(("127.0.0.1", 0))
        ports = {"ZKLOCK_PORT_%d" % (i + 1): str(link.getsockname()[1]) for i, link in enumerate(links)}
        for link in links:
            link.close()
        return ports

    def learn_servers(self):
        for number in (1, 2, 3):
            container = run("docker", "ps", "-q", "--no-trunc",
                            "--filter", "label=com.docker.compose.project=" + self.project,
                            "--filter", "label=com.docker.compose.service=zk%d" % number)
            self.servers.append(Server("zk%d" % number, container, ""))

    def start_hosts(self, cable_program):
        network = self.project + "_default"
        bridge = "br-" + run("docker", "network", "inspect", "-f", "{{.Id}}", network)[:12]
        subnet = run("docker", "network", "inspect", "-f", "{{(index .IPAM.Config 0).Subnet}}", network)
        self.hosts = [Host(number, bridge, subnet, cable_program) for number in (1, 2, 3)]

    def addresses(self):
        return ",".join("%s:2181" % server.address for server in self.servers)

    def leader(self):
        return next((server for server in self.servers if server.role() == "leader"), None)

    def is_serving(self):
        return sorted(server.role() or "" for server in self.servers) == ["follower", "follower", "leader"]

    def wait_serving(self, limit_s):
        end = time.monotonic() + limit_s
        while not self.is_serving():
            if time.monotonic() > end:
                raise RuntimeError("the three servers form no ensemble within %d s" % limit_s)
            time.sleep(0.2)

    def close(self):
        for host in self.hosts:
            host.close()
        self.keeper.stdin.close()
        self.keeper.wait()
