#!/usr/bin/env python3
"""What `forebay analyze` predicts, against the run that really has the change; a known operator's cost; and its
verdict on jobs whose limiting part is known.

    python3 tests/bench/analyze_what_if.py                      # some ten minutes
    python3 tests/bench/analyze_what_if.py --only what_if --seconds 8 --json result.json

For each scenario the job is analyzed, run as it is, and run with the change, in this order; a run ends by an orderly
stop. What a busy machine takes from one of them shows as an error of the prediction, so most jobs wait (emulated
trainers, a store far away) instead of computing. `--store` names the stub store of the end-to-end tests.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forebay", default="build/release/tools/forebay")
    parser.add_argument("--store", default="build/release/tests/e2e/e2e_store_server")
    parser.add_argument("--seconds", type=float, default=10, help="an analysis; a run takes half of it")
    parser.add_argument("--only", nargs="*", default=["spin", "what_if", "verdict"])
    parser.add_argument("--json", help="write all figures there")
    return parser.parse_args()


SPIN = [{"op": "log1p", "columns": ["I*"]}, {"op": "spin", "microseconds": 50}]
NONE = {"model": "none"}
STEP = {"model": "emulated", "step": "20ms"}
ONE = {"cpus": 1}
OFF = {"mode": "off"}
LOCAL = "data/*.tsv"
FAR = "s3://clicks/*.tsv"


def what_ifs():
    """Scenarios: name, tables of the job, the start of the change's name, the settings that make it."""
    spin = {"transform": SPIN, "trainer": NONE}
    trained = {"trainer": STEP, "order": {"batch_size": 500}}
    far = {"trainer": NONE, "tuner": OFF, "dataset": {"paths": [FAR]}, "order": {"batch_size": 500}}
    half_spin = {"transform": [SPIN[0], {"op": "spin", "microseconds": 25}]}
    return [
        ("half the CPUs, spinning", {**spin, "pipeline": {"cpus": 2}}, "pipeline.cpus = 1",
         ["--set", "pipeline.cpus=1"]),
        ("twice the CPUs, spinning", {**spin, "pipeline": ONE}, "pipeline.cpus = 2", ["--set", "pipeline.cpus=2"]),
        ("half the CPUs, slow trainer", {**trained, "pipeline": {"cpus": 2}}, "pipeline.cpus = 1",
         ["--set", "pipeline.cpus=1"]),
        ("half the spin, spinning", {**spin, "pipeline": ONE}, "transform 2 (spin)", half_spin),
        ("half the memory, slow trainer", {**trained, "pipeline": {"memory": "600MiB"}}, "pipeline.memory",
         ["--set", "pipeline.memory=300MiB"]),
        ("half the memory, far store", {**far, "pipeline": {"memory": "600MiB"}}, "pipeline.memory",
         ["--set", "pipeline.memory=300MiB"]),
        ("twice the batch, slow trainer", trained, "order.batch_size", ["--set", "order.batch_size=1000"]),
        ("twice the batch, spinning", {**spin, "pipeline": ONE, "order": {"batch_size": 500}}, "order.batch_size",
         ["--set", "order.batch_size=1000"]),
        ("a trainer twice as fast", trained, "a trainer twice", ["--set", "trainer.step=10ms"]),
        ("other actors, spinning", {**spin, "tuner": OFF}, "pipeline.allocation", None),
        ("a store twice as fast", far, "a disk or store", "half latency"),
        ("one worker, slow trainer", trained, "1 worker ", "worker"),
    ]


def verdicts():
    """Jobs and the part that limits each: 20, by what was made slow."""
    jobs = []
    for step in ("5ms", "10ms", "20ms", "40ms", "80ms"):
        trainer = {"model": "emulated", "step": step}
        jobs.append((f"trainer {step}", {"trainer": trainer, "order": {"batch_size": 200}}, "trainer"))
    for cost in (20, 50, 100, 200, 400):
        spin = [{"op": "spin", "microseconds": cost}]
        jobs.append((f"spin {cost}", {"trainer": NONE, "transform": spin}, "transform"))
    for cpus in (1, 2):
        jobs.append((f"decode, {cpus} CPUs", {"trainer": NONE, "tuner": OFF, "pipeline": {"cpus": cpus}}, "decode"))
    for step in ("1s", "200ms", "60ms"):
        jobs.append((f"spin, trainer {step} a large batch",
                     {"trainer": {"model": "emulated", "step": step}, "order": {"batch_size": 60000},
                      "transform": [{"op": "spin", "microseconds": 100}]}, "transform"))
    for latency in (0.05, 0.1, 0.2, 0.3, 0.4):
        far = {"trainer": NONE, "tuner": OFF, "dataset": {"paths": [FAR]}, "latency": latency}
        jobs.append((f"store {latency} s", far, "fetch"))
    return jobs


