"""Checkpoints end to end: a run killed at any moment resumes to the same bits; lost batches are named."""
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

from support.harness import FOREBAY, MIB, Running, Scenario, main

KILLS = int(os.environ.get("FOREBAY_KILLS", "4"))  # 50 before a release
OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 2000}]
TRAINER = {"checkpoint": "whole", "checkpoint_every": "1h", "checkpoint_steps": 7, "threads": 1}


# $1: forebay. Leaves before/ and after/, how the run with a full disk ended, and the output of the run after it.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=64m tmpfs whole || exit 77
"$1" train job.toml --json --set order.epochs=1 >first.json
cp -a whole before
dd if=/dev/zero of=whole/taken bs=64k || true
truncate -s -1M whole/taken
status=0
"$1" train job.toml --json --resume >full.json 2>full.txt || status=$?
echo $status >status
rm whole/taken
cp -a whole after
"$1" train job.toml --json --resume >last.json
"""


def files_of(folder):
    """Returns the content of each file by its name below the folder."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*") if path.is_file()}


class Checkpoint(Scenario):
    def trained(self, rows=40000, **trainer):
        made = Running(["synth", "criteo", "--rows", rows, "--files", 2, "--seed", "1", "--out", "job/data"],
                       self.folder).wait()
        self.assertEqual(made.status, 0, made)
        return self.job(order={"batch_size": 512, "epochs": 2}, transform=OPS, trainer={**TRAINER, **trainer})

    def tensors(self, job, checkpoints):
        last = max((job.folder / checkpoints).glob("checkpoint-*"))
        return last.name, *((last / f"{part}.safetensors").read_bytes() for part in ("model", "optimizer", "tables"))

    def test_a_run_that_is_killed_at_any_moment_resumes_to_the_same_bits(self):
        job = self.trained()
        finished = job.run("train", "--json")
        want = self.assert_done(finished)
        self.assertEqual(want["batches_lost"], 0)
        model = self.tensors(job, "whole")
        self.assertEqual(want["checkpoint"], f"whole/{model[0]}")
        draw = random.Random(1)
        job.change(trainer={"checkpoint": "killed"})
        for kill in range(KILLS):
            shutil.rmtree(job.folder / "killed", ignore_errors=True)
            running = job.start("train", "--json", "--resume")
            time.sleep(draw.uniform(0, finished.seconds))
            if running.alive():
                running.signal(signal.SIGKILL)
            running.wait()
            resumed = job.run("train", "--json", "--resume")
            result = self.assert_done(resumed)
            for key in ("order_digest", "loss"):
                self.assertEqual(result[key], want[key], f"kill {kill}: {resumed}")
            self.assertEqual(self.tensors(job, "killed"), model, f"kill {kill}: {resumed.err}")
            self.assertFalse([left for left in (job.folder / "killed").iterdir() if left.name.startswith(".tmp-")])

    def test_a_run_keeps_the_last_checkpoints_up_to_trainer_keep(self):
        job = self.trained(keep=3)
        self.assert_done(job.run("train", "--json"))
        self.assertEqual(len(list((job.folder / "whole").glob("checkpoint-*"))), 3)

    def test_a_checkpoint_of_another_schema_or_version_is_refused_by_name(self):
        job = self.trained()
        self.assert_done(job.run("train", "--json", "--set", "order.epochs=1"))
        before = self.tensors(job, "whole")
        self.assert_refused(job.run("train", "--json", "--resume", "--set", "trainer.embedding_dim=8"), 2,
                            "holds another model", " in it and ")
        for key, value, was in (("pooling", "mean", "sum"), ("seed", 7, 1), ("optimizer", "sgd", "adagrad")):
            self.assert_refused(job.run("train", "--json", "--resume", "--set", f"trainer.{key}={value}"), 2,
                                f"resume refused: trainer.{key} was {was}, is {value}")
        last = job.folder / "whole" / before[0]
        manifest = json.loads((last / "manifest.json").read_text())
        del manifest["digest"]  # which version 1 did not have
        manifest["version"] = 1
        (last / "manifest.json").write_text(json.dumps(manifest))
        self.assert_refused(job.run("train", "--json", "--resume"), 2, "version 1", before[0])
        self.assertEqual(self.tensors(job, "whole"), before)

    def test_a_checkpoint_that_does_not_fit_the_grace_is_named_and_the_last_complete_one_stays(self):
        job = self.trained(rows=200000, checkpoint_steps=0, max_table_rows=2000000)
        job.change(transform=[OPS[0], {**OPS[1], "max_value": 300000}], order={"epochs": 50})
        running = job.start("train", "--json", "--set", "run.grace=100ms", "--set", "trainer.checkpoint_steps=20")
        self.wait_until(lambda: any((job.folder / "whole").glob("checkpoint-*")) or not running.alive(), seconds=60)
        running.signal(signal.SIGTERM)
        stopped = running.wait(timeout=30)
        self.assertEqual(stopped.status, 143, stopped)
        complete = max(path.name for path in (job.folder / "whole").glob("checkpoint-*"))
        self.assertEqual(stopped.json["checkpoint"], f"whole/{complete}")
        if stopped.json["batches_lost"]:
            self.assertIn(f"{stopped.json['batches_lost']} batches since whole/{complete} are lost", stopped.err)
            self.assertIn("run.grace is 100 ms", stopped.err)
        self.assertFalse(list((job.folder / "whole").glob(".tmp-*")))

    def test_a_full_disk_leaves_the_last_checkpoint_and_the_run_goes_on(self):
        job = self.trained()
        self.assert_done(job.run("train", "--json", "--set", "order.epochs=1"))
        before = self.tensors(job, "whole")
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB // 2, hard))  # as a full disk is, for large files alone
        try:
            running = job.start("train", "--json", "--resume")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        finished = running.wait()
        self.assertEqual(finished.status, 1, finished)
        self.assertIn("checkpoint not written (the last one stands)", finished.err)
        self.assertRegex(finished.err, rf"[1-9]\d* batches since whole/{before[0]} are lost")
        self.assertEqual(finished.out, "")
        self.assertEqual(self.tensors(job, "whole"), before)
        self.assertFalse(list((job.folder / "whole").glob(".tmp-*")))

    def test_a_disk_that_is_full_leaves_the_last_checkpoint_and_the_next_run_goes_on(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("mounting a small disk wants root and unshare(1)")
        job = self.trained(checkpoint="uninterrupted", checkpoint_steps=0)
        want = self.assert_done(job.run("train", "--json"))
        job.change(trainer={"checkpoint": "whole"})
        (job.folder / "whole").mkdir()
        done = subprocess.run(["unshare", "-m", "sh", "-euc", ON_A_SMALL_DISK, "sh", FOREBAY], cwd=job.folder,
                              capture_output=True, text=True, timeout=300)
        if done.returncode == 77:
            self.skipTest("no small disk can be mounted: " + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((job.folder / "status").read_text().strip(), "1")
        said = (job.folder / "full.txt").read_text()
        self.assertIn("checkpoint not written (the last one stands)", said)
        self.assertIn("No space left on device", said)
        first = json.loads((job.folder / "first.json").read_text().splitlines()[-1])
        self.assertRegex(said, rf"[1-9]\d* batches since {first['checkpoint']} are lost")
        self.assertEqual((job.folder / "full.json").read_text(), "")
        self.assertEqual(files_of(job.folder / "after"), files_of(job.folder / "before"))
        last = json.loads((job.folder / "last.json").read_text().splitlines()[-1])
        for key in ("order_digest", "loss"):
            self.assertEqual(last[key], want[key], key)

    def test_a_second_signal_while_the_last_checkpoint_is_written_ends_at_once(self):
        job = self.trained(rows=10000, checkpoint_steps=0, max_table_rows=2000000, csv="run.csv", log_every=1)
        job.change(transform=[OPS[0], {**OPS[1], "max_value": 100000}], order={"epochs": 1000}, run={"grace": "2m"})
        self.assert_done(job.run("train", "--json", "--set", "order.epochs=1"))
        for _ in range(5):
            before = files_of(job.folder / "whole")
            rows = (job.folder / "run.csv").read_text().count("\n")
            running = job.start("train", "--json", "--resume")
            self.wait_until(lambda: (job.folder / "run.csv").read_text().count("\n") > rows or not running.alive(),
                            seconds=60)
            running.signal(signal.SIGTERM)
            self.wait_until(lambda: any((job.folder / "whole").glob(".tmp-checkpoint*")) or not running.alive(),
                            seconds=60)
            time.sleep(0.06)  # Sooner it would be the same request.
            if running.alive():
                running.signal(signal.SIGINT)
            stopped = running.wait(timeout=60)
            if stopped.out:  # It was written by then.
                self.assertEqual(stopped.status, 143, stopped)
                continue
            self.assertEqual(stopped.status, 130, stopped)
            whole = {name: content for name, content in files_of(job.folder / "whole").items()
                     if not name.startswith(".tmp-")}
            self.assertEqual(whole, before)
            last = max((job.folder / "whole").glob("checkpoint-*"))
            resumed = job.run("train", "--json", "--resume", "--set", "order.epochs=1")
            self.assertEqual(self.assert_done(resumed)["rows"], 0)
            self.assertIn(f"going on from whole/{last.name}", resumed.err)
            self.assertEqual(files_of(job.folder / "whole"), before, "what was half written is gone")
            return
        self.skipTest("the disk was too fast for a second signal")

    def test_a_run_whose_checkpoints_another_run_writes_is_refused(self):
        job = self.trained(rows=10000)
        job.change(order={"epochs": 1000})
        running = job.start("train", "--json")
        self.wait_until(lambda: any((job.folder / "whole").glob("checkpoint-*")) or not running.alive(), seconds=60)
        self.assert_refused(job.run("train", "--json", "--resume", "--set", "run.dir=other"), 2,
                            "whole: another run has its checkpoints there")
        running.signal(signal.SIGTERM)
        self.assertEqual(running.wait().status, 143)

    def test_inspect_lists_the_content_of_a_checkpoint(self):
        job = self.trained()
        self.assert_done(job.run("train", "--json"))
        last = max((job.folder / "whole").glob("checkpoint-*"))
        told = self.assert_done(Running(["inspect", last, "--json"], self.folder).wait())["files"][0]
        self.assertEqual(told["model"], "dlrm")
        self.assertEqual(told["epochs"], 2)
        names = [tensor["name"] for tensor in told["tensors"]]
        self.assertIn("bottom.0.weight", names)
        self.assertLess(sum(tensor["bytes"] for tensor in told["tensors"]),
                        sum(path.stat().st_size for path in last.glob("*.safetensors")))


if __name__ == "__main__":
    main()
