"""A Python loop over batches against `forebay ingest`, same job, interleaved; and Python's own time a batch.

usage: loop.py [--rows 2000000] [--epochs 3] [--rounds 7]"""
import argparse
import json
import sys
import time

import bench


def read(job, epochs):
    """The loop of a trainer that takes all arrays of a batch; runs in the wheel's interpreter."""
    import forebay

    with forebay.Loader(job) as loader:
        rows = batches = 0
        begin, own = time.perf_counter(), time.thread_time()
        for _ in range(epochs):
            for batch in loader:
                rows += len(batch.labels)
                batches += 1
                batch.dense, batch.values, batch.lengths
        own, seconds = time.thread_time() - own, time.perf_counter() - begin
        digest = loader.stats()["order_digest"]
    print(json.dumps({"rows_per_second": rows / seconds, "own_us": own / batches * 1e6, "order_digest": digest}))


def main():
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    bench.require_wheel()
    loops, ingests, ratios, own = [], [], [], []
    with bench.folder() as folder:
        job = bench.put_job(folder, options.rows)
        turns = {"loop": lambda: bench.child(bench.BARE, __file__, "--read", job, options.epochs),
                 "ingest": lambda: bench.command("ingest", job, "--set", f"order.epochs={options.epochs}")}
        for number in range(options.rounds):
            done = {name: turns[name]() for name in (list(turns) if number % 2 else list(turns)[::-1])}
            assert done["loop"]["order_digest"] == done["ingest"]["order_digest"]
            rates = [done[name]["rows_per_second"] for name in ("loop", "ingest")]
            loops.append(rates[0])
            ingests.append(rates[1])
            ratios.append(rates[0] / rates[1])
            own.append(done["loop"]["own_us"])
    bench.finish([
        bench.result("python_loop", bench.median(loops), "rows/s", bench.median(ingests), bench.median(ratios)),
        bench.result("python_time_a_batch", bench.median(own), "us")])


if __name__ == "__main__":
    main()
