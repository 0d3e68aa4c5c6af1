#!/usr/bin/env python3
"""The page of a run: how soon a browser paints it, and what viewers cost the run.

    python3 tests/bench/page.py                        # some four minutes, on a quiet machine
    python3 tests/bench/page.py --rounds 9 --json page.json

First paint is Chromium's own figure (first-contentful-paint) of a live run's page, the median of ten loads. For the
viewers a job of one CPU that wants all of it runs again and again, in turns: with nobody, with three viewers who ask
once a second and hear the events, with one who opens the events and never reads. Viewers are Python's, not browsers,
so that on few CPUs it is not their drawing that is measured. Rates are the run's own, memory is its most; `page CPU` is
the CPU time of the threads that serve the page over that of all, which other programs on the machine do not change.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

PAGE = pathlib.Path(__file__).resolve().parents[2] / "engine/dashboard/page/page.html"
JOB = """[dataset]
format = "criteo_tsv"
paths = ["data/*.tsv"]
[order]
batch_size = 1000
epochs = 1000000
[pipeline]
cpus = 1
memory = "400MiB"
[tuner]
mode = "off"
[[transform]]
op = "log1p"
columns = ["I*"]
[run]
dashboard = "127.0.0.1:0"
"""


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forebay", default="build/release/tools/forebay")
    parser.add_argument("--seconds", type=float, default=8, help="one run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write all figures there")
    return parser.parse_args()


class Run:
    """A job that runs until it is stopped; its page's address."""

    def __init__(self, forebay, folder):
        self.errors = open(folder / "errors", "w+")
        self.process = subprocess.Popen([forebay, "ingest", "job.toml", "--json"], cwd=folder, text=True,
                                        stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True)
        self.address = None
        while self.address is None and self.process.poll() is None:
            time.sleep(0.05)
            found = re.search(r"dashboard: (http://\S+)", (folder / "errors").read_text())
            self.address = found and found[1]

    def page_cpu(self):
        """The share of the run's CPU time that its server's threads took."""
        page = every = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                used = int((task / "schedstat").read_text().split()[0])
                every += used
                page += used if (task / "comm").read_text().startswith("civetweb") else 0
        return page / every

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate()
        self.errors.close()
        return json.loads(out.splitlines()[-1])


class Viewers:
    """Three of them: each asks for status and history once a second, and takes all events."""

    def __init__(self, address):
        self.over = threading.Event()
        self.asked = 0
        self.threads = [threading.Thread(target=each, args=(address,), daemon=True)
                        for each in (self.ask, self.hear) for _ in range(3)]
        for thread in self.threads:
            thread.start()

    def ask(self, address):
        while not self.over.wait(1):
            with contextlib.suppress(OSError):
                for path in ("api/status", "api/history?seconds=4"):
                    urllib.request.urlopen(address + path, timeout=5).read()
                self.asked += 1

    def hear(self, address):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address + "api/events", timeout=600).read()

    def close(self):
        self.over.set()


class Silent:
    """One that asks for the events and never reads."""

    def __init__(self, address):
        host, port = re.match(r"http://([^:/]+):(\d+)/", address).groups()
        self.socket = socket.create_connection((host, int(port)))
        self.socket.sendall(f"GET /api/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())

    def close(self):
        self.socket.close()


def viewers(given, folder):
    """Rows a CPU second, rows/s and the most memory of runs with each kind of viewers, in turns."""
    kinds = {"nobody": None, "three": Viewers, "silent": Silent}
    found = {name: [] for name in kinds}
    for turn in range(given.rounds):
        for name in list(kinds)[turn % 3:] + list(kinds)[:turn % 3]:
            run = Run(given.forebay, folder)
            watching = kinds[name](run.address) if kinds[name] else None
            time.sleep(given.seconds)
            page_cpu = run.page_cpu()
            result = run.end()
            if watching:
                watching.close()
            found[name].append({"rows_per_second": result["rows_per_second"], "peak_bytes": result["peak_memory_bytes"],
                                "rows_per_cpu_second": result["rows"] / result["cpu_seconds"],
                                "page_cpu": page_cpu})
            print(name, json.dumps(found[name][-1]), flush=True)
    return found


def first_paints(given, folder, loads=10):
    """Milliseconds until Chromium painted the live page, and what it asked of others."""
    from support.browser import Browser
    browser = Browser()
    run = Run(given.forebay, folder)
    paints = []
    try:
        for _ in range(loads):
            browser.open(run.address)
            paint = "performance.getEntriesByName('first-contentful-paint')[0]"
            browser.wait(paint)
            paints.append(browser.ask(paint + ".startTime"))
        heard = browser.heard()["requests"]
    finally:
        browser.close()
        run.end()
    return paints, [url for url in heard if not url.startswith(run.address)]


def median(found, name, key):
    return statistics.median(each[key] for each in found[name])


def paired(found, name, key):
    """The median over rounds of a run's figure over that of the run without viewers in the same round."""
    return statistics.median(one[key] / none[key] for one, none in zip(found[name], found["nobody"]))


def main():
    given = options()
    given.forebay = os.path.abspath(given.forebay)
    with tempfile.TemporaryDirectory(prefix="forebay-page-") as name:
        folder = pathlib.Path(name)
        (folder / "job.toml").write_text(JOB)
        subprocess.run([given.forebay, "synth", "criteo", "--rows", "400000", "--files", "4", "--out", "data"],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        paints, foreign = first_paints(given, folder)
        found = viewers(given, folder)
    result = {"page_bytes": PAGE.stat().st_size, "first_paint_ms": paints, "foreign_requests": foreign, "runs": found,
              "load": os.getloadavg()}
    print(f"page {result['page_bytes']} bytes, {len(foreign)} requests to others; first paint "
          f"{statistics.median(paints):.0f} ms (from {min(paints):.0f} to {max(paints):.0f})")
    for name in ("three", "silent"):
        more = (median(found, name, "peak_bytes") - median(found, "nobody", "peak_bytes")) / 2**20
        print(f"{name}: rows/s {paired(found, name, 'rows_per_second'):.3f} of those without viewers, rows a CPU second "
              f"{paired(found, name, 'rows_per_cpu_second'):.3f}, memory {more:+.1f} MiB, page CPU "
              f"{100 * median(found, name, 'page_cpu'):.3f} % (without: {100 * median(found, 'nobody', 'page_cpu'):.3f} %)")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
