"""TLS before a server that has none, with a certificate that nobody else trusts."""
import shutil
import socket
import ssl
import subprocess
import threading


class TlsFront:
    """Passes what comes to https://127.0.0.1:PORT on to `port`, until `test` ends."""

    def __init__(self, test, folder, port):
        if not shutil.which("openssl"):
            test.skipTest("the program openssl makes the certificate and is not installed")
        self.certificate, key = folder / "authority.pem", folder / "authority.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        self.port = port
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"https://127.0.0.1:{self.listening.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()
        test.addCleanup(self.listening.close)

    def accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, plain):
        """One request after the other; an answer ends as its length says."""
        try:
            with self.context.wrap_socket(plain, server_side=True) as client, \
                    socket.create_connection(("127.0.0.1", self.port)) as server:
                answers, requests = server.makefile("rb"), client.makefile("rb")
                while head := read_head(requests):
                    server.sendall(head)
                    answer = read_head(answers)
                    client.sendall(answer)
                    left = 0 if head.startswith(b"HEAD ") else length_of(answer)
                    while left and (piece := answers.read1(min(left, 1 << 16))):
                        client.sendall(piece)
                        left -= len(piece)
        except OSError:
            plain.close()  # The client is gone, or does not trust us.


def read_head(stream):
    lines = [stream.readline()]
    while lines[-1] not in (b"\r\n", b""):
        lines.append(stream.readline())
    return b"".join(lines)


def length_of(head):
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0
