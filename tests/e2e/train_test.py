"""Training end to end: it learns, it resumes from its checkpoint, and it guards what it has."""
import os
import pathlib
import shutil
import signal

from harness import MIB, Running, Scenario, main

SMALL = {"evaluate_share": 0.1, "checkpoint": "checkpoints", "checkpoint_every": "1h"}
OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 5000}]


class Train(Scenario):
    def trained(self, **tables):
        made = Running(["synth", "criteo", "--rows", "60000", "--files", "2", "--seed", "1", "--out", "job/data",
                        "--json"], self.folder).wait()
        self.best_auc = self.assert_done(made)["best_auc"]
        return self.job(order={"batch_size": 512}, transform=OPS, trainer=SMALL, **tables)

    def test_a_model_learns_and_sees_the_order_that_ingest_has(self):
        job = self.trained()
        result = self.assert_done(job.run("train", "--json"))
        ingested = self.assert_done(job.run("ingest", "--json"))
        self.assertEqual(result["order_digest"], ingested["order_digest"])
        self.assertEqual(result["rows"], ingested["rows"])
        self.assertEqual(result["rows"] + result["rows_held_out"], 60000)
        self.assertGreater(result["auc"], 0.55)
        self.assertLess(result["auc"], self.best_auc + 0.02)
        self.assertLess(result["loss"], 0.7)
        self.assertEqual(self.assert_done(job.run("train", "--json", "--restart"))["auc"], result["auc"])

    def test_existing_checkpoints_are_neither_overwritten_nor_ignored(self):
        job = self.trained()
        self.assert_done(job.run("train", "--json"))
        self.assert_refused(job.run("train", "--json"), 2, "--resume", "--restart")
        result = self.assert_done(job.run("train", "--json", "--resume"))
        self.assertEqual(result["rows"], 0)

    def test_a_resume_without_a_checkpoint_starts_anew_and_says_so(self):
        job = self.trained()
        finished = job.run("train", "--json", "--resume")
        self.assertGreater(self.assert_done(finished)["rows"], 0)
        self.assertIn("checkpoint", finished.err)

    def test_a_stopped_training_goes_on_to_the_same_model(self):
        job = self.trained()
        job.change(order={"epochs": 5})  # Long enough to be stopped on the way.
        want = self.assert_done(job.run("train", "--json"))
        job.change(trainer={"checkpoint": "others"})
        running = job.start("train", "--json", "--set", "trainer.checkpoint_every=1s")
        self.wait_until(lambda: any((job.folder / "others").glob("*")) or not running.alive())
        running.signal(signal.SIGTERM)
        stopped = running.wait(timeout=8)
        if stopped.status == 0:
            self.skipTest("the machine was too fast to be interrupted")
        self.assertEqual(stopped.status, 143, stopped)
        result = self.assert_done(job.run("train", "--json", "--resume"))
        for key in ("order_digest", "auc", "loss"):
            self.assertEqual(result[key], want[key], key)
        self.assertEqual(result["rows"] + stopped.json["rows"], want["rows"])

    def test_a_killed_training_resumes_from_its_last_checkpoint(self):
        job = self.trained()
        want = self.assert_done(job.run("train", "--json"))
        job.change(trainer={"checkpoint": "others"})
        running = job.start("train", "--json", "--set", "trainer.checkpoint_every=500ms")
        self.wait_until(lambda: any((job.folder / "others").glob("*")) or not running.alive())
        running.signal(signal.SIGKILL)
        running.wait()
        result = self.assert_done(job.run("train", "--json", "--resume"))
        for key in ("order_digest", "auc", "loss"):
            self.assertEqual(result[key], want[key], key)

    def test_training_stays_below_700_mib(self):
        job = self.trained()
        finished = job.run("train", "--json", "--set", "pipeline.memory=700MiB")
        self.assert_done(finished)
        self.assertLess(finished.peak_bytes, 700 * MIB)
        self.assert_refused(job.run("train", "--json", "--restart", "--set", "pipeline.memory=100MiB"), 2,
                            "pipeline.memory")

    def test_the_example_trains(self):
        source = pathlib.Path(os.environ.get("FOREBAY_SOURCE", pathlib.Path(__file__).parents[2]))
        shutil.copytree(source / "examples/open_bandit", self.folder / "example",
                        ignore=shutil.ignore_patterns(".forebay", "checkpoints"))
        finished = Running(["train", "example/job.toml", "--json"], self.folder).wait(timeout=180)
        result = self.assert_done(finished)
        self.assertEqual(result["bad_rows"], 0)
        self.assertEqual(result["rows"] // result["epochs"] + result["rows_held_out"], 20000)
        self.assertTrue(0.3 < result["auc"] < 1)


if __name__ == "__main__":
    main()
