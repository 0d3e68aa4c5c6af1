#!/usr/bin/env python3
"""What `columns.dedup` saves where 16 impressions of a request repeat 80 % of the bytes, and what it costs where nothing
repeats: rows per second and CPU of `ingest`, time of a training step, the same and bytes with two ranks, bytes that a
worker sends, the loss.

    python3 tests/bench/dedup.py                       # some five minutes
    python3 tests/bench/dedup.py --only ingest --rounds 9 --json result.json

Rounds are interleaved (without the key, with it); figures are medians of the rounds' ratios.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

REQUESTS, ROWS = 12_000, 16
COLUMNS = {"label": "click", "dense": ["age", "hour", "p*"], "sparse": ["user", "history", "liked", "c[0-9]*"]}
REPEATED = [["age", "user", "history", "liked"]]
LOOPBACK = pathlib.Path("/sys/class/net/lo/statistics/rx_bytes")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forebay", default="build/release/tools/forebay")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=["ingest", "train", "ranks", "wire", "distinct"])
    parser.add_argument("--ids", type=int, default=60, help="of each of the two lists that repeat, in the mean")
    parser.add_argument("--format", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--json", help="write all figures there")
    return parser.parse_args()


def rows_of(requests, each, ids):
    """One list of columns a row: the label, the request's columns, the impression's own."""
    draw = random.Random(5)
    for _ in range(requests):
        lists = [[draw.randrange(10**6) for _ in range(draw.randint(ids // 2, ids * 3 // 2))] for _ in range(2)]
        shared = [draw.randrange(90), draw.randrange(10**9), *lists]
        for _ in range(each):
            yield [draw.randrange(2), *shared, draw.randrange(24), *(draw.randrange(1000) for _ in range(6)),
                   *(draw.randrange(10**7) for _ in range(16))]


NAMES = ["click", "age", "user", "history", "liked", "hour", *(f"p{i}" for i in range(6)), *(f"c{i}" for i in range(16))]


def write_csv(path, rows):
    with open(path, "w") as file:
        file.write(",".join(NAMES) + "\n")
        for row in rows:
            file.write(",".join("|".join(map(str, x)) if isinstance(x, list) else str(x) for x in row) + "\n")


def write_parquet(path, rows):
    import pyarrow
    import pyarrow.parquet
    columns = list(zip(*rows))
    table = pyarrow.table({name: pyarrow.array(column) for name, column in zip(NAMES, columns)})
    pyarrow.parquet.write_table(table, path, row_group_size=16_384, write_page_index=True)


def toml(tables):
    text = ""
    for table, keys in tables.items():
        text += f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return text


class Bench:
    def __init__(self, wanted, folder):
        self.wanted, self.folder = wanted, folder
        self.forebay = os.path.abspath(wanted.forebay)
        self.figures = {}

    def dataset(self, name, requests, each):
        path = self.folder / f"{name}.{self.wanted.format}"
        {"csv": write_csv, "parquet": write_parquet}[self.wanted.format](path, rows_of(requests, each, self.wanted.ids))
        return path

    def job(self, data, once):
        name = f"{data.stem}-{'once' if once else 'plain'}"
        job = {"dataset": {"format": self.wanted.format, "paths": [str(data)]},
               "columns": {**COLUMNS, **({"dedup": REPEATED} if once else {})},
               "order": {"batch_size": 8192, "epochs": 4, "seed": 1}, "run": {"dir": str(self.folder / f"run-{name}")},
               "trainer": {"threads": 1, "embedding_dim": 64, "max_table_rows": 50_000, "bottom_mlp": [64, 64],
                           "top_mlp": [64, 1], "pooling": "mean", "checkpoint": ""}}
        text = toml(job)
        if self.wanted.format == "csv":
            text = text.replace("[columns]", '[dataset.csv]\nlist_delimiter = "|"\n[columns]', 1)
        path = self.folder / f"{name}.toml"
        path.write_text(text)
        return path

    def run(self, command, job, *more):
        done = subprocess.run([self.forebay, command, str(job), "--json", *more], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{command} {job}: {done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])

    def rounds(self, name, data, measure, count=None):
        """The ratios of a measure, with the key over without it."""
        plain_job, once_job = self.job(data, False), self.job(data, True)
        ratios = []
        for _ in range(count or self.wanted.rounds):
            plain, once = measure(plain_job), measure(once_job)
            ratios.append({key: once[key] / plain[key] for key in plain if plain[key]})
        result = {key: statistics.median(ratio[key] for ratio in ratios) for key in ratios[0]}
        self.figures[name] = result
        print(name, json.dumps(result), flush=True)

    def ingest(self, job):
        done = self.run("ingest", job)
        self.ratio = done["dedup_ratio"]
        return {"rows_per_second": done["rows_per_second"], "cpu_seconds": done["cpu_seconds"],
                "peak_memory": done["peak_memory_bytes"]}

    def train(self, job):
        """Time of the steps of two epochs: three less one, since the start takes as long for both."""
        short, long = (self.run("train", job, "--restart", "--set", f"order.epochs={epochs}") for epochs in (1, 3))
        busy = [done["seconds"] * (1 - done["starved_ratio"]) for done in (short, long)]
        return {"step_seconds": busy[1] - busy[0], "loss": long["loss"]}

    def ranks(self, job):
        """Time of two ranks' steps of two epochs, and the bytes between them and within c10d, over loopback."""
        busy, sent = [], []
        for epochs in (1, 3):
            before = int(LOOPBACK.read_text())
            ranks = [subprocess.Popen([self.forebay, "train", str(job), "--json", "--restart", "--set",
                                       f"order.epochs={epochs}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2",
                                           "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29571"}) for rank in range(2)]
            told = [rank.communicate() for rank in ranks]
            if any(rank.returncode for rank in ranks):
                raise SystemExit(f"train {job}: {told[0][1].decode()}")
            done = json.loads(told[0][0].splitlines()[-1])
            busy.append(done["seconds"] * (1 - done["starved_ratio"]))
            sent.append(int(LOOPBACK.read_text()) - before)
        return {"step_seconds": busy[1] - busy[0], "bytes": sent[1] - sent[0]}

    def wire(self, job):
        before = int(LOOPBACK.read_text())
        trainer = subprocess.Popen(
            [self.forebay, "ingest", str(job), "--json", "--set", "cluster.listen=tcp://127.0.0.1:0", "--set",
             "cluster.local=false", "--set", "order.epochs=1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        place = next(pathlib.Path(line.split('"')[1]) for line in job.read_text().splitlines() if line.startswith("dir"))
        address = place / "address"
        while not address.exists():
            time.sleep(0.02)
        worker = subprocess.Popen([self.forebay, "worker", "--join", address.read_text().strip()],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        trainer.communicate()
        worker.wait()
        return {"bytes": int(LOOPBACK.read_text()) - before}


def main():
    wanted = options()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(wanted, pathlib.Path(folder))
        repeats = bench.dataset("repeats", REQUESTS, ROWS)
        if "ingest" in wanted.only:
            bench.rounds("ingest", repeats, bench.ingest)
            bench.figures["dedup_ratio"] = bench.ratio
        if "train" in wanted.only:
            bench.rounds("train", repeats, bench.train)
        if "ranks" in wanted.only:
            bench.rounds("ranks", repeats, bench.ranks)
        if "wire" in wanted.only:
            bench.rounds("wire", repeats, bench.wire, 1)
        if "distinct" in wanted.only:
            bench.rounds("distinct", bench.dataset("distinct", REQUESTS * ROWS // 4, 1), bench.ingest)
    if wanted.json:
        pathlib.Path(wanted.json).write_text(json.dumps(bench.figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
