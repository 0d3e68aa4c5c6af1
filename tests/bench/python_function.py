"""A function in Python as a transform, against the same function over pyarrow's batches in as many processes by hand.

usage: python3 tests/bench/python_function.py [--rows N] [--rounds N] [--processes N]

Needs forebay (the wheel), numpy and pyarrow. The files are Parquet with Criteo's columns, one file a process. By hand, each
process reads the job's columns of its files in batches, turns them into numpy arrays and calls the function; it neither
shuffles rows across files nor hands them to anybody. The loader does both. Both run in one program, interleaved, without
the time that processes take to start; figures are medians."""
import argparse
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
import time

import forebay
import numpy
import pyarrow
import pyarrow.parquet

DENSE = [f"I{i}" for i in range(1, 14)]
SPARSE = [f"C{i}" for i in range(1, 27)]
BATCH = 8192


def ratio(columns):
    """As cheap as a function can be: what it costs to call one."""
    return {"ratio": columns["I1"] / (numpy.abs(columns["I2"]) + 1)}


def embed(columns):
    """About a microsecond of numpy a row."""
    total = numpy.zeros(len(columns["I1"]), numpy.float32)
    for power in range(1, 9):
        total += numpy.tanh(columns["I1"] / power) * numpy.log1p(numpy.abs(columns["I2"]))
    return {"ratio": total}


def write_files(folder, rows, files):
    random = numpy.random.default_rng(1)
    for number in range(files):
        count = rows // files
        table = {"label": random.integers(0, 2, count, dtype="i4")}
        table.update({name: random.lognormal(2, 2, count).astype("f4") for name in DENSE})
        table.update({name: random.zipf(1.3, count).clip(0, 1 << 30).astype("i8") for name in SPARSE})
        pyarrow.parquet.write_table(pyarrow.table(table), folder / f"day_{number}.parquet", row_group_size=1 << 16)


def by_hand(function, path, begin, rows):
    """One process: rows through the function once `begin` lets it."""
    columns = ["label", *DENSE, *SPARSE]
    begin.wait()
    count = 0
    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(BATCH, columns=columns):
        arrays = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in columns}
        dense = numpy.stack([arrays[name] for name in DENSE], axis=1)
        arrays.update(function(arrays))
        count += len(dense)
    rows.put(count)


def rate_by_hand(function, paths):
    context = multiprocessing.get_context("spawn")
    begin, rows = context.Barrier(len(paths) + 1), context.Queue()
    processes = [context.Process(target=by_hand, args=(function, path, begin, rows)) for path in paths]
    for process in processes:
        process.start()
    begin.wait()
    start = time.perf_counter()
    count = sum(rows.get() for _ in paths)
    seconds = time.perf_counter() - start
    for process in processes:
        process.join()
    return count / seconds


def rate_of_loader(job, transform):
    """Of two epochs, right after one that starts the processes: what is ready before is as much as what is ready after."""
    with forebay.Loader(job, transforms=[transform]) as loader:
        for _ in loader:
            pass
        start = time.perf_counter()
        count = sum(len(batch) for _ in range(2) for batch in loader)
        return count / (time.perf_counter() - start)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    given = options.parse_args()
    module = sys.modules[__name__]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write_files(folder, given.rows, given.processes)
        paths = sorted(folder.glob("*.parquet"))
        job = {"dataset": {"format": "parquet", "paths": [str(folder / "*.parquet")]},
               "columns": {"label": "label", "dense": DENSE, "sparse": SPARSE}, "order": {"batch_size": BATCH},
               "tuner": {"mode": "off"}, "run": {"dir": str(folder / ".forebay")},
               "pipeline": {"prefetch": "16MiB", "allocation": {"python": given.processes}}}
        for name in ("ratio", "embed"):
            function = getattr(module, name)
            transform = forebay.python(function, columns=["I1", "I2"], adds=["ratio"])
            rates = [(rate_of_loader(job, transform), rate_by_hand(function, paths)) for _ in range(given.rounds)]
            ours, theirs = (statistics.median(column) for column in zip(*rates))
            ratios = sorted(one / other for one, other in rates)
            print(f"{name:8} {ours:12,.0f} rows/s   by hand {theirs:12,.0f}   ratio "
                  f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


if __name__ == "__main__":
    main()
