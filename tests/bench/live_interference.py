"""Real interference for live_tuner.py: what runs beside a job, and how policies are compared under it.

Six jobs, each with something real beside it: a process that copies memory all the time, one that writes, syncs and drops
the data from the page cache, a function of the job that holds a lock while it waits, a second job, a training run that
stops for checkpoints, CPUs that are taken away and given back. A pair is one run of each policy in random order, so that
what else the machine does falls on all; a gain is the median of the pairs' ratios, its bound by the t distribution of
their logarithms."""
import contextlib
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

import live_job
from live_job import STAGES

TUNED = ("intune", "intune:no-network")

HOGS = {
    "memory": "import sys\na = bytearray(1 << 27); b = bytearray(1 << 27)\nwhile True: a[:] = b",
    "disk": """
import os, pathlib, sys
folder = pathlib.Path(sys.argv[1]); block = os.urandom(1 << 20)
while True:
    with open(folder / "hog", "wb") as file:
        for _ in range(64): file.write(block)
        file.flush(); os.fsync(file.fileno())
    for path in (folder / "data").iterdir():
        file = os.open(path, os.O_RDONLY); os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED); os.close(file)
""",
}

LOCKED = """
#include <chrono>
#include <mutex>
#include <thread>
#include <forebay/udf.h>
// One call at a time, as of a service behind a lock: 150 ns a row in which nothing is computed.
FOREBAY_UDF(locked) {
  static std::mutex lock;
  const std::lock_guard<std::mutex> held(lock);
  std::this_thread::sleep_for(std::chrono::nanoseconds(150 * call.rows()));
}
"""


@contextlib.contextmanager
def beside(*words, cwd=None):
    """Runs a program beside a job, in a session of its own, until the job has ended."""
    process = subprocess.Popen(words, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Interference:
    """One of the six; `bench` has the folder with data, the binary and the operator's cost."""

    def __init__(self, name, bench):
        self.name, self.bench = name, bench
        self.command = "train" if name == "pauses" else "ingest"

    def prepare(self):
        """The job's further text. Raises what the compiler says where it cannot build the function."""
        if self.name == "lock":
            live_job.build_function(self.bench.folder, "locked", LOCKED)
            return '[[transform]]\nop = "udf"\nlibrary = "liblocked.so"\nfunction = "locked"\ncolumns = ["I1"]\n'
        if self.name == "pauses":
            return '[trainer]\ncheckpoint = "checkpoints"\ncheckpoint_steps = 10\n'
        return ""

    def surroundings(self):
        folder = self.bench.folder
        if self.name in HOGS:
            return beside(sys.executable, "-c", HOGS[self.name], str(folder))
        if self.name == "second job":
            other = folder / "other"
            other.mkdir(exist_ok=True)
            (other / "job.toml").write_text((folder / "job.toml").read_text().replace("data/", "../data/"))
            return beside(self.bench.forebay, "ingest", "job.toml", "--set", "tuner.mode=off", cwd=other)
        return contextlib.nullcontext()

    def during(self, process, seconds):
        """Waits for the run's time; takes a CPU away for the middle third of it."""
        if self.name != "CPUs":
            return time.sleep(seconds)
        all_of_them = os.sched_getaffinity(process.pid)
        for cpus in (all_of_them, set(sorted(all_of_them)[:max(1, len(all_of_them) // 2)]), all_of_them):
            for thread in os.listdir(f"/proc/{process.pid}/task"):
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread), cpus)
            time.sleep(seconds / 3)


NAMES = ("memory", "disk", "lock", "second job", "pauses", "CPUs")


def run(case, allocation, policy, seconds):
    """One run; policy None: the allocation stays. Returns rows/s."""
    bench = case.bench
    sets = [f"pipeline.allocation.{stage}={count}" for stage, count in zip(STAGES, allocation)]
    sets += [f"pipeline.max_actors={max(map(sum, bench.given.fixed.values()))}"]
    sets += [f"tuner.mode={'off' if policy is None else 'on'}", f"tuner.policy={policy or 'intune'}"]
    words = [word for each in sets for word in ("--set", each)]
    restart = ["--restart"] if case.command == "train" else []
    words = [bench.forebay, case.command, "job.toml", "--json", *restart, *words]
    with case.surroundings():
        try:
            result, _ = live_job.run_until(words, bench.folder, lambda process: case.during(process, seconds))
        except RuntimeError as error:
            raise RuntimeError(f"{case.name}: {error}") from error
    rate = result["rows_per_second"]
    if not rate:
        raise RuntimeError(f"{case.name}: the run ended before its first batch; --seconds is too short")
    return rate


# 95 % of both sides, by degrees of freedom.
T = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179, 15: 2.131,
     20: 2.086, 30: 2.042}


def gain(ours, theirs):
    """The median of the pairs' ratios, and the bounds of their geometric mean."""
    logs = [math.log(a / b) for a, b in zip(ours, theirs)]
    mean = statistics.fmean(logs)
    freedom = max(key for key in T if key <= max(2, len(logs) - 1))
    half = T[freedom] * statistics.stdev(logs) / math.sqrt(len(logs))
    return {"median": math.exp(statistics.median(logs)), "low": math.exp(mean - half), "high": math.exp(mean + half)}


def measure(case, given, draw):
    """The sweep of fixed allocations, then the pairs."""
    fixed = given.fixed
    swept = {name: run(case, allocation, None, given.seconds) for name, allocation in fixed.items()}
    best = max(swept, key=swept.get)
    runs = {name: [] for name in (*TUNED, "best fixed")}
    for _ in range(given.pairs):
        for name in draw.sample(list(runs), len(runs)):
            allocation = fixed[best] if name == "best fixed" else (1, 1, 1, 1)
            runs[name].append(run(case, allocation, None if name == "best fixed" else name, given.seconds))
    return {"sweep": swept, "best_fixed": best, "rows_per_second": runs,
            "over_planning": gain(runs["intune"], runs["intune:no-network"]),
            "over_best_fixed": gain(runs["intune"], runs["best fixed"])}


def line(name, result):
    def words(key):
        each = result[key]
        return f"{each['median']:.3f} ({each['low']:.3f} to {each['high']:.3f})"
    return f"{name:12} {words('over_planning'):>24} {words('over_best_fixed'):>24}  {result['best_fixed']}"


def main(given, bench):
    """`given` has pairs, seconds, seed, interference (names), fixed and json."""
    draw = random.Random(given.seed)
    results = {}
    print(f"{'beside':12} {'over planning alone':>24} {'over the best fixed':>24}")
    for name in given.interference or NAMES:
        case = Interference(name, bench)
        bench.write_job(case.prepare())
        results[name] = measure(case, given, draw)
        print(line(name, results[name]), flush=True)
    if given.json:
        load = os.getloadavg()[0]
        pathlib.Path(given.json).write_text(json.dumps({"load": load, "seconds": given.seconds, "results": results},
                                                       indent=1))
