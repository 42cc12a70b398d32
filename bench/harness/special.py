"""What is not measured by a peer's own clock: costs on the wire, killed holders, heartbeats, memory."""
import os
import signal
import subprocess
import time

from . import children, peers, wire_count
from .workloads import ZOOKEEPER_PEERS

CUT_TIMEOUT_MS = 4000


def cost(run):
    """Requests, bytes, watch events a lock: free, and with 8 contenders."""
    cluster = run.cluster("zookeeper")
    counter = wire_count.Counter((cluster.network.address, cluster.clients[0]))
    for name in run.chosen(("floor", *ZOOKEEPER_PEERS)):
        peer = peers.Running(peers.ALL[name], run.build, counter.address, None)
        peer.order("cycle path=/warm count=5")
        for kind, order, count in (("free", "cycle", 400), ("8 contenders", "handover contenders=8", 800)):
            count = count // run.quickness
            counter.take()
            if peer.order(f"{order} path=/cost/{name}/{kind[0]} count={count}") is None:
                continue
            time.sleep(0.2)
            run.record(f"cost, {kind}", name, {key: value / count for key, value in counter.take().items()})
        peer.close()
    counter.close()


def growth_of_bytes(run):
    """Bytes and requests a waiter against the length of the queue."""
    cluster = run.cluster("zookeeper")
    for name in run.chosen(ZOOKEEPER_PEERS):
        for length in (1, 10, 100, 1000):
            counter = wire_count.Counter((cluster.network.address, cluster.clients[0]))
            peer = peers.Running(peers.ALL[name], run.build, counter.address, None)
            answer = peer.order(f"drain path=/growth/{name}/{length} count={length} sessions=1 rest_ms=500")
            time.sleep(0.2)
            counts = counter.take()
            run.record(f"bytes at {length}", name, {
                "bytes": counts["bytes"] / length, "requests": counts["requests"] / length, "us": answer["us"]})
            peer.close()
            counter.close()


def footprint(run):
    """Memory, threads and descriptors of a session, of a lock that is held, of one that waits."""
    for name in run.chosen(ZOOKEEPER_PEERS):
        for _ in range(min(run.rounds, 3)):
            peer = run.start(name)
            answer = peer.order(f"footprint path={run.path(name)} count={1000 // run.quickness} rest_ms=300")
            peer.close()
            if answer:
                run.record("footprint", name, answer)


def seconds_to_next(run, holder, waiter, path):
    """Kills the holder while somebody waits."""
    waiter.send(f"acquire path={path} timeout={CUT_TIMEOUT_MS}")
    time.sleep(1)
    killed_us = time.monotonic() * 1e6
    os.kill(holder.pid, signal.SIGKILL)
    answer = waiter.receive()
    return (answer["at_us"] - killed_us) / 1e6


def killed(run):
    """From the holder's SIGKILL to the next holder, with a session timeout of 4 s."""
    for _ in range(min(run.rounds, 3)):
        for name in run.chosen(ZOOKEEPER_PEERS):
            holder, waiter, path = run.start(name), run.start(name), run.path(name)
            holder.order(f"hold path={path} count=1 timeout={CUT_TIMEOUT_MS}")
            run.record("killed holder", name, {"s": seconds_to_next(run, holder.process, waiter, path)})
            holder.close()
            waiter.close()
    if "zklock" in run.chosen(("zklock",)):
        killed_command(run)


def killed_command(run):
    """The same of the command: its keeper ends the session of a command that was killed, unless it is not wanted."""
    program = os.path.join(run.build, "src", "cli", "zklock")
    if not os.path.exists(program):
        run.leave_out("zklock exec", f"{os.path.relpath(program)} was not built")
        return
    for kind, options in (("zklock exec", []), ("zklock exec --no-guard", ["--no-guard"])) * min(run.rounds, 3):
        waiter, path = run.start("zklock"), run.path("command")
        # COMMAND ends with its input, which is ours.
        job = children.start([program, "exec", "--servers", run.cluster("zookeeper").addresses, "--session-timeout",
                              f"{CUT_TIMEOUT_MS / 1000:g}", *options, path, "--", "sh", "-c", "echo held; exec cat"],
                             stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        if job.stdout.readline() != "held\n":
            raise children.Failure("zklock exec did not get the lock")
        run.record("killed holder", kind, {"s": seconds_to_next(run, job, waiter, path)})
        children.end(job)
        waiter.close()


def capacity(run):
    """Writes a second that the server can do at most, and its processor time each."""
    peer = run.start("floor")
    peer.order("capacity path=/capacity count=2000")
    best = max(peer.order(f"capacity path=/capacity count={20000 // run.quickness}")["rate"] for _ in range(3))
    peer.close()
    return best


def heartbeat(run):
    """What 1,000 sessions with T = 10 s cost the server while they hold a lock each, and while they do nothing."""
    cluster = run.cluster("zookeeper")
    most = capacity(run)
    sessions, seconds = 1000 // run.quickness, 30 if run.quickness == 1 else 5
    for kind, idle in (("holding", 0), ("idle", 1)):
        peer = run.start("zklock")
        peer.order(f"hold path=/beats count={sessions} idle={idle} timeout=10000")
        time.sleep(2)
        writes, cpu, begin = cluster.transactions(), children.cpu_seconds(cluster.processes), time.monotonic()
        own_cpu = children.cpu_seconds([peer.process])
        time.sleep(seconds)
        passed = time.monotonic() - begin
        rate = (cluster.transactions() - writes) / passed
        run.record("heartbeat", kind, {
            "writes a second": rate, "share of the capacity": rate / most, "capacity": most, "sessions": sessions,
            "server CPU": (children.cpu_seconds(cluster.processes) - cpu) / passed,
            "client CPU": (children.cpu_seconds([peer.process]) - own_cpu) / passed})
        peer.order("drop")
        peer.close()


ALL = {"cost": cost, "growth": growth_of_bytes, "footprint": footprint, "killed": killed, "heartbeat": heartbeat}
