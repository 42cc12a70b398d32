"""What locks cost when nothing is wrong, and what one release sets off among a hundred waiters."""
import statistics
import time

import judge
from faults import take
from processes import eventually, now_ns

ALONE_ROUNDS, CROWD, CROWD_ROUNDS, HOLD_MS, HERD, HERD_TURNS = 200, 4, 25, 2, 100, 10
TTL_MS = 10000


def times_ms(worker, first, last):
    """From each `first` of the worker to the `last` that follows."""
    found, since = [], None
    for when, who, event, _ in worker.story.events:
        if who != worker.name:
            continue
        if event == first:
            since = when
        elif event == last and since is not None:
            found.append((when - since) / 1e6)
            since = None
    return found


def alone(cell):
    """One contender: how long, and how many requests."""
    worker = cell.worker("A")
    worker.send("rounds 5 0")
    worker.wait("rounds")
    requests, when = cell.world.requests(cell.lock), len(worker.story.events)
    worker.send("rounds %d 0" % ALONE_ROUNDS)
    worker.wait("rounds", count=2, limit_s=120)
    requests = cell.world.requests(cell.lock) - requests
    del worker.story.events[:when]
    return {"acquire_ms": round(statistics.median(times_ms(worker, "ask", "granted")), 2),
            "release_ms": round(statistics.median(times_ms(worker, "leave", "released")), 2),
            "requests": round(requests / ALONE_ROUNDS, 1),
            "again": again(worker)}


def again(worker):
    """Whether the holder can take it once more."""
    before = len(worker.has("granted", "refused"))
    worker.send("take %d" % TTL_MS, "take 0")
    worker.wait("granted", "refused", count=before + 2)
    return "yes" if worker.has("granted", "refused")[-1][2] == "granted" else "no"


def crowd(cell):
    """Several contenders that want it all the time."""
    workers = [cell.worker("W%d" % number) for number in range(1, CROWD + 1)]
    begin_ns = now_ns()
    for worker in workers:
        worker.send("rounds %d %d" % (CROWD_ROUNDS, HOLD_MS))
    for worker in workers:
        worker.wait("rounds", limit_s=120)
    seconds = (now_ns() - begin_ns) / 1e9
    figures = judge.judge(cell.story.events, cell.final_value(), now_ns())
    figures["rounds_per_s"] = round(CROWD * CROWD_ROUNDS / seconds)
    figures["passed_over"] = passed_over(cell.story.events)
    return figures


def passed_over(events):
    """Grants in which somebody who had asked earlier went on waiting."""
    waiting, found = {}, 0
    for when, who, event, _ in sorted(events, key=lambda entry: entry[0]):
        if event == "ask":
            waiting[who] = when
        elif event == "granted":
            asked = waiting.pop(who, when)
            found += any(other < asked for other in waiting.values())
        elif event == "refused":
            waiting.pop(who, None)
    return found


def next_turn(cell, holder, turn):
    """The holder lets go; whoever gets it then."""
    holder.send("write", "release")
    with cell.story.changed:
        cell.story.changed.wait_for(lambda: len(granted(cell)) > turn, 60)
    names = granted(cell)
    return next((worker for worker in cell.workers if len(names) > turn and worker.name == names[turn]), None)


def granted(cell):
    return [who for _, who, event, _ in cell.story.events if event == "granted"]


def herd(cell):
    """A hundred wait, one lets go, ten times in a row."""
    holder = cell.worker("H")
    take(holder)
    waiters = [cell.worker("W%d" % number, is_awaited=False) for number in range(1, HERD + 1)]
    for worker in waiters:
        if not worker.wait("opened"):
            raise TimeoutError("a waiter has no server")
    for worker in waiters:
        line_up(cell, worker)
    settle_s = 3
    looks, requests = looks_of(cell, waiters)
    time.sleep(settle_s)  # a rate is measured over time
    idle_looks, idle_requests = looks_of(cell, waiters)
    for turn in range(1, HERD_TURNS + 1):
        holder = next_turn(cell, holder, turn)
        if not holder:
            raise TimeoutError("nobody was next")
    end_looks, end_requests = looks_of(cell, waiters)
    order = granted(cell)[1:]
    return {"idle_requests_per_s": round((idle_requests - requests) / settle_s),
            "looks_per_turn": round((end_looks - idle_looks) / HERD_TURNS, 1),
            "requests_per_turn": round((end_requests - idle_requests) / HERD_TURNS, 1),
            "idle_looks_per_s": round((idle_looks - looks) / settle_s),
            "passed_over": sum(name != "W%d" % place for place, name in enumerate(order, 1)),
            "handover_ms": round(statistics.median(handovers_ms(cell)), 1)}


def line_up(cell, worker):
    """One after the other, so that they stand in the order in which they asked."""
    has_arrived = cell.world.arrival(cell, [])
    worker.send("take 120000")
    worker.wait("ask")
    eventually(lambda: worker.looks() > 0 or has_arrived(), 30, "a place in the queue")
    time.sleep(0.005)  # it looks just before it waits


def looks_of(cell, waiters):
    return sum(worker.looks() for worker in waiters), cell.world.requests(cell.lock)


def handovers_ms(cell):
    """From the moment at which the holder leaves to the next grant."""
    found, left = [], None
    for when, _, event, _ in sorted(cell.story.events, key=lambda entry: entry[0]):
        if event == "leave":
            left = when
        elif event == "granted" and left:
            found.append((when - left) / 1e6)
            left = None
    return found
