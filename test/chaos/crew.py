"""The contending processes of a chaos run, and the stories that they tell (see contender.c for the words)."""
import os
import random
import signal
import subprocess
import threading
import time

from world import clock_ns

REST_LIMIT_S = 90
SAMPLE_S = 5


def descendants(pid):
    """A process and all below it, as far as they can be found now."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            for task in os.listdir("/proc/%d/task" % one):
                with open("/proc/%d/task/%s/children" % (one, task), encoding="ascii") as children:
                    todo += [int(child) for child in children.read().split()]
        except OSError:
            pass
    return found


class Member:
    """One of the contending processes. It tells its story; it may be killed, and begins anew."""

    def __init__(self, name, host, settings):
        self.name, self.host, self.settings = name, host, settings
        self.is_veteran = False
        self.process = None
        self.latest = ()            # the words of the latest line
        self.keys = {}              # session id -> password, both in hexadecimal, of what runs now
        self.is_wanted = True
        self.story = open("%s/%s.story" % (settings.directory, name), "a", buffering=1, encoding="utf-8")
        self.lock = threading.Lock()

    def tell(self, line):
        words = line.split()
        with self.lock:
            self.story.write(line.rstrip("\n") + "\n")
            if len(words) > 1 and words[0] == "key":
                self.keys[words[2]] = words[3]
            elif words and words[0] not in ("revoked", "requeued"):
                self.latest = words

    def note(self, word, *more):
        self.tell(" ".join([word, str(clock_ns()), *map(str, more)]))

    def enter(self, *command):
        return ["nsenter", "--target", str(self.host.pid), "--net", "--", *command]

    def is_inside(self):
        return bool(self.latest) and self.latest[0] == "held"

    def is_waiting(self):
        return bool(self.latest) and self.latest[0] == "asks"

    def pid(self):
        process = self.process
        return process.pid if process and process.poll() is None else None

    def kill(self):
        """As a machine would: its children stay."""
        pid = self.pid()
        if pid:
            self.note("killed", pid)
            os.kill(pid, signal.SIGKILL)

    def freeze(self, is_alone):
        """Returns the processes that stand still."""
        pid = self.pid()
        if not pid:
            return []
        frozen = [pid] if is_alone else descendants(pid)
        return [one for one in frozen if send(one, signal.SIGSTOP)]


def send(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


class LibraryMember(Member):
    """A program that uses the library for as long as it lives."""

    def start(self):
        """To be called from a thread that lives as long as the program: it dies with it."""
        settings = self.settings
        self.keys = {}
        self.note("starts", self.name)
        self.process = subprocess.Popen(
            self.enter(settings.contender, settings.servers, str(settings.timeout_ms(self.name)),
                       str(random.randrange(1 << 30)), settings.directory, *settings.locks),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, args=(self.process,), daemon=True).start()

    def listen(self, process):
        for line in process.stdout:
            self.tell(line)
        self.note("gone", process.pid, process.wait())

    def revive(self):
        if self.is_wanted and self.process.poll() is not None:
            self.start()

    def rest(self):
        if self.pid():
            self.process.stdin.write("rest\n")
            self.process.stdin.flush()

    def is_resting(self):
        return not self.pid() or self.latest[:1] == ["resting"]

    def finish(self):
        self.is_wanted = False
        if self.pid():
            self.process.stdin.close()

    def measure(self):
        """Resident kilobytes, threads and descriptors now; None where it is gone."""
        pid = self.pid()
        try:
            with open("/proc/%d/status" % pid, encoding="ascii") as text:
                fields = dict(line.split(":", 1) for line in text if ":" in line)
            return (int(fields["VmRSS"].split()[0]), int(fields["Threads"]), len(os.listdir("/proc/%d/fd" % pid)))
        except (OSError, TypeError, KeyError):
            return None


class CommandMember(Member):
    """A shell's loop around `zklock exec`."""

    def start(self):
        threading.Thread(target=self.repeat, daemon=True).start()

    def repeat(self):
        chance = random.Random(random.randrange(1 << 30))
        while self.is_wanted:
            self.run_once(chance)
            time.sleep(chance.uniform(0.05, 0.8))
        self.note("resting")

    def run_once(self, chance):
        settings = self.settings
        kind, path = chance.choice(settings.locks).split("=")
        is_shared = kind == "rw" and chance.random() < 0.6
        mode = "shared" if is_shared else "exclusive"
        lock = path.rsplit("/", 1)[1]
        limit = [] if chance.random() < 0.8 else ["-w", "%.1f" % chance.uniform(0.5, 6)]
        self.note("asks", lock, mode, int(float(limit[1]) * 1000) if limit else -1)
        self.process = subprocess.Popen(
            # It ends with the run, in whatever way that ends; its keeper sees to the rest.
            self.enter("setpriv", "--pdeathsig", "KILL", settings.command, "exec", "-q", "-S", settings.servers,
                       "-T", "%g" % (settings.timeout_ms(self.name) / 1000),
                       *(["--style", "curator-rw"] if kind == "rw" else []), *(["-s"] if is_shared else []), *limit,
                       path, "--", settings.contender, "section", settings.directory, lock, mode,
                       str(chance.choice((20, 100, 100, 300, 1500)))),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            self.tell(line)
        self.note("exit", lock, mode, self.process.wait())

    def revive(self):
        pass

    def rest(self):
        self.is_wanted = False

    def is_resting(self):
        return self.latest[:1] == ["resting"]

    def finish(self):
        self.is_wanted = False

    def measure(self):
        return None


class Crew:
    """All of them: on each host some programs and one shell."""

    def __init__(self, hosts, settings, programs_each=3):
        self.members = []
        for host in hosts:
            for number in range(1, programs_each + 1):
                self.members.append(LibraryMember("%s-program%d" % (host.name, number), host, settings))
            self.members.append(CommandMember("%s-command" % host.name, host, settings))
        for host in hosts:
            next(member for member in self.members if member.host is host).is_veteran = True
        self.samples = open(settings.directory + "/samples", "w", buffering=1, encoding="utf-8")
        self.next_sample_ns = 0

    def start(self):
        for member in self.members:
            member.start()

    def revive(self):
        for member in self.members:
            member.revive()

    def sample(self):
        if clock_ns() < self.next_sample_ns:
            return
        self.next_sample_ns = clock_ns() + SAMPLE_S * 1000000000
        for member in self.members:
            measured = member.measure()
            if measured:
                self.samples.write("%d %s %d %d %d %d\n" % (clock_ns(), member.name, member.pid() or 0, *measured))

    def rest(self):
        """Lets all finish their rounds; those that do not within the limit are returned."""
        end = time.monotonic() + REST_LIMIT_S
        for member in self.members:
            member.rest()
        while time.monotonic() < end:
            if all(member.is_resting() for member in self.members):
                return []
            time.sleep(0.1)
        return [member.name for member in self.members if not member.is_resting()]

    def finish(self):
        for member in self.members:
            member.finish()
        for member in self.members:
            if member.process:
                member.process.wait()
            member.story.flush()
