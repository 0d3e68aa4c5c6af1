"""A cluster of actors: nodes that are killed, and a program that does one command at a time."""
import contextlib
import pathlib
import queue
import signal
import subprocess
import threading
import time

from support import harness
from support.cluster import Head
from support.harness import Running, Scenario

FOLDER = pathlib.Path(harness.FOREBAY).parents[1] / "tests/e2e"
TYPES = FOLDER / "libe2e_actor_types.so"
PROGRAM = FOLDER / "e2e_actor_program"
SHARDS = FOLDER / "libe2e_shards.so"
LOST = 5  # seconds within which the death of a node must be seen


class Program:
    """A program in the cluster that does one command at a time."""

    def __init__(self, test, address, *options):
        self.process = subprocess.Popen([PROGRAM, address, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=lambda: [self.lines.put(line.rstrip()) for line in self.process.stdout])
        self.reader.start()
        self.downs = []
        self.expected = 0
        test.addCleanup(self.end)
        self.first = self.read()

    def read(self, timeout=40):
        while (line := self.lines.get(timeout=timeout)).startswith("down "):
            self.downs.append(line)
        return line

    def begin(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def do(self, *words):
        """What came of a command."""
        self.begin(*words)
        return self.read().split(": ", 1)[1]

    def kill(self):
        self.expected = -signal.SIGKILL
        self.process.kill()

    def end(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        if self.process.wait(30) != self.expected:
            raise AssertionError(f"the program ended with {self.process.returncode}")
        self.reader.join()
        self.process.stdout.close()


class ActorScenario(Scenario):
    library = TYPES

    def setUp(self):
        super().setUp()
        self.head = Head(self, self.folder)
        self.nodes = {}

    def node(self, name):
        self.start_node(name)
        self.wait_until(lambda: f"node {name} offers actors" in self.head.running.stderr_now())

    def start_node(self, name, join=None):
        self.nodes[name] = Running(["worker", "--join", join or self.head.address, "--name", name, "--cpus", "1", "--memory", "300MiB",
                                    "--actors", self.library], self.folder)
        self.addCleanup(self.kill, name)

    def kill(self, name):
        if node := self.nodes.pop(name, None):
            node.signal(signal.SIGKILL)
            node.wait()

    def status(self):
        asked = Running(["status", "--join", self.head.address, "--json"], self.folder).wait(30)
        return {actor["name"]: (actor["node"], actor["state"], actor["restarts"]) for actor in self.assert_done(asked)["actors"]}

    def until(self, program, answer, *words, seconds=LOST):
        """Repeats a command until it gives the answer; how many seconds that took."""
        begin = time.monotonic()
        while (last := program.do(*words)) != answer:
            self.assertLess(time.monotonic() - begin, seconds, f"{words} gives {last}")
            time.sleep(0.02)
        return time.monotonic() - begin
