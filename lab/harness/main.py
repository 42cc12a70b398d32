#!/usr/bin/python3
"""Runs locks against faults; lab/run calls it and says how."""
import argparse
import copy
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

import judge
import measure
import picture
from cell import Cell
from faults import FAULTS
from servers import Missing
from table import print_tables
from worlds import LOCKS, WORLDS

MEASURES = [("none", measure.TTL_MS), ("herd", measure.TTL_MS)]  # with nothing else running
TITLES = {name: title for name, title, _ in FAULTS}
GROUP_SIZE = 2
# Cells that may show either of two things, as the page says.
UNSETTLED = {("etcd", "cut"): [{"safe"}, {"two holders"}], ("zklock", "cut"): [{"safe"}, {"stuck"}]}


class Place:
    """What all cells of a run share."""

    def __init__(self, arguments):
        self.directory = tempfile.mkdtemp(prefix="zklock-lab-")
        self.worker = os.path.join(arguments.build, "lab-worker")
        self.clock_shim = os.path.join(arguments.build, "liblab-clock.so")
        self.pictures = os.path.join(arguments.out, "pictures")
        os.makedirs(self.pictures, exist_ok=True)

    def part(self, name):
        """The same with a directory of its own."""
        part = copy.copy(self)
        part.directory = os.path.join(self.directory, "of-" + name)
        os.makedirs(part.directory)
        return part


class Run:
    def __init__(self, place, locks, faults):
        self.place, self.locks, self.faults = place, locks, faults
        self.results = {lock.name: {} for lock in locks}
        self.alone = threading.Lock()  # for what is measured

    def put(self, lock, fault, figures):
        self.results[lock.name][fault] = figures
        text = judge.words(figures) if fault in TITLES or "note" in figures else "measured"
        print("%-14s %-9s %s" % (lock.name, fault, text), flush=True)

    def try_fault(self, world, lock, fault, function):
        cell = Cell(self.place, world, lock, fault)
        figures, end_ns = cell.run(function)
        self.put(lock, fault, figures)
        if end_ns and judge.kinds(figures) != ["safe"]:
            title = "%s: %s - %s" % (lock.name, TITLES[fault], judge.words(figures))
            with open(os.path.join(self.place.pictures, cell.name + ".svg"), "w", encoding="utf-8") as file:
                file.write(picture.draw(title, cell.story.events, end_ns))

    def run_group(self, locks, barrier):
        """Locks that share servers, one after the other; what is measured, when all groups are done."""
        world = WORLDS[locks[0].family](self.place.part(locks[0].name))
        try:
            try:
                for fault, _, function in FAULTS:
                    for lock in locks:
                        if fault in self.faults:
                            self.try_fault(world, lock, fault, function)
            finally:
                barrier.wait()
            with self.alone:
                for lock in locks:
                    self.measure(world, lock)
        finally:
            world.end()

    def measure(self, world, lock):
        for fault, ttl_ms in MEASURES:
            if fault not in self.faults:
                continue
            figures = {}
            for function in (measure.alone, measure.crowd) if fault == "none" else (measure.herd,):
                if fault == "herd" and lock.is_optimistic:
                    figures = {"note": "- nobody waits"}
                    continue
                cell = Cell(self.place, world, lock, fault + "-" + function.__name__)
                cell.ttl_ms = ttl_ms
                figures.update(self.measure_cell(cell, function))
            self.put(lock, fault, figures)

    def measure_cell(self, cell, function):
        try:
            return function(cell)
        except Missing as reason:
            return {"note": "not run: " + str(reason)}
        except (TimeoutError, OSError) as error:
            return {"note": "the laboratory failed: " + str(error)}
        finally:
            for worker in cell.workers:
                worker.end()

    def run(self):
        groups = []
        for family in WORLDS:
            locks = [lock for lock in self.locks if lock.family == family]
            groups += [locks[first:first + GROUP_SIZE] for first in range(0, len(locks), GROUP_SIZE)]
        barrier = threading.Barrier(len(groups))
        threads = [threading.Thread(target=self.run_group, args=(group, barrier), daemon=True) for group in groups]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def choose(words):
    """Locks and faults by their names; none of a kind means all of it."""
    lock_names = [lock.name for lock in LOCKS]
    fault_names = [fault for fault, _, _ in FAULTS] + [name for name, _ in MEASURES]
    for word in words:
        if word not in lock_names + fault_names:
            sys.exit("lab/run: there is no lock and no fault %s; locks: %s; faults: %s" % (
                word, " ".join(lock_names), " ".join(fault_names)))
    locks = [lock for lock in LOCKS if lock.name in words] or LOCKS
    return locks, [fault for fault in fault_names if fault in words] or fault_names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--compare", metavar="RESULTS")
    parser.add_argument("--store", metavar="RESULTS")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    locks, faults = choose(arguments.words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    place = Place(arguments)
    begin = time.monotonic()
    run = Run(place, locks, faults)
    try:
        run.run()
    except (KeyboardInterrupt, SystemExit):
        # What was started ends with its thread.
        shutil.rmtree(place.directory, ignore_errors=True)
        raise
    put_results(os.path.join(arguments.out, "results.json"), run.results)
    print_tables(run.results)
    print("lab: %d cells in %.0f s; figures and pictures in %s" % (
        sum(len(row) for row in run.results.values()), time.monotonic() - begin, arguments.out))
    sys.exit(end(place, arguments, run.results))


def put_results(path, results):
    """Figures of cells that were not run stay as they are."""
    everything = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            everything = json.load(file)
    for lock, row in results.items():
        everything.setdefault(lock, {}).update(row)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(everything, file, indent=1, sort_keys=True)
        file.write("\n")


def end(place, arguments, results):
    """Compares where that is wanted, and tidies up."""
    failed = ["%s %s: %s" % (lock, fault, figures["note"]) for lock, row in results.items()
              for fault, figures in row.items() if figures.get("note", "").startswith("the laboratory failed")]
    if arguments.store and not failed:
        put_results(arguments.store, results)
    if arguments.compare:
        with open(arguments.compare, encoding="utf-8") as file:
            failed += differences(json.load(file), results)
    for line in failed:
        print("lab/run: " + line, file=sys.stderr)
    if arguments.keep or failed:
        print("lab: what the servers and contenders wrote is in %s" % place.directory)
    else:
        shutil.rmtree(place.directory)
    return 1 if failed else 0


def differences(stored, results):
    """Cells that show something of another kind than the stored ones."""
    found = []
    for lock, row in results.items():
        for fault, figures in row.items():
            if fault not in TITLES:
                continue
            before, now = [set(judge.kinds(one)) if "note" not in one else {one["note"]}
                           for one in (stored[lock][fault], figures)]
            if before != now and now not in UNSETTLED.get((lock, fault), []):
                found.append("%s %s: the page has %s, this run %s" % (
                    lock, fault, judge.words(stored[lock][fault]), judge.words(figures)))
    return found


if __name__ == "__main__":
    main()
