"""Several trainers of one job: the same batches and losses however many, and what happens when one goes."""
import shutil
import signal
import socket
import subprocess
import time

from harness import MIB, Running, Scenario, main

OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 3000}]
SAME = ("order_digest", "rows", "batches", "epochs")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ranks(Scenario):
    def trained(self, **trainer):
        made = Running(["synth", "criteo", "--rows", 20011, "--files", 2, "--seed", "1", "--out", "job/data", "--json"],
                       self.folder).wait()
        self.assert_done(made)
        return self.job(order={"batch_size": 512}, transform=OPS,
                        trainer={"threads": 1, "checkpoint": "checkpoints", "checkpoint_every": "1h", **trainer})

    def start(self, job, size, *options):
        """The ranks of one start, rank 0 first."""
        port = free_port()
        return [self.rank(job, rank, size, port, *options) for rank in range(size)]

    def rank(self, job, rank, size, port, *options):
        variables = {"RANK": rank, "WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        return Running(["train", "job.toml", *options], job.folder,
                       prefix=["env", *(f"{name}={value}" for name, value in variables.items())])

    def finish(self, ranks, status=0):
        ended = [rank.wait() for rank in ranks]
        for each in ended:
            self.assertEqual(each.status, status, each)
        return ended

    def test_the_number_of_ranks_changes_neither_order_nor_loss(self):
        job = self.trained()
        alone = self.assert_done(job.run("train", "--json"))
        for size in (2, 4):
            first, *others = self.finish(self.start(job, size, "--json", "--restart"))
            for key in SAME:
                self.assertEqual(first.json[key], alone[key], key)
            self.assertAlmostEqual(first.json["loss"], alone["loss"], delta=1e-5)
            for rank, other in enumerate(others, 1):
                self.assertEqual(other.out, "")
                self.assertIn(f"rank {rank} trained on", other.err)

    def test_a_run_goes_on_with_another_number_of_ranks_and_other_places_for_tables(self):
        job = self.trained()
        once, twice = ["--set", "order.epochs=1"], ["--set", "order.epochs=2"]
        places = ["table", "row", "replicated", "auto", "table"]
        want = self.assert_done(job.run("train", "--json", *twice))
        for before, after in zip(places, places[1:]):
            first = self.start(job, 2, "--json", "--restart", *once, "--set", f"trainer.tables.placement={before}")
            once_digest = self.finish(first)[0].json["order_digest"]
            again = self.start(job, 4, "--json", "--resume", *twice, "--set", f"trainer.tables.placement={after}")
            resumed = self.finish(again)[0].json
            self.assertEqual(resumed["order_digest"], want["order_digest"])
            self.assertNotEqual(resumed["order_digest"], once_digest)
            self.assertAlmostEqual(resumed["loss"], want["loss"], delta=1e-4)
        # One trainer goes on from what four had saved.
        thrice = ["--set", "order.epochs=3"]
        third = self.assert_done(job.run("train", "--json", "--resume", *thrice))
        want = self.assert_done(job.run("train", "--json", "--restart", *thrice))
        self.assertEqual(third["order_digest"], want["order_digest"])
        self.assertAlmostEqual(third["loss"], want["loss"], delta=1e-4)

    def test_hashed_tables_are_the_same_however_many_ranks(self):
        # Adagrad's first step on a new row has one length, however small the gradient: it would make much of rounding.
        job = self.trained(table_optimizer="sgd")
        job.change(**{"trainer.tables": {"storage": "hashed", "admit_after": 2, "evict_after": 30}})
        once, twice = ["--set", "order.epochs=1"], ["--set", "order.epochs=2"]
        want = self.assert_done(job.run("train", "--json", *twice))
        self.finish(self.start(job, 2, "--json", "--restart", *once))
        resumed = self.finish(self.start(job, 4, "--json", "--resume", *twice))[0].json
        self.assertEqual(resumed["order_digest"], want["order_digest"])
        self.assertAlmostEqual(resumed["loss"], want["loss"], delta=1e-4)
        for placement in ("row", "replicated"):
            refused = self.finish(self.start(job, 2, "--resume", "--set", f"trainer.tables.placement={placement}"), 2)
            self.assertIn("trainer.tables.placement must be auto or table", refused[0].err)
        tiered = self.finish(self.start(job, 2, "--resume", "--set", "trainer.tables.storage=tiered"), 2)
        self.assertIn("trainer.tables.storage is tiered", tiered[0].err)

    def test_a_killed_rank_ends_the_others_with_its_name(self):
        job = self.trained()
        for lost, how in ((1, signal.SIGKILL), (0, signal.SIGKILL), (2, signal.SIGSTOP)):
            shutil.rmtree(job.folder / "checkpoints", ignore_errors=True)
            # Nobody waits that long: this test would be ended before.
            bound = ["--set", "trainer.rank_timeout=10m"]
            endless = ["--set", "order.epochs=1000000", "--set", "trainer.checkpoint_every=1s"]
            ranks = self.start(job, 4, *endless, *bound)
            while not any((job.folder / "checkpoints").glob("checkpoint-*")) and ranks[0].alive():
                time.sleep(0.05)
            ranks[lost].signal(how)
            ended = [each.wait() if rank != lost else None for rank, each in enumerate(ranks)]
            ranks[lost].signal(signal.SIGKILL)
            ranks[lost].wait()
            for rank, each in enumerate(ended):
                if rank == lost:
                    continue
                self.assertEqual(each.status, 1, each)
                self.assertIn(f"rank {lost} was lost", each.err)
            self.assertTrue(any((job.folder / "checkpoints").glob("checkpoint-*")))

    def test_a_loss_that_is_no_number_ends_all_and_leaves_the_last_checkpoint(self):
        job = self.trained(learning_rate=1000, optimizer="sgd", checkpoint_steps=1)
        ended = self.finish(self.start(job, 2), 1)
        for each in ended:
            self.assertRegex(each.err, "the loss of batch [0-9]+ is (not a number|infinite)")
            self.assertIn("trainer.learning_rate", each.err)
        for checkpoint in (job.folder / "checkpoints").glob("checkpoint-*"):
            self.assert_done(Running(["inspect", f"checkpoints/{checkpoint.name}", "--json"], job.folder).wait())

    def test_each_rank_stays_below_its_limit(self):
        job = self.trained(embedding_dim=64, checkpoint_every="1s")
        for placement in ("table", "row", "replicated"):
            ranks = self.start(job, 2, "--restart", "--set", "pipeline.memory=600MiB", "--set", "order.epochs=4",
                               "--set", f"trainer.tables.placement={placement}")
            for each in self.finish(ranks):
                self.assertLess(each.peak_bytes, 600 * MIB, each)
        refused = self.finish(self.start(job, 2, "--restart", "--set", "pipeline.memory=120MiB"), 2)
        self.assertIn("pipeline.memory", refused[0].err)

    def test_a_stop_of_one_rank_stops_all(self):
        job = self.trained()
        ranks = self.start(job, 2, "--json", "--set", "order.epochs=1000000")
        while "step" not in ranks[0].stderr_now() and "rows" not in ranks[0].stderr_now() and ranks[0].alive():
            time.sleep(0.05)
        ranks[1].signal(signal.SIGTERM)
        first, _ = self.finish(ranks, 143)
        self.assertGreater(first.json["rows"], 0)
        self.assertTrue(any((job.folder / "checkpoints").glob("checkpoint-*")))

    def test_a_launcher_of_pytorch_starts_the_ranks(self):
        python = "/usr/bin/python3"
        found = subprocess.run([python, "-c", "import torch.distributed.run"], capture_output=True, check=False)
        if found.returncode != 0:
            self.skipTest("Debian's python3-torch, which brings torchrun, is not installed")
        job = self.trained()
        alone = self.assert_done(job.run("train", "--json"))
        launcher = [python, "-m", "torch.distributed.run", "--no_python", "--nproc_per_node", "2",
                    "-r", "2", "-t", "2",  # PyTorch 1.13 does not find its own defaults with Python 3.11.
                    "--master_addr", "127.0.0.1", "--master_port", str(free_port())]
        together = self.assert_done(Running(["train", "job.toml", "--json", "--restart"], job.folder,
                                            prefix=launcher).wait())
        for key in SAME:
            self.assertEqual(together[key], alone[key], key)
        self.assertAlmostEqual(together["loss"], alone["loss"], delta=1e-5)

    def test_ranks_with_keys_let_in_nobody_without_theirs(self):
        job = self.trained(rank_timeout="20s")
        alone = self.assert_done(job.run("train", "--json"))
        self.assert_done(Running(["keys", "new", "keys", "--json"], job.folder).wait())
        job.change(cluster={"keys": "keys"})
        first, _ = self.finish(self.start(job, 2, "--json", "--restart"))
        self.assertEqual(first.json["order_digest"], alone["order_digest"])
        other = self.job("other")
        shutil.copy(job.folder / "job.toml", other.folder)
        self.assert_done(Running(["keys", "new", "keys", "--json"], other.folder).wait())
        port = free_port()
        refused = self.finish([self.rank(job, 0, 2, port, "--restart"), self.rank(other, 1, 2, port, "--restart")], 2)
        self.assertIn("rank 1 does not come", refused[0].err)
        self.assertIn("rank 0", refused[1].err)

    def test_what_does_not_fit_together_is_refused(self):
        job = self.trained()
        port = free_port()
        other = [self.rank(job, 0, 2, port), self.rank(job, 1, 2, port, "--set", "trainer.seed=9")]
        for each in self.finish(other, 2):
            self.assertIn("rank 1 has another job file", each.err)
        refused = self.finish(self.start(job, 3), 2)
        self.assertIn("order.batch_size is 512", refused[0].err)
        self.assertIn("RANK is", self.rank(job, 7, 2, port).wait().err)


if __name__ == "__main__":
    main()
