#!/usr/bin/env python3
"""Compares how positives spread over batches of a file sorted by label with a full permutation of its rows.

Writes rows of a label and an id, 30 % positive and sorted by the label, converts them to Parquet, and counts the
positives of each full batch over six seeds. A spread of 1 is that of a full permutation.

    python3 tests/bench/label_spread.py [--rows 1000000] [--forebay build/release/tools/forebay]
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

JOB = """
[dataset]
format = "{format}"
paths = ["{path}"]
[columns]
label = "label"
dense = []
sparse = ["id"]
[order]
seed = {seed}
batch_size = {batch}
[pipeline]
memory = "1GiB"
[tuner]
mode = "off"
"""
POSITIVE = 0.3


def run(forebay, folder, command, *options):
    done = subprocess.run([forebay, command, "job.toml", "--json", *options], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def positives(dump, batch):
    """The positives of each full batch."""
    counts = {}
    with open(dump) as lines:
        next(lines)
        for line in lines:
            number, label, _ = line.split("\t", 2)
            count = counts.setdefault(int(number), [0, 0])
            count[0] += 1
            count[1] += int(label)
    return [count[1] for count in counts.values() if count[0] == batch]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--forebay", default="build/release/tools/forebay")
    options = parser.parse_args()
    forebay, rows = str(pathlib.Path(options.forebay).resolve()), options.rows
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        with open(folder / "a.csv", "w") as out:
            out.write("label,id\n")
            out.writelines(f"{int(i >= rows * (1 - POSITIVE))},{i}\n" for i in range(rows))
        (folder / "job.toml").write_text(JOB.format(format="csv", path="a.csv", seed=1, batch=8192))
        run(forebay, folder, "convert", "--raw", "--out", "made")
        for batch in (1024, 8192, 16384):
            squares = []
            for seed in range(1, 7):
                (folder / "job.toml").write_text(JOB.format(format="parquet", path="made/*.parquet", seed=seed, batch=batch))
                done = run(forebay, folder, "ingest", "--dump", "d.tsv")
                squares += [(count - batch * POSITIVE) ** 2 for count in positives(folder / "d.tsv", batch)]
            full = batch * POSITIVE * (1 - POSITIVE) * (rows - batch) / (rows - 1)
            spread = math.sqrt(sum(squares) / len(squares) / full)
            print(f"batches of {batch}: spread {spread:.3f}, {done.get('strata')} grains in a split", flush=True)


if __name__ == "__main__":
    main()
