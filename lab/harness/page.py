#!/usr/bin/python3
"""Makes README.md of page.md, where the words are, and results.json, where the figures are.

usage: page.py            writes lab/README.md
       page.py --check    fails if that would change anything
"""
import json
import os
import re
import sys
import textwrap

import judge
import table
from faults import FAULTS
from worlds import LOCKS

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINE = 120
CELL = re.compile(r"\{\{(?!table )([\w-]+) ([\w-]+)\}\}")


def read(name):
    with open(os.path.join(LAB, name), encoding="utf-8") as file:
        return file.read()


def unexplained(text):
    """What is wrong with the words: each cell stands in them once."""
    wanted = ["%s %s" % (lock.name, fault) for lock in LOCKS for fault, _, _ in FAULTS]
    found = ["%s %s" % pair for pair in CELL.findall(text)]
    return ["not explained: " + cell for cell in wanted if cell not in found] + \
           ["there is no cell " + cell for cell in found if cell not in wanted] + \
           ["explained twice: " + cell for cell in set(found) if found.count(cell) > 1]


def render(text, results):
    locks = table.names_in(results)
    tables = {"faults": (["fault"] + locks, table.fault_rows(results, locks)),
              "costs": (table.COSTS_HEAD, table.costs_rows(results, locks)),
              "herd": (table.HERD_HEAD, table.herd_rows(results, locks))}
    for name, (head, rows) in tables.items():
        text = text.replace("{{table %s}}" % name, table.as_markdown(head, rows))
    return refill(CELL.sub(lambda match: in_words(results[match[1]][match[2]]), text))


def in_words(figures):
    """A dash at the beginning would make a list of it."""
    note = figures.get("note", "")
    return "no meaning here (%s)" % note[2:] if note.startswith("- ") else judge.words(figures)


def refill(text):
    """Points of lists in lines of the usual length, now that their figures are in them."""
    done, point = [], []
    for line in text.split("\n") + [""]:
        if point and not line.startswith("  "):
            done.append(textwrap.fill(" ".join(point), LINE, subsequent_indent="  ", break_long_words=False,
                                      break_on_hyphens=False))
            point = []
        if line.startswith("- ") or point:
            point.append(line.strip())
        else:
            done.append(line)
    return "\n".join(done[:-1])


def main(arguments):
    words, results = read("page.md"), json.loads(read("results.json"))
    found = unexplained(words)
    if found:
        sys.exit("page: page.md: " + "; ".join(found))
    page = render(words, results)
    if arguments == ["--check"]:
        if page != read("README.md"):
            sys.exit("page: README.md is not what page.md and results.json make; run lab/harness/page.py")
        return
    with open(os.path.join(LAB, "README.md"), "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main(sys.argv[1:])
