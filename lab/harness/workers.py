"""The contenders as the harness sees them: commands in, events out."""
import os
import subprocess
import threading

from processes import Program, eventually, now_ns


class Story:
    """What happened in one cell, in order of arrival: (nanoseconds, who, event, detail)."""

    def __init__(self):
        self.events = []
        self.changed = threading.Condition()

    def add(self, who, event, detail="", when_ns=None):
        with self.changed:
            self.events.append((when_ns or now_ns(), who, event, detail))
            self.changed.notify_all()


class Worker:
    def __init__(self, cell, name, servers, is_renewed):
        self.name, self.story = name, cell.story
        self.looks_file = os.path.join(cell.directory, "looks-" + name)
        words = [cell.place.worker, cell.lock.name, servers, cell.name, str(cell.ttl_ms),
                 "renewed" if is_renewed else "fixed", cell.store, self.looks_file]
        self.log = os.path.join(cell.directory, name + ".log")
        self.program = Program(words, self.log, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        self.is_done = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.program.process.stdout:
            when, _, rest = line.decode().strip().partition(" ")
            event, _, detail = rest.partition(" ")
            self.story.add(self.name, event, detail.strip(), int(when))
        self.is_done = True
        with self.story.changed:
            self.story.changed.notify_all()

    def send(self, *commands):
        for command in commands:
            self.program.process.stdin.write((command + "\n").encode())
        self.program.process.stdin.flush()

    def has(self, *wanted):
        return [entry for entry in self.story.events if entry[1] == self.name and entry[2] in wanted]

    def wait(self, *wanted, count=1, limit_s=60):
        """Until so many of these events are there. False: the limit passed, or the worker is gone."""
        with self.story.changed:
            self.story.changed.wait_for(lambda: len(self.has(*wanted)) >= count or self.is_done, limit_s)
        return len(self.has(*wanted)) >= count

    def stop(self):
        self.program.stop()
        self.story.add(self.name, "stop")

    def was_stopped(self):
        """After a point that stops."""
        self.wait("point")
        self.program.wait_stopped()
        self.story.add(self.name, "stop", "", self.has("point")[-1][0])

    def go_on(self):
        self.story.add(self.name, "cont")
        self.program.go_on()

    def kill(self):
        self.story.add(self.name, "killed")
        self.program.kill()

    def wait_dead(self):
        eventually(lambda: not self.program.is_running(), 30, "a death")
        self.reader.join()
        self.story.add(self.name, "killed", "", self.has("point")[-1][0])

    def last_word(self):
        """Why it has not opened its lock."""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return (log.read().strip().splitlines() or ["no server answered"])[-1]

    def looks(self):
        with open(self.looks_file, "rb") as file:
            return int.from_bytes(file.read(8), "little")

    def end(self):
        """Kills what still runs; the story is told by then."""
        self.program.kill()
        try:
            self.program.process.stdin.close()
        except BrokenPipeError:
            pass
        self.reader.join(10)
