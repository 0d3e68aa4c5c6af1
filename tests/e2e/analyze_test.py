"""Where a job's time goes, what a change would bring, and what a run costs."""
import signal
import time
import unittest

from support.harness import Scenario

SHARES = {"fetch", "decode", "transform", "hand-over", "link", "trainer"}


class Analyze(Scenario):
    def spinning(self, microseconds, **tables):
        job = self.job(order={"batch_size": 500}, transform=[{"op": "log1p", "columns": ["I*"]},
                                                             {"op": "spin", "microseconds": microseconds}],
                       **{"trainer": {"model": "none"}, **tables})
        job.put_criteo(4000)
        return job

    def analyzed(self, job, *options, seconds="3"):
        finished = job.run("analyze", "--seconds", seconds, "--json", *options)
        self.assertEqual(finished.status, 0, finished)
        return finished.json

    def test_parts_and_changes_of_a_job_with_a_known_cost(self):
        # Many splits in the measured time: one that is not finished at its end is a small part of them.
        found = self.analyzed(self.spinning(20), seconds="6")
        self.assertEqual(set(found["shares"]), SHARES)
        self.assertAlmostEqual(sum(found["shares"].values()), 1, places=6)
        self.assertAlmostEqual(sum(found["parts"].values()), 1, places=6)
        self.assertAlmostEqual(found["costs"]["transform 2 (spin)"], 20, delta=2)
        self.assertGreater(found["parts"]["transform 2 (spin)"], 0.5)
        self.assertEqual(found["limiting_part"], "transform")
        self.assertEqual(len(found["advice"]), 3)
        changes = {each["change"]: each["predicted_rows_per_second"] for each in found["what_if"]}
        cpus = [change for change in changes if change.startswith("pipeline.cpus = ")]
        self.assertEqual(len(cpus), 2)
        self.assertTrue(all(rate >= 0 for rate in changes.values()), changes)
        self.assertIn("transform 2 (spin) at half its cost", changes)

    def test_a_slow_trainer_is_the_limit_and_a_faster_one_the_first_thing_to_do(self):
        # So slow that what other programs take from the stages does not matter.
        found = self.analyzed(self.spinning(1, trainer={"model": "emulated", "step": "100ms"}), seconds="6")
        self.assertEqual(found["limiting_part"], "trainer")
        self.assertGreater(found["shares"]["trainer"], 0.2)
        changes = {each["change"]: each for each in found["what_if"]}
        self.assertGreater(changes["a trainer twice as fast"]["gain"], 1.5)
        self.assertGreater(changes["order.batch_size = 1000"]["gain"], 1.5)

    def test_it_leaves_the_jobs_own_files_alone(self):
        job = self.spinning(1, trainer={"model": "none", "checkpoint": "checkpoints"})
        self.assertEqual(job.run("ingest", "--json").status, 0)
        before = [name for name in job.run_dir_files() if "/analyze/" not in name]
        self.analyzed(job, seconds="1")
        self.assertEqual([name for name in job.run_dir_files() if "/analyze/" not in name], before)

    def test_ctrl_c_stops_it_in_order(self):
        running = self.spinning(10).start("analyze", "--seconds", "60", "--json")
        while "measuring" not in running.stderr_now() and running.alive():
            time.sleep(0.05)
        running.signal(signal.SIGINT)
        finished = running.wait(30)
        self.assertEqual(finished.status, 130, finished)
        self.assertEqual(finished.out, "")

    def test_lines_for_people_end_with_three_things_to_do(self):
        finished = self.spinning(10).run("analyze", "--seconds", "1")
        self.assertEqual(finished.status, 0, finished)
        last = finished.out.rstrip("\n").split("\n")[-4:]
        self.assertEqual(last[0], "three things to do, in order of gain:")
        self.assertEqual([line[:4] for line in last[1:]], ["  1.", "  2.", "  3."])

    def test_wrong_arguments_are_refused_by_name(self):
        job = self.spinning(1)
        for options, words in ((["--seconds", "0"], "--seconds 0"), (["--seconds", "soon"], "--seconds soon"),
                               (["--set", "pipeline.cpu=1"], "pipeline.cpus")):
            finished = job.run("analyze", *options)
            self.assertEqual(finished.status, 2, finished)
            self.assertIn(words, finished.err)
        job.change(dataset={"paths": ["none/*.tsv"]})
        finished = job.run("analyze")
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("none/*.tsv", finished.err)


class Costs(Scenario):
    def test_every_run_counts_cpu_seconds_and_joules(self):
        job = self.job(trainer={"model": "none"})
        job.put_criteo(2000)
        for command in ("ingest", "train"):
            found = job.run(command, "--json").json
            self.assertGreater(found["cpu_seconds"], 0)
            self.assertIn(found["energy"]["method"], ("rapl", "estimate"))
            self.assertGreater(found["energy"]["joules"], 0)
            self.assertNotIn("money", found)

    def test_prices_give_money(self):
        job = self.job(trainer={"model": "none"}, prices={"cpu_hour": 3.6, "gigabyte": 1.5, "request": 0.25},
                       pipeline={"cpus": 1})
        job.put_criteo(2000)
        found = job.run("ingest", "--json").json
        money = found["money"]
        self.assertAlmostEqual(money["cpus"], 0.001 * found["seconds"], places=6)
        self.assertAlmostEqual(money["bytes"], 1.5e-9 * found["bytes_read"], places=9)
        self.assertAlmostEqual(money["requests"], 0.25 * found["requests"], places=6)
        self.assertAlmostEqual(money["total"], money["cpus"] + money["bytes"] + money["requests"], places=6)
        self.assertAlmostEqual(money["per_million_rows"], money["total"] * 500, places=4)
        self.assertIn("\nmoney: ", job.run("ingest").out)

    def test_a_negative_price_and_an_unknown_one_are_refused_by_name(self):
        job = self.job(trainer={"model": "none"})
        job.put_criteo(100)
        for change, words in (("prices.cpu_hour=-1", "prices.cpu_hour"), ("prices.cpu_hours=1", "prices.cpu_hour")):
            finished = job.run("ingest", "--set", change)
            self.assertEqual(finished.status, 2, finished)
            self.assertIn(words, finished.err)


if __name__ == "__main__":
    unittest.main()
