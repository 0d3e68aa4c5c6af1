"""An sshd on loopback that a test owns: its own configuration, host key, authorized key and port."""
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def missing():
    """What it needs and this machine has not; empty when it can run."""
    absent = [name for name in ("sshd", "ssh", "ssh-keygen", "setsid") if shutil.which(name, path=PATH) is None]
    return "not installed: " + " ".join(absent) + " (Debian: openssh-server openssh-client)" if absent else ""


class SshHost:
    """`names` are host names that an ssh with -F configuration finds here."""

    def __init__(self, folder, names):
        self.folder, self.names, self.daemon = pathlib.Path(folder), names, None
        self.configuration = self.folder / "ssh_config"

    def start(self):
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o700)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key], check=True)
        shutil.copy(self.folder / "user.pub", self.folder / "authorized")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = self.port = probe.getsockname()[1]
        (self.folder / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {self.folder}/authorized\nStrictModes no\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxStartups 100\n")
        self.configuration.write_text("".join(
            f"Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentitiesOnly yes\n"
            f"  IdentityFile {self.folder}/user\n  UserKnownHostsFile {self.folder}/known\n"
            "  StrictHostKeyChecking accept-new\n" for name in self.names))
        if os.geteuid() == 0:
            pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd's own, as its package makes it
        with open(self.folder / "sshd.log", "wb") as log:
            self.daemon = subprocess.Popen(
                [shutil.which("sshd", path=PATH), "-D", "-e", "-f", self.folder / "sshd_config"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + 30
        while self.run("true").returncode != 0:
            assert time.monotonic() < end and self.daemon.poll() is None, self.log()
            time.sleep(0.1)

    def run(self, *words):
        return subprocess.run(["ssh", "-F", self.configuration, "-o", "BatchMode=yes", self.names[0], *words],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def log(self):
        return (self.folder / "sshd.log").read_text(errors="replace")[-2000:]

    def stop(self):
        if self.daemon is not None:
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(10)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
            self.daemon = None
