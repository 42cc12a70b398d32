"""When the servers did not all serve, by their own logs: on a busy machine they fall out without an announced fault."""
import datetime
import re
import subprocess
import time

from recovery import merged
from world import clock_ns

SERVES = re.compile(r"Have quorum of supporters|received UPTODATE")
SERVES_NOT = re.compile(r"QuorumPeer - LOOKING|PeerState set to LOOKING|Starting quorum peer")
# The leader gives a follower up that has acknowledged nothing for the sync limit.
STUCK = re.compile(r"LearnerHandler - Closing connection to peer due to transaction timeout")
STUCK_NS = 8 * 1000000000


def parse_time(text):
    """Docker's stamp of a line, in nanoseconds of CLOCK_REALTIME."""
    whole, fraction = text.rstrip("Z").split(".")
    seconds = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return int(seconds) * 1000000000 + int(fraction.ljust(9, "0"))


def changes_of(log):
    """(time, whether the server serves from then on)"""
    for line in log.splitlines():
        if SERVES.search(line):
            yield parse_time(line.split(" ", 1)[0]), True
        elif SERVES_NOT.search(line):
            yield parse_time(line.split(" ", 1)[0]), False


def stuck_in(log):
    for line in filter(STUCK.search, log.splitlines()):
        when = parse_time(line.split(" ", 1)[0])
        yield when - STUCK_NS, when


def not_serving(logs):
    """[(begin, end)] on CLOCK_REALTIME, from the logs of all servers; the last may have no end."""
    changes = sorted((when, number, serves) for number, log in enumerate(logs) for when, serves in changes_of(log))
    serving, spans, begin = set(), [], changes[0][0] if changes else None
    for when, number, serves in changes:
        (serving.add if serves else serving.discard)(number)
        if len(serving) == len(logs) and begin is not None:
            spans.append((begin, when))
            begin = None
        elif len(serving) < len(logs) and begin is None:
            begin = when
    return spans + ([(begin, None)] if begin is not None else [])


def log_of(container):
    """All of it: the servers write to standard error."""
    return subprocess.run(["docker", "logs", "--timestamps", container], stdin=subprocess.DEVNULL, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True).stdout


def outages_of(servers):
    """The same on the clock of the records."""
    ahead = clock_ns() - time.time_ns()
    logs = [log_of(server.container) for server in servers]
    spans = not_serving(logs) + [span for log in logs for span in stuck_in(log)]
    return merged((begin + ahead, end + ahead if end else clock_ns()) for begin, end in spans)
