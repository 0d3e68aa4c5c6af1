"""A Python loop over Forebay's batches against public loaders: the same files, the same work, in turns.

usage: peers.py [--format text|parquet] [--rows 2100000] [--rounds 3] [NAME...]    default: those that are installed
FOREBAY_PEERS is a list of interpreters, separated by colons, that have the loaders (tests/bench/public/setup.sh)."""
import argparse
import os
import pathlib
import subprocess
import sys

import bench

PEERS = pathlib.Path(__file__).parent / "peers"
MODULES = {"pyarrow_dataloader": "torch, pyarrow", "ray_data": "ray.data", "spdl_pipeline": "spdl.pipeline",
           "hugging_face_datasets": "datasets, torch", "petastorm_reader": "petastorm"}
GROUP = 8 * 8192  # rows of a row group


def interpreters():
    public = bench.SOURCE / "tests/bench/public"
    usual = f"{public}/venv/bin/python:{public}/petastorm/bin/python"
    return [name for name in os.environ.get("FOREBAY_PEERS", usual).split(":") if pathlib.Path(name).exists()]


def python_of(modules):
    """The first interpreter that has the modules, or None."""
    for python in interpreters():
        if subprocess.run([python, "-c", f"import {modules}, pyarrow"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def put_files(folder, kind, rows):
    """Makes the files of a kind in folder/kind; returns Forebay's job on them."""
    job = bench.put_job(folder, rows, memory="2GiB")
    if kind == "text":
        return job, folder / "data"
    bench.command("convert", job, "--raw", "--out", folder / "raw")
    bench.child(python_of("pyarrow"), PEERS / "layout.py", folder / "raw", folder / "parquet", GROUP)
    job = folder / "parquet.toml"
    job.write_text(bench.JOB.format(format="parquet", paths="parquet/*.parquet", batch=8192, memory="2GiB"))
    return job, folder / "parquet"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--format", choices=["text", "parquet"], default="text")
    parser.add_argument("--rows", type=int, default=2_100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODULES))
    options = parser.parse_args()
    bench.require_wheel()
    if python_of("pyarrow") is None:
        sys.exit("no public loader is installed; see tests/bench/public/setup.sh")
    pythons = {name: python_of(MODULES[name]) for name in options.names or MODULES}
    if options.format == "text":
        pythons.pop("petastorm_reader", None)  # reads Parquet alone
    for name in [name for name, python in pythons.items() if python is None]:
        print(f"{name} is not installed", file=sys.stderr)
        del pythons[name]
    ours, theirs, broken = [], {name: [] for name in pythons}, set()
    with bench.folder() as folder:
        job, files = put_files(pathlib.Path(folder), options.format, options.rows)
        for _ in range(options.rounds):
            ours.append(bench.child(bench.BARE, PEERS / "forebay_loader.py", job))
            for name in theirs.keys() - broken:
                try:
                    theirs[name].append(bench.child(pythons[name], PEERS / f"{name}.py", files))
                    assert theirs[name][-1]["rows"] == ours[-1]["rows"]
                except RuntimeError as error:
                    print(f"{name} failed: {error}", file=sys.stderr)
                    broken.add(name)
    rate = bench.median([each["rows_per_second"] for each in ours])
    results = [bench.result("forebay", rate, "rows/s")]
    for name in sorted(theirs.keys() - broken):
        own = bench.median([each["rows_per_second"] for each in theirs[name]])
        results.append(bench.result(f"over_{name}", rate, "rows/s", own, rate / own))
    bench.finish(results)


if __name__ == "__main__":
    main()
