"""Tables in tiers and hashed ones, end to end: the same bits as in memory, through kills; links; limits."""
import json
import os
import random
import re
import shutil
import signal
import struct
import time

from harness import MIB, Running, Scenario, main

KILLS = int(os.environ.get("FOREBAY_KILLS", "3"))  # 50 before a release
TABLE_ROWS = 20000  # Of each of 26: 63 MiB of rows with their optimizer's state.
OPS = [{"op": "log1p", "columns": ["I*"]},
       {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": TABLE_ROWS}]
TIERED = {"storage": "tiered", "memory": "9MiB"}
SAME = ("order_digest", "loss", "log_loss", "auc")


def dense_tensors(checkpoint):
    """The network's weights and its optimizer's: what lies nowhere but in these files, whatever the storage."""
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
        """Runs into another folder, killed at some moments, and ends as `want` ended."""
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

    def test_checkpoints_share_what_has_not_changed_and_inspect_tells(self):
        job = self.trained(TIERED, keep=20)
        self.assert_done(job.run("train", "--json"))
        files = [{file.stat().st_ino: file for file in checkpoint.glob("tables/*.sst")}
                 for checkpoint in self.checkpoints(job)]
        # Now and then all files are merged into new ones between two checkpoints.
        self.assertTrue(any(before.keys() & after.keys() for before, after in zip(files, files[1:])))
        told = self.assert_done(Running(["inspect", self.checkpoints(job)[-1], "--json"], self.folder).wait())
        names = [tensor["name"] for tensor in told["files"][0]["tensors"]]
        for name in ("tables.rows", "tables.keys", "tables.written"):
            self.assertIn(name, names)
        text = Running(["inspect", self.checkpoints(job)[-1]], self.folder).wait().out
        self.assertRegex(text, r"tables/\d+\.sst, .*linked, whole")

    def test_a_linked_file_that_is_damaged_is_named_and_the_checkpoint_before_it_used(self):
        job = self.trained(TIERED, checkpoint_steps=30)
        self.assert_done(job.run("train", "--json"))
        before, last = self.checkpoints(job)[-2:]
        shared = {file.name for file in before.glob("tables/*.sst")}
        damaged = next(file for file in last.glob("tables/*.sst") if file.name not in shared)
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

    def test_memory_that_cannot_hold_two_batches_is_refused_with_what_it_takes(self):
        job = self.trained({**TIERED, "memory": "5MiB"})
        refused = job.run("train", "--json")
        self.assert_refused(refused, 2, "trainer.tables.memory = 5 MiB", "set it to at least")
        least = int(re.search(r"at least (\d+) MiB", refused.err)[1])
        self.assert_refused(job.run("train", "--json", "--set", f"trainer.tables.memory={least - 2}MiB"), 2,
                            "set it to at least")
        self.assert_done(job.run("train", "--json", "--set", f"trainer.tables.memory={least}MiB",
                                 "--set", "order.epochs=1"))

    def test_tables_larger_than_the_limit_stay_below_it(self):
        job = self.trained({**TIERED, "memory": "40MiB"}, rows=30000, max_table_rows=400000)
        job.change(transform=[OPS[0], {**OPS[1], "max_value": 400000}])  # 1.24 GiB in memory.
        limit = 600
        self.assert_refused(job.run("train", "--json", "--set", "trainer.tables.storage=memory",
                                    "--set", f"pipeline.memory={limit}MiB"), 2, "pipeline.memory", "MiB")
        finished = job.run("train", "--json", "--set", f"pipeline.memory={limit}MiB", timeout=300)
        result = self.assert_done(finished)
        self.assertLess(finished.peak_bytes, limit * MIB)
        # Restoring takes no more than that either.
        resumed = job.run("train", "--json", "--resume", "--set", f"pipeline.memory={limit}MiB",
                          "--set", "order.epochs=3", timeout=300)
        self.assertEqual(self.assert_done(resumed)["rows"], result["rows"] // 2)
        self.assertLess(resumed.peak_bytes, limit * MIB)


if __name__ == "__main__":
    main()
