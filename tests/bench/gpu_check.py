#!/usr/bin/env python3
"""Checks training on a GPU, and ends in one table: the trainer's tests on the device, the losses of DLRM and DCN-v2
against the CPU's, steps with the pipeline against one repeated batch, copies against plain ones.

    tools/gpu_check.sh                             # builds what is needed, and runs this
    tools/gpu_check.sh --only losses --steps 100   # a part of it

Exit 0 if every check holds, 1 if one does not.
"""
import argparse
import csv
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PARTS = ["tests", "losses", "fed", "copies"]
MODELS = ["dlrm", "dcn_v2"]
FILES = 16
RATES = {"sgd": 0.01, "adagrad": 0.01}
TESTS = {"trainer_torch_test": "trainer/torch", "trainer_module_test": "trainer/torch"}
JOB = """[dataset]
paths = {paths}
[[transform]]
op = "log1p"
columns = ["I*"]
[[transform]]
op = "sigrid_hash"
columns = ["C*"]
max_value = 1000000
[order]
batch_size = {batch}
epochs = {epochs}
[trainer]
model = "{model}"
device = "{device}"
precision = "{precision}"
optimizer = "{optimizer}"
learning_rate = {rate}
checkpoint = ""
csv = "{losses}"
log_every = 1
"""


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder")
    parser.add_argument("--libraries", default="", help="folders of shared libraries for the programs, with : between them")
    parser.add_argument("--device", default="cuda", help="as trainer.device (default cuda)")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--batches", nargs="*", type=int, default=[16384, 65536], help="rows of a batch")
    parser.add_argument("--steps", type=int, default=1000, help="of each training whose losses are compared, about")
    parser.add_argument("--rows", type=int, default=8_192_000, help="rows of made-up data (250 bytes each)")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures there")
    return parser.parse_args()


class Table:
    """The rows of the last table: what was measured, the figure, the limit, and whether it holds."""

    def __init__(self):
        self.rows = []

    def add(self, check, figure, wanted, holds):
        self.rows.append({"check": check, "figure": figure, "wanted": wanted, "holds": bool(holds)})
        print(f"gpu_check: {check}: {figure} (wanted {wanted})", flush=True)

    def print(self):
        print("\n| check | figure | wanted | holds |\n|---|---|---|---|")
        for row in self.rows:
            print(f"| {row['check']} | {row['figure']} | {row['wanted']} | {'yes' if row['holds'] else '**no**'} |")


