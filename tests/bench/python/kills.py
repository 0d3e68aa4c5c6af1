"""Kills a reading program at random moments, again and again; each life goes on from the last state that was written.

In the end the digest has to be that of `forebay ingest`, and no batch may be missing or come twice.
usage: kills.py [--kills 1000] [--seed 1] [--longest 0.1]"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import bench

ROWS, BATCH = 5000, 100


def read(job, kept, batches):
    """Reads on from the state in `kept`, which it writes after each batch, until `batches` and the end of their epoch."""
    import forebay

    with forebay.Loader(job) as loader:
        if os.path.exists(kept):
            with open(kept) as file:
                loader.load_state_dict(json.load(file))
        want = loader.state_dict()["batches"]
        print("reading", flush=True)
        while loader.state_dict()["batches"] < batches:
            for batch in loader:
                assert batch.index == want, (batch.index, want)
                want += 1
                with open(kept + ".part", "w") as file:
                    json.dump(loader.state_dict(), file)
                os.replace(kept + ".part", kept)
        stats = loader.stats()
        print(json.dumps({"epochs": stats["epochs"], "order_digest": stats["order_digest"]}))


def batches_in(kept):
    return json.loads(kept.read_text())["batches"] if kept.exists() else 0


def main():
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=0.1, help="seconds of a life, at most; of three in four from the moment on when they read")
    options = parser.parse_args()
    bench.require_wheel()
    draw = random.Random(options.seed)
    without_a_batch, begin = 0, time.monotonic()
    with bench.folder() as folder:
        job, kept = bench.put_job(folder, ROWS, batch=BATCH), pathlib.Path(folder) / "state.json"
        for number in range(options.kills):
            before = batches_in(kept)
            life = subprocess.Popen([bench.BARE, __file__, "--read", job, kept, str(10**9)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
            if number % 4 != 0:  # every fourth may be killed while it starts or opens
                life.stdout.readline()
            try:
                said = life.communicate(timeout=draw.uniform(0, options.longest))[1]
                sys.exit(f"life {number} ended by itself: {said[-2000:]}")
            except subprocess.TimeoutExpired:
                life.kill()
                life.communicate()
            without_a_batch += batches_in(kept) == before
        last = bench.child(bench.BARE, __file__, "--read", job, kept, batches_in(kept) + 1)
        whole = bench.command("ingest", job, "--set", f"order.epochs={last['epochs']}")
    if whole["order_digest"] != last["order_digest"]:
        sys.exit(f"after {options.kills} kills (seed {options.seed}) the digest is {last['order_digest']}, not {whole['order_digest']}")
    bench.finish([
        bench.result("kills_with_the_same_digest", options.kills, ""),
        bench.result("lives_without_a_batch", without_a_batch, ""),
        bench.result("batches", whole["batches"], ""),
        bench.result("seconds_a_life", (time.monotonic() - begin) / options.kills, "s")])


if __name__ == "__main__":
    main()
