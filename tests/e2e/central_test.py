"""A central tuner over workers: one order of batches, whoever dies or falls silent, and logs that say what happened."""
import json
import signal

from support.cluster import ClusterScenario, Cluster, Head
from support.harness import Job, Running, main

SILENT = "the trainer's tuner has been silent for 5 periods; this node tunes itself"


class Central(ClusterScenario):
    def central(self, **tables):
        return self.work(tuner={"policy": "central", "period": "0.2s"}, **tables)

    def decisions(self, job):
        path = job.folder / ".forebay" / "central.jsonl"
        return path.read_text().splitlines()[1:] if path.exists() else []

    def until_it_decides_for(self, job, *names):
        self.wait_until(lambda: any(all(f'"name":"{name}"' in line for name in names)
                                    for line in self.decisions(job)[-3:]))

    def test_one_decision_for_two_workers_and_the_trainers_node_keeps_the_order(self):
        job = self.central(epochs=6)
        digest = self.digest_alone(job)
        cluster = Cluster(self, job, local=True)
        for _ in range(2):
            cluster.worker()
        self.until_it_decides_for(job, "local", "w1", "w2")
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 120000)
        log = job.folder / ".forebay" / "central.jsonl"
        shown = Running(["tune", "show", log], self.folder).wait(30)
        self.assertEqual(shown.status, 0, shown)
        self.assertIn("of 2 workers", shown.out)
        self.assertIn("w2: ", shown.out)
        replayed = Running(["tune", "replay", log, "--json"], self.folder).wait(30)
        self.assertEqual(replayed.status, 0, replayed)
        self.assertEqual(replayed.json["differences"], [])
        self.assertGreater(replayed.json["decisions"], 3)
        by_folder = Running(["tune", "replay", job.folder, "--json"], self.folder).wait(30)
        self.assertEqual(by_folder.json, replayed.json)
        # A node's own log names the joint decision, which it cannot repeat.
        node_log = job.folder / ".forebay" / "decisions-w1.jsonl"
        own = Running(["tune", "show", node_log], self.folder).wait(30)
        self.assertIn("central ", own.out)
        refused = Running(["tune", "replay", node_log], self.folder).wait(30)
        self.assertEqual(refused.status, 2, refused)
        self.assertIn(f"the central tuner made these decisions; replay {log}", refused.err)

    def test_a_worker_that_is_killed_leaves_the_plan_and_the_order_stays(self):
        job = self.central(epochs=8)
        digest = self.digest_alone(job)
        cluster = Cluster(self, job, local=False)
        for _ in range(2):
            cluster.worker()
        self.until_it_decides_for(job, "w1", "w2")
        cluster.kill("w1")
        self.wait_until(lambda: not cluster.trainer.alive() or '"name":"w1"' not in self.decisions(job)[-1])
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 160000)
        self.assertNotIn('"name":"w1"', self.decisions(job)[-1])

    def test_workers_whose_central_tuner_falls_silent_say_so_and_the_order_stays(self):
        job = self.central(epochs=8)
        digest = self.digest_alone(job)
        head = Head(self, self.folder)
        cluster = Cluster(self, job, local=False, head=head.address)
        for _ in range(2):
            cluster.worker()
        self.until_it_decides_for(job, "w1", "w2")
        # The trainer with its tuners stops for longer than five questions of a second each; the head goes on.
        cluster.trainer.signal(signal.SIGSTOP)
        try:
            self.wait_until(lambda: all(SILENT in worker.stderr_now() for worker in cluster.workers.values()))
        finally:
            cluster.trainer.signal(signal.SIGCONT)
        finished, ends = cluster.finish()
        self.assert_same_run(finished, digest, 160000)
        for end in ends.values():
            self.assertIn(SILENT, end.err)

    def test_a_run_that_goes_on_reckons_with_the_splits_of_its_own_steps(self):
        job = Job(self.folder / "job", order={"batch_size": 512, "epochs": 4000},
                  pipeline={"cpus": 1, "memory": "700MiB"}, tuner={"policy": "central", "period": "0.2s"},
                  trainer={"checkpoint": "checkpoints", "checkpoint_every": "1h", "threads": 1})
        job.put_criteo(20000, files=3)
        able = []
        for options in ((), ("--resume",)):
            (job.folder / ".forebay" / "central.jsonl").unlink(missing_ok=True)
            cluster = Cluster(self, job, "train", *options, local=True)
            self.wait_until(lambda: not cluster.trainer.alive() or self.able(job) > 0)
            self.wait_until(lambda: not cluster.trainer.alive() or len(self.decisions(job)) > 30)
            able.append(self.able(job))
            cluster.trainer.signal(signal.SIGTERM)
            finished, _ = cluster.finish()
            self.assertEqual(finished.status, 143, finished)
        self.assertLess(able[1], 3 * able[0])  # With the splits of the run before it is many times that.

    def able(self, job):
        """The most that the trainer could take in an interval of the first seconds."""
        return max((json.loads(line)["trainer"]["able"] for line in self.decisions(job)[:10]), default=0)

    def test_the_threads_of_a_model_are_part_of_the_joint_decision(self):
        job = Job(self.folder / "job", order={"batch_size": 512, "epochs": 4000},
                  pipeline={"cpus": 2, "memory": "700MiB"}, tuner={"policy": "central", "period": "0.2s"},
                  trainer={"checkpoint": "", "threads": 1, "deterministic": False})
        job.put_criteo(20000, files=3)
        cluster = Cluster(self, job, command="train", local=True)
        cluster.worker()
        self.until_it_decides_for(job, "local", "w1")
        # The report of a decision: the trainer has the threads that an earlier one advised.
        self.wait_until(lambda: not cluster.trainer.alive() or
                        any('"threads":2,"most_threads":2' in line for line in self.decisions(job)))
        cluster.trainer.signal(signal.SIGTERM)
        finished, _ = cluster.finish()
        self.assertEqual(finished.status, 143, finished)
        decisions = [json.loads(line) for line in self.decisions(job)]
        self.assertEqual({each["trainer"]["most_threads"] for each in decisions[3:]}, {2})
        self.assertTrue(any(each["trainer"]["able"] > 0 for each in decisions))
        tried = next(each for each in decisions if each["threads"] == 2)
        self.assertIn("model threads 2 (tries more)", tried["reason"])
        self.assertEqual({each["trainer"]["threads"] for each in decisions[3:tried["number"]]}, {1})
        log = job.folder / ".forebay" / "central.jsonl"
        shown = Running(["tune", "show", log], self.folder).wait(30)
        self.assertIn("     model: threads 2 of at most 2", shown.out)
        replayed = Running(["tune", "replay", log, "--json"], self.folder).wait(30)
        self.assertEqual(replayed.json["differences"], [])
        # The search of its own stays out of it.
        self.assertEqual((job.folder / ".forebay" / "threads.jsonl").read_text(), "")


if __name__ == "__main__":
    main()
