"""What each kind of fault cost, from the records of a run with one fault at a time."""
import statistics

from records import SECOND


def merged(spans):
    """Spans in order, those that touch as one."""
    joined = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return joined


def longest_gap(wanted, inside, begin, end):
    """The longest time within [begin, end] in which the lock was wanted and nobody was inside."""
    longest = 0
    for first, last in merged(wanted):
        first, last = max(first, begin), min(last, end)
        for start, stop in merged(inside):
            if start >= last:
                break
            if stop > first:
                longest = max(longest, start - first)
                first = stop
        longest = max(longest, last - first)
    return longest


class Recovery:
    def __init__(self, records):
        self.records = records
        self.end = records.span()[1]
        self.faults = sorted(records.faults, key=lambda fault: fault["begin"])
        self.wanted = {lock: [] for lock in records.locks}
        for ask in records.asks:
            if ask.limit != 0:
                self.wanted[ask.lock].append((ask.asked, ask.outcome() or self.end))
        self.inside = {lock: [(section.start, section.end) for section in sections]
                       for lock, sections in records.sections.items()}

    def window(self, fault):
        """From its beginning to that of the next one."""
        after = [other["begin"] for other in self.faults if other["begin"] > fault["begin"]]
        return fault["begin"], min(after, default=self.end)

    def idle(self, fault):
        begin, end = self.window(fault)
        return max(longest_gap(self.wanted[lock], self.inside[lock], begin, end) for lock in self.records.locks)

    def told(self, fault, word):
        begin, end = self.window(fault)
        return sum(line[0] == word and begin <= line[1] < end
                   for story in self.records.stories.values() for line in story)

    def after_mending(self, fault):
        """Until all who waited when it was over had an answer."""
        waits = [ask.outcome() - fault["end"] for ask in self.records.asks
                 if ask.outcome() and ask.asked < fault["end"] < ask.outcome()]
        return max(waits, default=0)

    def rows(self):
        for kind in dict.fromkeys(fault["kind"] for fault in self.faults):
            faults = [fault for fault in self.faults if fault["kind"] == kind]
            idle = [self.idle(fault) / SECOND for fault in faults]
            served = [self.after_mending(fault) / SECOND for fault in faults]
            lasting = [(fault["end"] - fault["begin"]) / SECOND for fault in faults]
            yield (kind, len(faults), statistics.median(lasting), statistics.median(idle), max(idle),
                   sum(self.told(fault, "lost") for fault in faults),
                   sum(self.told(fault, "requeued") for fault in faults), statistics.median(served), max(served))


def table(records):
    lines = ["| fault | times | it lasted | a wanted lock was nobody's for | longest | holders told of a loss "
             "| waiters who queued again | all served after its end | longest |",
             "|---|---|---|---|---|---|---|---|---|"]
    lines += ["| `%s` | %d | %.1f s | %.2f s | %.2f s | %d | %d | %.2f s | %.2f s |" % row
              for row in Recovery(records).rows()]
    return "\n".join(lines) + "\n"
