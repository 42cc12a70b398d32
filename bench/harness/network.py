"""Where servers and peers stand: on loopback, or in two network namespaces with a wire of some length between them."""
import os
import subprocess

from . import children

CLIENT_ADDRESS, SERVER_ADDRESS, BITS = "10.99.0.1", "10.99.0.2", 30


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise children.Failure(f"{' '.join(command)}: {done.stderr.strip()}")


def has_netem(namespace):
    """Whether the kernel has it, which only trying tells."""
    call("ip", "-n", namespace, "link", "add", "netem-try", "type", "veth", "peer", "name", "netem-peer")
    tried = subprocess.run(["tc", "-n", namespace, "qdisc", "add", "dev", "netem-try", "root", "netem", "delay", "1ms"],
                           capture_output=True, check=False)
    call("ip", "-n", namespace, "link", "del", "netem-try")
    return tried.returncode == 0


class Loopback:
    delay_by = "none"
    client_namespace = server_namespace = None
    address = "127.0.0.1"

    def close(self):
        pass


class Wire:
    """A round trip takes `round_trip_ms` longer. Needs root."""

    address = SERVER_ADDRESS

    def __init__(self, round_trip_ms, wire_program):
        if os.geteuid() != 0:
            raise children.Failure("a delay needs namespaces, and those need root")
        self.one_way_us = int(round_trip_ms * 500)
        self.client_namespace = f"zklock-bench-{os.getpid()}-client"
        self.server_namespace = f"zklock-bench-{os.getpid()}-server"
        self.process = None
        for namespace in (self.client_namespace, self.server_namespace):
            call("ip", "netns", "add", namespace)
            call("ip", "-n", namespace, "link", "set", "lo", "up")
        try:
            if has_netem(self.client_namespace):
                self.lay_netem()
            else:
                self.lay_own_wire(wire_program)
        except BaseException:
            self.close()
            raise

    def lay_netem(self):
        self.delay_by = "netem"
        call("ip", "-n", self.client_namespace, "link", "add", "wire0", "type", "veth", "peer", "name", "wire0",
             "netns", self.server_namespace)
        for namespace, address in ((self.client_namespace, CLIENT_ADDRESS), (self.server_namespace, SERVER_ADDRESS)):
            call("ip", "-n", namespace, "addr", "add", f"{address}/{BITS}", "dev", "wire0")
            call("ip", "-n", namespace, "link", "set", "wire0", "up")
            call("tc", "-n", namespace, "qdisc", "add", "dev", "wire0", "root", "netem", "delay", f"{self.one_way_us}us",
                 "limit", "100000")

    def lay_own_wire(self, program):
        self.delay_by = "bench-wire, since this kernel has no netem"
        command = [program, self.client_namespace, f"{CLIENT_ADDRESS}/{BITS}", self.server_namespace,
                   f"{SERVER_ADDRESS}/{BITS}", str(self.one_way_us)]
        self.process = children.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise children.Failure("bench-wire did not start")

    def close(self):
        if self.process:
            children.end(self.process)
        for namespace in (self.client_namespace, self.server_namespace):
            subprocess.run(["ip", "netns", "del", namespace], capture_output=True, check=False)


def lay(round_trip_ms, wire_program):
    return Wire(round_trip_ms, wire_program) if round_trip_ms else Loopback()
