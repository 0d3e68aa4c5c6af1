"""The model's threads while a job trains: searched for, set by a person, or the job file's."""
import json
import subprocess

from harness import FOREBAY, Running, Scenario, main

OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 5000}]


class Threads(Scenario):
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

    def test_a_job_that_leaves_it_open_tries_other_numbers_and_logs_them(self):
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

    def test_a_person_sets_them_within_the_cpus(self):
        job = self.trained(deterministic=False)
        running = self.begun(job)
        self.assertIn("within 1 to 2", self.set(job, "trainer.threads=3").stderr)
        done = self.set(job, "trainer.threads=2")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.stop(running).json["trainer_threads"], 2)

    def test_a_deterministic_job_keeps_its_own(self):
        job = self.trained()
        running = self.begun(job)
        refused = self.set(job, "trainer.threads=2")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("trainer.deterministic", refused.stderr)
        self.assertEqual(self.stop(running).json["trainer_threads"], 1)
        self.assertFalse((job.folder / ".forebay/threads.jsonl").exists())


if __name__ == "__main__":
    main()
