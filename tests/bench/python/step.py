"""A step of PyTorch on fresh batches against the same batches once more, when they are in memory.

Blocks of steps alternate; a small prefetch keeps the loader from making the next block's batches beside the cached one.
usage: step.py [--rows 1000000] [--rounds 7] [--block 16] [--batch 2048]"""
import argparse
import json
import os
import sys
import time

import bench

TABLE_ROWS, WIDTH = 100_000, 16


def dlrm(torch, dense, sparse):
    """A model of its own: one table a sparse column, two MLPs."""
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = torch.nn.ModuleList(torch.nn.EmbeddingBag(TABLE_ROWS, WIDTH, mode="sum", sparse=True) for _ in range(sparse))
            self.bottom = torch.nn.Sequential(torch.nn.Linear(dense, 64), torch.nn.ReLU(), torch.nn.Linear(64, WIDTH))
            self.top = torch.nn.Sequential(torch.nn.Linear(WIDTH * (sparse + 1), 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))

        def forward(self, tensors):
            lengths = tensors["lengths"]
            values = torch.split(tensors["values"], lengths.sum(1).tolist())
            vectors = [self.bottom(tensors["dense"])]
            for table, ids, own in zip(self.tables, values, lengths):
                vectors.append(table(ids % TABLE_ROWS, torch.cumsum(own, 0) - own))
            return self.top(torch.cat(vectors, 1)).squeeze(1)

    return Model()


def train(job, rounds, block, threads):
    import torch

    import forebay

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    loader = forebay.Loader(job, set={"pipeline.prefetch": "16MiB"})
    model = dlrm(torch, len(loader.schema.dense), len(loader.schema.sparse))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(tensors):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(tensors), tensors["labels"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return len(tensors["labels"])

    def batches():
        while True:
            yield from loader

    stream = batches()
    for _ in range(block):
        step(next(stream).torch())
    fresh, cached, own = [], [], []  # own: of this thread's CPU time, which other work on the machine changes little
    for _ in range(rounds):
        kept, rows, begin, own_begin = [], 0, time.perf_counter(), time.thread_time()
        for _ in range(block):
            tensors = next(stream).torch()
            rows += step(tensors)
            kept.append(tensors)
        middle, own_middle = time.perf_counter(), time.thread_time()
        for tensors in kept:
            step(tensors)
        fresh.append(rows / (middle - begin))
        cached.append(rows / (time.perf_counter() - middle))
        own.append((time.thread_time() - own_middle) / (own_middle - own_begin))
    print(json.dumps({"fresh": fresh, "cached": cached, "own": own, "torch": torch.__version__}))


def main():
    if sys.argv[1:2] == ["--train"]:
        train(sys.argv[2], *map(int, sys.argv[3:]))
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--block", type=int, default=16)
    parser.add_argument("--batch", type=int, default=2048)
    options = parser.parse_args()
    bench.require_wheel()
    python = bench.python_with("torch", os.environ.get("FOREBAY_TORCH_PYTHON", bench.DEBIAN), sys.executable)
    if python is None:
        sys.exit("PyTorch is not installed (Debian: python3-torch), nor is FOREBAY_TORCH_PYTHON an interpreter that has it")
    results = []
    with bench.folder() as folder:
        job = bench.put_job(folder, options.rows, batch=options.batch)
        cpus = len(os.sched_getaffinity(0))
        for name, threads in (("step_with_a_cpu_to_spare", max(cpus - 1, 1)), ("step_on_all_cpus", cpus)):
            done = bench.child(python, __file__, "--train", job, options.rounds, options.block, threads)
            ratios = [fresh / cached for fresh, cached in zip(done["fresh"], done["cached"])]
            results.append(bench.result(name, bench.median(done["fresh"]), "rows/s", bench.median(done["cached"]), bench.median(ratios)))
            results.append(bench.result(f"{name}_cpu_time", bench.median(done["own"]), "x"))
    bench.finish(results)


if __name__ == "__main__":
    main()
