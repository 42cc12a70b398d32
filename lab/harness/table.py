"""Results as tables, for the terminal and for the page."""
import judge
from faults import FAULTS
from worlds import LOCKS

COLUMNS_AT_A_TIME = 5


def short(figures):
    """A cell of the table."""
    if figures is None:
        return ""
    if "note" in figures:
        return figures["note"].split(":")[0] if figures["note"].startswith("-") is False else "-"
    parts = []
    for kind in judge.kinds(figures):
        if kind == "two holders":
            parts.append("two for " + judge.duration(figures["overlap_ms"] / 1000))
        elif kind == "loses updates":
            parts.append("loses %d" % figures["lost"])
        elif kind == "stuck":
            parts.append("stuck %s%.1f s" % (">" if figures["stuck_open"] else "", figures["stuck_s"]))
        else:
            parts.append({"refused by token": "token refuses"}.get(kind, kind))
    return ", ".join(parts)


def fault_rows(results, locks):
    """A row for each fault that was tried, a column for each lock."""
    rows = []
    for fault, _, _ in FAULTS:
        cells = [short(results[lock].get(fault)) for lock in locks]
        if any(cells):
            rows.append([fault] + cells)
    return rows


def costs_rows(results, locks):
    rows = []
    for lock in locks:
        figures = results[lock].get("none")
        if figures and "note" not in figures:
            rows.append([lock, "%.2f" % figures["acquire_ms"], "%.2f" % figures["release_ms"],
                         "%.1f" % figures["requests"], figures["again"], str(figures["rounds_per_s"]), str(figures["passed_over"]),
                         str(figures["lost"]), str(figures["stale"])])
        elif figures:
            rows.append([lock, figures["note"]] + [""] * 7)
    return rows


def herd_rows(results, locks):
    rows = []
    for lock in locks:
        figures = results[lock].get("herd")
        if figures and "note" not in figures:
            rows.append([lock] + ["%g" % figures[name] for name in (
                "looks_per_turn", "requests_per_turn", "handover_ms", "idle_requests_per_s", "passed_over")])
        elif figures:
            rows.append([lock, figures["note"]] + [""] * 4)
    return rows


COSTS_HEAD = ["no fault", "acquire, ms", "release, ms", "requests a round", "re-entry", "4 contenders, rounds/s",
              "passed over, of 100", "updates lost", "writes refused"]
HERD_HEAD = ["100 waiters", "looks a hand-over", "requests a hand-over", "hand-over, ms", "requests/s meanwhile",
             "out of order, of 10"]


def as_markdown(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head)] + rows)


def as_text(head, rows):
    widths = [max(len(row[place]) for row in [head] + rows) for place in range(len(head))]
    return "\n".join("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip()
                     for row in [head] + rows)


def names_in(results):
    return [lock.name for lock in LOCKS if lock.name in results]


def print_tables(results):
    locks = names_in(results)
    for first in range(0, len(locks), COLUMNS_AT_A_TIME):
        some = locks[first:first + COLUMNS_AT_A_TIME]
        rows = fault_rows(results, some)
        if rows:
            print("\n" + as_text([""] + some, rows))
    for head, rows in ((COSTS_HEAD, costs_rows(results, locks)), (HERD_HEAD, herd_rows(results, locks))):
        if rows:
            print("\n" + as_text(head, rows))
    print()
