"""Plots of a run as SVG, by gnuplot."""
import os
import shutil
import subprocess

from . import measure
from .report import median
from .workloads import EVERYBODY, TIMED

COLOURS = {"floor": "#888888", "zklock": "#c0392b", "go-zookeeper": "#2980b9", "curator": "#27ae60", "kazoo": "#8e44ad",
           "etcd": "#d68910", "redis": "#16a085"}


def draw(path, title, commands):
    script = f"""set terminal svg size 760,420 font "sans,12" background "white"
set output '{path}'
set title "{title}"
set grid ytics lc rgb "#dddddd"
set key outside right top
{commands}
"""
    done = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def bars(path, table, setting, names, title):
    """A group of bars a workload, one bar a peer, with the spread of the rounds."""
    workloads = [TIMED[name] for name in names if any(key[:2] == (setting, name) for key in table)]
    peers = [peer for peer in EVERYBODY if any((setting, workload.name, peer) in table for workload in workloads)]
    if not workloads or not peers:
        return
    data, plots = [], []
    for index, peer in enumerate(peers):
        lines = []
        for place, workload in enumerate(workloads):
            values = table.get((setting, workload.name, peer), {}).get(workload.figure)
            if values:
                at = place + (index - (len(peers) - 1) / 2) * 0.8 / len(peers)
                lines.append(f"{at} {median(values)} {min(values)} {max(values)}")
        data.append(f"$peer{index} << EOD\n" + "\n".join(lines) + "\nEOD")
        plots.append(f"$peer{index} using 1:2 with boxes title '{peer}' lc rgb '{COLOURS[peer]}' fs solid 0.8, "
                     f"$peer{index} using 1:2:3:4 with yerrorbars notitle pt 0 lc rgb 'black'")
    ticks = ", ".join(f"'{workload.name}' {place}" for place, workload in enumerate(workloads))
    draw(path, title, "\n".join([*data, f"set boxwidth {0.8 / len(peers)}", f"set xtics ({ticks})", "set yrange [0:*]",
                                 f"set ylabel '{workloads[0].unit}'", "plot " + ", ".join(plots)]))


def curves(path, series, title, labels):
    """Lines of (x, y) a peer, on two logarithmic scales; a straight line of slope one is drawn beside."""
    series = {peer: points for peer, points in series.items() if len(points) > 1}
    if not series:
        return
    data, plots = [], []
    for index, (peer, points) in enumerate(series.items()):
        data.append(f"$peer{index} << EOD\n" + "\n".join(f"{x} {y}" for x, y in sorted(points)) + "\nEOD")
        plots.append(f"$peer{index} with linespoints title '{peer}' lw 2 pt 7 lc rgb '{COLOURS.get(peer, '#444444')}'")
    draw(path, title, "\n".join([*data, "set logscale xy", f"set xlabel '{labels[0]}'", f"set ylabel '{labels[1]}'",
                                 "plot " + ", ".join(plots)]))


def points(table, setting, prefix, figure):
    """peer -> [(number in the workload's name, median)]"""
    found = {}
    for (where, workload, peer), values in table.items():
        number = workload[len(prefix):].replace(",", "")
        if where == setting and workload.startswith(prefix) and number.isdigit() and figure in values:
            found.setdefault(peer, []).append((int(number), median(values[figure])))
    return found


def against_round_trip(table, workload):
    found = {}
    for (where, name, peer), values in table.items():
        servers, fsync, delay = where.split(",")
        if name == workload.name and (servers, fsync) == ("1", "fsync") and workload.figure in values:
            found.setdefault(peer, []).append((max(float(delay[:-2]), 0.1), median(values[workload.figure])))
    return found


def all_of(results, directory):
    """False: there is no gnuplot."""
    if not shutil.which("gnuplot"):
        return False
    table = measure.summary(results["samples"])
    for setting in dict.fromkeys(sample["setting"] for sample in results["samples"]):
        name = setting.replace(",", "-")
        bars(os.path.join(directory, f"free-{name}.svg"), table, setting, ("free", "sent", "latency"),
             f"Microseconds, {setting}: less is better")
        bars(os.path.join(directory, f"handover-{name}.svg"), table, setting,
             ("handover-2", "handover-8", "handover-64"), f"Hand-overs a second, {setting}: more is better")
    setting = "1,fsync,0ms"
    for figure, prefix, file, label in (("us", "bytes at ", "growth-time", "us a waiter"),
                                        ("bytes", "bytes at ", "growth-bytes", "bytes a waiter"),
                                        ("requests", "bytes at ", "growth-requests", "requests a waiter")):
        curves(os.path.join(directory, file + ".svg"), points(table, setting, prefix, figure),
               f"{label.capitalize()} against the length of the queue", ("waiters", label))
    curves(os.path.join(directory, "growth-drain.svg"), points(table, setting, "drain-", "us"),
           "Hand-over of a queue that is drained", ("waiters", "us a waiter"))
    for name in ("free", "handover-8"):
        curves(os.path.join(directory, f"delay-{name}.svg"), against_round_trip(table, TIMED[name]),
               TIMED[name].title.capitalize(), ("round trip, ms (0 stands at 0.1)", TIMED[name].unit))
    return True
