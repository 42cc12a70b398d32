"""A relay that counts what passes between ZooKeeper's clients and a server: requests by kind, bytes, watch events."""
import collections
import socket
import struct
import threading

KINDS = {1: "create", 2: "delete", 3: "exists", 4: "get", 5: "set", 8: "list", 9: "sync", 12: "list", 13: "check",
         14: "multi", 15: "create", 19: "create", 20: "create", 102: "auth"}
# Of the connection, not of the lock.
LEFT_OUT = {11, -11, 101, 105, 106}
EVENT_XID, PING_XID = -1, -2


def receive_exactly(source, size):
    whole = b""
    while len(whole) < size:
        part = source.recv(size - len(whole))
        if not part:
            return None
        whole += part
    return whole


class Counter:
    """Listens on `port` for as long as it is open."""

    def __init__(self, server):
        self.server = server
        self.mutex = threading.Lock()
        self.counts = collections.Counter()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.server)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.pass_on, args=(client, server, self.note_request), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, self.note_answer), daemon=True).start()

    def pass_on(self, source, target, note):
        is_first = True
        try:
            while head := receive_exactly(source, 4):
                body = receive_exactly(source, struct.unpack(">i", head)[0])
                if body is None:
                    break
                if not is_first:
                    note(body)
                is_first = False
                target.sendall(head + body)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def note_request(self, body):
        kind = struct.unpack(">i", body[4:8])[0]
        if kind in LEFT_OUT:
            return
        with self.mutex:
            self.counts[KINDS.get(kind, f"type {kind}")] += 1
            self.counts["requests"] += 1
            self.counts["bytes"] += len(body) + 4

    def note_answer(self, body):
        xid = struct.unpack(">i", body[:4])[0]
        if xid == PING_XID:
            return
        with self.mutex:
            self.counts["events"] += xid == EVENT_XID
            self.counts["bytes"] += len(body) + 4

    def take(self):
        """What was counted since the last time."""
        with self.mutex:
            taken, self.counts = self.counts, collections.Counter()
        return taken

    def close(self):
        self.listener.close()
