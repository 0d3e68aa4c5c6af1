"""Training end to end: it learns, it resumes from its checkpoint, and it guards what it has."""
import os
import pathlib
import re
import shutil
import signal

from support.harness import FOREBAY, MIB, Running, Scenario, main

SMALL = {"evaluate_share": 0.1, "checkpoint": "checkpoints", "checkpoint_every": "1h"}
OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 5000}]


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut_in_half(path):
    os.truncate(path, path.stat().st_size // 2)


class Train(Scenario):
    def trained(self, rows=60000, files=2, **tables):
        made = Running(["synth", "criteo", "--rows", rows, "--files", files, "--seed", "1", "--out", "job/data",
                        "--json"], self.folder).wait()
        self.best_auc = self.assert_done(made)["best_auc"]
        return self.job(order={"batch_size": 512}, transform=OPS, trainer=SMALL, **tables)

    def last_model(self, job, checkpoints):
        """The last checkpoint's name and the bytes of its weights and optimizer state."""
        last = max((job.folder / checkpoints).glob("checkpoint-*"))
        return (last.name, *((last / f"{part}.safetensors").read_bytes() for part in ("model", "optimizer")))

    def test_a_model_learns_from_the_order_of_ingest(self):
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
        want = self.assert_done(job.run("train", "--json"))
        self.assert_refused(job.run("train", "--json"), 2, "--resume", "--restart")
        result = self.assert_done(job.run("train", "--json", "--resume"))
        self.assertEqual(result["rows"], 0)
        # Also when the run was stopped after its last batch: it still reports its results.
        for key in ("order_digest", "auc", "loss"):
            self.assertEqual(result[key], want[key], key)

    def test_a_resume_without_a_checkpoint_reports_that_it_starts_anew(self):
        job = self.trained()
        refused = job.run("train", "--json", "--resume", "--set", "pipeline.memory=1MiB")
        self.assert_refused(refused, 2, "pipeline.memory")
        self.assertNotIn("anew", refused.err)
        finished = job.run("train", "--json", "--resume")
        self.assertGreater(self.assert_done(finished)["rows"], 0)
        self.assertIn("no checkpoint in", finished.err)
        self.assertIn("training starts anew", finished.err)
        refused = job.run("train", "--json", "--resume", "--set", "pipeline.memory=1MiB")
        self.assertNotIn("going on from", refused.err)
        finished = job.run("train", "--json", "--resume", "--set", "trainer.checkpoint=", "--set", "trainer.model=none")
        self.assertIn("training starts anew", finished.err)

    def test_a_stopped_training_resumes_to_the_same_model(self):
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
        self.assertEqual(self.last_model(job, "others"), self.last_model(job, "checkpoints"))

    def test_a_gigabyte_trains_in_700_mib(self):
        job = self.trained(rows=1000000, files=1)
        for i in range(1, 4):
            shutil.copyfile(job.folder / "data/day_0.tsv", job.folder / f"data/day_{i}.tsv")
        finished = job.run("train", "--json", "--set", "pipeline.memory=700MiB", "--set", "order.batch_size=8192",
                           "--set", "trainer.evaluate_share=0.01", timeout=300)
        result = self.assert_done(finished)
        self.assertEqual(result["rows"] + result["rows_held_out"], 4000000)
        self.assertLess(finished.peak_bytes, 700 * MIB)
        self.assertLess(abs(result["peak_memory_bytes"] - finished.peak_bytes), 8 * MIB)
        self.assert_refused(job.run("train", "--json", "--restart", "--set", "pipeline.memory=100MiB"), 2,
                            "pipeline.memory")
        self.assertTrue(any((job.folder / "checkpoints").glob("checkpoint-*")), "a refused start removes nothing")

    def test_a_program_without_the_trainer_names_what_has_it_before_it_makes_rows(self):
        job = self.trained()
        alone = shutil.copy(FOREBAY, self.folder / "forebay")
        for command in (["train", "job.toml"], ["bench", "train"]):
            finished = Running(command, job.folder, program=alone).wait()
            self.assert_refused(finished, 2, "libforebay_trainer.so", "that `cmake --install` installs, built with libtorch")

    def test_doctor_counts_the_memory_that_train_counts(self):
        job = self.trained()
        doctor = job.run("doctor", "--set", "pipeline.memory=1MiB")
        train = job.run("train", "--set", "pipeline.memory=1MiB")
        self.assertEqual((doctor.status, train.status), (1, 2), f"{doctor}\n{train}")
        said, needed = (int(re.search(r"at least (\d+) MiB", text).group(1)) for text in (doctor.out, train.err))
        self.assertLess(abs(said - needed), 8, "beside what the two processes take themselves")

    def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(self):
        job = self.trained()
        want = self.assert_done(job.run("train", "--json", "--set", "trainer.checkpoint_every=50ms"))
        kept = sorted((job.folder / "checkpoints").glob("checkpoint-*"))
        if len(kept) < 2:
            self.skipTest("the machine was too fast to keep two checkpoints")
        model = self.last_model(job, "checkpoints")
        for damage in (flip_a_byte, cut_in_half):
            for name in ("model.safetensors", "optimizer.safetensors", "loader.json", "losses.json", "manifest.json"):
                copy = f"{damage.__name__}_{name}"
                shutil.copytree(job.folder / "checkpoints", job.folder / copy)
                damage(job.folder / copy / kept[-1].name / name)
                finished = job.run("train", "--json", "--resume", "--set", f"trainer.checkpoint={copy}")
                result = self.assert_done(finished)
                self.assertIn(f"{kept[-1].name}/{name}", finished.err)
                self.assertIn(f"going on from {copy}/{kept[-2].name}", finished.err)
                self.assertEqual(result["order_digest"], want["order_digest"])
                self.assertEqual(result["loss"], want["loss"])
                self.assertEqual(self.last_model(job, copy), model)
                shutil.rmtree(job.folder / copy)

    def test_a_resume_under_another_order_is_refused_and_changes_nothing(self):
        job = self.trained()
        self.assert_done(job.run("train", "--json"))
        model = self.last_model(job, "checkpoints")
        for setting, word in (("order.batch_size=500", "batch_size"), ("order.seed=7", "seed"),
                              ("transform=[]", "transform"), ("trainer.evaluate_share=0.2", "evaluate_share")):
            self.assert_refused(job.run("train", "--json", "--resume", "--set", setting), 2, word)
        self.assert_refused(job.run("train", "--json", "--resume", "--set", "trainer.embedding_dim=8"), 2,
                            "holds another model")
        self.assertEqual(self.last_model(job, "checkpoints"), model)

    def test_a_checkpoint_directory_that_cannot_be_written_is_refused_at_the_start(self):
        job = self.trained()
        job.put("taken", "a file")
        for place in ("taken", "taken/below", "/proc/checkpoints", "/proc"):
            self.assert_refused(job.run("train", "--json", "--set", f"trainer.checkpoint={place}"), 2, place,
                                "trainer.checkpoint")

    def test_a_loss_that_is_not_a_number_fails_the_run_and_names_the_batch(self):
        job = self.trained()
        finished = job.run("train", "--json", "--set", "trainer.learning_rate=1000", "--set",
                           "trainer.optimizer=sgd", "--set", "trainer.checkpoint_every=100ms")
        self.assert_refused(finished, 1, "the loss of batch ", "trainer.learning_rate")
        self.assert_refused(job.run("train", "--json", "--set", "trainer.learning_rate=1e30"), 2,
                            "trainer.learning_rate")

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
