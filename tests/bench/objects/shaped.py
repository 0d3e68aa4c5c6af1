#!/usr/bin/env python3
"""An object that four nodes fetch, each on a host of its own with a link of 1 Gbit/s, against ZeroMQ alone.

    ninja -C build/release forebay shaped shaped_keeper
    sudo python3 tests/bench/objects/shaped.py [--mib 1024] [--rounds 3] [--rate 1gbit] [--json FILE]

Needs root: the hosts are network namespaces, joined by a bridge, and `tc` (a token bucket) shapes every link in both
directions. Beyond loopback Forebay encrypts, so ZeroMQ is measured with CURVE, too. In each round, in turns: the nodes
fetch an object; ZeroMQ sends the same bytes to each of them at once, which the owner's link bounds; ZeroMQ sends them
to one; with --messages, the bytes go in a message to each. Figures are medians: bytes delivered a second, over all
nodes, how often the bytes went over the owner's link, and the CPU time of the processes.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", default="1gbit", help="of each link, as tc says it")
    parser.add_argument("--messages", action="store_true")
    parser.add_argument("--json", help="write all figures there")
    return parser.parse_args()


class Hosts:
    """Hosts 10.78.0.1, 10.78.0.2 and so on, joined by a switch."""

    def __init__(self, stack, count, rate):
        tag = f"fb{os.getpid() % 100000}"
        self.switch = f"{tag}s"
        self.names = [f"{tag}h{number}" for number in range(count)]
        stack.callback(self.remove)
        self.run("netns", "add", self.switch)
        self.run("-n", self.switch, "link", "add", "name", "switch0", "type", "bridge")
        self.run("-n", self.switch, "link", "set", "switch0", "up")
        for number, name in enumerate(self.names):
            self.add(number, name, rate)

    def add(self, number, name, rate):
        port = f"port{number}"
        self.run("netns", "add", name)
        self.run("link", "add", "name", "eth0", "netns", name, "type", "veth", "peer", "name", port, "netns", self.switch)
        self.run("-n", self.switch, "link", "set", port, "master", "switch0", "up")
        self.run("-n", name, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            self.run("-n", name, "link", "set", device, "up")
        for where, device in ((name, "eth0"), (self.switch, port)):
            subprocess.run(["tc", "-n", where, "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, "burst", "512kb",
                            "latency", "20ms"], check=True)

    @staticmethod
    def run(*words):
        subprocess.run(["ip", *words], check=True)

    @staticmethod
    def address(number):
        return f"10.78.0.{number + 1}"

    def on(self, number):
        return ["ip", "netns", "exec", self.names[number]]

    def sent_bytes(self, number):
        return int(subprocess.run([*self.on(number), "cat", "/sys/class/net/eth0/statistics/tx_bytes"], check=True,
                                  capture_output=True, text=True).stdout)

    def remove(self):
        for name in [self.switch, *self.names]:
            subprocess.run(["ip", "netns", "del", name])


def cpu_seconds(process):
    words = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Part:
    """A process on a host that answers with lines."""

    def __init__(self, stack, words):
        self.process = subprocess.Popen(list(map(str, words)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.end)
        if (first := self.read()) != "ready":
            raise RuntimeError(f"{words[4:6]} said {first!r}")

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self):
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.wait()


class Bench:
    def __init__(self, stack, wanted):
        self.wanted = wanted
        self.stack = stack
        self.hosts = Hosts(stack, wanted.nodes + 1, wanted.rate)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.program = wanted.build / "tests/bench/shaped"
        self.nodes = list(range(1, wanted.nodes + 1))
        self.start_forebay()
        self.start_zeromq()

    def start(self, host, *words):
        """A process of Forebay's that says on stderr what it does."""
        log = (self.folder / f"{words[0]}{host}.log").open("w")
        process = subprocess.Popen([*self.hosts.on(host), self.wanted.build / "tools/forebay", *map(str, words)], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.stack.callback(lambda: (process.kill(), process.wait()))
        return process

    def start_forebay(self):
        subprocess.run([self.wanted.build / "tools/forebay", "keys", "new", "keys"], cwd=self.folder, check=True, capture_output=True)
        head = f"{self.hosts.address(0)}:29400"
        self.start(0, "head", "--listen", f"tcp://{head}", "--store", "store", "--keys", "keys")
        self.workers = [
            self.start(number, "worker", "--join", head, "--keys", "keys", "--name", f"n{number}", "--actors",
                       self.wanted.build / "tests/bench/libshaped_keeper.so", "--listen",
                       f"tcp://{self.hosts.address(number)}:29401", "--cpus", 1, "--memory", "4GiB", "--object-memory", "3GiB")
            for number in self.nodes]
        self.owner = Part(self.stack, [*self.hosts.on(0), self.program, "objects", head, self.folder / "keys", self.wanted.mib,
                                       *(f"n{number}" for number in self.nodes)])

    def start_zeromq(self):
        server, client = (subprocess.run([self.program, "keys"], check=True, capture_output=True, text=True).stdout.split()
                          for _ in range(2))
        self.receivers, self.senders = {}, {}
        for port, (kind, receives, sends) in enumerate((("plain", [], ["-", "-", "-"]), ("curve", server, [*client, server[0]]))):
            places = [f"tcp://{self.hosts.address(number)}:{29410 + port}" for number in self.nodes]
            self.receivers[kind] = [Part(self.stack, [*self.hosts.on(number), self.program, "receive", place, self.wanted.mib, *receives])
                                    for number, place in zip(self.nodes, places)]
            for name, where in ((kind, places), (f"{kind} to one", places[:1])):
                self.senders[name] = Part(self.stack, [*self.hosts.on(0), self.program, "send", self.wanted.mib, *sends, *where])

    def measure(self, processes, run):
        """Seconds, how often the bytes went over the owner's link, and CPU seconds of all processes."""
        sent, used = self.hosts.sent_bytes(0), sum(map(cpu_seconds, processes))
        begin, end = run()
        return ((end - begin) / 1e9, (self.hosts.sent_bytes(0) - sent) / (self.wanted.mib << 20),
                sum(map(cpu_seconds, processes)) - used)

    def fetch(self, kind):
        def run():
            self.owner.tell(kind)
            return int(self.owner.read()), int(self.owner.read())
        return self.measure([self.owner.process, *self.workers], run)

    def send(self, name):
        sender, receivers = self.senders[name], self.receivers[name.split()[0]][:1 if name.endswith("one") else None]

        def run():
            for part in (*receivers, sender):
                part.tell("round")
            return int(sender.read()), max(int(receiver.read()) for receiver in receivers)
        return self.measure([part.process for part in (*receivers, sender)], run)

    def round(self):
        done = {"object": self.fetch("object")}
        if self.wanted.messages:
            done["messages"] = self.fetch("message")
        return done | {name: self.send(name) for name in self.senders}


def main():
    wanted = options()
    with contextlib.ExitStack() as stack:
        bench = Bench(stack, wanted)
        bench.round()  # sessions begin
        rounds = [bench.round() for _ in range(wanted.rounds)]
    figures = {}
    for name in rounds[0]:
        seconds = [one[name][0] for one in rounds]
        count = 1 if name.endswith("one") else wanted.nodes
        figures[name] = {"mb_per_second": [round(count * (wanted.mib << 20) / second / 1e6, 1) for second in seconds],
                         "copies_over_owners_link": [round(one[name][1], 3) for one in rounds],
                         "cpu_seconds": [round(one[name][2], 2) for one in rounds]}
        print(f"{name:15} {statistics.median(figures[name]['mb_per_second']):8.1f} MB/s over all nodes, "
              f"{statistics.median(figures[name]['copies_over_owners_link']):.3f} × over the owner's link, "
              f"{statistics.median(figures[name]['cpu_seconds']):.1f} s of CPU")
    rate = {name: statistics.median(one["mb_per_second"]) for name, one in figures.items()}
    for kind in ("plain", "curve"):
        print(f"object against ZeroMQ {kind}: {rate['object'] / rate[kind]:.2f} × to all at once; "
              f"{rate['object'] / (wanted.nodes * rate[f'{kind} to one']):.2f} of as many links as nodes")
    if wanted.json:
        pathlib.Path(wanted.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
