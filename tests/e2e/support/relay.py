"""A way between two processes that can be slow, late or cut: relays TCP on loopback."""
import socket
import threading
import time


class Relay:
    """Listens at `address`; whoever connects is joined with `target`. Ends with close()."""

    def __init__(self, target, bytes_per_second=None, delay=0.0):
        host, port = target.removeprefix("tcp://").rsplit(":", 1)
        self.target, self.rate, self.delay = (host, int(port)), bytes_per_second, delay
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.pairs, self.lock, self.ended = [], threading.Lock(), False
        self.carried = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.ended:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.target, timeout=5)
            except OSError:
                continue
            far.settimeout(None)
            with self.lock:
                self.pairs.append((near, far))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source, sink):
        try:
            while chunk := source.recv(1 << 16):
                if self.delay:
                    time.sleep(self.delay)
                if self.rate:
                    time.sleep(len(chunk) / self.rate)
                sink.sendall(chunk)
                self.carried += len(chunk)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """Ends every connection; the next ones are carried again."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                end.close()

    def close(self):
        self.ended = True
        self.listener.close()
        self.cut()
