"""Programs that the laboratory starts, and ends by pid."""
import os
import signal
import socket
import subprocess
import time


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(condition, limit_s, what):
    """Waits until the condition holds; what else happens is no result but a failure of the laboratory."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("%s: not within %g s" % (what, limit_s))
        time.sleep(0.002)


class Program:
    """A child in the background; at the latest it dies with the thread that started it."""

    def __init__(self, words, log, extra_environment=None, **streams):
        environment = dict(os.environ, **(extra_environment or {}))
        with open(log, "ab") as output:
            streams.setdefault("stdin", subprocess.DEVNULL)
            streams.setdefault("stdout", output)
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--"] + words, stderr=output,
                                            env=environment, **streams)
        self.pid = self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def state(self):
        try:
            with open("/proc/%d/stat" % self.pid, encoding="utf-8") as stat:
                return stat.read().rpartition(")")[2].split()[0]
        except OSError:
            return "X"

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)
        self.wait_stopped()

    def wait_stopped(self):
        eventually(lambda: self.state() in "TXZ", 30, "stopping %d" % self.pid)

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        if self.is_running():
            self.process.kill()
            self.process.wait()

    def wait_end(self, limit_s=30):
        self.process.wait(limit_s)