class Bench:
    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.forebay = os.path.abspath(given.forebay)
        os.environ["FOREBAY_STORE_SERVER"] = os.path.abspath(given.store)
        from support.store import KEYS, Store
        self.environment, self.Store = {**os.environ, **KEYS, "AWS_REGION": "us-east-1"}, Store
        subprocess.run([self.forebay, "synth", "criteo", "--rows", "60000", "--files", "4", "--out", "data"],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (folder / "buckets").mkdir()
        shutil.copytree(folder / "data", folder / "buckets" / "clicks")

    def job(self, tables, store):
        from support.harness import toml_text
        base = {"dataset": {"format": "criteo_tsv", "paths": [LOCAL]}, "order": {"batch_size": 1000},
                "storage": {"endpoint": store.address, "region": "us-east-1"}}
        for name, table in tables.items():
            if isinstance(table, dict):
                base[name] = {**base.get(name, {}), **table}
            elif isinstance(table, list):
                base[name] = table
        shutil.rmtree(self.folder / ".forebay", ignore_errors=True)
        (self.folder / "job.toml").write_text(toml_text(base))

    def call(self, *arguments):
        done = subprocess.run([self.forebay, *arguments], cwd=self.folder, capture_output=True, text=True,
                              env=self.environment, start_new_session=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{arguments}: {done.returncode}: {done.stderr[-600:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def analyze(self):
        return self.call("analyze", "job.toml", "--json", "--seconds", str(self.given.seconds))

    def run(self, sets=(), worker=False):
        """Rows/s of a run that is stopped after a while, without its first second."""
        shutil.rmtree(self.folder / "checkpoints", ignore_errors=True)
        more = [*sets, "--set", "order.epochs=1000000"]
        if worker:
            more += ["--set", "cluster.listen=tcp://127.0.0.1:0", "--set", "cluster.min_workers=1"]
        running = subprocess.Popen([self.forebay, "train", "job.toml", "--json", *more], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment,
                                   start_new_session=True)
        helper = None
        if worker:
            address = self.folder / ".forebay" / "address"
            while not address.exists() and running.poll() is None:
                time.sleep(0.05)
            helper = subprocess.Popen([self.forebay, "worker", "--join", str(address)], cwd=self.folder,
                                      env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.given.seconds / 2 + 1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
        if helper:
            helper.wait()
        if running.returncode != 130:
            raise RuntimeError(f"{sets}: {running.returncode}: {err[-600:]}")
        return json.loads(out.splitlines()[-1])["rows_per_second"]

    def what_if(self, name, tables, change, how):
        with self.Store(self.folder / "buckets", latency=0.1) as store:
            self.job(tables, store)
            found = self.analyze()
            entry = next((each for each in found["what_if"] if each["change"].startswith(change)), None)
            if entry is None:
                return {"name": name, "error": f"no change begins with {change}"}
            today = self.run()
            if how == "half latency":
                store.change(latency=0.05)
                how = ()
            if isinstance(how, dict):
                self.job({**tables, **how}, store)
                how = ()
            if how is None:
                how = [word for each in entry["change"].split(", ") for word in ("--set", each.replace(" ", ""))]
            changed = self.run(() if how == "worker" else how, how == "worker")
        predicted = entry["predicted_rows_per_second"]
        return {"name": name, "by": entry["by"], "predicted": predicted, "real": changed, "today": today,
                "analyzed": found["rows_per_second"], "error": predicted / changed - 1}

    def verdict(self, name, tables, part):
        with self.Store(self.folder / "buckets", latency=tables.pop("latency", 0)) as store:
            self.job(tables, store)
            found = self.analyze()
        return {"name": name, "part": part, "found": found["limiting_part"], "verdict": found["verdict"]}

    def spin(self, microseconds):
        with self.Store(self.folder / "buckets") as store:
            self.job({"trainer": NONE, "transform": [{"op": "log1p", "columns": ["I*"]},
                                                     {"op": "spin", "microseconds": microseconds}]}, store)
            found = self.analyze()["costs"]["transform 2 (spin)"]
        return {"name": f"spin {microseconds}", "found": found, "error": found / microseconds - 1}


def main():
    given = options()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="forebay-what-if-"))
    results = {"spin": [], "what_if": [], "verdict": []}
    try:
        bench = Bench(given, folder)
        work = {"spin": [(cost,) for cost in (1, 5, 20, 100)], "what_if": what_ifs(), "verdict": verdicts()}
        for kind in given.only:
            for each in work[kind]:
                try:
                    result = getattr(bench, kind)(*each)
                except RuntimeError as error:
                    result = {"name": str(each[0]), "error": str(error)}
                results[kind].append(result)
                print(kind, json.dumps(result), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    errors = [abs(each["error"]) for each in results["what_if"] if isinstance(each["error"], float)]
    print(f"what if: {len(results['what_if'])} scenarios, {sum(error <= 0.15 for error in errors)} within 15 %, "
          f"{sum(error <= 0.1 for error in errors)} within 10 %")
    right = sum(each.get("found") == each.get("part") for each in results["verdict"])
    print(f"verdict: {right} of {len(results['verdict'])} right")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
