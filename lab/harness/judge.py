"""What a story shows, judged from outside: by the clock of the machine, not by what anybody believes."""

STUCK_LEAST_S = 1.0
SIDE_BY_SIDE_LEAST_MS = 10


def spans_of(events, end_ns):
    """Per contender the spans of (first, last, kind): waiting, inside, frozen."""
    spans, waiting, inside, frozen = {}, {}, {}, {}

    def close(table, who, kind, when):
        if who in table:
            spans.setdefault(who, []).append((table.pop(who), when, kind))

    for when, who, event, _ in sorted(events, key=lambda entry: entry[0]):
        if event == "ask":
            waiting[who] = when
        elif event == "granted":
            close(waiting, who, "waiting", when)
            inside[who] = when
        elif event == "refused":
            close(waiting, who, "waiting", when)
        elif event in ("leave", "told"):
            close(inside, who, "inside", when)
        elif event == "stop":
            frozen[who] = when
        elif event == "cont":
            close(frozen, who, "frozen", when)
        elif event == "killed":
            for table, kind in ((waiting, "waiting"), (inside, "inside"), (frozen, "frozen")):
                close(table, who, kind, when)
    for table, kind in ((waiting, "waiting"), (inside, "inside"), (frozen, "frozen")):
        for who in list(table):
            close(table, who, kind, end_ns)
    return spans


def subtract(spans, holes):
    """The spans (first, last) without what lies in the holes."""
    for hole_first, hole_last in holes:
        left = []
        for first, last in spans:
            if first < min(last, hole_first):
                left.append((first, min(last, hole_first)))
            if max(first, hole_last) < last:
                left.append((max(first, hole_last), last))
        spans = left
    return spans


def running(spans, kind):
    """Per contender when it was that while it ran: a frozen process does nothing."""
    result = {}
    for who, entries in spans.items():
        wanted = [(first, last) for first, last, what in entries if what == kind]
        result[who] = subtract(wanted, [(first, last) for first, last, what in entries if what == "frozen"])
    return result


def levels(spans):
    """(nanoseconds, how many from there on) of spans of several contenders."""
    changes = sorted([(first, 1) for entries in spans.values() for first, _ in entries] +
                     [(last, -1) for entries in spans.values() for _, last in entries])
    level, result = 0, []
    for when, step in changes:
        level += step
        result.append((when, level))
    return result


def spans_at_least(spans, least):
    """When at least so many were at it at the same time."""
    result, since = [], None
    for when, level in levels(spans):
        if level >= least and since is None:
            since = when
        elif level < least and since is not None:
            if when > since:
                result.append((since, when))
            since = None
    return result


def longest_stuck(spans, ends_ns):
    """The longest time in which somebody waited and nobody who ran had the lock; and whether that ended with the story or
    with the waiter's patience."""
    inside = spans_at_least(running(spans, "inside"), 1)
    waiting = spans_at_least(running(spans, "waiting"), 1)
    alone = subtract(waiting, inside)
    longest = max(alone, key=lambda span: span[1] - span[0], default=(0, 0))
    return (longest[1] - longest[0]) / 1e9, longest[1] in ends_ns


def count(events, *names):
    return sum(event in names for _, _, event, _ in events)


def judge(events, final_value, end_ns):
    """The figures of a cell. `final_value` is the resource's, in the end."""
    spans = spans_of(events, end_ns)
    overlaps = spans_at_least(running(spans, "inside"), 2)
    stuck_s, is_open = longest_stuck(spans, {end_ns} | {entry[0] for entry in events if entry[2:] == ("refused", "busy")})
    told = [entry for entry in events if entry[2] == "told"]
    return {
        "overlap_ms": round(sum(last - first for first, last in overlaps) / 1e6, 1),
        "stuck_s": round(stuck_s, 1),
        "stuck_open": is_open and stuck_s >= STUCK_LEAST_S,
        "lost": count(events, "wrote") - final_value,
        "stale": count(events, "stale"),
        "written": count(events, "wrote"),
        "granted": count(events, "granted"),
        "told": len(told),
        "told_why": told[0][3] if told else "",
    }


def kinds(figures):
    """The words of the table. Optimistic locks let everybody in: that two are inside is no finding there."""
    found = []
    if "note" in figures:
        return ["none"]
    if figures["overlap_ms"] > 0 and not figures.get("is_optimistic"):
        found.append("two holders")
    if figures["lost"] > 0:
        found.append("loses updates")
    if figures["stale"] > 0:
        found.append("refused by token")
    if figures["stuck_s"] >= STUCK_LEAST_S:
        found.append("stuck")
    return found or ["safe"]


def words(figures):
    """A cell as it is printed."""
    if "note" in figures:
        return figures["note"]
    parts = []
    if figures.get("is_optimistic") and figures["overlap_ms"] >= SIDE_BY_SIDE_LEAST_MS:
        parts.append("side by side for " + duration(figures["overlap_ms"] / 1000))
    for kind in kinds(figures):
        if kind == "two holders":
            parts.append("two holders for %s" % duration(figures["overlap_ms"] / 1000))
        elif kind == "loses updates":
            parts.append("loses %d update%s" % (figures["lost"], "s" if figures["lost"] > 1 else ""))
        elif kind == "stuck":
            parts.append("stuck for %s%.1f s" % ("more than " if figures["stuck_open"] else "", figures["stuck_s"]))
        else:
            parts.append(kind)
    return "; ".join(parts)


def duration(seconds):
    return "%.1f ms" % (seconds * 1000) if seconds < 0.01 else \
        "%.0f ms" % (seconds * 1000) if seconds < 1 else "%.1f s" % seconds
