"""A link between two processes that a test can cut without ending either of them."""
import contextlib
import select
import socket
import threading


class Link:
    """Listens on loopback, and passes each connection on to `to` ("H:P" or "tcp://H:P") unless it is cut.

    While it is cut, connections stay up and nothing moves, as where packets are lost.
    """

    def __init__(self, test, to):
        host, port = to.removeprefix("tcp://").rsplit(":", 1)
        self.to = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.cut = threading.Event()
        self.over = threading.Event()
        self.threads = []
        self.start(self.accept)
        test.addCleanup(self.end)

    def start(self, run, *arguments):
        thread = threading.Thread(target=run, args=arguments)
        self.threads.append(thread)
        thread.start()

    def accept(self):
        self.listener.settimeout(0.05)
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                self.start(self.carry, self.listener.accept()[0])

    def carry(self, near):
        with contextlib.suppress(OSError), near, socket.create_connection(self.to) as far:
            other = {near: far, far: near}
            while not self.over.is_set():
                if self.cut.is_set():
                    self.over.wait(0.02)
                    continue
                for end in select.select([near, far], [], [], 0.05)[0]:
                    if not (piece := end.recv(1 << 16)):
                        return
                    other[end].sendall(piece)

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        self.listener.close()
