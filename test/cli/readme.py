#!/usr/bin/python3
"""Runs the examples of README.md as they are written, against a private server.

usage: readme.py CASE SOURCE_DIR COMMAND
cases: service, cron, rolling, container, flock, completion
"""
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile

LIMIT_S = 60
SKIPPED = 77


def fail(text):
    print("readme: " + text)
    sys.exit(1)


def block(readme, language):
    found = re.search(r"^```%s\n(.*?)^```$" % language, readme, re.S | re.M)
    if not found:
        fail("there is no example in %s" % language)
    return found[1]


class Stage:
    """A server, and a directory in front of PATH with the command and the programs that the examples name."""

    def __init__(self, directory, command):
        self.directory = directory
        os.symlink(command, os.path.join(directory, "zklock"))
        self.environment = dict(os.environ, PATH="%s:%s" % (directory, os.environ["PATH"]))
        self.server = subprocess.Popen([command, "server"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.server.stdout.readline()
        if not line:
            print(self.server.stderr.read())
            sys.exit(1 if os.environ.get("ZKLOCK_REQUIRE_ALL") == "1" else SKIPPED)
        self.environment["ZKLOCK_SERVERS"] = line.strip().split("=", 1)[1]

    def program(self, name, script):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, 0o755)

    def start(self, line, **options):
        environment = dict(self.environment, **options.pop("more", {}))
        return subprocess.Popen(shlex.split(line) if isinstance(line, str) else line, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def close(self):
        self.server.terminate()
        self.server.wait(LIMIT_S)


def end(process, status):
    out, error = process.communicate(timeout=LIMIT_S)
    if process.returncode != status:
        fail("status %s instead of %s: %s%s" % (process.returncode, status, out, error))
    return out


def service(stage, readme):
    unit = block(readme, "ini")
    line = re.search(r"^ExecStart=(.*)$", unit, re.M)[1]
    if "Type=notify" not in unit or not line.startswith("zklock elect "):
        fail("the unit is another one: " + unit)
    stage.program("billing-daemon", 'trap "exit 0" TERM; echo leads; while :; do sleep 0.1; done')
    path = os.path.join(stage.directory, "notify")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(path)
    manager.settimeout(LIMIT_S)
    process = stage.start(line, more={"NOTIFY_SOCKET": path})
    # Until it holds it may tell more than once what it waits for.
    while not (message := manager.recv(1000)).startswith(b"READY=1\n"):
        if not message.startswith(b"STATUS="):
            fail("systemd is told something else: %r" % message)
    if process.stdout.readline() != "leads\n":
        fail("the daemon was not started")
    process.terminate()
    end(process, 0)


def cron(stage, readme):
    fields = block(readme, "crontab").strip().split(None, 6)
    line = fields[6]
    ran = os.path.join(stage.directory, "ran")
    stage.program("nightly-report", "echo ran >>%s; sleep 1" % shlex.quote(ran))
    for _ in range(2):
        hosts = [stage.start(line) for _ in range(3)]
        for host in hosts:
            if end(host, 0):
                fail("cron would send a mail")
    with open(ran, encoding="utf-8") as stream:
        if stream.read() != "ran\n":
            fail("it did not run exactly once")


def rolling(stage, readme):
    """Five hosts at once: never more than two of them are down."""
    line = block(readme, "bash").strip()
    log = os.path.join(stage.directory, "log")
    stage.program("systemctl", "echo down >>%s; sleep 0.3" % shlex.quote(log))
    stage.program("curl", "echo up >>%s" % shlex.quote(log))
    hosts = [stage.start(["bash", "-c", line]) for _ in range(5)]
    for host in hosts:
        end(host, 0)
    down = most = 0
    with open(log, encoding="utf-8") as stream:
        for word in stream.read().split():
            down += 1 if word == "down" else -1
            most = max(most, down)
    if down != 0 or not 1 <= most <= 2:
        fail("%d of five hosts were down at a time, %d are" % (most, down))


def container(stage, readme):
    lines = dict(line.split(" ", 1) for line in block(readme, "dockerfile").strip().split("\n"))
    argv = json.loads(lines["ENTRYPOINT"]) + json.loads(lines["CMD"])
    # An orphan that ends long before the command does: process 1 has to reap it.
    stage.program("import", 'echo "$1 $$"; (sleep 0.1 &); sleep 1; ps -e -o stat= | grep -c "^Z"; exit 5')
    namespace = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run(namespace + ["true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        sys.exit(SKIPPED)
    out = end(stage.start(namespace + argv), 5).split("\n")
    if not out[0].startswith("--all ") or out[1] != "0":
        fail("process 1 does not do: %r" % out)


def flock(stage, readme):
    """The forms of the table that replace flock's."""
    rows = [row for row in readme.split("\n") if row.startswith("| `flock ")]
    stage.program("COMMAND", "echo ran")
    stage.program("a", "echo piped")
    stage.program("b", "cat")
    if len(rows) != 5:
        fail("%d rows" % len(rows))
    for row in rows:
        line = re.findall(r"`(zklock [^`]*)`", row)[0].replace("\\|", "|")
        out = end(stage.start(line), 0)
        if out not in ("ran\n", "piped\n"):
            fail("%s printed %r" % (line, out))


def complete_strange_names(stage, script):
    """Names of locks are anybody's: none of them is run, and what is inserted is quoted."""
    trap = os.path.join(stage.directory, "trap")
    names = ["/try/$(touch${IFS}trap)", "/try/`touch${IFS}trap`", "/try/a;b", "/try/$HOME"]
    words = " ".join(shlex.quote(name) for name in names)
    holder = stage.start("zklock exec %s -- sh -c 'echo held; exec sleep 300'" % words)
    if holder.stdout.readline() != "held\n":
        fail("no holder of locks with strange names")
    bash = "cd %s; source %s; COMP_WORDS=(zklock status /try/); COMP_CWORD=2; _zklock; printf '%%s\\n' \"${COMPREPLY[@]}\"" % (
        shlex.quote(stage.directory), shlex.quote(script))
    out = end(stage.start(["bash", "-c", bash]), 0)
    if not out.strip():
        fail("strange names are not completed at all")
    if os.path.exists(trap):
        fail("completion has run what stands in a lock's name")
    again = end(stage.start(["bash", "-c", "printf '%s\\n' " + " ".join(out.split("\n"))]), 0)
    if sorted(again.split("\n")[:-1]) != sorted(names):
        fail("strange names are completed to %r" % out)
    holder.terminate()
    end(holder, 143)


def completion(stage, source_dir):
    script = os.path.join(source_dir, "src", "cli", "completion", "zklock.bash")
    holder = stage.start("zklock exec /jobs/backup -- sh -c 'echo held; exec sleep 300'")
    if holder.stdout.readline() != "held\n":
        fail("no holder")
    wanted = {"ele": "elect", "status --wa": "--watch", "exec --once": "--once-per", "exec --on-loss w": "warn",
              "status /jo": "/jobs/backup", "doctor --js": "--json", "exec /a -- unshar": "unshare"}
    for typed, completed in wanted.items():
        words = ["zklock"] + typed.split(" ")
        bash = "source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _zklock; printf '%%s\\n' \"${COMPREPLY[@]}\"" % (
            shlex.quote(script), " ".join(shlex.quote(word) for word in words), len(words) - 1)
        out = end(stage.start(["bash", "-c", bash]), 0)
        if completed not in out.split():
            fail("'%s' is completed to %r, not to %s" % (typed, out, completed))
    holder.terminate()
    end(holder, 143)
    complete_strange_names(stage, script)
    options = end(stage.start("zklock exec --help"), 0)
    with open(script, encoding="utf-8") as stream:
        known = stream.read()
    missing = [option for option in re.findall(r"--[a-z][a-z-]+", options) if option not in known]
    if missing:
        fail("bash does not complete %s" % ", ".join(missing))


def main(case, source_dir, command):
    with open(os.path.join(source_dir, "README.md"), encoding="utf-8") as stream:
        readme = stream.read()
    with tempfile.TemporaryDirectory() as directory:
        stage = Stage(directory, command)
        try:
            if case == "completion":
                completion(stage, source_dir)
            else:
                {"service": service, "cron": cron, "rolling": rolling, "container": container, "flock": flock}[case](stage, readme)
        finally:
            stage.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
