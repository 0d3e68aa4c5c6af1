"""Evaluation end to end: during a run and at its end it changes no result and gives the same figures."""
import signal

from support.harness import MIB, Running, Scenario, change_in_place, main

OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 5000}]
FIGURES = ("auc", "log_loss", "normalized_entropy", "calibration")


class Evaluate(Scenario):
    def trained(self, rows=40000, epochs=1, **trainer):
        made = Running(["synth", "criteo", "--rows", rows, "--files", 2, "--seed", "1", "--out", "job/data",
                        "--json"], self.folder).wait()
        self.assert_done(made)
        return self.job(order={"batch_size": 512, "epochs": epochs}, transform=OPS,
                        trainer={"evaluate_share": 0.1, "checkpoint_every": "1h", **trainer})

    def weights(self, job, checkpoints="checkpoints"):
        last = max((job.folder / checkpoints).glob("checkpoint-*"))
        return (last / "model.safetensors").read_bytes()

    def test_evaluations_in_the_middle_change_neither_order_nor_weights(self):
        job = self.trained()
        plain = self.assert_done(job.run("train", "--json"))
        weights = self.weights(job)
        result = self.assert_done(job.run("train", "--json", "--restart", "--set", "trainer.evaluate_every=20"))
        self.assertEqual(self.weights(job), weights)
        for key in ("order_digest", "loss", "rows", *FIGURES):
            self.assertEqual(result[key], plain[key], key)
        steps = [each["step"] for each in result["evaluations"]]
        self.assertEqual(steps, [20, 40, 60, result["batches"]])
        self.assertEqual(result["evaluations"][-1]["log_loss"], result["log_loss"])
        self.assertEqual(result["best_step"],
                         min(result["evaluations"], key=lambda each: each["log_loss"])["step"])
        self.assertFalse(result["stopped_early"])

    def test_separate_files_are_evaluated_and_a_streaming_auc_is_within_its_bound(self):
        job = self.trained()
        held = Running(["synth", "criteo", "--rows", 5000, "--files", 1, "--seed", "2", "--out", "job/held", "--json"],
                       self.folder).wait()
        self.assert_done(held)
        job.change(trainer={"evaluate": ["held/*.tsv"], "evaluate_share": 0, "evaluate_every": 30})
        exact = self.assert_done(job.run("train", "--json"))
        self.assertEqual({each["rows"] for each in exact["evaluations"]}, {5000})
        self.assertNotIn("auc_error", exact)
        rough = self.assert_done(job.run("train", "--json", "--restart", "--set", "trainer.evaluate_auc=streaming"))
        self.assertGreater(rough["auc_error"], 0)
        self.assertLess(rough["auc_error"], 1e-3)
        self.assertLessEqual(abs(rough["auc"] - exact["auc"]), rough["auc_error"])
        self.assertEqual(rough["log_loss"], exact["log_loss"])

    def test_a_killed_run_keeps_its_evaluations_and_repeats_them(self):
        job = self.trained(epochs=3, evaluate_every=25)
        want = self.assert_done(job.run("train", "--json"))
        job.change(trainer={"checkpoint": "others"})
        running = job.start("train", "--json", "--set", "trainer.checkpoint_every=100ms")
        self.wait_until(lambda: len(list((job.folder / "others").glob("checkpoint-*"))) > 1 or not running.alive())
        running.signal(signal.SIGKILL)
        running.wait()
        result = self.assert_done(job.run("train", "--json", "--resume"))
        for key in ("order_digest", "loss", "evaluations", "best_step", *FIGURES):
            self.assertEqual(result[key], want[key], key)
        self.assertEqual(self.weights(job, "others"), self.weights(job))

    def test_a_run_without_further_gain_ends_early_and_stays_ended(self):
        job = self.trained(epochs=30, evaluate_every=50, early_stopping=1, learning_rate=0.3)
        finished = job.run("train", "--json")
        result = self.assert_done(finished)
        self.assertTrue(result["stopped_early"])
        evaluations = result["evaluations"]
        self.assertEqual(evaluations[-1]["step"], result["batches"])
        self.assertEqual(result["best_step"], evaluations[-2]["step"])
        self.assertGreaterEqual(evaluations[-1]["log_loss"], evaluations[-2]["log_loss"])
        again = self.assert_done(job.run("train", "--json", "--resume"))
        self.assertTrue(again["stopped_early"])
        self.assertEqual(again["batches"], 0)
        self.assertEqual(again["evaluations"], evaluations)
        patient = self.assert_done(job.run("train", "--json", "--resume", "--set", "trainer.early_stopping=1000"))
        self.assertFalse(patient["stopped_early"])
        self.assertGreater(patient["batches"], 0)

    def test_files_of_other_columns_are_refused_before_the_start(self):
        columns = {"label": "click", "dense": ["d*"], "sparse": ["s*"]}
        job = self.job(dataset={"format": "csv", "paths": ["data/a.csv"]}, columns=columns,
                       order={"batch_size": 4}, trainer={"evaluate": ["held/a.csv"]})
        job.put("data/a.csv", "click,d1,d2,s1\n" + "1,2,3,4\n0,1,1,1\n" * 8)
        for header, words in (("click,d1,d2,s1", None),
                              ("click,d1,d9,s1", ['dense column 2 is "d9", not "d2"']),
                              ("click,d2,d1,s1", ['dense column 1 is "d2", not "d1"']),
                              ("click,d1,d2,s7", ['sparse column 1 is "s7", not "s1"']),
                              ("click,x,y,s1", ["columns.dense"])):
            job.put("held/a.csv", header + "\n1,2,3,4\n0,1,2,3\n")
            finished = job.run("train", "--json", "--restart")
            if words is None:
                self.assert_done(finished)
                continue
            self.assert_refused(finished, 2, "trainer.evaluate: ", *words)
            doctor = job.run("doctor")
            self.assertIn(words[0], doctor.out + doctor.err)

    def test_an_evaluated_file_that_was_damaged_in_place_fails_the_run_by_row(self):
        job = self.job(order={"batch_size": 100}, trainer={"evaluate": ["held/*.tsv"]})
        lines = job.put_criteo(200)
        job.put("held/day_1.tsv", "".join(lines))
        self.assert_done(job.run("index", "--json", "--set", 'dataset.paths=["held/*.tsv"]'))
        at = sum(map(len, lines[:150]))
        change_in_place(job.folder / "held/day_1.tsv", at, b"x")
        self.assert_refused(job.run("train", "--json"), 1, "held/day_1.tsv: ", f"line 151 (byte {at}) is damaged",
                            "; the trained model is in checkpoints/checkpoint-000000002: once these rows can be read, --resume", seconds=60)
        change_in_place(job.folder / "held/day_1.tsv", at, lines[150][:1].encode())
        later = self.assert_done(job.run("train", "--json", "--resume"))
        self.assertEqual((later["batches"], later["evaluations"][0]["rows"]), (0, 200))

    def test_damaged_rows_of_evaluated_files_are_named(self):
        columns = {"label": "click", "dense": ["d"], "sparse": ["s"]}
        job = self.job(dataset={"format": "csv", "paths": ["data/a.csv"], "bad_rows": 1}, columns=columns,
                       order={"batch_size": 4}, trainer={"evaluate": ["held/*.csv"]})
        good = "click,d,s\n" + "1,2,4\n0,1,1\n" * 8
        job.put("data/a.csv", good)
        job.put("held/a.csv", good)
        job.put("held/b.csv", good + "x,1,1\n")
        finished = job.run("train", "--json", "--set", "trainer.evaluate_every=1")
        result = self.assert_done(finished)
        self.assertEqual((result["bad_rows"], result["quarantine"]), (0, ""))
        self.assertEqual({(each["rows"], each["bad_rows"]) for each in result["evaluations"]}, {(32, 1)})
        for each in result["evaluations"]:
            self.assertIn("b.csv\t", (job.folder / each["quarantine"]).read_text())
        self.assertEqual(finished.err.count("1 damaged row left out of the evaluation, see "), 1, finished.err)
        again = self.assert_done(job.run("train", "--json", "--resume"))
        self.assertEqual(again["evaluations"], result["evaluations"])
        job.put("held/a.csv", good + "x,1,1\n")
        self.assert_refused(job.run("train", "--json", "--restart"), 1, "held/b.csv: ", "dataset.bad_rows = 1")
        job.put("held/a.csv", good)
        job.put("held/b.csv", good)
        whole = self.assert_done(job.run("train", "--json", "--restart"))
        self.assertEqual([(each["bad_rows"], each["quarantine"]) for each in whole["evaluations"]], [(0, "")])

    def test_a_share_that_holds_out_no_row_is_said(self):
        job = self.job(order={"batch_size": 100}, trainer={"evaluate_share": 1e-9})
        job.put_criteo(200)
        finished = job.run("train")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("trainer.evaluate_share = 1e-09 holds out none of the dataset's 200 rows", finished.err)
        self.assertIn("no AUC (no row was evaluated)", finished.out)

    def test_a_finished_run_that_is_resumed_logs_its_evaluation_once(self):
        job = self.trained(rows=5000, csv="run.csv", log_every=2)
        done = self.assert_done(job.run("train", "--json"))
        table = (job.folder / "run.csv").read_text()
        self.assertEqual(table.count("\n"), 1 + done["batches"] // 2 + 1)
        again = self.assert_done(job.run("train", "--json", "--resume"))
        self.assertEqual(again["auc"], done["auc"])
        self.assertEqual((job.folder / "run.csv").read_text(), table)

    def test_the_memory_limit_holds_while_two_pipelines_run(self):
        job = self.trained(rows=200000)
        limit = 340 * MIB
        finished = job.run("train", "--json", "--set", f"pipeline.memory={limit}", "--set",
                           "order.batch_size=2048", "--set", "trainer.evaluate_every=20")
        result = self.assert_done(finished)
        self.assertGreater(len(result["evaluations"]), 3)
        self.assertLess(finished.peak_bytes, limit)

    def test_an_impossible_evaluation_is_refused_before_the_start(self):
        job = self.trained()
        for sets, words in (
                (["trainer.evaluate_every=5", "trainer.evaluate_share=0"], ["trainer.evaluate_every"]),
                (["trainer.early_stopping=2"], ["trainer.early_stopping", "trainer.evaluate_every"]),
                (["trainer.early_stopping_metric=logloss", "trainer.evaluate_every=5"], ["did you mean log_loss"]),
                (["trainer.evaluate_auc=streeming"], ["did you mean streaming"])):
            arguments = [part for each in sets for part in ("--set", each)]
            self.assert_refused(job.run("train", "--json", *arguments), 2, *words)


if __name__ == "__main__":
    main()
