"""Resident memory over 100 epochs, against that after the third; size of a state, and the time to load one.

What is in flight belongs to the allocation: it is measured with the tuner, which adds actors, and with a fixed one.
usage: epochs.py [--rows 100000] [--epochs 100] [--curve]"""
import argparse
import json
import pathlib
import sys
import time

import bench


def resident():
    """Bytes of this process that are in memory and no file's."""
    fields = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in fields if line.startswith("Anonymous:")) * 1024


def read(job, epochs, tuner):
    import forebay

    # What is prefetched comes and goes with the load of the machine.
    with forebay.Loader(job, set={"pipeline.prefetch": "8MiB", "tuner.mode": tuner}) as loader:
        memory = []
        for _ in range(epochs):
            for batch in loader:
                batch.labels, batch.values
            del batch
            memory.append(resident())
        state = loader.state_dict()
    begin = time.perf_counter()
    with forebay.Loader(job) as loader:
        opened = time.perf_counter()
        loader.load_state_dict(state)
        loaded = time.perf_counter()
        next(iter(loader))
        first = time.perf_counter()
        loader.load_state_dict(state)  # a loader that has begun
        again = time.perf_counter()
    print(json.dumps({"memory": memory, "state_bytes": len(json.dumps(state)), "load_seconds": loaded - opened,
                      "begun_load_seconds": again - first, "open_to_batch_seconds": first - begin}))


def main():
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--curve", action="store_true", help="print the memory after each epoch to stderr")
    options = parser.parse_args()
    bench.require_wheel()
    results = []
    with bench.folder() as folder:
        job = bench.put_job(folder, options.rows, memory="512MiB")
        for tuner, name in (("off", "with_a_fixed_allocation"), ("on", "with_the_tuner")):
            done = bench.child(bench.BARE, __file__, "--read", job, options.epochs, tuner)
            memory = [each / (1 << 20) for each in done["memory"]]
            if options.curve:
                print(" ".join(f"{each:.1f}" for each in memory), file=sys.stderr)
            after = [each - memory[2] for each in memory[3:]]
            results += [bench.result(f"memory_{name}", memory[2], "MiB"),
                        bench.result(f"change_at_the_end_{name}", after[-1], "MiB"),
                        bench.result(f"change_most_{name}", max(after, key=abs), "MiB")]
    bench.finish([
        *results,
        bench.result("state", done["state_bytes"], "B"),
        bench.result("load_state", done["load_seconds"], "s"),
        bench.result("load_state_of_a_begun_loader", done["begun_load_seconds"], "s"),
        bench.result("open_to_first_batch", done["open_to_batch_seconds"], "s")])


if __name__ == "__main__":
    main()
