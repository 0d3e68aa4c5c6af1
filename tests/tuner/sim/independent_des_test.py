#!/usr/bin/env python3
"""The simulator against independent_des.py on random pipelines: independent_des_test.py PATH/TO/forebay

Throughput and peak memory of the oracle's allocation and of one that is larger agree within 3 %, the mean of
seeds in the simulator against one run of the other.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SPLITS = 1200
SEEDS = 5
WITHIN = 0.03
EVENTS = """
[[event]]
at_seconds = {half}
cpus = {cpus}
[[event]]
at_seconds = {half}
stage = "stage1"
seconds_factor = 1.5
"""


def said(*words):
    return json.loads(subprocess.run([str(word) for word in words], check=True, capture_output=True,
                                     text=True).stdout.splitlines()[-1])


def simulated(forebay, path, allocation, prefetch, seconds):
    runs = [said(forebay, "simulate", path, "--allocation", allocation, "--prefetch", prefetch, "--seconds",
                 f"{seconds:.3f}s", "--seed", seed, "--json") for seed in range(1, SEEDS + 1)]
    return {key: sum(run[key] for run in runs) / SEEDS for key in ("splits_per_second", "peak_memory_bytes")}


def compare(forebay, path, larger):
    oracle = said(forebay, "simulate", path, "--allocation", "oracle", "--seconds", "1", "--json")
    allocation = ",".join(f"{name}={count + larger}" for name, count in oracle["allocation"].items())
    seconds = round(max(SPLITS / oracle["oracle_splits_per_second"], 5), 3)
    if larger == 0:
        half = EVENTS.format(half=seconds / 2, cpus=max(1, oracle["cpus_used"] // 2 + 1))
        path.write_text(path.read_text() + half)
    ours = simulated(forebay, path, allocation, oracle["prefetch"], seconds)
    theirs = said(sys.executable, HERE / "independent_des.py", path, allocation, oracle["prefetch"], seconds, 1)
    off = {key: ours[key] / theirs[key] - 1 for key in ours}
    print(f"{path.stem} {allocation} {seconds:.0f} s: "
          + ", ".join(f"{key} {theirs[key]:.5g} {100 * value:+.2f} %" for key, value in off.items()))
    return max(map(abs, off.values())) <= WITHIN


def main():
    forebay = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        said(forebay, "synth", "pipelines", "--count", 6, "--seed", 11, "--out", folder, "--json")
        files = sorted(pathlib.Path(folder).glob("*.toml"))
        agreed = [compare(forebay, path, number % 2 * 2) for number, path in enumerate(files)]
    return 0 if all(agreed) and len(agreed) == 6 else 1


if __name__ == "__main__":
    sys.exit(main())
