#!/usr/bin/python3
"""Plants what the judge of a chaos run has to see, one by one, into the records of a run where all is well."""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True

import report           # noqa: E402
from judge import Judge     # noqa: E402

SECOND = 1000000000
# Two programs in turn under "north", tokens 11, 12; readers together under "east", then a writer.
CLEAN = {
    "north.exclusive": ["start 1 10.0 11", "alive 1 10.5 11", "stop 1 11.0 11", "start 2 11.1 12", "stop 2 12.0 12"],
    "north.shared": [],
    "north.writes": ["accepted exclusive 10.1 10.1 1 11", "accepted exclusive 11.2 11.2 2 12"],
    "east.exclusive": ["start 1 15.0 23", "stop 1 15.5 23"],
    "east.shared": ["start 1 13.0 21", "start 2 13.1 22", "stop 1 14.0 21", "stop 2 14.1 22"],
    "east.writes": ["accepted shared 13.2 13.2 1 21", "accepted exclusive 15.1 15.1 1 23"],
    "a-program.story": ["asks 9.0 north exclusive -1", "held 10.0 north exclusive 11", "left 11.0 north exclusive 11",
                        "released 11.01 north exclusive ZKLOCK_OK", "asks 12.5 east shared -1",
                        "held 13.0 east shared 21", "left 14.0 east shared 21",
                        "released 14.1 east shared ZKLOCK_OK", "resting 17.0", "gone 18.0 1 0"],
    "b-program.story": ["asks 9.1 north exclusive -1", "held 11.1 north exclusive 12", "left 12.0 north exclusive 12",
                        "released 12.01 north exclusive ZKLOCK_OK", "asks 13.0 east shared -1",
                        "held 13.1 east shared 22", "left 14.1 east shared 22",
                        "released 14.2 east shared ZKLOCK_OK", "resting 17.0", "gone 18.0 2 0"],
    "faults": [{"kind": "server-stop", "target": "zk1", "begin": 5.0, "end": 6.0}],
    "phases": [{"phase": "storm", "begin": 4.0, "end": 6.5}, {"phase": "calm", "begin": 6.5, "end": 16.0}],
    "remains": [{"restless": [], "children": [], "watches": [0, 0, 0],
                 "at_rest": {"a-program": [3000, 5, 20], "b-program": [3100, 5, 20]}}],
    "samples": [],
}


def planted(**changes):
    return {**CLEAN, **{name.replace("_", "."): lines for name, lines in changes.items()}}


OVERLAP = ["start 1 10.0 11", "stop 1 11.0 11", "start 2 10.9 12", "stop 2 12.0 12"]
DELETION = {"kind": "contender-delete", "target": "x", "begin": 10.8, "end": 10.9, "token": 11, "lock": "north",
            "deleted": 10.8}
