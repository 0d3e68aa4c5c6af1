"""The tuner in a run: it moves actors and nothing else, says what it does, and never fails the job."""
import json
import signal
import subprocess
import time

from support.harness import FOREBAY, MIB, Scenario, allocation, main

ROWS = 60000


def resident_peak(pid):
    """VmHWM of a process, in bytes."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


class Tuner(Scenario):
    def spinning(self, microseconds=30, policy="greedy", rows=ROWS, **tuner):
        job = self.job(order={"batch_size": 1000},
                       transform=[{"op": "spin", "microseconds": microseconds}],
                       tuner={"policy": policy, "period": "150ms", **tuner})
        job.put_criteo(rows)
        return job

    def command(self, job, *words):
        return subprocess.run([FOREBAY, *words], cwd=job.folder, capture_output=True, text=True, timeout=60)

    def until_decided(self, job, count=1):
        log = job.folder / ".forebay/decisions.jsonl"
        self.wait_until(lambda: log.exists() and log.read_text().count("\n") > count)

    def start_deciding(self, job, *options):
        run = job.start("ingest", "--json", *options)
        self.addCleanup(lambda: run.process.returncode is None and run.alive() and run.signal(signal.SIGKILL))
        self.until_decided(job)
        return run

    def test_a_tuned_run_moves_actors_and_gives_the_same_batches(self):
        job = self.spinning()
        off = self.assert_done(job.run("ingest", "--json", "--set", "tuner.mode=off",
                                       "--set", "transform.0.microseconds=30"))
        self.assertEqual(off["decisions"], 0)
        self.assertEqual(off["allocation"], {"load": 1, "decode": 1, "shuffle": 1, "transform": 1})
        finished = job.run("ingest", "--json", "--set", "pipeline.cpus=2", *allocation(2, 2, 2, 1))
        on = self.assert_done(finished)
        self.assertEqual(on["order_digest"], off["order_digest"])
        self.assertGreaterEqual(on["decisions"], 3)
        shown = json.loads(self.command(job, "tune", "show", "--json").stdout.splitlines()[-1])
        self.assertEqual(len(shown["decisions"]), on["decisions"])
        self.assertEqual(shown["policy"], "greedy")
        moved = [decision for decision in shown["decisions"]
                 if {k: v for k, v in decision["applied"].items() if k != "prefetch"} !=
                 {"load": 2, "decode": 2, "shuffle": 2, "transform": 1}]
        self.assertTrue(moved, "no decision moved an actor")
        self.assertTrue(all(decision["applied"]["load"] >= 1 for decision in shown["decisions"]))
        self.assertTrue(all(decision["reason"] for decision in shown["decisions"]))

    def test_a_replay_of_the_log_decides_the_same(self):
        for policy in ("greedy", "intune"):
            with self.subTest(policy):
                job = self.spinning(policy=policy)
                result = self.assert_done(job.run("ingest", "--json"))
                replayed = json.loads(self.command(job, "tune", "replay", "--json").stdout.splitlines()[-1])
                self.assertEqual(replayed["decisions"], result["decisions"])
                self.assertEqual(replayed["differences"], [])
                for decision in json.loads(self.command(job, "tune", "show", "--json").stdout.splitlines()[-1])["decisions"]:
                    self.assertGreaterEqual(min(decision["applied"].values()), 1)  # a group's actors at each of its stages

    def test_advise_logs_decisions_and_applies_none(self):
        job = self.spinning(mode="advise")
        result = self.assert_done(job.run("ingest", "--json", *allocation(1, 1, 1, 2)))
        self.assertGreater(result["decisions"], 0)
        self.assertEqual(result["allocation"], {"load": 1, "decode": 1, "shuffle": 1, "transform": 2})

    def test_an_unknown_policy_is_refused_with_the_nearest_name(self):
        job = self.spinning(policy="gredy")
        self.assert_refused(job.run("ingest", "--json"), 2, "tuner.policy", "gredy", "greedy")

    def test_a_running_job_is_changed(self):
        job = self.spinning(microseconds=400)
        run = self.start_deciding(job)
        for assignment in ("pipeline.cpus=1", "pipeline.memory=256MiB", "tuner.mode=advise"):
            done = self.command(job, "set", assignment)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(assignment.split("=")[0], done.stdout)
        self.until_decided(job, 1 + (job.folder / ".forebay/decisions.jsonl").read_text().count("\n"))
        shown = json.loads((job.folder / ".forebay/decisions.jsonl").read_text().splitlines()[-1])
        self.assertEqual(shown["seen"]["limits"], {"cpus": 1.0, "memory_bytes": 256 * MIB})
        for wrong, word in (("order.seed=2", "order.seed"), ("order.seed=3", "N counts from 0"), ("pipeline.cpus=0", "pipeline.cpus"),
                            ("pipeline.memory=2MiB", "pipeline.memory"), ("tuner.mod=on", "tuner.mode"),
                            ("transform.7.microseconds=1", "transform.7")):
            refused = self.command(job, "set", wrong)
            self.assertEqual(refused.returncode, 2, refused)
            self.assertIn(word, refused.stderr)
        cheaper = self.command(job, "set", "transform.0.microseconds=0", "--json")
        self.assertEqual(json.loads(cheaper.stdout)["key"], "transform.0.microseconds")
        finished = run.wait(60)
        self.assertEqual(self.assert_done(finished)["rows"], ROWS)
        self.assertFalse((job.folder / ".forebay/control").exists())
        nobody = self.command(job, "set", "tuner.mode=on")
        self.assertEqual(nobody.returncode, 2)
        self.assertIn("no job runs", nobody.stderr)

    def test_a_lowered_memory_limit_holds(self):
        job = self.spinning(microseconds=100, policy="max")
        job.change(order={"batch_size": 8192, "epochs": 400}, pipeline={"memory": "400MiB", "max_actors": 40})
        run = self.start_deciding(job, *allocation(4, 4, 4, 8))
        # No model is trained and batches are consumed at once, so prefetch stays small and actors hold the memory.
        time.sleep(0.5)
        for limit in (200, 90):
            self.assertEqual(self.command(job, "set", f"pipeline.memory={limit}MiB").returncode, 0)
            self.wait_until(lambda: resident(run.process.pid) <= limit * MIB)
            for _ in range(20):
                self.assertLessEqual(resident(run.process.pid), limit * MIB)
                time.sleep(0.05)
        self.assertLess(resident_peak(run.process.pid), 400 * MIB)
        run.signal(signal.SIGINT)
        self.assertEqual(run.wait(60).status, 130)

    def test_waiting_batches_shrink_when_memory_is_lowered(self):
        job = self.job(order={"batch_size": 8192, "epochs": 200}, pipeline={"memory": "600MiB"},
                       tuner={"policy": "greedy", "period": "150ms"},
                       trainer={"model": "emulated", "step": "50ms"})
        job.put_criteo(ROWS)
        run = job.start("train", "--json")
        self.addCleanup(lambda: run.process.returncode is None and run.alive() and run.signal(signal.SIGKILL))
        self.until_decided(job)
        self.wait_until(lambda: resident(run.process.pid) > 100 * MIB)
        self.assertEqual(self.command(job, "set", "pipeline.memory=80MiB").returncode, 0)
        self.wait_until(lambda: resident(run.process.pid) <= 80 * MIB)
        for _ in range(20):
            self.assertLessEqual(resident(run.process.pid), 80 * MIB)
            time.sleep(0.05)
        run.signal(signal.SIGINT)
        self.assertEqual(run.wait(60).status, 130)

    def test_a_killed_run_leaves_a_job_that_starts_again(self):
        job = self.spinning(microseconds=400)
        run = self.start_deciding(job)
        self.assertTrue((job.folder / ".forebay/control").exists())
        run.signal(signal.SIGKILL)
        run.wait()
        self.assertEqual(self.command(job, "set", "tuner.mode=on").returncode, 2)
        result = self.assert_done(job.run("ingest", "--json", "--set", "transform.0.microseconds=5"))
        self.assertEqual(result["rows"], ROWS)
        self.assertTrue((job.folder / ".forebay/decisions.1.jsonl").exists())

    def test_a_frozen_job_starts_where_the_tuner_ended(self):
        job = self.spinning()
        result = self.assert_done(job.run("ingest", "--json"))
        path = job.folder / "job.toml"
        path.write_text("# mine\n" + path.read_text())
        done = self.command(job, "tune", "freeze", "job.toml")
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(path.read_text().startswith("# mine\n"))
        again = self.assert_done(job.run("ingest", "--json"))
        self.assertEqual(again["allocation"], result["allocation"])
        self.assertEqual(again["decisions"], 0)

    def test_a_job_that_could_not_run_with_the_log_s_allocation_is_left_as_it_is(self):
        job = self.spinning()
        self.assert_done(job.run("ingest", "--json"))
        log = job.folder / ".forebay/decisions.jsonl"
        log.write_text(log.read_text().replace("decode", "unpack"))
        before = (job.folder / "job.toml").read_text()
        refused = self.command(job, "tune", "freeze", "job.toml")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("pipeline.allocation.unpack", refused.stderr)
        self.assertEqual((job.folder / "job.toml").read_text(), before)

    def test_a_damaged_log_is_refused_by_line(self):
        job = self.spinning()
        self.assert_done(job.run("ingest", "--json"))
        log = job.folder / ".forebay/decisions.jsonl"
        lines = log.read_text().splitlines()
        log.write_text("\n".join([lines[0], lines[1][:50], *lines[2:]]) + "\n")
        refused = self.command(job, "tune", "show")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("decisions.jsonl, line 2", refused.stderr)
        log.write_text(lines[0].replace('"forebay_decisions":3', '"forebay_decisions":9') + "\n")
        self.assertIn("version 9", self.command(job, "tune", "replay").stderr)

    def test_damaged_learned_state_fails_no_run(self):
        job = self.spinning(policy="intune")
        self.assert_done(job.run("ingest", "--json"))
        for kept in (job.folder / ".forebay").glob("tuner/*"):
            kept.write_bytes(b"\0\xff nonsense")
        self.assertEqual(self.assert_done(job.run("ingest", "--json"))["rows"], ROWS)

    def test_learned_state_that_cannot_be_saved_is_reported(self):
        job = self.spinning(policy="intune")
        (job.folder / ".forebay").mkdir()
        (job.folder / ".forebay/tuner").write_text("no folder")
        run = job.run("ingest", "--json")
        self.assertEqual(self.assert_done(run)["rows"], ROWS)
        self.assertIn("what the tuner learns is not kept for the next run", run.err)


if __name__ == "__main__":
    main()
