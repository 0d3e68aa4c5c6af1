"""Parquet rows are mixed in large splits: one order on any allocation, node and store, each row once, within the limit."""
import json
import os
import unittest.mock

from support.cluster import Cluster, ClusterScenario
from support.harness import allocation, main
from support.states import version_1
from support.store import KEYS, Store

ROWS = 80_000


class Grains(ClusterScenario):
    def setUp(self):
        super().setUp()
        made = self.job("made")
        made.put_criteo(ROWS, files=3)
        self.assert_done(made.run("convert", "--raw", "--out", "../store/clicks/parquet", "--json"))
        self.job_ = self.parquet("grains", ["../store/clicks/parquet/*.parquet"])

    def parquet(self, name, paths, **tables):
        """A job over 12 row groups of 8192 rows or less, four of which make a split."""
        return self.job(name, dataset={"format": "parquet", "paths": paths},
                        columns={"label": "label", "dense": ["I*"], "sparse": ["C*"]},
                        order={"batch_size": 1000, "epochs": 2, "seed": 3, "shuffle_memory": "12MiB"},
                        pipeline={"memory": "400MiB"}, **tables)

    def digest(self, job, *options):
        result = self.assert_done(job.run("ingest", "--json", *options))
        self.assertEqual(result["rows"], 2 * ROWS)
        self.assertGreater(result["strata"], 2)
        return result["order_digest"]

    def test_the_order_is_one_for_any_allocation_and_limit(self):
        digest = self.digest(self.job_)
        for options in (allocation(3, 4, 2, 3), ["--set", "pipeline.memory=200MiB"], ["--set", "pipeline.cpus=1"]):
            self.assertEqual(self.digest(self.job_, *options), digest)
        self.assertNotEqual(self.digest(self.job_, "--set", "order.shuffle_memory=24MiB"), digest)
        self.assertNotEqual(self.digest(self.job_, "--set", "order.seed=4"), digest)

    def test_every_row_comes_once_an_epoch_and_far_from_its_neighbours(self):
        self.job_.change(order={"shuffle_memory": "256MiB"})  # one split of all groups: few are badly mixed in four
        finished, rows = self.job_.dump("--set", "order.epochs=1")
        self.assert_done(finished)
        finished, plain = self.job_.dump("--set", "order.epochs=1", "--set", "order.shuffle=false", name="plain.tsv")
        self.assert_done(finished)
        places = {row[1:]: i for i, row in enumerate(plain)}
        mixed = [places[row[1:]] for row in rows]
        self.assertEqual(sorted(row[1:] for row in rows), sorted(row[1:] for row in plain))
        neighbours = sum(abs(a - b) == 1 for a, b in zip(mixed, mixed[1:]))
        self.assertLess(neighbours, ROWS // 100)
        mean = sum(mixed) / ROWS
        variance = sum((place - mean) ** 2 for place in mixed)
        correlation = sum((i - ROWS / 2) * (place - mean) for i, place in enumerate(mixed)) / variance
        self.assertLess(abs(correlation), 0.05)

    def test_a_chain_of_short_runs_is_the_uninterrupted_run(self):
        finished, whole = self.job_.dump()
        want = self.assert_done(finished)
        rows, pieces = [], [50, 1, 37, 90, 200]
        for i, piece in enumerate(pieces):
            state = ["--state", "state", *(["--resume", "state"] if i else [])]
            finished, part = self.job_.dump("--max-batches", piece, *state, *allocation(1 + i % 3, 2, 1 + i % 2, 1))
            result = self.assert_done(finished)
            rows += part
        self.assertEqual(result["order_digest"], want["order_digest"])
        self.assertEqual(rows, whole)

    def test_a_state_of_another_shuffle_memory_is_refused(self):
        self.assert_done(self.job_.run("ingest", "--json", "--max-batches", "5", "--state", "state"))
        self.assert_refused(self.job_.run("ingest", "--resume", "state", "--set", "order.shuffle_memory=24MiB"), 2,
                            "order.shuffle_memory")

    def test_a_state_of_the_order_before_chunks_is_refused(self):
        self.assert_done(self.job_.run("ingest", "--json", "--max-batches", "5", "--state", "state"))
        old = version_1(json.loads((self.job_.folder / "state").read_text()))
        self.job_.put("same", json.dumps(old))
        self.assert_done(self.job_.run("ingest", "--json", "--resume", "same"))
        self.assertEqual(old["identity"].pop("order.version"), "2")
        self.job_.put("old", json.dumps(old))
        self.assert_refused(self.job_.run("ingest", "--resume", "old"), 2, "another order", "start anew")

    def test_a_limit_too_small_for_a_split_is_refused_with_the_figure_that_would_do(self):
        options = ["--set", "order.shuffle_memory=256MiB", "--set", "pipeline.memory=60MiB"]
        refused = self.job_.run("ingest", "--json", *options)
        self.assert_refused(refused, 2, "pipeline.memory", "at least")
        least = refused.err.split("at least ")[1].split(" MiB")[0]
        options[3] = f"pipeline.memory={int(least) + 8}MiB"
        self.assert_done(self.job_.run("ingest", "--json", *options))

    def test_workers_that_die_change_neither_the_rows_nor_their_order(self):
        self.job_.change(transform=[{"op": "spin", "microseconds": 40}])  # long enough to die in
        digest = self.digest(self.job_, "--set", "transform.0.microseconds=0")
        for local in (False, True):
            cluster = Cluster(self, self.job_, local=local)
            for _ in range(2):
                cluster.worker("--memory", "300MiB")

            def kill_one(draw):
                cluster.kill(draw.choice(sorted(cluster.workers)))
                cluster.worker("--memory", "300MiB")

            killed = self.harass(cluster, kill_one, times=2, pause=(0.05, 0.2))
            finished, _ = cluster.finish()
            result = self.assert_same_run(finished, digest, 2 * ROWS)
            self.assertGreaterEqual(killed, 1, finished)
            self.assertGreaterEqual(len(result["rows_by_node"]), 1)

    def test_a_store_gives_the_order_of_the_disk_through_faults(self):
        digest = self.digest(self.job_)
        with unittest.mock.patch.dict(os.environ, KEYS):
            for i, faults in enumerate(({}, {"refused": 0.1, "stalled": 0.05, "reset": 0.05, "short": 0.05})):
                with Store(self.folder / "store", **faults) as store:
                    job = self.parquet(f"stored{i}", ["s3://clicks/parquet/*.parquet"],
                                       storage={"endpoint": store.address, "timeout": "500ms"})
                    self.assertEqual(self.digest(job), digest)


if __name__ == "__main__":
    main()