FREEZE = {"kind": "holder-freeze", "target": "x", "begin": 10.2, "end": 10.8, "frozen": [1]}
STORY = CLEAN["a-program.story"]
# what is planted, and a piece of what has to be objected; None: nothing
PLANTED = {
    "nothing": ({}, None),
    "two holders": (planted(north_exclusive=OVERLAP), "before the end of 1"),
    "two holders, one deleted": (planted(north_exclusive=OVERLAP, faults=[DELETION]), None),
    "two holders, another one deleted":
        (planted(north_exclusive=OVERLAP, faults=[{**DELETION, "token": 9}]), "before the end"),
    "two holders, deleted later":
        (planted(north_exclusive=OVERLAP, faults=[{**DELETION, "deleted": 10.95}]), "before the end"),
    "two holders, one frozen": (planted(north_exclusive=OVERLAP, faults=[FREEZE]), None),
    "two holders, frozen long ago":
        (planted(north_exclusive=OVERLAP, faults=[{**FREEZE, "end": 8.0}]), "before the end"),
    "writer beside a reader":
        (planted(east_exclusive=["start 1 14.05 23", "stop 1 15.5 23"]), "before the end of 2"),
    "token that falls":
        (planted(north_exclusive=["start 1 10.0 13", "stop 1 11.0 13", "start 2 11.1 12"]), "token 12"),
    "reader's token below a writer's":
        (planted(east_exclusive=["start 3 12.0 40", "stop 3 12.5 40"]), "after exclusive token 40"),
    "owner who stays":
        (planted(north_exclusive=["start 1 10.0 11", "stop 1 30.0 11"], faults=[DELETION]), "stayed for 19"),
    "stale write": (planted(north_writes=["accepted exclusive 10.1 10.1 1 12", "accepted exclusive 11.2 11.2 2 11"]),
                    "took token 11"),
    "odd result": (planted(**{"a-program_story": STORY[:3] + ["released 11.01 north exclusive ZKLOCK_INTERNAL"]}),
                   "ended with ZKLOCK_INTERNAL"),
    "removal of nobody's": (planted(**{"a-program_story": STORY + ["asks 15.9 north exclusive -1",
                                                                  "ended 15.95 north exclusive ZKLOCK_REMOVED"]}),
                            "1 waiters were told"),
    "waiter who is not served": (planted(**{"a-program_story": ["asks 6.0 north exclusive -1"]}), "waits for north"),
    "waiter who is not served while servers are out": (planted(
        **{"a-program_story": ["asks 6.0 north exclusive -1", "held 80.0 north exclusive 11",
                               "left 80.1 north exclusive 11",
                               "released 80.2 north exclusive ZKLOCK_OK", "resting 81.0"]},
        phases=[CLEAN["phases"][0], {"phase": "calm", "begin": 6.5, "end": 90.0}],
        remains=[{**CLEAN["remains"][0], "outages": [[7.0, 50.0]]}]), None),
    "order":
        (planted(**{"b-program_story": ["asks 6.6 east exclusive 0", "held 6.7 east exclusive 1",
                                        "left 6.8 east exclusive 1", "released 6.81 east exclusive ZKLOCK_OK",
                                        "asks 6.9 north exclusive -1"] + CLEAN["b-program.story"][1:],
                    "a-program_story": ["asks 9.95 north exclusive -1"] + STORY[1:]}), "held later"),
    "contender left": (planted(remains=[{**CLEAN["remains"][0], "children": ["/chaos/north/x"]}]), "left behind"),
    "watch left": (planted(remains=[{**CLEAN["remains"][0], "watches": [0, 1, 0]}]), "watches left"),
    "no rest": (planted(remains=[{**CLEAN["remains"][0], "restless": ["a-program"]}]), "never came to rest"),
    "no end": (planted(remains=[]), "did not come to its end"),
    "thread left":
        (planted(remains=[{**CLEAN["remains"][0], "at_rest": {"a": [1, 5, 20], "b": [1, 6, 20]}}]), "differ"),
    "crash": (planted(**{"a-program_story": STORY[:-1] + ["gone 18.0 1 -11"]}), "ended with -11"),
    "killed": (planted(**{"a-program_story": STORY[:-1] + ["killed 17.9 1", "gone 18.0 1 -9"]}), None),
    "growth": (planted(samples=["%d.0 a-program 1 %d 5 20" % (i, 3000 + 100 * i) for i in range(40)]), "grew by"),
    "odd line": (planted(north_exclusive=["begin 1 10.0 11"]), "not understood"),
    "nobody": (planted(**{"a-program_story": [], "b-program_story": []}), "nobody ever held"),
}


def scaled(value):
    if isinstance(value, dict):
        return {key: scaled(one) for key, one in value.items()}
    if isinstance(value, list):
        return [scaled(one) for one in value]
    return int(value * SECOND) if isinstance(value, float) else value


def in_nanoseconds(line):
    """Times stand in seconds above."""
    if isinstance(line, dict):
        return json.dumps(scaled(line))
    return " ".join(str(int(float(word) * SECOND)) if "." in word else word for word in line.split())


def verdict_of(files):
    with tempfile.TemporaryDirectory() as directory:
        for name, lines in {**CLEAN, **files}.items():
            with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
                out.writelines(in_nanoseconds(line) + "\n" for line in lines)
        verdict = Judge(directory).judge()
        report.write(directory, verdict)
        return verdict


def main():
    failures = 0
    for what, (files, expected) in PLANTED.items():
        found = verdict_of(files)["violations"]
        if expected is None and found or expected and not any(expected in violation for violation in found):
            failures += 1
            print("%s: expected %s, got %s" % (what, expected, found))
    print("%d planted, %d not as expected" % (len(PLANTED), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
