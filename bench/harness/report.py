"""Tables of a run in Markdown."""
import os
import platform
import re
import statistics
import subprocess

from . import measure
from .workloads import EVERYBODY, TIMED, Setting

FIRST = ("floor", "zklock")


def median(values):
    return statistics.median(values)


def short(value):
    """Three digits that say something."""
    if value != 0 and abs(value) < 10:
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"


def ratio(table, workload, setting, peer):
    """Of one peer to the one it is compared with, paired by round: (median, least, most), or None."""
    other = table.get((setting, workload.name, workload.compare_with), {}).get(workload.figure)
    own = table[setting, workload.name, peer].get(workload.figure)
    if not other or not own or peer == workload.compare_with:
        return None
    ratios = [mine / theirs for mine, theirs in zip(own, other)]
    return median(ratios), min(ratios), max(ratios)


def cell(table, workload, setting, peer):
    values = table.get((setting, workload.name, peer), {}).get(workload.figure)
    if not values:
        return ""
    text = f"**{short(median(values))}** ({short(min(values))}-{short(max(values))})"
    compared = ratio(table, workload, setting, peer)
    return text + (f" x{compared[0]:.2f}" if compared else "")


def markdown(head, rows):
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def timed_table(table, setting):
    peers = [peer for peer in EVERYBODY if any(key[0] == setting and key[2] == peer and key[1] in TIMED for key in table)]
    rows = []
    for workload in TIMED.values():
        cells = [cell(table, workload, setting, peer) for peer in peers]
        if any(cells):
            rows.append([f"{workload.title}, {workload.unit}", *cells])
    return markdown(["", *peers], rows) if rows else ""


def cpu_table(table, setting):
    rows = []
    for workload in (TIMED["free"], TIMED["handover-8"]):
        for key, values in table.items():
            if key[:2] == (setting, workload.name) and "cpu_us" in values:
                rows.append([workload.title, key[2], short(median(values["cpu_us"])),
                             short(median(values["server_cpu_us"]))])
    return markdown(["", "peer", "client CPU, us a lock", "server CPU, us a lock"], rows) if rows else ""


def special_table(table, setting, prefix, figures=None):
    """One row a (workload, peer) whose name begins with `prefix`; the columns are its figures."""
    found = {key: values for key, values in table.items() if key[0] == setting and key[1].startswith(prefix)}
    if not found:
        return ""
    names = figures or list(dict.fromkeys(name for values in found.values() for name in values))
    rows = [[key[1], key[2], *(short(median(values[name])) if name in values else "0" for name in names)]
            for key, values in found.items()]
    return markdown(["", "peer", *names], rows)


SECTIONS = (
    ("cost, ", "On the wire, a lock", ("requests", "create", "list", "get", "exists", "delete", "events", "bytes")),
    ("bytes at ", "On the wire, against the length of the queue, a waiter", ("requests", "bytes")),
    ("footprint", "Memory (of a JVM: its heap), threads, descriptors; bytes are a lock, the others for 1,000 of them", None),
    ("killed holder", "Seconds from a holder's SIGKILL to the next holder, session timeout 4 s", None),
    ("heartbeat", "Sessions with T = 10 s, at the server", None),
)


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "none"
    return ((done.stdout or done.stderr).strip().splitlines() or ["unknown"])[0]


def debian_version(package):
    version = first_line("dpkg-query", "-W", "-f", "${Version}", package)
    return version if re.match(r"^[0-9]", version) else None


def machine():
    """What the figures were measured on, as (what, value)."""
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        models = re.findall(r"model name\s*: (.*)", cpuinfo.read())
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        memory = int(re.search(r"MemTotal:\s*(\d+)", meminfo.read())[1]) // 1024
    packages = ("zookeeper", "libzookeeper-java", "libzookeeper-mt2", "libcurator-recipes-java", "python3-kazoo",
                "etcd-server", "redis-server", "libhiredis0.14")
    versions = [f"{name} {version}" for name in packages if (version := debian_version(name))]
    return [("processors", f"{len(models)} x {models[0] if models else 'unknown'}"), ("memory", f"{memory} MiB"),
            ("kernel", platform.release()), ("packages", ", ".join(versions)),
            ("Java", first_line("java", "-version")), ("Go", first_line("go", "version")),
            ("load before the run", " ".join(f"{load:.2f}" for load in os.getloadavg()))]


def whole(results):
    """All tables of the results file."""
    table = measure.summary(results["samples"])
    text = ["# What was measured\n", "Written by `bench/run`; what each workload is stands in [the guide](../README.md). "
            "Cells: median (least - most of the rounds) and, behind x, the median over the rounds of the ratio to the "
            "first column's peer: for hand-overs and drains to zklock.\n",
            markdown(["machine", ""], [list(row) for row in results["machine"]])]
    for name, reason in results["left_out"].items():
        text.append(f"Left out: {name}, {reason}.\n")
    for setting in dict.fromkeys(sample["setting"] for sample in results["samples"]):
        timed = timed_table(table, setting)
        delay = results["delays"].get(setting, "none")
        text.append(f"## {Setting.parse(setting).in_words()}\n")
        if delay != "none":
            text.append(f"Delay by {delay}.\n")
        text += [part for part in (timed, cpu_table(table, setting)) if part]
        for prefix, title, figures in SECTIONS:
            if special := special_table(table, setting, prefix, figures):
                text += [f"### {title}\n", special]
    return "\n".join(text)
