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
import signal
import statistics
import subprocess
import sys
import tempfile
import time

STAGES = ("load", "decode", "shuffle", "transform")
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
        subprocess.run([self.forebay, "synth", "criteo", "--rows", str(given.rows), "--files", "4", "--out", "data"],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (folder / "waits.cpp").write_text(WAITING)
        include = pathlib.Path(__file__).resolve().parents[2] / "include"
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{include}",
                        folder / "waits.cpp", "-o", folder / "libwaits.so"], check=True)

    def write(self, job, fuse):
        operator = f"[[transform]]\n{job['operator']}\n" if "operator" in job else ""
        (self.folder / "job.toml").write_text(f"""
[dataset]
paths = ["data/*.tsv"]
[order]
epochs = 100000
batch_size = 8192
[[transform]]
op = "log1p"
columns = ["I*"]
[[transform]]
op = "sigrid_hash"
columns = ["C*"]
max_value = 1000000
{operator}[pipeline]
cpus = 2
memory = "{job.get('memory', '600MiB')}"
fuse = {fuse}
[tuner]
period = "250ms"
""")

    def drop_pages(self):
        for path in (self.folder / "data").iterdir():
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def run(self, job, fuse):
        """Rows per second by the decision log; where the file has to come from the disk, its pages are dropped all the
        time."""
        self.write(job, fuse)
        process = subprocess.Popen([self.forebay, "ingest", "job.toml", "--json"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            end = time.monotonic() + self.given.seconds
            while time.monotonic() < end:
                if job.get("cold"):
                    self.drop_pages()
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
        except BaseException:  # What ends this script must not leave a job beside whatever is measured next.
            process.kill()
            process.wait()
            raise
        if process.returncode != 130:
            raise RuntimeError(f"the job said {err.strip().splitlines()[-1:]}")
        log = (self.folder / ".forebay" / "decisions.jsonl").read_text().splitlines()
        rows = json.loads(log[0])["layout"]["rows_per_split"]
        seen = [json.loads(line)["seen"] for line in log[1:]]
        late = seen[len(seen) // 3:]
        splits = sum(each["trainer_steps"] * each["splits_per_item"] for each in late)
        return rows * splits / sum(each["seconds"] for each in late)

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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
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
