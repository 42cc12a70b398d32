"""kazoo's Lock. One order a line, one answer a line; see workload_*.c for what each means."""
import gc
import logging
import os
import sys
import threading
import time

from kazoo.client import KazooClient

SMALL_STACK = 256 * 1024
# Each lists all that are there: without a bound, a server would have gigabytes of answers in its memory.
QUEUED_AT_ONCE = 200


class Order:
    def __init__(self, servers, words):
        self.servers = servers
        self.values = dict(word.split("=", 1) for word in words)
        self.path = self.values.get("path", "/bench")
        self.count = self.number("count", 1)

    def number(self, key, fallback):
        return int(self.values.get(key, fallback))

    def open(self):
        session = KazooClient(hosts=self.servers, timeout=self.number("timeout", 10000) / 1000)
        session.start(timeout=30)
        return session

    def rest(self):
        time.sleep(self.number("rest_ms", 5) / 1000)


def close(*sessions):
    for session in sessions:
        session.stop()
        session.close()


def microseconds(seconds):
    return seconds * 1e6


def figures(**values):
    return "".join(f" {name}={value:.2f}" for name, value in values.items())


def quantiles(name, samples):
    samples.sort()
    return figures(**{name: samples[len(samples) // 2], name + "_p99": samples[len(samples) * 99 // 100]})


def start_thread(run, *arguments):
    thread = threading.Thread(target=run, args=arguments, daemon=True)
    thread.start()
    return thread


def cycle(order):
    if order.number("sent", 0):
        return " unsupported=1"
    session = order.open()
    lock = session.Lock(order.path)
    lock.acquire()
    lock.release()
    samples = []
    cpu, begin = time.process_time(), time.monotonic()
    last = begin
    for _ in range(order.count):
        lock.acquire()
        lock.release()
        now = time.monotonic()
        samples.append(microseconds(now - last))
        last = now
    answer = figures(us=microseconds(last - begin) / order.count,
                     cpu_us=microseconds(time.process_time() - cpu) / order.count)
    close(session)
    return answer + quantiles("median_us", samples)


def latency(order):
    holding, waiting = order.open(), order.open()
    holder, waiter = holding.Lock(order.path), waiting.Lock(order.path)
    wanted, granted = threading.Semaphore(0), threading.Semaphore(0)
    at = []

    def wait_and_tell():
        for _ in range(order.count):
            wanted.acquire()
            waiter.acquire()
            at.append(time.monotonic())
            waiter.release()
            granted.release()

    thread = start_thread(wait_and_tell)
    samples = []
    for _ in range(order.count):
        holder.acquire()
        wanted.release()
        order.rest()
        begin = time.monotonic()
        holder.release()
        granted.acquire()
        samples.append(microseconds(at[-1] - begin))
    thread.join()
    close(holding, waiting)
    return quantiles("us", samples)


class Crowd:
    """Contenders that take the lock and release it at once, again and again."""

    def __init__(self, order):
        self.rest = order.count
        self.inside = 0
        self.end = 0.0
        self.ready = threading.Event()
        self.mutex = threading.Lock()

    def count_one(self):
        with self.mutex:
            if self.inside != 0:
                raise RuntimeError("two holders at once")
            self.inside += 1
            self.rest -= 1
            if self.rest == 0:
                self.end = time.monotonic()
            self.inside -= 1

    def contend(self, lock):
        self.ready.wait()
        while self.rest > 0:
            with lock:
                self.count_one()


def handover(order):
    crowd = Crowd(order)
    sessions = [order.open() for _ in range(order.number("contenders", 2))]
    threads = [start_thread(crowd.contend, session.Lock(order.path)) for session in sessions]
    cpu, begin = time.process_time(), time.monotonic()
    crowd.ready.set()
    for thread in threads:
        thread.join()
    answer = figures(rate=order.count / (crowd.end - begin),
                     cpu_us=microseconds(time.process_time() - cpu) / order.count)
    close(*sessions)
    return answer


def children(session, path):
    stat = session.exists(path)
    return stat.numChildren if stat else 0


def wait_queued(session, path, waiters):
    while children(session, path) < waiters + 1:
        time.sleep(0.001)


def drain(order):
    holding = order.open()
    holder = holding.Lock(order.path)
    sessions = [order.open() for _ in range(order.number("sessions", 1))]
    holder.acquire()
    ends = []

    def wait_and_pass_on(lock):
        with lock:
            ends.append(time.monotonic())

    queueing = time.monotonic()
    threads = []
    for i in range(order.count):
        threads.append(start_thread(wait_and_pass_on, sessions[i % len(sessions)].Lock(order.path)))
        if (i + 1) % QUEUED_AT_ONCE == 0:
            wait_queued(holding, order.path, i + 1)
    wait_queued(holding, order.path, order.count)
    queued = time.monotonic()
    order.rest()
    begin = time.monotonic()
    holder.release()
    for thread in threads:
        thread.join()
    close(holding, *sessions)
    return figures(us=microseconds(max(ends) - begin) / order.count,
                   queue_us=microseconds(queued - queueing) / order.count)


def locks(order):
    if order.number("at_once", 0):
        return " unsupported=1"
    sessions = [order.open() for _ in range(order.number("sessions", 1))]
    all_locks = [sessions[i % len(sessions)].Lock(f"{order.path}/lock{i}") for i in range(order.count)]
    begin = time.monotonic()
    for lock in all_locks:
        lock.acquire()
    taken = time.monotonic()
    for lock in all_locks:
        lock.release()
    close(*sessions)
    return figures(us=microseconds(taken - begin) / order.count,
                   release_us=microseconds(time.monotonic() - taken) / order.count)


def usage():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as statm:
        pages = int(statm.read().split()[1])
    return pages * os.sysconf("SC_PAGESIZE"), len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def growth(name, before, after, count):
    return figures(**{name + "_bytes": (after[0] - before[0]) / count, name + "_threads": after[1] - before[1],
                      name + "_descriptors": after[2] - before[2]})


def footprint(order):
    none = usage()
    holding, waiting = order.open(), order.open()
    opened = usage()
    held_locks = [holding.Lock(f"{order.path}/held{i}") for i in range(order.count)]
    for lock in held_locks:
        lock.acquire()
    held = usage()
    for i in range(order.count):
        start_thread(waiting.Lock(f"{order.path}/held{i}").acquire)
    for i in range(order.count):
        while children(holding, f"{order.path}/held{i}") < 2:
            time.sleep(0.001)
    waited = usage()
    answer = figures(session_bytes=(opened[0] - none[0]) / 2, session_threads=(opened[1] - none[1]) / 2,
                     session_descriptors=(opened[2] - none[2]) / 2)
    answer += growth("lock", opened, held, order.count) + growth("waiter", held, waited, order.count)
    # Threads that wait are not to be had back: the program answers, and ends.
    print("ok" + answer, flush=True)
    os._exit(0)


KEPT = []


def hold(order):
    for i in range(order.count):
        session = order.open()
        KEPT.append(session)
        if not order.number("idle", 0):
            session.Lock(f"{order.path}/hold{i}" if order.count > 1 else order.path).acquire()
    return ""


def drop(_order):
    close(*KEPT)
    KEPT.clear()
    return ""


def acquire(order):
    session = order.open()
    lock = session.Lock(order.path)
    lock.acquire()
    at_us = microseconds(time.monotonic())
    lock.release()
    close(session)
    return f" at_us={at_us:.0f}"


WORKLOADS = {run.__name__: run for run in (cycle, latency, handover, drain, locks, footprint, hold, drop, acquire)}


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} SERVERS")
    logging.disable(logging.CRITICAL)
    threading.stack_size(SMALL_STACK)
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] not in WORKLOADS:
            print("unsupported", flush=True)
            continue
        try:
            print("ok" + WORKLOADS[words[0]](Order(sys.argv[1], words[1:])), flush=True)
        except Exception as failure:  # whatever it is, the measurement has a hole
            print(f"error {type(failure).__name__} {failure}".replace("\n", " "), flush=True)
            os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
