"""Processes that end with the run, whatever ends it."""
import atexit
import ctypes
import os
import signal
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
CLONE_NEWNET = 0x40000000
RUNNING = []


class Failure(Exception):
    """What a user is told in one line."""


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, namespace=None, **options):
    if namespace:
        command = ["ip", "netns", "exec", namespace, *command]
    process = subprocess.Popen(command, preexec_fn=die_with_parent, **options)
    RUNNING.append(process)
    return process


def end(process, sent=signal.SIGKILL):
    if process.poll() is None:
        process.send_signal(sent)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()
    if process in RUNNING:
        RUNNING.remove(process)


@atexit.register
def end_all():
    for process in list(RUNNING):
        end(process)


class inside:
    """Runs this thread in a network namespace for a while; None: nowhere else."""

    def __init__(self, namespace):
        self.namespace = namespace

    def __enter__(self):
        if not self.namespace:
            return
        self.own = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.move(os.open(f"/run/netns/{self.namespace}", os.O_RDONLY))

    def __exit__(self, *_):
        if self.namespace:
            self.move(self.own)

    @staticmethod
    def move(descriptor):
        if LIBC.setns(descriptor, CLONE_NEWNET) != 0:
            raise Failure(f"setns: {os.strerror(ctypes.get_errno())}")
        os.close(descriptor)


def cpu_seconds(processes):
    """User and system time of processes, all threads included."""
    ticks = 0
    for process in processes:
        with open(f"/proc/{process.pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
