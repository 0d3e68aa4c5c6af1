"""Few descriptors (ulimit -n) and many peers: files come first, and messages name the missing descriptors."""
import socket

from support.cluster import Cluster, ClusterScenario
from support.harness import Running, Scenario, main

FEW = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")


class Descriptors(ClusterScenario):
    def trained(self):
        made = Running(["synth", "criteo", "--rows", 20011, "--files", 4, "--seed", "1", "--out", "job/data", "--json"],
                       self.folder).wait()
        self.assert_done(made)
        return self.job(order={"batch_size": 512, "epochs": 1000000}, pipeline={"memory": "600MiB"},
                        transform=[{"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 3000}],
                        trainer={"threads": 1, "checkpoint": "checkpoints", "checkpoint_steps": 20})

    def connect(self, address, number):
        """Silent connections, made at once."""
        host, port = address.removeprefix("tcp://").split(":")
        for _ in range(number):
            bare = socket.socket()
            self.addCleanup(bare.close)
            bare.setblocking(False)
            bare.connect_ex((host, int(port)))

    def saved(self, job):
        names = [path.name for path in (job.folder / "checkpoints").glob("checkpoint-*")]
        return max(names, default="")

    def wait_for_checkpoints(self, job, cluster, number):
        for _ in range(number):
            last = self.saved(job)
            self.wait_until(lambda: self.saved(job) > last or not cluster.trainer.alive(), seconds=60)

    def test_checkpoints_are_written_for_any_number_of_peers(self):
        job = self.trained()
        cluster = Cluster(self, job, "train", prefix=FEW)
        for _ in range(14):  # 28 connections, of 64 descriptors
            cluster.worker()
        refused = "refuses this node for now: its descriptors run out (ulimit -n 64 there)"
        self.wait_until(lambda: any(refused in worker.stderr_now() for worker in cluster.workers.values()))
        # On a busy machine three checkpoints may come before a worker's first split.
        self.wait_until(lambda: any(self.splits_made(job).get(name, 0) > 0 for name in cluster.workers), seconds=60)
        self.connect(cluster.address, 200)
        self.wait_for_checkpoints(job, cluster, 3)
        self.assertFalse(all(refused in worker.stderr_now() for worker in cluster.workers.values()))
        for name in list(cluster.workers):
            cluster.kill(name)
        cluster.trainer.signal(15)
        finished, _ = cluster.finish()
        self.assertEqual(finished.status, 143, finished)
        self.assertEqual(finished.err.count("raise ulimit -n here"), 1, finished)
        for word in ("not written", "damaged", "Too many open files"):
            self.assertNotIn(word, finished.err, finished)
        self.assertGreater(len(finished.json["rows_by_node"]), 1, finished)

    def test_a_resume_without_descriptors_is_refused_and_keeps_all_checkpoints(self):
        job = self.trained()
        self.assert_done(job.run("train", "--json", "--set", "order.epochs=2"))
        before = sorted(path.name for path in (job.folder / "checkpoints").iterdir())
        ended = set()
        for limit in (5, 6, 16):
            few = Running(["train", "job.toml", "--resume", "--set", "order.epochs=2"], job.folder,
                          prefix=("sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh")).wait()
            ended.add(few.status)
            self.assertNotIn("training starts anew", few.err, few)
            self.assertNotIn("damaged", few.err, few)
            if few.status != 0:
                self.assertIn(f"Too many open files (this process may have {limit}; raise ulimit -n)", few.err, few)
        self.assertIn(0, ended)
        self.assertGreater(len(ended), 1)
        self.assertEqual(sorted(path.name for path in (job.folder / "checkpoints").iterdir()), before)


class Raised(Scenario):
    def test_forebay_raises_its_limit_and_commands_get_the_original_one(self):
        job = self.job(cluster={"listen": "tcp://127.0.0.1:0", "local": False, "min_workers": 1,
                                "scale": "ulimit -S -n >> limits; exit 0;"})
        job.put_criteo(2000)
        running = Running(["ingest", "job.toml"], job.folder, prefix=("sh", "-c", 'ulimit -S -n 50; exec "$@"', "sh"))
        self.wait_until(lambda: (job.folder / ".forebay" / "address").exists() or not running.alive())
        with open(f"/proc/{running.process.pid}/limits") as limits:
            soft, hard = next(line for line in limits if line.startswith("Max open files")).split()[3:5]
        self.assertEqual(int(soft), min(int(hard), 65536))
        self.wait_until(lambda: (job.folder / "limits").exists() and (job.folder / "limits").read_text())
        self.assertEqual((job.folder / "limits").read_text().split()[0], "50")
        running.signal(15)
        running.wait()


if __name__ == "__main__":
    main()
