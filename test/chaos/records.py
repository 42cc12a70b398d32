"""What a chaos run recorded, read back: sections, writes, stories, faults, phases, samples."""
import glob
import json
import os

SECOND = 1000000000


class Section:
    """One stay under a lock: from the first to the last moment at which its owner took itself to be inside."""

    def __init__(self, lock, mode, pid, start, token):
        self.lock, self.mode, self.pid, self.token = lock, mode, pid, token
        self.start = self.end = start
        self.is_finished = False

    def conflicts_with(self, other):
        is_same = self.pid == other.pid and self.token == other.token
        return not is_same and "exclusive" in (self.mode, other.mode)


class Ask:
    """One wish for a lock, and what became of it. Times are None for what never came."""

    def __init__(self, member, is_command, time, lock, mode, limit):
        self.member, self.is_command, self.lock, self.mode = member, is_command, lock, mode
        self.asked, self.limit = time, limit
        self.held = self.left = self.ended = self.token = self.status = None
        self.is_killed = self.is_requeued = False
        self.previous = None        # of the same program

    def is_connected_since(self, begin):
        """A command connects anew each time."""
        before = None if self.is_command else self.previous
        return before is not None and before.held is not None and before.held >= begin

    def outcome(self):
        return self.held or self.ended


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as text:
        return text.read().splitlines()


class Records:
    def __init__(self, directory):
        self.directory = directory
        self.malformed = []
        self.locks = sorted({os.path.basename(path).split(".")[0] for path in glob.glob(directory + "/*.writes")})
        self.sections = {lock: self.read_sections(lock) for lock in self.locks}
        self.writes = {lock: self.read_writes(lock) for lock in self.locks}
        self.asks, self.stories = [], {}
        for path in sorted(glob.glob(directory + "/*.story")):
            self.read_story(os.path.basename(path)[:-len(".story")], path)
        self.faults = [json.loads(line) for line in lines_of(directory + "/faults")]
        self.phases = [json.loads(line) for line in lines_of(directory + "/phases")]
        remains = lines_of(directory + "/remains")
        self.remains = json.loads(remains[0]) if remains else None
        # [begin, end] of each time in which not all servers served.
        self.outages = (self.remains or {}).get("outages", [])
        self.samples = self.read_samples()

    def read_sections(self, lock):
        sections = []
        for mode in ("exclusive", "shared"):
            running = {}
            for line in lines_of("%s/%s.%s" % (self.directory, lock, mode)):
                try:
                    mark, pid, time, token = line.split()
                    pid, time, token = int(pid), int(time), int(token)
                except ValueError:
                    self.malformed.append("%s.%s: %s" % (lock, mode, line))
                    continue
                if mark == "start":
                    running[pid] = Section(lock, mode, pid, time, token)
                    sections.append(running[pid])
                elif pid not in running or running[pid].token != token:
                    self.malformed.append("%s.%s: without a start: %s" % (lock, mode, line))
                else:
                    running[pid].end = max(running[pid].end, time)
                    running[pid].is_finished = mark == "stop"
        return sorted(sections, key=lambda section: section.start)

    def read_writes(self, lock):
        writes = []
        for line in lines_of("%s/%s.writes" % (self.directory, lock)):
            try:
                verdict, mode, before, after, pid, token = line.split()
                writes.append((verdict, mode, int(before), int(after), int(pid), int(token)))
            except ValueError:
                self.malformed.append("%s.writes: %s" % (lock, line))
        return writes

    def read_story(self, name, path):
        story, current = [], None
        is_command = name.endswith("-command")
        for line in lines_of(path):
            words = line.split()
            try:
                words[1] = int(words[1])
                current = self.take(words, current, name, is_command)
            except (ValueError, IndexError, AttributeError):
                self.malformed.append("%s.story: %s" % (name, line))
                continue
            story.append(words)
        self.stories[name] = story

    def take(self, words, ask, name, is_command):
        """Fits a line of a story to the ask that it is about, and returns that."""
        word, time = words[0], words[1]
        if word == "asks":
            ask, previous = Ask(name, is_command, time, words[2], words[3], int(words[4])), ask
            ask.previous = previous
            self.asks.append(ask)
        elif word == "held":
            ask.held, ask.token = time, int(words[4])
        elif word == "left":
            ask.left = time
        elif word in ("ended", "released"):
            ask.ended, ask.status = time, words[4]
        elif word == "exit":
            ask.ended, ask.status = time, int(words[4])
        elif word == "requeued" and ask:
            ask.is_requeued = True
        elif word == "killed" and ask and not ask.ended:
            ask.is_killed = True
        elif word == "gone" and ask and not ask.ended:
            ask.ended = time
        return ask

    def read_samples(self):
        """(name, pid) -> [(time, kilobytes, threads, descriptors)]"""
        samples = {}
        for line in lines_of(self.directory + "/samples"):
            time, name, pid, *figures = line.split()
            samples.setdefault((name, int(pid)), []).append((int(time), *map(int, figures)))
        return samples

    def outage(self, begin, end):
        """How much of a time the servers did not all serve."""
        return sum(max(0, min(end, until) - max(begin, since)) for since, until in self.outages)

    def span(self):
        return self.phases[0]["begin"], self.phases[-1]["end"]

    def calm(self):
        """(begin, end) of each time without a fault, from the mending of the last to the next storm."""
        spans, is_open = [], False
        for phase in self.phases:
            if phase["phase"] == "storm":
                is_open = False
            elif is_open:
                spans[-1] = (spans[-1][0], phase["end"])
            else:
                spans.append((phase["begin"], phase["end"]))
                is_open = True
        return spans
