"""A network that can be slow or silent: a forwarder between one worker and one server."""
import socket
import threading
import time

from processes import now_ns


class Proxy:
    """Answers can be held back for some time (`delay_s`), or nothing passes either way (`is_silent`), without a word to
    either end."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.delay_s = 0
        self.is_silent = False
        self.is_closed = False
        self.answered = 0  # pieces that came from the server, held back or not
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port = self._listener.getsockname()[1]
        self._sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return "127.0.0.1:%d" % self.port

    def close(self):
        """What was held back is never delivered."""
        self.is_closed = True
        for one in [self._listener] + self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target_port))
            except OSError:
                if self._listener.fileno() < 0:
                    return
                client.close()
                continue
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets += [client, server]
            threading.Thread(target=self._pass, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, True), daemon=True).start()

    def _pass(self, source, sink, is_answer):
        try:
            while True:
                piece = source.recv(1 << 16)
                self.answered += is_answer
                due_ns = now_ns() + int(self.delay_s * 1e9) if is_answer else 0
                while not self.is_closed and (self.is_silent or now_ns() < due_ns):
                    time.sleep(0.005)
                if not piece or self.is_closed:
                    break
                sink.sendall(piece)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
