"""A run: one setting after the other, in each all workloads, in each the rounds, in each the peers in turn."""
import collections
import itertools
import time

from . import children, network, peers, servers

WARM_UP = {"cycle", "handover"}


class Run:
    def __init__(self, build, wanted_peers, rounds, quickness, builds_all=True):
        self.build, self.rounds, self.quickness, self.builds_all = build, rounds, quickness, builds_all
        self.left_out = {}
        self.samples = []          # dicts: setting, workload, peer, round, and the figures
        self.setting = self.network = None
        self.clusters, self.running = {}, {}
        self.numbers = itertools.count()
        self.wanted = [name for name in wanted_peers if self.is_there(name)]
        self.has_failed = False

    def is_there(self, name):
        peer = peers.ALL[name]
        if self.builds_all or not peer.takes_long_to_build:
            peer.build(self.build)
        reason = peer.missing(self.build) or servers.KINDS[peer.server].missing()
        if reason:
            self.leave_out(name, reason)
        return not reason

    def leave_out(self, name, reason):
        if name not in self.left_out:
            print(f"bench: {name} is left out: {reason}", flush=True)
        self.left_out[name] = reason

    def chosen(self, names):
        return [name for name in names if name in self.wanted]

    def path(self, name):
        """A path that nobody has used."""
        return f"/bench/{name.replace(' ', '-')}/{next(self.numbers)}"

    def record(self, workload, peer, figures, round_number=0):
        self.samples.append({"setting": str(self.setting), "workload": workload, "peer": peer, "round": round_number,
                             "figures": figures, "at": time.time()})
        shown = ", ".join(f"{key} {value:.6g}" for key, value in figures.items())
        print(f"  {workload}, {peer}: {shown}", flush=True)

    # ---- a setting

    def open(self, setting, wire_program):
        self.setting = setting
        self.network = network.lay(setting.round_trip_ms, wire_program)
        print(f"bench: {setting.in_words()}; delay by: {self.network.delay_by}", flush=True)

    def cluster(self, kind):
        if kind not in self.clusters:
            self.clusters[kind] = servers.KINDS[kind](self.network, self.setting.servers, self.setting.has_fsync)
        return self.clusters[kind]

    def start(self, name):
        peer = peers.ALL[name]
        return peers.Running(peer, self.build, self.cluster(peer.server).addresses, self.network.client_namespace)

    def peer(self, name):
        """The one that takes part in all rounds of a setting."""
        if name not in self.running:
            self.running[name] = self.start(name)
        return self.running[name]

    def close(self):
        for one in (*self.running.values(), *self.clusters.values()):
            one.close()
        self.running, self.clusters = {}, {}
        if self.network:
            self.network.close()
        self.network = None

    # ---- workloads

    def measure(self, name, workload, round_number, is_warm_up=False):
        order = workload.orders(self.setting, self.path(name), self.quickness)
        processes = self.cluster(peers.ALL[name].server).processes
        cpu = children.cpu_seconds(processes)
        try:
            figures = self.peer(name).order(order)
        except children.Failure as failure:
            print(f"bench: {workload.name}: {failure}", flush=True)
            self.has_failed = True
            self.running.pop(name).close()
            return
        if figures is None or is_warm_up:
            return
        count = int(order.rpartition("count=")[2])
        figures["server_cpu_us"] = (children.cpu_seconds(processes) - cpu) * 1e6 / count
        self.record(workload.name, name, figures, round_number)

    def timed(self, workload):
        if workload.settings and self.setting not in workload.settings:
            return
        names = self.chosen(workload.peers)
        if self.setting.servers > 1:
            names = [name for name in names if name != "redis"]
        if self.quickness == 1 and workload.order.split()[0] in WARM_UP:
            for name in names:
                self.measure(name, workload, 0, True)
        rounds = min(self.rounds, 3) if workload.count >= 10000 else self.rounds
        for round_number in range(rounds):
            for name in names:
                self.measure(name, workload, round_number)


def summary(samples):
    """(setting, workload, peer) -> figure -> values in the order of the rounds."""
    table = collections.defaultdict(lambda: collections.defaultdict(list))
    for sample in samples:
        for key, value in sample["figures"].items():
            table[sample["setting"], sample["workload"], sample["peer"]][key].append(value)
    return table


