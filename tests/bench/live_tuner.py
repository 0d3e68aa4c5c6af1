#!/usr/bin/env python3
"""The tuner on real work: a job whose operator is about 0.8 of the work, from the worst allocation, against a
sweep of fixed allocations and plain over-subscription, interleaved on this machine.

    python3 tests/bench/live_tuner.py                        # build/release/tools/forebay, two CPUs, some minutes
    python3 tests/bench/live_tuner.py --policy greedy --seconds 20 --rounds 3 --json result.json
    python3 tests/bench/live_tuner.py --interference         # six jobs with something real beside them
    python3 tests/bench/live_tuner.py --interference memory CPUs --pairs 9 --seconds 10

Each run gets its own session, so that a kernel with autogroups shares the CPUs by run and not by thread. A run ends
by an orderly stop after --seconds. On a busy machine compare `rows per CPU second` too: what other programs take
from a run shows in rows/s and in `CPUs`.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import tempfile
import time

import live_interference
import live_job
from live_job import STAGES


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forebay", default="build/release/tools/forebay")
    parser.add_argument("--policy", default="intune")
    parser.add_argument("--period", default="250ms")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--memory", default="600MiB")
    parser.add_argument("--rows", type=int, default=500000, help="of made-up data; epochs repeat them")
    parser.add_argument("--spin", type=float, help="microseconds a row; default: four times the other work")
    parser.add_argument("--seconds", type=float, default=16, help="a run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="names of the fixed allocations to run; default: all")
    parser.add_argument("--interference", nargs="*", choices=live_interference.NAMES,
                        help="compare policies beside something real; default: all six")
    parser.add_argument("--pairs", type=int, default=7, help="with --interference: runs of each policy")
    parser.add_argument("--json", help="write all figures there")
    return parser.parse_args()


class Bench:
    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.forebay = os.path.abspath(given.forebay)
        live_job.make_data(self.forebay, folder, given.rows)
        self.spin = 0.0
        self.write_job()

    def write_job(self, further=""):
        (self.folder / "job.toml").write_text(live_job.job_text(
            operators=f'[[transform]]\nop = "spin"\nmicroseconds = {self.spin}',
            pipeline=f'cpus = {self.given.cpus}\nmemory = "{self.given.memory}"',
            tuner=f'policy = "{self.given.policy}"\nperiod = "{self.given.period}"\n{further}'))

    def run(self, allocation, mode, seconds):
        words = [f"pipeline.allocation.{stage}={count}" for stage, count in zip(STAGES, allocation)]
        words += [f"tuner.mode={mode}", f"pipeline.max_actors={max(sum(allocation), 2 * self.given.cpus + 4)}"]
        sets = [word for pair in words for word in ("--set", pair)]
        result, cpu = live_job.run_until([self.forebay, "ingest", "job.toml", "--json", *sets], self.folder,
                                         lambda _: time.sleep(seconds))
        return {"rows_per_second": result["rows_per_second"], "cpus": cpu / result["seconds"],
                "rows_per_cpu_second": result["rows"] / cpu, "actors": sum(result["allocation"].values()),
                "peak_bytes": result["peak_memory_bytes"], "decisions": result["decisions"],
                "tuner_cpus": result["tuner_cpu_seconds"] / result["seconds"],
                "allocation": [result["allocation"][stage] for stage in STAGES]}

    def late_rate(self):
        """Rows/s over the decisions from the 31st on of the last tuned run."""
        rows, seen = live_job.decisions_in(self.folder)
        return live_job.rate_of(rows, seen[30:])

    def choose_spin(self):
        base = self.run((1, 1, 1, 1), "off", 3)
        self.spin = self.given.spin if self.given.spin is not None else 4e6 / base["rows_per_cpu_second"]
        self.write_job()
        print(f"without the spin a row takes {1e6 / base['rows_per_cpu_second']:.2f} us of CPU; "
              f"spin: {self.spin:.2f} us, {self.spin / (self.spin + 1e6 / base['rows_per_cpu_second']):.2f} of the work")


def fixed_allocations(cpus):
    """One each, more for the heavy stage, over-subscription, and what a bad guess gives."""
    over = (cpus,) * 4
    return {"one each": (1, 1, 1, 1), "transform 2": (1, 1, 1, 2), "transform 3": (1, 1, 1, 3),
            "transform 4": (1, 1, 1, 4), "decode and transform 2": (1, 2, 1, 2),
            "over-subscribed": over, "twice over-subscribed": tuple(2 * n for n in over),
            "all but transform": (2, 3, 2, 1)}


def medians(runs):
    keys = [key for key in runs[0] if key != "allocation"]
    return {key: statistics.median(run[key] for run in runs) for key in keys} | {
        "allocation": runs[-1]["allocation"], "spread": spread([run["rows_per_second"] for run in runs])}


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def main():
    given = options()
    live_job.exit_on_sigterm()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="forebay-live-"))
    try:
        bench = Bench(given, folder)
        bench.choose_spin()
        if given.interference is not None:
            given.fixed = fixed_allocations(given.cpus)
            live_interference.main(given, bench)
            return
        fixed = fixed_allocations(given.cpus)
        worst = fixed["all but transform"]
        if given.only:
            fixed = {name: fixed[name] for name in given.only}
        runs = {name: [] for name in [*fixed, "tuned"]}
        draw = random.Random(given.seed)
        for _ in range(given.rounds):
            for name in draw.sample(list(runs), len(runs)):
                if name == "tuned":
                    run = bench.run(worst, "on", given.seconds)
                    run["late"] = bench.late_rate()
                else:
                    run = bench.run(fixed[name], "off", given.seconds)
                runs[name].append(run)
        report(given, {name: medians(each) for name, each in runs.items()})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(given, results):
    print(f"{'':24} {'rows/s':>10} {'spread':>7} {'CPUs':>5} {'rows/CPU s':>11} {'actors':>6} {'peak MiB':>8}")
    for name, result in results.items():
        print(f"{name:24} {result['rows_per_second']:10.0f} {result['spread']:7.2f} {result['cpus']:5.2f} "
              f"{result['rows_per_cpu_second']:11.0f} {result['actors']:6.0f} {result['peak_bytes'] / 2**20:8.0f}")
    tuned = results["tuned"]
    over = results["over-subscribed"]
    best_name = max((name for name in results if name != "tuned"), key=lambda name: results[name]["rows_per_second"])
    best = results[best_name]
    ratios = {"best_fixed": best_name,
              "over_best_fixed": tuned["rows_per_second"] / best["rows_per_second"],
              "late_over_best_fixed": tuned["late"] / best["rows_per_second"],
              "per_cpu_over_best_fixed": tuned["rows_per_cpu_second"] / best["rows_per_cpu_second"],
              "over_oversubscribed": tuned["rows_per_second"] / over["rows_per_second"],
              "actors_over_oversubscribed": tuned["actors"] / over["actors"],
              "peak_over_oversubscribed": tuned["peak_bytes"] / over["peak_bytes"]}
    print(f"tuned by {given.policy}, {tuned['decisions']:.0f} decisions, {tuned['tuner_cpus']:.4f} CPUs for the tuner, "
          f"ended at {tuned['allocation']}")
    for name, ratio in ratios.items():
        print(f"  {name}: {ratio if isinstance(ratio, str) else f'{ratio:.3f}'}")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps({"results": results, "ratios": ratios}, indent=1))


if __name__ == "__main__":
    main()
