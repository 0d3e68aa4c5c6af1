"""A stub store of a folder, as a process of its own."""
import os
import subprocess

SERVER = os.environ.get("FOREBAY_STORE_SERVER", "")
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secretEXAMPLE"}


class Store:
    """The folders of `folder` are its buckets. `settings` are those of store_server.cpp."""

    def __init__(self, folder, **settings):
        settings = {"access_key": KEYS["AWS_ACCESS_KEY_ID"], "secret": KEYS["AWS_SECRET_ACCESS_KEY"], **settings}
        self.process = subprocess.Popen([SERVER, str(folder), *(f"{key}={value}" for key, value in settings.items())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.address = f"http://127.0.0.1:{self.port}"

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def change(self, **settings):
        """Answers by other settings from now on."""
        for key, value in settings.items():
            self.ask(f"{key}={value}")

    def requests(self):
        """How many there were so far."""
        return self.ask("")

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
