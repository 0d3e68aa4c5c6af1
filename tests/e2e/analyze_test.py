"""Where a job's time goes, what a change would bring, and what a run costs."""
import json
import os
import signal
import time
import unittest

from support.harness import FOREBAY, Running, Scenario
from user_functions_test import udf

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
        self.assertGreater(changes["a trainer twice as fast"]["gain"], 1.2)
        self.assertGreater(changes["order.batch_size = 1000"]["gain"], 1.2)

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
        self.assertEqual(json.loads(finished.out), {"stopped": True})

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


# Starts workers that are not there; those of the trial before may just be ending.
SCALE = """#!/bin/bash
# usage: scale.sh N
cd "$(dirname "$0")" || exit 1
echo "$1" >>asked
for ((i = 1; i <= $1; ++i)); do
  [[ ! -f pid-$i ]] || tail -s 0.05 --pid="$(cat "pid-$i")" -f /dev/null
  "$FOREBAY_BIN" worker --join .forebay/address --name "w$i" --cpus 1 --memory 200MiB --dir "worker-$i" \\
    </dev/null >/dev/null 2>>workers.log &
  echo $! >"pid-$i"
done
"""


class WithWorkers(Scenario):
    def waiting(self, **tables):
        """A job whose splits wait 50 ms each, so that workers on the same CPUs help."""
        job = self.job(order={"batch_size": 100}, transform=[{**udf("waits", params="50"), "stage": "work"}],
                       pipeline={"memory": "300MiB", "cpus": 1}, trainer={"model": "none"}, tuner={"mode": "off"},
                       **tables)
        job.put_criteo(3000, files=3)
        return job

    def changes(self, job, seconds):
        finished = job.run("analyze", "--seconds", seconds, "--json")
        self.assertEqual(finished.status, 0, finished)
        found = finished.json
        return found, {each["change"]: each for each in found["what_if"]}

    def test_a_job_that_starts_its_workers_is_tried_out_with_them_and_with_fewer(self):
        job = self.waiting()
        os.environ["FOREBAY_BIN"] = FOREBAY
        job.put("scale.sh", SCALE).chmod(0o755)
        job.change(cluster={"listen": "tcp://127.0.0.1:0", "scale": str(job.folder / "scale.sh"), "min_workers": 2,
                            "max_workers": 2})
        found, changes = self.changes(job, "24")
        for change in ("1 worker instead of 2", "order.batch_size = 200"):
            self.assertEqual(changes[change]["by"], "trial", found)
        self.assertLess(changes["1 worker instead of 2"]["gain"], 0.9)
        self.assertEqual(changes["3 workers instead of 2"]["by"], "model")  # more than the job allows
        self.assertGreater(changes["3 workers instead of 2"]["gain"], 1.1)
        self.assertIn("1", (job.folder / "asked").read_text().split())
        self.assertFalse((job.folder / ".forebay/address").exists())

    def test_a_job_whose_workers_are_started_by_others_has_their_rates_from_the_model(self):
        job = self.waiting(cluster={"listen": "tcp://127.0.0.1:0", "min_workers": 1})
        running = job.start("analyze", "--seconds", "8", "--json")
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        address = job.folder / ".forebay/address"
        self.wait_until(lambda: address.exists() or not running.alive())
        self.assert_refused(job.run("ingest", "--json"), 2, ".forebay")
        worker = Running(["worker", "--join", address, "--name", "w", "--cpus", "1", "--memory", "200MiB"], job.folder)
        finished = running.wait()
        self.assertEqual(finished.status, 0, finished)
        worker.wait(60)
        found = finished.json
        changes = {each["change"]: each for each in found["what_if"]}
        self.assertEqual(changes["no workers instead of 1"]["by"], "trial")
        self.assertEqual(changes["2 workers instead of 1"]["by"], "model")
        self.assertEqual(changes["pipeline.cpus = 2"]["by"], "model")
        self.assertGreater(changes["2 workers instead of 1"]["gain"], 1.2)
        self.assertLess(changes["no workers instead of 1"]["gain"], 0.8)

    def test_a_job_without_workers_is_tried_out_with_one_on_other_cpus(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one CPU")
        found, changes = self.changes(self.waiting(), "12")
        self.assertEqual(changes["1 worker like this machine"]["by"], "trial")
        self.assertGreater(changes["1 worker like this machine"]["gain"], 1.2)


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
