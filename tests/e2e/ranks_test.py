"""Several trainers of one job: the same batches and losses for any number, and the loss of a trainer."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from support.harness import MIB, Running, Scenario, main
from support.requests import COLUMNS, REPEATED, csv_text, request_rows

OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 3000}]
# Adagrad's first step on a weight has one length, however small the gradient, so it would amplify rounding.
TAME = {"optimizer": "sgd", "learning_rate": 0.1, "table_optimizer": "rowwise_adagrad"}
ROWS = 8011  # Few: most of the time goes into starting some hundred processes.
SAME = ("order_digest", "rows", "batches", "epochs")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ranks(Scenario):
    def trained(self, **trainer):
        made = Running(["synth", "criteo", "--rows", ROWS, "--files", 2, "--seed", "1", "--out", "job/data", "--json"],
                       self.folder).wait()
        self.assert_done(made)
        return self.job(order={"batch_size": 512}, transform=OPS,
                        trainer={"threads": 1, "checkpoint": "checkpoints", "checkpoint_every": "1h", **trainer})

    def start(self, job, size, *options):
        """Starts the ranks of one job; returns them, rank 0 first."""
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
                self.assertEqual((other.json["rank"], other.json["ranks"], other.json["batches"]),
                                 (rank, size, first.json["batches"]))
                self.assertIn(f"rank {rank} trained on {other.json['rows']} rows", other.err)

    def test_lists_that_repeat_give_the_losses_of_plain_ones_on_every_rank(self):
        job = self.trained(evaluate_share=0.1, embedding_dim=8, bottom_mlp=[16, 8], top_mlp=[16, 1], **TAME)
        job.put("a.csv", csv_text(request_rows(600)))
        job.tables["transform"] = []
        job.change(dataset={"format": "csv", "paths": ["a.csv"], "csv.list_delimiter": "|"}, columns=COLUMNS)
        alone = self.assert_done(job.run("train", "--json", "--restart"))
        job.change(columns={**COLUMNS, "dedup": REPEATED})
        for size, placement in ((2, "auto"), (2, "row"), (4, "table")):
            first, *_ = self.finish(self.start(job, size, "--json", "--restart",
                                               "--set", f"trainer.tables.placement={placement}"))
            for key in SAME:
                self.assertEqual(first.json[key], alone[key], key)
            self.assertAlmostEqual(first.json["loss"], alone["loss"], delta=1e-5)
            self.assertGreater(first.json["dedup_ratio"], 2)

    def test_weights_of_rows_reach_every_rank(self):
        job = self.trained(**{**TAME, "learning_rate": 1e-4})
        plain = self.assert_done(job.run("train", "--json"))
        # Rows whose I1 is missing or negative have no weight.
        job.change(dataset={"bad_rows": ROWS},
                   columns={"label": "label", "dense": ["I2"], "sparse": ["C*"], "weight": "I1"})
        alone = self.assert_done(job.run("train", "--json", "--restart"))
        self.assertGreater(alone["bad_rows"], 0)
        self.assertNotEqual(alone["loss"], plain["loss"])
        first, _ = self.finish(self.start(job, 2, "--json", "--restart"))
        for key in (*SAME, "bad_rows"):
            self.assertEqual(first.json[key], alone[key], key)
        self.assertAlmostEqual(first.json["loss"] / alone["loss"], 1, delta=1e-5)

    def test_ranks_of_one_machine_share_its_cpus(self):
        job = self.trained()
        del job.tables["trainer"]["threads"]
        job.change()
        first, _ = self.finish(self.start(job, 2, "--json"))
        self.assertEqual(first.json["trainer_threads"], max(1, min(16, len(os.sched_getaffinity(0)) // 2)))

    def test_a_rank_that_waits_for_others_stops_on_a_signal(self):
        job = self.trained(rank_timeout="1h")
        for rank in range(2):
            for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
                waiting = self.rank(job, rank, 2, free_port(), "--json")
                # A process that has loaded libtorch is about to meet the others.
                self.wait_until(lambda: "libc10" in pathlib.Path(f"/proc/{waiting.process.pid}/maps").read_text())
                waiting.signal(number)
                stopped = waiting.wait(timeout=60)
                self.assertEqual(stopped.status, status, stopped)
                self.assertEqual(stopped.out, '{"stopped":true}\n')

    def test_a_run_resumes_with_another_number_of_ranks_and_placement(self):
        job = self.trained(**TAME)
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
            self.assertAlmostEqual(resumed["loss"], want["loss"], delta=1e-5)
        # One trainer resumes from the checkpoint of four.
        thrice = ["--set", "order.epochs=3"]
        third = self.assert_done(job.run("train", "--json", "--resume", *thrice))
        want = self.assert_done(job.run("train", "--json", "--restart", *thrice))
        self.assertEqual(third["order_digest"], want["order_digest"])
        self.assertAlmostEqual(third["loss"], want["loss"], delta=1e-5)

    def test_hashed_tables_are_the_same_for_any_number_of_ranks(self):
        # Adagrad's first step on a new row has one length, however small the gradient, so it would amplify rounding.
        job = self.trained(table_optimizer="sgd")
        job.change(**{"trainer.tables": {"storage": "hashed", "admit_after": 2, "evict_after": 10}})
        once, twice = ["--set", "order.epochs=1"], ["--set", "order.epochs=2"]
        want = self.assert_done(job.run("train", "--json", *twice))
        self.finish(self.start(job, 2, "--json", "--restart", *once))
        resumed = self.finish(self.start(job, 4, "--json", "--resume", *twice))[0].json
        self.assertEqual(resumed["order_digest"], want["order_digest"])
        self.assertAlmostEqual(resumed["loss"], want["loss"], delta=1e-4)
        for placement in ("row", "replicated"):
            refused = self.finish(self.start(job, 2, "--resume", "--set", f"trainer.tables.placement={placement}"), 2)
            self.assertIn("trainer.tables.placement must be auto or table", refused[0].err)

    def tiered(self, memory="14MiB", **trainer):
        """Tables of 24 MB: small ones, twenty of 6000 rows, and a large one."""
        job = self.trained(embedding_dim=32, **TAME, **trainer)
        columns = [f"C{i}" for i in range(1, 27)]
        sizes = ((columns[:5], 500), (columns[5:25], 6000), (columns[25:], 60000))
        job.change(transform=[OPS[0]] + [{**OPS[1], "columns": some, "max_value": size} for some, size in sizes],
                   **{"trainer.tables": {"storage": "tiered", "memory": memory}})
        return job

    def weights(self, job):
        """Returns the digests of the last checkpoint's weights and optimizer state."""
        last = max((job.folder / "checkpoints").glob("checkpoint-*"))
        files = json.loads((last / "manifest.json").read_text())["files"]
        return [files[name]["digest"] for name in ("model.safetensors", "optimizer.safetensors")]

    def test_tables_in_tiers_and_in_memory_have_the_same_bits_for_any_placement(self):
        job = self.tiered()
        alone = self.assert_done(job.run("train", "--json"))
        for placement in ("table", "row", "auto"):
            options = ["--json", "--restart", "--set", f"trainer.tables.placement={placement}"]
            tiers = self.finish(self.start(job, 2, *options))[0].json
            self.assertEqual(tiers["order_digest"], alone["order_digest"])
            self.assertAlmostEqual(tiers["loss"], alone["loss"], delta=1e-5)
            written = self.weights(job)
            memory = self.finish(self.start(job, 2, *options, "--set", "trainer.tables.storage=memory"))[0].json
            self.assertEqual(tiers["loss"], memory["loss"])
            self.assertEqual(written, self.weights(job))
            self.assertGreater(tiers["table_lookups_ready"], 0)

    def test_tables_in_tiers_resume_with_another_number_of_ranks_placement_and_storage(self):
        job = self.tiered()
        want = self.assert_done(job.run("train", "--json", "--set", "order.epochs=6"))
        # Ranks, placement, storage of each epoch; each resumes from the checkpoint of the one before.
        epochs = [(1, "auto", "tiered"), (2, "row", "tiered"), (1, "auto", "tiered"), (4, "table", "tiered"),
                  (2, "auto", "memory"), (1, "auto", "memory")]
        for epoch, (size, placement, storage) in enumerate(epochs, 1):
            options = ["--json", "--restart" if epoch == 1 else "--resume", "--set", f"order.epochs={epoch}",
                       "--set", f"trainer.tables.placement={placement}", "--set", f"trainer.tables.storage={storage}"]
            last = (self.assert_done(job.run("train", *options)) if size == 1 else
                    self.finish(self.start(job, size, *options))[0].json)
            self.assertEqual(last["epochs"], epoch)
        self.assertEqual(last["order_digest"], want["order_digest"])
        self.assertAlmostEqual(last["loss"], want["loss"], delta=1e-5)
        # The tiered tables of a single trainer resume in memory, too.
        self.assert_done(job.run("train", "--json", "--restart", "--set", "order.epochs=1"))
        tiers = self.weights(job)
        self.assert_done(job.run("train", "--json", "--resume", "--set", "order.epochs=2"))
        shutil.copytree(job.folder / "checkpoints", job.folder / "kept")
        in_tiers = self.finish(self.start(job, 2, "--json", "--resume", "--set", "order.epochs=3"))[0].json
        shutil.rmtree(job.folder / "checkpoints")
        shutil.move(job.folder / "kept", job.folder / "checkpoints")
        in_memory = self.finish(self.start(job, 2, "--json", "--resume", "--set", "order.epochs=3",
                                           "--set", "trainer.tables.storage=memory"))[0].json
        self.assertNotEqual(tiers, self.weights(job))
        self.assertEqual(in_tiers["loss"], in_memory["loss"])

    def test_a_rank_with_tables_in_tiers_that_is_killed_loses_nothing_that_was_saved(self):
        job = self.tiered(checkpoint_steps=20)
        twice = ["--set", "order.epochs=2", "--set", "trainer.rank_timeout=10m"]
        want = self.finish(self.start(job, 2, "--json", *twice))[0].json
        shutil.rmtree(job.folder / "checkpoints")
        ranks = self.start(job, 2, *twice)
        while not any((job.folder / "checkpoints").glob("checkpoint-*")) and ranks[0].alive():
            time.sleep(0.05)
        ranks[1].signal(signal.SIGKILL)
        self.assertIn("rank 1 was lost", ranks[0].wait().err)
        ranks[1].wait()
        # The same ranks give the same bits; other numbers of ranks differ only by the order of sums.
        shutil.copytree(job.folder / "checkpoints", job.folder / "kept")
        for size, delta in ((2, 0), (4, 1e-5), (1, 1e-5)):
            shutil.rmtree(job.folder / "checkpoints")
            shutil.copytree(job.folder / "kept", job.folder / "checkpoints")
            again = self.finish(self.start(job, size, "--json", "--resume", *twice))[0].json
            self.assertEqual(again["order_digest"], want["order_digest"])
            self.assertAlmostEqual(again["loss"], want["loss"], delta=delta)
        # The tiers of ranks that no longer exist are removed.
        self.assertFalse((job.folder / ".forebay" / "tables" / "rank-3").exists())

    def test_tables_in_tiers_that_do_not_fit_are_refused_with_the_sizes(self):
        job = self.tiered(memory="4MiB")
        for placement, said in (("row", "rows, and two batches may name"), ("replicated", "that every rank has take")):
            refused = self.finish(self.start(job, 2, "--set", f"trainer.tables.placement={placement}"), 2)
            self.assertIn("trainer.tables.memory = 4 MiB", refused[0].err)
            self.assertIn(said, refused[0].err)

    def test_each_rank_with_tables_in_tiers_stays_below_its_limit(self):
        job = self.tiered(memory="16MiB", checkpoint_every="1s")
        ranks = self.start(job, 2, "--set", "pipeline.memory=500MiB", "--set", "order.epochs=4")
        for each in self.finish(ranks):
            self.assertLess(each.peak_bytes, 500 * MIB, each)

    def test_a_killed_rank_ends_the_others_with_its_name(self):
        job = self.trained()
        for lost, how in ((1, signal.SIGKILL), (0, signal.SIGKILL), (2, signal.SIGSTOP)):
            shutil.rmtree(job.folder / "checkpoints", ignore_errors=True)
            # Longer than this test's own timeout, so no rank waits for it to pass.
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

    def test_a_loss_that_is_not_a_number_ends_all_ranks_and_keeps_the_last_checkpoint(self):
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

    def test_torchrun_starts_the_ranks(self):
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
        # The ranks share the launcher's output, and rank 0 prints last.
        for key in SAME:
            self.assertEqual(together[key], alone[key], key)
        self.assertAlmostEqual(together["loss"], alone["loss"], delta=1e-5)

    def test_ranks_with_keys_refuse_ranks_without_them(self):
        job = self.trained(rank_timeout="8s")
        alone = self.assert_done(job.run("train", "--json"))
        self.assert_done(Running(["keys", "new", "keys", "--json"], job.folder).wait())
        job.change(cluster={"keys": "keys"})
        first, _ = self.finish(self.start(job, 2, "--json", "--restart"))
        self.assertEqual(first.json["order_digest"], alone["order_digest"])
        other = self.job("other")
        shutil.copy(job.folder / "job.toml", other.folder)
        self.assert_done(Running(["keys", "new", "keys", "--json"], other.folder).wait())
        port = free_port()
        # Neither rank can know which of the two has the right keys: for each of them the other one does not connect.
        refused = self.finish([self.rank(job, 0, 2, port, "--restart"), self.rank(other, 1, 2, port, "--restart")], 1)
        self.assertIn("rank 1 does not come", refused[0].err)
        self.assertIn("rank 0", refused[1].err)

    def assert_names_a_rank(self, ended, *words):
        """Checks for exit status 1 and a message that contains each of `words`."""
        self.assert_refused(ended, 1, *words, seconds=60)
        for leak in ("Gloo", "gloo", "Socket", "socket.cpp", "pair.cc", "c10d"):
            self.assertNotIn(leak, ended.err, ended)

    def waiting(self, job, size):
        """Starts all ranks but the last one."""
        port = free_port()
        ranks = [self.rank(job, rank, size, port) for rank in range(size - 1)]
        # Each of them loads libtorch first, which takes long beside other tests.
        self.wait_until(lambda: f"rank 0 waits for rank {size - 1}\n" in ranks[0].stderr_now(), seconds=120)
        return ranks

    def test_a_rank_that_never_connects_is_named_by_all_others(self):
        job = self.trained(rank_timeout="15s")  # The others load libtorch within this time, beside other tests, too.
        port = free_port()
        without_first = self.rank(job, 1, 2, free_port())
        for each in self.finish([self.rank(job, rank, 4, port) for rank in (0, 1, 3)], 1):
            self.assert_names_a_rank(each, "rank 2 does not come within 15 s")
            self.assertGreater(each.seconds, 15, each)
        self.assert_names_a_rank(without_first.wait(), "rank 0 does not come to 127.0.0.1:")

    def test_a_rank_that_is_lost_before_all_have_met_is_named_within_seconds(self):
        job = self.trained(rank_timeout="10m")
        for lost in (2, 0):
            ranks = self.waiting(job, 4)
            ranks[lost].signal(signal.SIGKILL)
            begin = time.monotonic()
            ranks.pop(lost).wait()
            for each in self.finish(ranks, 1):
                self.assert_names_a_rank(each, f"rank {lost} was lost")
            self.assertLess(time.monotonic() - begin, 5)

    def test_a_stop_of_one_rank_before_all_have_met_stops_the_connected_ranks(self):
        ranks = self.waiting(self.trained(rank_timeout="10m"), 4)
        ranks[1].signal(signal.SIGTERM)
        self.finish(ranks, 143)

    def test_ranks_with_different_jobs_or_settings_are_refused(self):
        job = self.trained()
        port = free_port()
        other = [self.rank(job, 0, 2, port), self.rank(job, 1, 2, port, "--set", "trainer.seed=9")]
        for each in self.finish(other, 2):
            self.assertIn("rank 1 has another job file", each.err)
        refused = self.finish(self.start(job, 3), 2)
        self.assertIn("order.batch_size is 512", refused[0].err)
        self.assertIn("RANK is", self.rank(job, 7, 2, port).wait().err)
        with socket.socket() as taken:
            taken.bind(("", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assert_refused(self.rank(job, 0, 2, port).wait(), 2, f"MASTER_PORT {port} is in use")
        self.assert_refused(self.rank(job, " 0", 1, port).wait(), 2, 'RANK is " 0" in the environment')


if __name__ == "__main__":
    main()
