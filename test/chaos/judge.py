"""Judges a chaos run from outside, by what was recorded alone (see records.py and section.h)."""
import bisect
import statistics

from records import SECOND, Records

SERVED_S = 60       # from the mending of a storm until everybody who waited then has an answer
CLEAN_S = 30        # from rest until the directories are empty and no watch is left
THAW_S = 2          # for a command's keeper to end what ran on after a freeze
FIFO_S = 3          # who asks so much later stands behind
TOLD_S = 11         # a session timeout and a second: when a deleted contender's owner is out at the latest
AFTERMATH_S = 12    # the longest session timeout and two ticks
GROWTH_KB = 1024

# What an acquire may end with. REMOVED is for those whose contender the nemesis deleted.
RESULTS = {"ZKLOCK_TIMEOUT", "ZKLOCK_BUSY", "ZKLOCK_NO_SERVER", "ZKLOCK_REMOVED"}
RELEASES = {"ZKLOCK_OK", "ZKLOCK_LOST", "ZKLOCK_UNCONFIRMED"}
# Of the command: its child's 0; not acquired, no server, lost; killed by the nemesis.
EXITS = {0, 1, 69, 79, -9}


class Judge:
    def __init__(self, directory):
        self.records = Records(directory)
        self.violations = []
        self.figures = {}

    def object(self, text, *values):
        self.violations.append(text % values)

    def seconds(self, time):
        return (time - self.records.span()[0]) / SECOND

    def judge(self):
        for line in self.records.malformed[:5]:
            self.object("not understood: %s", line)
        self.count()
        self.excused = []
        self.judge_overlaps()
        self.judge_tokens()
        self.judge_deletions()
        self.judge_writes()
        self.judge_results()
        self.judge_service()
        self.judge_order()
        self.judge_handovers()
        self.judge_remains()
        self.judge_processes()
        return {"violations": self.violations, "figures": self.figures, "records": self.records,
                "excused": self.excused}

    def count(self):
        records, kinds = self.records, {}
        for fault in records.faults:
            kinds[fault["kind"]] = kinds.get(fault["kind"], 0) + 1
        begin, end = records.span()
        words = [line[0] for story in records.stories.values() for line in story]
        self.figures.update({
            "seconds": round((end - begin) / SECOND), "faults": sum(kinds.values()), "faults by kind": kinds,
            "acquisitions": sum(1 for ask in records.asks if ask.held),
            "sections": {lock: len(sections) for lock, sections in records.sections.items()},
            "holders lost": words.count("lost"), "waiters requeued": words.count("requeued"),
            "downgrades": words.count("downgraded")})
        if not self.figures["acquisitions"]:
            self.object("nobody ever held anything")

    # -------------------------------------------------------------------------------------- mutual exclusion

    def excuse(self, early, late):
        """Why two sections may overlap, or None. Freezes count for those alone whom nobody stops meanwhile."""
        for fault in self.records.faults:
            for one, other in ((early, late), (late, early)):
                if fault.get("token") == one.token and fault.get("lock") == one.lock \
                        and other.start >= fault["deleted"]:
                    return "deleted"
                if one.pid in fault.get("frozen", ()) and fault["begin"] <= other.start \
                        and one.end <= fault["end"] + THAW_S * SECOND:
                    return "frozen"
        return None

    def judge_overlaps(self):
        overlaps = 0
        for sections in self.records.sections.values():
            inside = []
            for section in sections:
                inside = [earlier for earlier in inside if earlier.end > section.start]
                for earlier in filter(section.conflicts_with, inside):
                    why = self.excuse(earlier, section)
                    if why:
                        self.excused.append((why, earlier, section))
                        continue
                    overlaps += 1
                    self.object("%s: %d began at %.3f s, %.1f ms before the end of %d (tokens %d, %d; %s, %s)",
                                section.lock, section.pid, self.seconds(section.start),
                                (earlier.end - section.start) / 1e6, earlier.pid, section.token, earlier.token,
                                section.mode, earlier.mode)
                inside.append(section)
        reasons = [why for why, _, _ in self.excused]
        self.figures["overlaps"] = overlaps
        self.figures["overlaps announced"] = {why: reasons.count(why) for why in sorted(set(reasons))}

    def judge_tokens(self):
        """Between any two that exclude each other the later one has the higher token."""
        falling = 0
        for sections in self.records.sections.values():
            highest = {"exclusive": None, "shared": None}
            for section in sections:
                for mode, top in highest.items():
                    if top and top.conflicts_with(section) and top.token >= section.token \
                            and not self.excuse(top, section) and not is_downgraded(section, sections):
                        falling += 1
                        self.object("%s: %s token %d at %.3f s after %s token %d", section.lock, section.mode,
                                    section.token, self.seconds(section.start), mode, top.token)
                top = highest[section.mode]
                if not top or section.token > top.token:
                    highest[section.mode] = section
        self.figures["tokens falling"] = falling

    def judge_deletions(self):
        """Whoever held what was deleted is out soon."""
        longest = 0
        for fault in self.records.faults:
            for section in self.records.sections.get(fault.get("lock"), ()):
                if section.token == fault.get("token") and section.end > fault["deleted"]:
                    longest = max(longest, section.end - fault["deleted"])
        self.figures["longest stay after a deletion"] = longest / SECOND
        if longest > TOLD_S * SECOND and not any(why == "frozen" for why, _, _ in self.excused):
            self.object("the owner of a deleted contender stayed for %.1f s", longest / SECOND)

    # -------------------------------------------------------------------------------------------- the resource

    def judge_writes(self):
        counts = {"accepted": 0, "refused": 0}
        stale = 0
        for lock, writes in self.records.writes.items():
            highest = {"exclusive": 0, "shared": 0}     # accepted for certain, by the time it was logged
            pending = []
            for verdict, mode, before, after, pid, token in sorted(writes, key=lambda write: write[2]):
                counts[verdict] += 1
                while pending and pending[0][0] < before:
                    _, seen_mode, seen = pending.pop(0)
                    highest[seen_mode] = max(highest[seen_mode], seen)
                above = max(highest.values()) if mode == "exclusive" else highest["exclusive"]
                if verdict == "accepted":
                    bisect.insort(pending, (after, mode, token))
                    if token < above:
                        stale += 1
                        self.object("%s: the resource took token %d of %d after %d", lock, token, pid, above)
        self.figures.update({"writes": counts["accepted"], "stale writes refused": counts["refused"],
                             "stale writes accepted": stale})

    # ---------------------------------------------------------------------------------------- results, service

    def judge_results(self):
        removed, deletions = 0, sum(1 for fault in self.records.faults if "token" in fault)
        results = {}
        for ask in self.records.asks:
            if ask.is_command:
                is_right = ask.status in EXITS or ask.status is None
                is_right &= not (ask.status == -9 and not ask.is_killed)
            else:
                is_right = ask.status is None or ask.status in (RELEASES if ask.held else RESULTS)
                removed += ask.status == "ZKLOCK_REMOVED"
            results[str(ask.status)] = results.get(str(ask.status), 0) + 1
            if not is_right:
                self.object("%s: at %.3f s %s of %s ended with %s", ask.member, self.seconds(ask.asked), ask.mode,
                            ask.lock, ask.status)
        self.figures["results"] = results
        if removed > deletions:
            self.object("%d waiters were told that they were removed, %d contenders were", removed, deletions)

    def judge_service(self):
        worst = 0
        for mended, end in self.records.calm():
            for ask in self.records.asks:
                if ask.asked < mended and (ask.outcome() is None or ask.outcome() > mended) and not ask.is_killed:
                    served = min(ask.outcome() or end, end)
                    wait = served - mended - self.records.outage(mended, served)
                    worst = max(worst, wait)
                    if wait > SERVED_S * SECOND or (ask.outcome() is None and end == self.records.span()[1]):
                        self.object("%s waits for %s since %.3f s, %.1f s after the last fault", ask.member, ask.lock,
                                    self.seconds(ask.asked), wait / SECOND)
        self.figures["longest wait after the last fault of a storm"] = worst / SECOND
        self.figures["servers fallen out by themselves in calm"] = sum(
            self.records.outage(begin, end) for begin, end in self.records.calm()) / SECOND

    def judge_order(self):
        """In a calm time, who asked clearly earlier is served earlier, if its connection was there."""
        breaches = pairs = 0
        for begin, end in self.records.calm():
            asks = [ask for ask in self.records.asks if begin <= ask.asked and ask.held and ask.held <= end]
            for first in asks:
                for second in asks:
                    if not first.is_connected_since(begin) or first.is_requeued or first.lock != second.lock \
                            or "exclusive" not in (first.mode, second.mode) \
                            or second.asked < first.asked + FIFO_S * SECOND:
                        continue
                    pairs += 1
                    if second.held < first.held:
                        breaches += 1
                        self.object("%s: %s asked %.1f s before %s and held later", first.lock, first.member,
                                    (second.asked - first.asked) / SECOND, second.member)
        self.figures.update({"pairs in order": pairs - breaches, "pairs out of order": breaches})

    def aftermath(self, begin):
        """Who was killed or cut off before stands in the queue until its session has ended."""
        return AFTERMATH_S * SECOND if begin > self.records.span()[0] else 0

    def judge_handovers(self):
        """From one holder's leaving to the next one's beginning, where that one waited already; in calm times."""
        handovers = []
        for lock in self.records.locks:
            holds = sorted((ask for ask in self.records.asks if ask.lock == lock and ask.held and ask.left),
                           key=lambda ask: ask.held)
            for begin, end in self.records.calm():
                calm = [ask for ask in holds if begin + self.aftermath(begin) <= ask.held and ask.left <= end]
                for index, ask in enumerate(calm):
                    free = max((earlier.left for earlier in calm[max(0, index - 20):index]
                                if "exclusive" in (earlier.mode, ask.mode)), default=None)
                    if free and ask.asked < free <= ask.held:
                        handovers.append(ask.held - free)
        self.figures["hand-overs outside faults"] = len(handovers)
        if handovers:
            self.figures["median hand-over outside faults"] = statistics.median(handovers) / SECOND
            self.figures["longest hand-over outside faults"] = max(handovers) / SECOND

    # ------------------------------------------------------------------------------------------ what is left

    def judge_remains(self):
        remains = self.records.remains
        if not remains:
            self.object("the run did not come to its end")
            return
        self.figures["orphans"] = len(remains["children"])
        self.figures["watches left"] = remains["watches"]
        for name in remains["restless"]:
            self.object("%s never came to rest", name)
        for child in remains["children"]:
            self.object("left behind: %s", child)
        if sum(map(abs, remains["watches"])):
            self.object("watches left on the servers: %s", remains["watches"])

    def judge_processes(self):
        for name, story in self.records.stories.items():
            killed = {int(line[2]) for line in story if line[0] == "killed"}
            for line in story:
                if line[0] == "gone" and line[3] != "0" and int(line[2]) not in killed:
                    self.object("%s: process %s ended with %s at %.3f s", name, line[2], line[3],
                                self.seconds(line[1]))
        growth = [grown for samples in self.records.samples.values() if (grown := self.growth_of(samples)) is not None]
        at_rest = list((self.records.remains or {}).get("at_rest", {}).values())
        self.figures["most growth of a process in kB"] = round(max(growth, default=0))
        self.figures["threads at rest"] = sorted({figures[1] for figures in at_rest})
        self.figures["descriptors at rest"] = sorted({figures[2] for figures in at_rest})
        if max(growth, default=0) > GROWTH_KB:
            self.object("a process grew by %d kB", max(growth))
        if len(self.figures["threads at rest"]) > 1 or len(self.figures["descriptors at rest"]) > 1:
            self.object("threads or descriptors differ between processes at rest: %s, %s",
                        self.figures["threads at rest"], self.figures["descriptors at rest"])

    @staticmethod
    def growth_of(samples):
        """Kilobytes from the second to the last quarter of a process's life; None for a short one."""
        if len(samples) < 24:
            return None
        quarter = len(samples) // 4
        early, late = samples[quarter:2 * quarter], samples[-quarter:]
        return statistics.median(figures[1] for figures in late) - statistics.median(figures[1] for figures in early)


def is_downgraded(section, sections):
    """A reader in a writer's place: its token is the writer's."""
    return section.mode == "shared" and any(other.mode == "exclusive" and other.token == section.token
                                            for other in sections)
