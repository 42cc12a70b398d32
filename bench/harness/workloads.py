"""What is measured: the orders that peers get, and the figures of their answers."""
from dataclasses import dataclass, field

ZOOKEEPER_PEERS = ("zklock", "go-zookeeper", "curator", "kazoo")
EVERYBODY = ("floor", *ZOOKEEPER_PEERS, "etcd", "redis")


@dataclass(frozen=True)
class Setting:
    """A kind of world. Written as "3,fsync,1ms"."""

    servers: int = 1
    has_fsync: bool = True
    round_trip_ms: float = 0

    @staticmethod
    def parse(text):
        words = text.split(",")
        if len(words) != 3 or words[0] not in ("1", "3") or words[1] not in ("fsync", "nosync") or words[2][-2:] != "ms":
            raise ValueError(f"'{text}' is no setting: write SERVERS,fsync|nosync,NUMBERms, such as 3,fsync,1ms")
        return Setting(int(words[0]), words[1] == "fsync", float(words[2][:-2]))

    def __str__(self):
        return f"{self.servers},{'fsync' if self.has_fsync else 'nosync'},{self.round_trip_ms:g}ms"

    def in_words(self):
        servers = "one server" if self.servers == 1 else "three servers"
        return f"{servers}, {'fsync' if self.has_fsync else 'no fsync'}, {self.round_trip_ms:g} ms between"


@dataclass(frozen=True)
class Workload:
    """`figure` is what the table shows of the answers; the others are kept, too."""

    name: str
    title: str
    order: str            # without path and count
    count: int
    peers: tuple
    figure: str = "us"
    unit: str = "us"
    more_is_better: bool = False
    slow_count: int = 0   # with a delay; 0: the same
    compare_with: str = "floor"
    settings: tuple = field(default=())  # only there; empty: everywhere
    figure_of: tuple = field(default=())  # (peer, another figure) where a peer has another one to be compared

    def orders(self, setting, path, quickness):
        count = self.slow_count if setting.round_trip_ms and self.slow_count else self.count
        count = max(count // quickness, 2) if quickness > 1 else count
        return f"{self.order} path={path} count={count}"


ALONE = Setting()
TIMED = {workload.name: workload for workload in (
    Workload("free", "free lock, take and release", "cycle", 1000, EVERYBODY, slow_count=200),
    Workload("sent", "the same, the release only sent", "cycle sent=1", 1000, ("floor", "zklock"), slow_count=200),
    Workload("latency", "from a release to the next holder", "latency", 150, ("floor", *ZOOKEEPER_PEERS, "etcd"),
             slow_count=80),
    Workload("handover-2", "hand-overs, 2 contenders", "handover contenders=2", 1000, (*ZOOKEEPER_PEERS, "etcd"),
             "rate", "1/s", True, 200, "zklock"),
    Workload("handover-8", "hand-overs, 8 contenders", "handover contenders=8", 1000, (*ZOOKEEPER_PEERS, "etcd"),
             "rate", "1/s", True, 200, "zklock"),
    Workload("handover-64", "hand-overs, 64 contenders", "handover contenders=64", 1000, (*ZOOKEEPER_PEERS, "etcd"),
             "rate", "1/s", True, 300, "zklock"),
    Workload("drain-100", "100 waiters, a waiter", "drain sessions=4 rest_ms=300", 100, ZOOKEEPER_PEERS,
             compare_with="zklock"),
    Workload("drain-1000", "1,000 waiters, a waiter", "drain sessions=4 rest_ms=500", 1000, ZOOKEEPER_PEERS,
             compare_with="zklock", settings=(ALONE,)),
    Workload("drain-10000", "10,000 waiters, a waiter", "drain sessions=4 rest_ms=2000", 10000,
             ("zklock", "go-zookeeper"), compare_with="zklock", settings=(ALONE,)),
    Workload("sessions-1000", "1,000 sessions on one lock, a waiter", "drain sessions=1000 rest_ms=500", 1000,
             ("zklock", "go-zookeeper", "curator"), compare_with="zklock", settings=(ALONE,)),
    Workload("locks", "10,000 different locks of one process, one by one, a lock", "locks sessions=4", 10000,
             ("floor", *ZOOKEEPER_PEERS), settings=(ALONE,)),
    Workload("locks-at-once", "10,000 different locks of one process, all at once, a lock", "locks sessions=4 at_once=1",
             10000, ("zklock",), settings=(ALONE,)),
)}

SETTINGS = tuple(Setting.parse(text) for text in (
    "1,fsync,0ms", "1,nosync,0ms", "1,fsync,1ms", "1,fsync,5ms", "3,fsync,0ms", "3,fsync,1ms"))
QUICK_SETTINGS = SETTINGS[:1]
# Minutes each; a run has them only by name or with --all.
LONG = {"drain-10000", "locks", "sessions-1000"}
