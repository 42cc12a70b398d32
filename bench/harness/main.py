"""The command bench/run."""
import argparse
import json
import os
import sys

from . import children, goals, measure, peers, plot, report, special
from .workloads import LONG, QUICK_SETTINGS, SETTINGS, TIMED, Setting

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED, FAILED, USAGE = 77, 1, 64
MARKS = ("<!-- goals: written by bench/run -->", "<!-- end of goals -->")


def names(text, known, what):
    chosen = text.split(",")
    for name in chosen:
        if name not in known:
            raise argparse.ArgumentTypeError(f"'{name}' is no {what}; there are: {', '.join(known)}")
    return chosen


def number(text):
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 1000")
    return int(text)


def setting(text):
    try:
        return Setting.parse(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(str(failure)) from None


def arguments():
    workloads = [*TIMED, *special.ALL]
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Measures zklock beside other locks on real servers that it starts itself.",
        epilog=f"workloads: {', '.join(workloads)}. Long ones, by name or with --all only: {', '.join(sorted(LONG))}. "
               f"Settings are SERVERS,fsync|nosync,DELAY: {' '.join(map(str, SETTINGS))}.")
    parser.add_argument("--peers", type=lambda text: names(text, peers.ALL, "peer"), default=list(peers.ALL),
                        metavar="NAME,...", help=f"of {', '.join(peers.ALL)}")
    parser.add_argument("--workloads", type=lambda text: names(text, workloads, "workload"), metavar="NAME,...")
    parser.add_argument("--setting", action="append", type=setting, metavar="SETTING", help="may be given again")
    parser.add_argument("--rounds", type=number, metavar="N", help="of each workload, interleaved (7, --quick 3)")
    parser.add_argument("--quick", action="store_true", help="three rounds of a tenth, one server on loopback")
    parser.add_argument("--all", action="store_true", help="the long workloads, too")
    parser.add_argument("--smoke", metavar="PEER", type=lambda text: names(text, peers.ALL, "peer")[0],
                        help="one round of next to nothing with one peer; status 77 if it has to be left out")
    parser.add_argument("--build", metavar="DIR", type=os.path.abspath, default=os.path.join(ROOT, "build"),
                        help="where zklock was built")
    parser.add_argument("--results", metavar="DIR", default=os.path.join(ROOT, "bench", "results"),
                        help="where tables, plots and raw figures go; what is there of other workloads stays")
    parser.add_argument("--dry", action="store_true", help="print only, and write no results")
    parser.add_argument("--report", action="store_true", help="measure nothing; write tables and plots of what is there")
    return parser.parse_args()


def load(directory):
    try:
        with open(os.path.join(directory, "results.json"), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"samples": [], "left_out": {}, "delays": {}, "machine": []}


def merge(results, run, delays, machine):
    """What was measured now takes the place of what was measured before of the same kind."""
    fresh = {(sample["setting"], sample["workload"], sample["peer"]) for sample in run.samples}
    results["samples"] = [sample for sample in results["samples"]
                          if (sample["setting"], sample["workload"], sample["peer"]) not in fresh] + run.samples
    results["left_out"] = run.left_out
    results["delays"].update(delays)
    results["machine"] = machine


def write_between_marks(path, text):
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        before, _, rest = file.read().partition(MARKS[0])
    if rest:
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{rest.partition(MARKS[1])[2]}")


def write(results, directory):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "results.json"), "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(sample) for sample in results["samples"])
        rest = {key: value for key, value in results.items() if key != "samples"}
        file.write(json.dumps(rest)[:-1] + ', "samples": [\n' + lines + "\n]}\n")
    with open(os.path.join(directory, "README.md"), "w", encoding="utf-8") as file:
        file.write(report.whole(results))
    write_between_marks(os.path.join(directory, "..", "README.md"), goals.text(results))
    if not plot.all_of(results, directory):
        print("bench: no plots, since there is no gnuplot (Debian: gnuplot-nox)")


def run_setting(run, one, chosen, wire_program, delays):
    run.open(one, wire_program)
    delays[str(one)] = run.network.delay_by
    try:
        for name in chosen:
            if name in TIMED:
                run.timed(TIMED[name])
            elif one == Setting():
                special.ALL[name](run)
    finally:
        run.close()


def smoke(options):
    run = measure.Run(options.build, [options.smoke], 1, 1, builds_all=False)
    if run.left_out:
        return SKIPPED
    run.quickness = 200
    run_setting(run, Setting(), ["free", "sent", "latency", "handover-8", "drain-100"], None, {})
    return FAILED if run.has_failed or not run.samples else 0


def main():
    options = arguments()
    if options.smoke:
        return smoke(options)
    results = load(options.results)
    if not options.report:
        machine = report.machine()
        run = measure.Run(options.build, options.peers, options.rounds or (3 if options.quick else 7),
                          10 if options.quick else 1)
        chosen = options.workloads or [name for name in (*TIMED, *special.ALL) if options.all or name not in LONG]
        delays = {}
        for one in options.setting or (QUICK_SETTINGS if options.quick else SETTINGS):
            run_setting(run, one, chosen, os.path.join(options.build, "bench", "wire", "bench-wire"), delays)
        if options.dry:
            results = {"samples": [], "left_out": {}, "delays": {}, "machine": []}
        merge(results, run, delays, machine)
        print(report.whole(results))
        print(goals.text(results))
        if options.dry:
            return FAILED if run.has_failed else 0
    write(results, options.results)
    return 0 if options.report or not run.has_failed else FAILED


def run_as_program():
    try:
        sys.exit(main())
    except children.Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(130)
