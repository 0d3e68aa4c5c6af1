#!/usr/bin/env python3
"""Where the cuts between fused stages should lie: `pipeline.fuse = "auto"` against every way to join the four stages, on
jobs that want different ones: usual work; a function behind a service, which waits; a file that must come from the disk;
a memory limit for few actors; a heavy operator.

    python3 tests/bench/fused_cuts.py                            # some twenty minutes
    python3 tests/bench/fused_cuts.py --jobs usual disk --rounds 3 --seconds 6 --json result.json

The tuner sets the actors in every run, and the first third of a run does not count, as the ways begin with different
numbers of actors. Runs are interleaved; a figure is the median of a run's rows/s over those of `auto` in the same
round."""
import argparse
import itertools
import json
import os
import pathlib
import random
import statistics
import tempfile
import time

import live_job
from live_job import STAGES

WAITING = """
#include <chrono>
#include <thread>
#include <forebay/udf.h>
// As a call of a service: 400 ns a row in which nothing is computed.
FOREBAY_UDF(waits) { std::this_thread::sleep_for(std::chrono::nanoseconds(400 * call.rows())); }
"""
JOBS = {
    "usual": {},
    "waits": {"operator": 'op = "udf"\nlibrary = "libwaits.so"\nfunction = "waits"\ncolumns = ["I1"]'},
    "disk": {"cold": True},
    "memory": {"memory": "160MiB"},
    "heavy": {"operator": 'op = "spin"\nmicroseconds = 3'},
}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forebay", default="build/release/tools/forebay")
    parser.add_argument("--jobs", nargs="*", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6, help="a run")
    parser.add_argument("--rows", type=int, default=2_000_000, help="of made-up data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="write all figures there")
    return parser.parse_args()


def groupings():
    """By name, what pipeline.fuse says: "auto", and each set of joined neighbours."""
    ways = {"auto": '"auto"'}
    for joins in itertools.product((False, True), repeat=len(STAGES) - 1):
        groups = [[STAGES[0]]]
        for stage, joined in zip(STAGES[1:], joins):
            if not joined:
                groups.append([])
            groups[-1].append(stage)
        fused = [group for group in groups if len(group) > 1]
        ways[" | ".join("+".join(group) for group in groups)] = json.dumps(fused) if fused else "false"
    return ways


class Bench:
    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.forebay = os.path.abspath(given.forebay)
        live_job.make_data(self.forebay, folder, given.rows)
        live_job.build_function(folder, "waits", WAITING)

    def write(self, job, fuse):
        (self.folder / "job.toml").write_text(live_job.job_text(
            operators=f"[[transform]]\n{job['operator']}" if "operator" in job else "",
            pipeline=f'cpus = 2\nmemory = "{job.get("memory", "600MiB")}"\nfuse = {fuse}', tuner='period = "250ms"'))

    def drop_pages(self):
        for path in (self.folder / "data").iterdir():
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def pass_time(self, job):
        """Where the file has to come from the disk, its pages are dropped all the time."""
        end = time.monotonic() + self.given.seconds
        while time.monotonic() < end:
            if job.get("cold"):
                self.drop_pages()
            time.sleep(0.05)

    def run(self, job, fuse):
        """Rows per second over the later two thirds of the decisions."""
        self.write(job, fuse)
        live_job.run_until([self.forebay, "ingest", "job.toml", "--json"], self.folder, lambda _: self.pass_time(job))
        rows, seen = live_job.decisions_in(self.folder)
        return live_job.rate_of(rows, seen[len(seen) // 3:])

    def measure(self, job):
        ways = groupings()
        draw = random.Random(self.given.seed)
        ratios = {name: [] for name in ways}
        for _ in range(self.given.rounds):
            rates = {name: self.run(job, ways[name]) for name in draw.sample(list(ways), len(ways))}
            for name, rate in rates.items():
                ratios[name].append(rate / rates["auto"])
        return {name: statistics.median(each) for name, each in ratios.items() if name != "auto"}


def main():
    given = options()
    live_job.exit_on_sigterm()
    results = {}
    with tempfile.TemporaryDirectory(prefix="forebay-cuts-") as folder:
        bench = Bench(given, pathlib.Path(folder))
        for name in given.jobs:
            results[name] = bench.measure(JOBS[name])
            best = max(results[name], key=results[name].get)
            print(f"{name}: the best over auto {results[name][best]:.3f} ({best})")
            for way, ratio in results[name].items():
                print(f"  {ratio:.3f}  {way}", flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
