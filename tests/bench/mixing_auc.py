#!/usr/bin/env python3
"""Compares the AUC after training on grains shuffled by Forebay with that on a full permutation of the same rows.

Makes click logs sorted by time whose items, base rate and coefficients drift, converts them to Parquet, and trains the
small model of `forebay train` on them: shuffled through grains, permuted beforehand and read in file order, and in the
order of time as a control. All runs of a seed begin with the same weights; each is evaluated on the same rows, which are
from all over the time. Prints one line a run and the mean difference; about a minute a seed on two quiet cores.

    python3 tests/bench/mixing_auc.py [--rows 1200000] [--seeds 3] [--forebay build/release/tools/forebay]
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

HEADER = "label,user,item,hour,d1,d2\n"
JOB = """
[dataset]
format = "{format}"
paths = ["{paths}"]
[columns]
label = "label"
dense = ["d1", "d2"]
sparse = ["user", "item", "hour"]
[order]
seed = {seed}
shuffle = {shuffle}
batch_size = 1024
[[transform]]
op = "sigrid_hash"
columns = ["user", "item", "hour"]
max_value = 20000
[pipeline]
memory = "2GiB"
[tuner]
mode = "off"
[trainer]
model = "dlrm"
evaluate = ["{evaluate}"]
"""


def drifting_rows(count, seed):
    """Rows of CSV in the order of time. Items come and go, users and hours have fixed effects."""
    draw = random.Random(seed)
    users = [draw.gauss(0, 0.8) for _ in range(5000)]
    items = [draw.gauss(0, 1) for _ in range(3000)]
    rows = []
    for i in range(count):
        time = i / count
        user = int(5000 * draw.random() ** 2)
        item = int(2000 * time + 1000 * draw.random() ** 2)  # a window that moves over all items
        hour = i * 240 // count % 24
        d1, d2 = draw.gauss(0, 1), draw.gauss(0, 1)
        logit = users[user] + items[item] * (1 - time) + (1 - 2 * time) * d1 + 0.5 * d2 + 0.3 * math.sin(hour / 4) - 2 + 2 * time
        label = int(draw.random() < 1 / (1 + math.exp(-logit)))
        rows.append(f"{label},{user},{item},{hour},{d1:.4f},{d2:.4f}\n")
    return rows


def run(forebay, folder, command, *options):
    done = subprocess.run([forebay, command, "job.toml", "--json", *options], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} in {folder} failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def convert(forebay, folder, name, rows):
    """Writes the rows as NAME.parquet."""
    made = folder / f"make-{name}"
    made.mkdir()
    (made / f"{name}.csv").write_text(HEADER + "".join(rows))
    job = JOB.format(format="csv", paths=f"{name}.csv", seed=1, shuffle="false", evaluate="")
    (made / "job.toml").write_text(job[:job.index("[trainer]")])
    run(forebay, made, "convert", "--raw", "--out", str(folder / name))
    (made / f"{name}.csv").unlink()


def train(forebay, folder, data, seed, shuffle):
    made = folder / f"{data}-{seed}-{shuffle}"
    made.mkdir()
    (made / "job.toml").write_text(JOB.format(
        format="parquet", paths=folder / data / "*.parquet", seed=seed, shuffle=shuffle, evaluate=folder / "held/held.parquet"))
    return run(forebay, made, "train")["auc"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_200_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--forebay", default="build/release/tools/forebay")
    options = parser.parse_args()
    forebay = str(pathlib.Path(options.forebay).resolve())
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        rows = drifting_rows(options.rows, 1)
        convert(forebay, folder, "held", rows[::10])
        rows = [row for i, row in enumerate(rows) if i % 10]
        convert(forebay, folder, "sorted", rows)
        differences = []
        for seed in range(1, options.seeds + 1):
            random.Random(seed).shuffle(rows)
            convert(forebay, folder, f"permuted-{seed}", rows)
            full = train(forebay, folder, f"permuted-{seed}", seed, "false")
            grains = train(forebay, folder, "sorted", seed, "true")
            differences.append(grains - full)
            print(f"seed {seed}: full permutation {full:.6f}, grains {grains:.6f}, difference {grains - full:+.6f}", flush=True)
        print(f"in the order of time {train(forebay, folder, 'sorted', 1, 'false'):.6f}")
        print(f"mean difference {statistics.mean(differences):+.6f}, largest {max(map(abs, differences)):.6f}")


if __name__ == "__main__":
    main()
