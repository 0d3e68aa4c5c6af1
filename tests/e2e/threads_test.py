"""The model's threads: as many as CPUs, searched for, set by a user, or the job file's; the result has the same bits."""
import json
import os
import struct
import subprocess

from support.harness import FOREBAY, Running, Scenario, main

OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 5000}]


RESULT = ("order_digest", "loss", "auc", "log_loss", "rows", "rows_held_out")


def tensors(checkpoint):
    """Returns type, shape and bytes of each tensor of a checkpoint, by name."""
    found = {}
    for path in sorted(checkpoint.glob("*.safetensors")):
        content = path.read_bytes()
        start = 8 + struct.unpack("<Q", content[:8])[0]
        for name, tensor in json.loads(content[8:start]).items():
            if name != "__metadata__":
                first, end = tensor["data_offsets"]
                found[path.name, name] = tensor["dtype"], tensor["shape"], content[start + first:start + end]
    return by_key(found)


def by_key(found):
    """Returns the tensors with tiered rows by their keys: which slot a row has depends on whether an
    evaluation asked for rows before or after a batch that is prepared ahead."""
    keys = next((struct.unpack(f"<{shape[0]}q", content)
                 for (_, name), (_, shape, content) in found.items() if name == "tables.keys"), None)
    if keys is None:
        return found

    def rows_of(shape, content):
        width = len(content) // shape[0]
        return {key: content[slot * width:(slot + 1) * width] for slot, key in enumerate(keys) if key >= 0}

    return {(path, name): (kind, shape, rows_of(shape, content) if name in ("tables.rows", "tables.keys") else content)
            for (path, name), (kind, shape, content) in found.items()}


class Threads(Scenario):
    def small(self, **trainer):
        """Makes a job that ends within a second and evaluates during the run."""
        made = Running(["synth", "criteo", "--rows", 6000, "--files", 2, "--seed", "1", "--out", "job/data"],
                       self.folder).wait()
        self.assertEqual(made.status, 0, made)
        return self.job(order={"batch_size": 512}, transform=OPS,
                        trainer={"checkpoint": "kept", "evaluate_share": 0.1, "evaluate_every": 5, **trainer})

    def result(self, job, threads):
        """Returns the result of a run with so many threads, and the tensors of its checkpoint."""
        finished = job.run("train", "--json", "--restart", "--set", f"trainer.threads={threads}")
        done = self.assert_done(finished)
        self.assertEqual(done["trainer_threads"], threads)
        return {key: done[key] for key in RESULT}, tensors(max((job.folder / "kept").glob("checkpoint-*")))

    def test_the_number_of_threads_changes_no_bit_of_the_result(self):
        job = self.small(max_table_rows=900)
        for storage, tried in (("memory", (2, 3, 8)), ("tiered", (8,))):
            job.change(**{"trainer.tables": {"storage": storage, "memory": "9MiB"}})
            one, kept = self.result(job, 1)
            self.assertTrue(any(name.startswith("table") for _, name in kept), kept.keys())
            tiered_rows = [rows for (_, name), (*_, rows) in kept.items() if name == "tables.rows"]
            self.assertEqual(len(tiered_rows), 2 if storage == "tiered" else 0)  # weights, optimizer state
            self.assertTrue(all(len(rows) > 1000 for rows in tiered_rows))
            for threads in tried:
                found, tensors_found = self.result(job, threads)
                self.assertEqual(found, one, f"{storage}, {threads} threads")
                self.assertEqual(tensors_found.keys(), kept.keys(), f"{storage}, {threads} threads")
                other = [name for name, tensor in tensors_found.items() if tensor != kept[name]]
                self.assertEqual(other, [], f"{storage}, {threads} threads")

    def test_a_job_has_as_many_threads_as_cpus(self):
        job = self.small()
        cpus = len(os.sched_getaffinity(0))
        for asked, threads in ((1, 1), (64, min(cpus, 16))):
            done = self.assert_done(job.run("train", "--json", "--restart", "--set", f"pipeline.cpus={asked}"))
            self.assertEqual(done["trainer_threads"], threads, f"pipeline.cpus = {asked}")

    def trained(self, **trainer):
        made = Running(["synth", "criteo", "--rows", 40000, "--files", 2, "--seed", "1", "--out", "job/data",
                        "--json"], self.folder).wait()
        self.assert_done(made)
        return self.job(order={"batch_size": 512, "epochs": 400}, transform=OPS, pipeline={"cpus": 2},
                        trainer={"checkpoint": "", "threads": 1, **trainer})

    def set(self, job, what):
        return subprocess.run([FOREBAY, "set", what], cwd=job.folder, capture_output=True, text=True,
                              timeout=60)

    def stop(self, running):
        running.signal(15)
        stopped = running.wait(timeout=30)
        self.assertEqual(stopped.status, 143, stopped)
        return stopped

    def begun(self, job):
        running = job.start("train", "--json")
        self.addCleanup(lambda: running.process.returncode is None and running.alive() and running.signal(9))
        self.wait_until(lambda: (job.folder / ".forebay/control").exists())
        return running

    def test_a_job_that_is_not_deterministic_tries_other_numbers_and_logs_them(self):
        job = self.trained(deterministic=False)
        running = self.begun(job)
        log = job.folder / ".forebay/threads.jsonl"
        self.wait_until(lambda: log.exists() and log.read_text().count("\n") >= 1)
        stopped = self.stop(running)
        trials = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual((trials[0]["before"], trials[0]["tried"]), (1, 2))
        self.assertEqual(trials[0]["kept"],
                         trials[0]["rows_per_second_tried"] > 1.03 * trials[0]["rows_per_second_before"])
        self.assertEqual("trainer.threads 1 -> 2" in stopped.err, any(trial["kept"] for trial in trials))

    def test_forebay_set_changes_the_threads_within_the_cpus(self):
        job = self.trained(deterministic=False)
        running = self.begun(job)
        self.assertIn("within 1 to 2", self.set(job, "trainer.threads=3").stderr)
        done = self.set(job, "trainer.threads=2")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.stop(running).json["trainer_threads"], 2)

    def test_a_deterministic_job_keeps_its_number_of_threads(self):
        job = self.trained()
        running = self.begun(job)
        refused = self.set(job, "trainer.threads=2")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("trainer.deterministic", refused.stderr)
        self.assertEqual(self.stop(running).json["trainer_threads"], 1)
        self.assertFalse((job.folder / ".forebay/threads.jsonl").exists())


if __name__ == "__main__":
    main()
