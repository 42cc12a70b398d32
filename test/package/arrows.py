#!/usr/bin/python3
"""Checks that the layers of src/ include each other only along the arrows of src/README.md.

usage: arrows.py SOURCE_DIR   check the project
       arrows.py --self-test  plant violations in a scratch tree and see that each is reported
"""
import os
import re
import sys
import tempfile

# layer -> what it may include besides its own directory and the C and POSIX headers
ARROWS = {
    "base": {"zklock.h"},
    "recipe": set(),
    "session": {"zklock.h", "base"},
    "lock": {"zklock.h", "zklock_cohort.h", "zklock_observer.h", "base", "recipe", "session"},
    "cli": {"zklock.h"},
}
# Single headers besides: what a session knows of leases and of names is arithmetic, and that is the recipe's.
SINGLE_HEADERS = {"session": {"recipe/lease.h", "recipe/name.h"}}
# The recipe is pure: of the C library it may see types, limits, memory and string functions.
PURE_HEADERS = {"assert.h", "limits.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h"}
# Who may speak ZooKeeper: one store, and the demonstration's shared counter.
ZOOKEEPER_SPEAKERS = re.compile(r"^(session/zk_store\w*|cli/demo_counter\w*)\.[ch]$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def target_of(name, source_dir, layer):
    """The layer that an include in quotes leads to, or the header's own name."""
    beside = os.path.join(source_dir, "src", layer, name)
    if os.path.exists(beside):
        name = os.path.relpath(os.path.normpath(beside), os.path.join(source_dir, "src"))
    first = name.split("/")[0]
    return first if "/" in name else name


def objection(kind, name, path, layer, source_dir):
    """Why `path` may not include `name`, or None."""
    if name.startswith("zookeeper"):
        return None if ZOOKEEPER_SPEAKERS.match(path) else "only the store speaks ZooKeeper"
    if kind == "<":
        if layer == "recipe" and name not in PURE_HEADERS:
            return "the recipe is pure"
        return None
    if name in SINGLE_HEADERS.get(layer, ()):
        return None
    target = target_of(name, source_dir, layer)
    if target == layer or target in ARROWS[layer]:
        return None
    return "%s may include only %s" % (layer, ", ".join(sorted(ARROWS[layer] | {layer})))


def violations(source_dir):
    root = os.path.join(source_dir, "src")
    found, count = [], 0
    for directory, _, files in sorted(os.walk(root)):
        for file in sorted(files):
            path = os.path.relpath(os.path.join(directory, file), root)
            if not file.endswith((".c", ".h")):
                continue
            layer = path.split("/")[0]
            if layer not in ARROWS:
                found.append("src/%s: belongs to no layer" % path)
                continue
            with open(os.path.join(root, path), encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    match = INCLUDE.match(line)
                    if not match:
                        continue
                    count += 1
                    why = objection(match[1], match[2], path, layer, source_dir)
                    if why:
                        found.append("src/%s:%d: %s: %s" % (path, number, line.strip(), why))
    return found, count


PLANTED = {
    "base/clock.c": '#include "session/session.h"',
    "recipe/machine.c": '#include "base/clock.h"',
    "recipe/queue.c": "#include <time.h>",
    "recipe/name.c": '#include "zklock.h"',
    "session/session.c": '#include "recipe/machine.h"',
    "session/notifier.c": '#include "../lock/lock.h"',
    "session/heartbeat.c": "#include <zookeeper/zookeeper.h>",
    "lock/lock.c": '#include "cli/options.h"',
    "cli/exec.c": '#include "base/clock.h"',
    "cli/status.c": '#  include "lock/lock.h"',
    "stray.c": "",
}
ALLOWED = {
    "base/clock.h": "#include <time.h>",
    "session/session.h": '#include "base/clock.h"',
    "session/lapse.c": '#include "recipe/lease.h"',
    "session/zk_store.c": "#include <zookeeper.h>",
    "lock/lock.h": '#include "session/session.h"',
    "recipe/machine.h": "#include <stdint.h>",
    "cli/options.h": '#include "zklock.h"',
    "cli/list.c": '#include "options.h"',
}


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        for path, line in {**PLANTED, **ALLOWED}.items():
            full = os.path.join(scratch, "src", path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as out:
                out.write(line + "\n")
        found, _ = violations(scratch)
    reported = {line.split(":")[0][len("src/"):] for line in found}
    missed, wrong = set(PLANTED) - reported, reported - set(PLANTED)
    for path in sorted(missed):
        print("arrows: planted in %s, not reported: %s" % (path, PLANTED[path]))
    for path in sorted(wrong):
        print("arrows: reported although allowed: %s" % path)
    return 1 if missed or wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 64
    found, count = violations(arguments[0])
    print("\n".join(found) if found else "arrows: %d includes follow them" % count)
    if count == 0:
        print("arrows: no include found below %s/src" % arguments[0])
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
