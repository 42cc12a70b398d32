"""The goals, as ratios within one run, and what came of them."""
from . import measure
from .report import markdown, median, ratio
from .workloads import TIMED, ZOOKEEPER_PEERS

OTHERS = [name for name in ZOOKEEPER_PEERS if name != "zklock"]


def to_floor(table, workload, setting):
    compared = ratio(table, TIMED[workload], setting, "zklock") if (setting, workload, "zklock") in table else None
    return compared


def to_best_peer(table, workload, setting):
    """zklock's rate to that of the best other, round by round."""
    figure = TIMED[workload].figure
    rates = {name: table[setting, workload, name][figure] for name in OTHERS if (setting, workload, name) in table}
    own = table.get((setting, workload, "zklock"), {}).get(figure)
    if not rates or not own:
        return None
    best = max(rates, key=lambda name: median(rates[name]))
    ratios = [mine / theirs for mine, theirs in zip(own, rates[best])]
    return median(ratios), min(ratios), max(ratios)


def linearity(table, setting):
    figures = [table.get((setting, f"drain-{count}", "zklock"), {}).get("us") for count in (100, 10000)]
    if not all(figures):
        return None
    value = median(figures[1]) / median(figures[0])
    return value, value, value


def beats(table, setting, kind):
    share = table.get((setting, "heartbeat", kind), {}).get("share of the capacity")
    return (median(share), min(share), max(share)) if share else None


GOALS = [
    ("free lock to the floor", "1,fsync,0ms", lambda t, s: to_floor(t, "free", s), 1.08, False),
    ("free lock to the floor", "1,fsync,1ms", lambda t, s: to_floor(t, "free", s), 1.03, False),
    ("free lock to the floor", "1,fsync,5ms", lambda t, s: to_floor(t, "free", s), 1.03, False),
    ("sent release to the floor", "1,fsync,0ms", lambda t, s: sent(t, s), 0.80, False),
    ("release to next holder, to the watch event", "1,fsync,0ms", lambda t, s: to_floor(t, "latency", s), 1.10, False),
    *((f"hand-overs, {count} contenders, to the best peer", setting,
       lambda t, s, count=count: to_best_peer(t, f"handover-{count}", s), goal, True)
      for setting, goal in (("1,fsync,0ms", 1.2), ("1,fsync,1ms", 1.5)) for count in (2, 8, 64)),
    ("a waiter of 10,000 to one of 100", "1,fsync,0ms", linearity, 1.5, False),
    ("heartbeats, holding, share of the write capacity", "1,fsync,0ms", lambda t, s: beats(t, s, "holding"), 0.10, False),
    ("heartbeats, idle, share of the write capacity", "1,fsync,0ms", lambda t, s: beats(t, s, "idle"), 0.05, False),
]


def sent(table, setting):
    """The sent release to the floor that waits."""
    own = table.get((setting, "sent", "zklock"), {}).get("us")
    floor = table.get((setting, "free", "floor"), {}).get("us")
    if not own or not floor:
        return None
    ratios = [mine / theirs for mine, theirs in zip(own, floor)]
    return median(ratios), min(ratios), max(ratios)


def text(results):
    table = measure.summary(results["samples"])
    rows = []
    for title, setting, compute, goal, is_least in GOALS:
        value = compute(table, setting)
        if value is None:
            continue
        is_met = value[0] >= goal if is_least else value[0] <= goal
        rows.append([title, setting, f"{'at least' if is_least else 'at most'} {goal:g}",
                     f"{value[0]:.2f} ({value[1]:.2f}-{value[2]:.2f})", "met" if is_met else "not met"])
    return markdown(["ratio", "setting", "goal", "measured (least - most of the rounds)", ""], rows)