def run_tests(given, table):
    environment = {**os.environ, "FOREBAY_TEST_DEVICE": given.device, "OMP_NUM_THREADS": "1"}
    for name, folder in TESTS.items():
        done = subprocess.run([given.build / "tests" / folder / name], env=environment, capture_output=True, text=True)
        last = (done.stdout.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        if done.returncode != 0:
            print(done.stdout[-6000:], done.stderr[-2000:], sep="\n")
        table.add(f"{name} on {given.device}", last, "all pass", done.returncode == 0)


def train(given, folder, model, batch, device, optimizer="sgd", precision="fp32"):
    """Trains about `--steps` steps; returns the losses and the rows a second."""
    name = f"{model}-{batch}-{device.replace(':', '-')}-{optimizer}-{precision}"
    losses = folder / f"{name}.csv"
    job = folder / f"{name}.toml"
    epochs = math.ceil(given.steps * batch / given.rows)
    files = math.ceil(given.steps * batch / epochs / (given.rows / FILES))
    paths = json.dumps([f"{folder}/data/day_{i}.tsv" for i in range(files)])
    job.write_text(JOB.format(paths=paths, batch=batch, epochs=epochs, model=model, device=device, losses=losses,
                              precision=precision, optimizer=optimizer, rate=RATES[optimizer]))
    done = subprocess.run([given.build / "tools/forebay", "train", job, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: exit {done.returncode}: {done.stderr.strip()[-800:]}")
    with losses.open() as file:
        rows = list(csv.DictReader(file))
    return [float(row["loss"]) for row in rows], json.loads(done.stdout.splitlines()[-1])["rows_per_second"]


def apart(ours, theirs):
    """The largest relative difference of two runs' losses, and its step; infinite if one has more steps."""
    if len(ours) != len(theirs) or not ours:
        return math.inf, 0
    differences = [abs(a - b) / abs(b) for a, b in zip(ours, theirs)]
    return max(differences), differences.index(max(differences)) + 1


def compare_precisions(given, table, folder, model, exact):
    """Rounded operands cost a little of each loss, and save time where layers are large."""
    batch = given.batches[0]
    rounded, rate = train(given, folder, model, batch, given.device, precision="bf16")
    most = abs(statistics.fmean(rounded) / statistics.fmean(exact) - 1)
    table.add(f"{model}, batches of {batch}: mean loss in bfloat16 against float32, relative difference", f"{most:.1e}",
              "2e-3", most <= 2e-3)
    print(f"gpu_check: {model}, {batch}: {rate:,.0f} rows/s in bfloat16", flush=True)


def compare_losses(given, table, folder):
    """By SGD: Adagrad's first steps are as long for a gradient that is only rounding as for any other, so its losses
    part from any other order of sums; how far is said beside them."""
    subprocess.run([given.build / "tools/forebay", "synth", "criteo", "--rows", str(given.rows), "--files", str(FILES),
                    "--out", folder / "data"], check=True, stdout=subprocess.DEVNULL)
    for model in given.models:
        for batch in given.batches:
            ours, rate = train(given, folder, model, batch, given.device)
            theirs, cpu_rate = train(given, folder, model, batch, "cpu")
            most, step = apart(ours, theirs)
            table.add(f"{model}, batches of {batch}: losses of {len(ours)} steps against the CPU's, largest relative "
                      "difference", f"{most:.1e} (step {step}; last losses {ours[-1]:.7f}, {theirs[-1]:.7f})", "1e-4",
                      most <= 1e-4)
            print(f"gpu_check: {model}, {batch}: {rate:,.0f} rows/s, on the CPU {cpu_rate:,.0f}", flush=True)
            if batch == given.batches[0]:
                compare_precisions(given, table, folder, model, ours)
    model, batch = given.models[0], given.batches[0]
    ours, rate = train(given, folder, model, batch, given.device, "adagrad")
    again, _ = train(given, folder, model, batch, given.device, "adagrad")
    theirs, cpu_rate = train(given, folder, model, batch, "cpu", "adagrad")
    table.add(f"{model}, batches of {batch}: two runs' losses by Adagrad", f"{apart(ours, again)[0]:.1e} apart",
              "the same bits", ours == again)
    print(f"gpu_check: by Adagrad the losses are up to {apart(ours, theirs)[0]:.1e} from the CPU's, their mean "
          f"{abs(statistics.fmean(ours) / statistics.fmean(theirs) - 1):.1e}; {rate:,.0f} rows/s, on the CPU "
          f"{cpu_rate:,.0f}", flush=True)


def compare_fed(given, table):
    for model, batch, mlps in itertools.product(given.models, given.batches, ["published", "small"]):
        command = [given.build / "tools/forebay", "bench", "train", "--device", given.device, "--model", model, "--batch",
                   str(batch), "--rows", str(min(given.rows, 2_000_000)), "--json"]
        done = subprocess.run(command + ["--small"] * (mlps == "small"), capture_output=True, text=True)
        check = f"{model}, {mlps} MLPs, batches of {batch}: rows/s with the pipeline over those of one repeated batch"
        if done.returncode != 0:
            table.add(check, f"exit {done.returncode}: {done.stderr.strip()[-300:]}", "0.90", False)
            continue
        result = json.loads(done.stdout.splitlines()[-1])["results"][0]
        table.add(check, f"{result['ratio']:.3f} ({result['value']:,.0f} of {result['limit']:,.0f})", "0.90",
                  result["ratio"] >= 0.9)


def compare_copies(given, table):
    done = subprocess.run([given.build / "tests/bench/device_copies", given.device], capture_output=True, text=True)
    if done.returncode != 0:
        table.add("copies against plain ones", f"exit {done.returncode}: {done.stderr.strip()[-300:]}", "0.8", False)
        return
    for rows, each in json.loads(done.stdout).items():
        table.add(f"copies of batches of {rows} ({each['megabytes']} MB) over plain pinned ones",
                  f"{each['ratio']:.3f} ({each['lane']} of {each['pinned']} GB/s)", "0.8", each["ratio"] >= 0.8)


def main():
    given = options()
    given.build = given.build.resolve()
    if given.libraries:
        os.environ["LD_LIBRARY_PATH"] = given.libraries  # Of the programs: this one is loaded already.
    table = Table()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="forebay-gpu-") as folder:
        parts = {"tests": lambda: run_tests(given, table), "copies": lambda: compare_copies(given, table),
                 "fed": lambda: compare_fed(given, table),
                 "losses": lambda: compare_losses(given, table, pathlib.Path(folder))}
        for name, run in parts.items():
            if name not in given.only:
                continue
            try:
                run()
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                table.add(name, str(error), "to run", False)
    table.print()
    print(f"\ngpu_check: {len(table.rows)} checks in {time.monotonic() - began:.0f} s")
    if given.json:
        given.json.write_text(json.dumps(table.rows, indent=1))
    sys.exit(0 if all(row["holds"] for row in table.rows) else 1)


if __name__ == "__main__":
    main()
