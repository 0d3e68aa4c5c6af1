"""Tables in tiers and hashed ones, end to end: the same bits as in memory, through kills; links; limits."""
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time

from support.harness import FOREBAY, MIB, Running, Scenario, main

KILLS = int(os.environ.get("FOREBAY_KILLS", "3"))  # 50 before a release
TABLE_ROWS = 20000  # Of each of 26: 63 MiB of rows with their optimizer's state.
OPS = [{"op": "log1p", "columns": ["I*"]},
       {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": TABLE_ROWS}]
TIERED = {"storage": "tiered", "memory": "9MiB"}
SAME = ("order_digest", "loss", "log_loss", "auc")

# $1: forebay. The tables' folder and the checkpoints are on one small disk. Leaves before/ and after/, how the run with
# a full disk ended, and the output of the run after it.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=300m tmpfs small || exit 77
"$1" train job.toml --json --set order.epochs=1 >first.json
cp -a small/whole before
dd if=/dev/zero of=small/taken bs=64k || true
truncate -s -2M small/taken
status=0
"$1" train job.toml --json --resume >full.json 2>full.txt || status=$?
echo $status >status
rm small/taken
cp -a small/whole after
"$1" train job.toml --json --resume >last.json
"""


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def dense_tensors(checkpoint):
    """Returns the weights of the network and its optimizer, which lie in the same files for every storage."""
    found = {}
    for part in ("model", "optimizer"):
        content = (checkpoint / f"{part}.safetensors").read_bytes()
        start = 8 + struct.unpack("<Q", content[:8])[0]
        for name, tensor in json.loads(content[8:start]).items():
            if name != "__metadata__" and not name.startswith("table"):
                first, end = tensor["data_offsets"]
                found[part, name] = content[start + first:start + end]
    return found


class Tiered(Scenario):
    def trained(self, tables, rows=12000, **trainer):
        made = Running(["synth", "criteo", "--rows", rows, "--files", 2, "--seed", "1", "--out", "job/data"],
                       self.folder).wait()
        self.assertEqual(made.status, 0, made)
        return self.job(order={"batch_size": 256, "epochs": 2}, transform=OPS,
                        trainer={"checkpoint": "whole", "checkpoint_every": "1h", "checkpoint_steps": 9, "threads": 1,
                                 "evaluate_share": 0.1, **trainer},
                        **{"trainer.tables": tables})

    def checkpoints(self, job, folder="whole"):
        return sorted((job.folder / folder).glob("checkpoint-*"))

    def assert_resumes_to(self, job, want, seconds, compare):
        """Runs in another folder, killed at some moments, and checks that the end equals `want`."""
        job.change(trainer={"checkpoint": "killed"})
        draw = random.Random(1)
        for kill in range(KILLS):
            shutil.rmtree(job.folder / "killed", ignore_errors=True)
            for _ in range(2):
                running = job.start("train", "--json", "--resume")
                time.sleep(draw.uniform(0, seconds))
                if running.alive():
                    running.signal(signal.SIGKILL)
                running.wait()
            finished = job.run("train", "--json", "--resume")
            result = self.assert_done(finished)
            for key in SAME:
                self.assertEqual(result[key], want[key], f"kill {kill}, {key}: {finished}")
            self.assertEqual(compare(self.checkpoints(job, "killed")[-1]), compare(self.checkpoints(job)[-1]),
                             f"kill {kill}: {finished}")

    def test_tables_in_tiers_train_as_tables_in_memory_do_through_kills(self):
        job = self.trained({"storage": "memory"})
        memory = self.assert_done(job.run("train", "--json"))
        weights = dense_tensors(self.checkpoints(job)[-1])
        self.assertTrue(weights)
        job.change(**{"trainer.tables": TIERED})
        finished = job.run("train", "--json", "--restart")
        tiers = self.assert_done(finished)
        for key in SAME:
            self.assertEqual(tiers[key], memory[key], key)
        self.assertEqual(dense_tensors(self.checkpoints(job)[-1]), weights)
        self.assert_resumes_to(job, tiers, finished.seconds, dense_tensors)

    def test_hashed_tables_admit_and_evict_the_same_through_kills(self):
        job = self.trained({"storage": "hashed", "admit_after": 2, "evict_after": 20},
                           max_table_rows=1500)
        finished = job.run("train", "--json")
        result = self.assert_done(finished)
        kept = self.assert_done(job.run("train", "--json", "--restart", "--set", "trainer.tables.evict_after=0"))
        self.assertNotEqual(kept["loss"], result["loss"])
        self.assert_done(job.run("train", "--json", "--restart"))
        parts = ("model", "optimizer", "tables")
        self.assert_resumes_to(job, result, finished.seconds,
                               lambda last: [(last / f"{part}.safetensors").read_bytes() for part in parts])

    def test_an_ended_run_leaves_no_table_files_beside_the_checkpoints(self):
        job = self.trained(TIERED, checkpoint_steps=0)
        tables = job.folder / ".forebay" / "tables"
        self.assert_done(job.run("train", "--json", "--set", "order.epochs=1"))
        self.assertTrue(list(self.checkpoints(job)[-1].glob("tables/*.rows")))
        self.assertFalse(tables.exists())
        running = job.start("train", "--json", "--resume", "--set", "order.epochs=1000")
        self.wait_until(lambda: tables.exists() or not running.alive())
        running.signal(signal.SIGTERM)
        self.assertEqual(running.wait().status, 143)
        self.assertFalse(tables.exists())
        self.assertEqual(job.run("train", "--resume", "--set", "trainer.learning_rate=1000",
                                 "--set", "trainer.optimizer=sgd").status, 2)
        self.assertFalse(tables.exists())

    def test_a_job_without_sparse_columns_has_no_tables(self):
        job = self.job(dataset={"format": "csv", "paths": ["data.csv"]}, order={"batch_size": 4},
                       columns={"label": "y", "dense": ["d*"]}, trainer={"tables.storage": "memory"})
        job.put("data.csv", "y,d1,d2\n" + "1,2,3\n0,1,1\n" * 20)
        memory = self.assert_done(job.run("train", "--json"))
        job.change(trainer={"tables.storage": "tiered"})
        tiers = self.assert_done(job.run("train", "--json", "--restart"))
        self.assertEqual(tiers["loss"], memory["loss"])
        self.assertEqual(self.assert_done(job.run("train", "--json", "--resume"))["batches"], 0)
        self.assert_done(Running(["export", "checkpoints", "--out", "model.pt", "--json"], job.folder).wait())

    def test_checkpoints_share_unchanged_files_and_inspect_shows_it(self):
        job = self.trained(TIERED, keep=20)
        self.assert_done(job.run("train", "--json"))
        files = [{file.stat().st_ino: file for file in checkpoint.glob("tables/*.rows")}
                 for checkpoint in self.checkpoints(job)]
        # Sometimes the cleaner moves all rows into new files between two checkpoints.
        self.assertTrue(any(before.keys() & after.keys() for before, after in zip(files, files[1:])))
        told = self.assert_done(Running(["inspect", self.checkpoints(job)[-1], "--json"], self.folder).wait())
        names = [tensor["name"] for tensor in told["files"][0]["tensors"]]
        for name in ("tables.rows", "tables.keys", "tables.written"):
            self.assertIn(name, names)
        text = Running(["inspect", self.checkpoints(job)[-1]], self.folder).wait().out
        self.assertRegex(text, r"tables/\d+\.rows, .*linked, whole")

    def test_a_linked_file_that_is_damaged_is_named_and_the_checkpoint_before_it_used(self):
        job = self.trained(TIERED, checkpoint_steps=30)
        self.assert_done(job.run("train", "--json"))
        before, last = self.checkpoints(job)[-2:]
        shared = {file.name for file in before.glob("tables/*.rows")}
        damaged = next(file for file in last.glob("tables/*.rows") if file.name not in shared)
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.unlink()
        damaged.write_bytes(content)
        told = Running(["inspect", last], self.folder).wait()
        self.assertIn(damaged.name, told.out + told.err)
        finished = job.run("train", "--json", "--resume")
        result = self.assert_done(finished)
        self.assertGreater(result["batches"], 0)
        self.assertIn(f"{last.name}/tables/{damaged.name}", finished.err)
        self.assertIn(before.name, finished.err)

    def test_memory_too_small_for_two_batches_is_refused_with_the_bytes_needed(self):
        job = self.trained({**TIERED, "memory": "2MiB"})
        refused = job.run("train", "--json")
        self.assert_refused(refused, 2, "trainer.tables.memory = 2 MiB", "set it to at least")
        least = int(re.search(r"at least (\d+) MiB", refused.err)[1])
        self.assert_refused(job.run("train", "--json", "--set", f"trainer.tables.memory={least - 2}MiB"), 2,
                            "set it to at least")
        self.assert_done(job.run("train", "--json", "--set", f"trainer.tables.memory={least}MiB",
                                 "--set", "order.epochs=1"))

    def test_a_checkpoint_of_more_memory_is_restored_into_less(self):
        job = self.trained({**TIERED, "memory": "40MiB"})
        want = self.assert_done(job.run("train", "--json"))
        job.change(trainer={"checkpoint": "less"})
        self.assert_done(job.run("train", "--json", "--set", "order.epochs=1"))
        resumed = self.assert_done(job.run("train", "--json", "--resume", "--set", "trainer.tables.memory=9MiB"))
        for key in SAME:
            self.assertEqual(resumed[key], want[key], key)

    def test_a_disk_that_fills_up_under_the_tables_is_named_and_the_run_goes_on_from_the_last_checkpoint(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("mounting a small disk wants root and unshare(1)")
        job = self.trained({**TIERED, "memory": "6MiB"}, checkpoint_steps=0)
        want = self.assert_done(job.run("train", "--json"))
        (job.folder / "small").mkdir()
        job.change(trainer={"checkpoint": "small/whole"}, run={"dir": "small/run"})
        done = subprocess.run(["unshare", "-m", "sh", "-euc", ON_A_SMALL_DISK, "sh", FOREBAY], cwd=job.folder,
                              capture_output=True, text=True, timeout=300)
        if done.returncode == 77:
            self.skipTest("no small disk can be mounted: " + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((job.folder / "status").read_text().strip(), "1")
        said = (job.folder / "full.txt").read_text()
        self.assertIn("the tables' folder", said)
        self.assertIn("No space left on device", said)
        self.assertIn("set run.dir to a larger one", said)
        self.assertEqual(files_of(job.folder / "after"), files_of(job.folder / "before"))
        last = json.loads((job.folder / "last.json").read_text().splitlines()[-1])
        for key in ("order_digest", "loss"):
            self.assertEqual(last[key], want[key], key)

    def test_tables_larger_than_the_limit_stay_below_it(self):
        job = self.trained({**TIERED, "memory": "40MiB"}, rows=30000, max_table_rows=400000)
        job.change(transform=[OPS[0], {**OPS[1], "max_value": 400000}])  # 1.24 GiB in memory.
        limit = 600
        self.assert_refused(job.run("train", "--json", "--set", "trainer.tables.storage=memory",
                                    "--set", f"pipeline.memory={limit}MiB"), 2, "pipeline.memory", "MiB")
        finished = job.run("train", "--json", "--set", f"pipeline.memory={limit}MiB", timeout=300)
        result = self.assert_done(finished)
        self.assertLess(finished.peak_bytes, limit * MIB)
        # Restoring takes no more memory than that either.
        resumed = job.run("train", "--json", "--resume", "--set", f"pipeline.memory={limit}MiB",
                          "--set", "order.epochs=3", timeout=300)
        self.assertEqual(self.assert_done(resumed)["rows"], result["rows"] // 2)
        self.assertLess(resumed.peak_bytes, limit * MIB)


if __name__ == "__main__":
    main()
