"""Several ranks: slices of one loader's batches, states for any number of them, what a rank reads."""
import json

import package
from package import BARE, run_python, rows_of
from support.harness import Scenario, main

import forebay

ROWS = 5000

# One of the processes of a training: reads its slices, says what it saw.
RANK = """
import json, os, sys, forebay
loader = forebay.Loader(sys.argv[1], rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
print(json.dumps([batch.labels.tolist() for batch in loader]))
"""


class Ranks(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 300}, dataset={"bad_rows": 100}, trainer={"evaluate_share": 0.1},
                              transform=[{"op": "sampling", "rate": 0.8}])
        self.files.put_criteo(ROWS, files=3)
        with (self.files.folder / "day_0.tsv").open("a") as file:
            file.write("a damaged row\n" * 7)
        self.path = self.files.folder / "job.toml"

    def open(self, job=None, **options):
        loader = forebay.Loader(job or self.path, **options)
        self.addCleanup(loader.close)
        return loader

    def rows(self, loader, batches=10**9):
        """The rows of the next batches of an epoch."""
        rows = []
        for batch in loader:
            rows.append(rows_of(batch, loader.schema))
            if len(rows) == batches:
                break
        return rows

    def joined(self, loaders, batches=10**9):
        ranks = [self.rows(loader, batches) for loader in loaders]
        self.assertEqual({len(rank) for rank in ranks}, {len(ranks[0])})
        return [sum(slices, []) for slices in zip(*ranks)]

    def ranks(self, count, job=None):
        return [self.open(job, rank=rank, world_size=count) for rank in range(count)]

    def test_ranks_get_slices_of_the_same_batches(self):
        whole = self.rows(self.open())
        for count in (2, 3):
            loaders = self.ranks(count)
            self.assertEqual({len(loader) for loader in loaders}, {len(whole)})
            self.assertTrue(all(loader.exact_length for loader in loaders))
            self.assertEqual(self.joined(loaders), whole)
            first = self.rows(self.open(rank=1, world_size=count))[0]
            self.assertEqual(first, whole[0][300 // count:2 * 300 // count])

    def test_ranks_get_slices_of_parquet_too(self):
        converted = self.files.run("convert", "--raw", "--out", self.files.folder / "out", "--set", "dataset.bad_rows=100")
        self.assertEqual(converted.status, 0, converted)
        job = {"dataset": {"format": "parquet", "paths": [f"{self.files.folder}/out/*.parquet"]},
               "columns": {"label": "label", "dense": ["I*"], "sparse": ["C*"]}, "order": {"batch_size": 320},
               "run": {"dir": str(self.files.folder / "parquet")}}
        whole = self.rows(self.open(job))
        self.assertEqual(self.joined(self.ranks(4, job)), whole)

    def test_a_state_of_a_rank_is_every_ranks_and_any_numbers(self):
        whole = self.rows(self.open())
        loaders = self.ranks(2)
        self.assertEqual(self.joined(loaders, 5), whole[:5])
        state = loaders[1].state_dict()
        self.assertEqual(state, loaders[0].state_dict())
        self.assertFalse({"digest", "bad_rows", "held_out", "sampled"} & set(state))
        self.assertLess(len(json.dumps(state)), 1024)
        for count in (1, 3):
            others = self.ranks(count)
            for other in others:
                other.load_state_dict(state)
            self.assertEqual(self.joined(others), whole[5:])

    def test_a_state_of_one_loader_serves_ranks(self):
        loader = self.open()
        whole = self.rows(loader, 4)
        state = loader.state_dict()
        whole += self.rows(loader)
        others = self.ranks(2)
        for other in others:
            other.load_state_dict(state)
        self.assertEqual(self.joined(others), whole[4:])

    def test_ranks_have_a_digest_of_their_own_slices_alone(self):
        loaders = self.ranks(2)
        self.joined(loaders)
        stats = [loader.stats() for loader in loaders]
        self.assertEqual([one["order_digest"] for one in stats], [None, None])
        self.assertNotEqual(stats[0]["rank_digest"], stats[1]["rank_digest"])
        again = self.open(rank=0, world_size=2)
        self.rows(again)
        self.assertEqual(again.stats()["rank_digest"], stats[0]["rank_digest"])
        self.assertNotIn("rank_digest", self.open().stats())

    def test_a_rank_reads_about_its_part(self):
        files = self.job(order={"batch_size": 40_000, "shuffle": True})
        files.put_criteo(60_000, files=2)
        read = []
        for count in (1, 2):
            loader = self.open(files.folder / "job.toml", rank=0, world_size=count)
            for _ in range(3):
                self.assertEqual(sum(1 for _ in loader), 2)
            read.append(loader.stats()["bytes_read"] * count)
            loader.close()
        self.assertLess(read[1], 1.3 * read[0])

    def test_ranks_that_cannot_be_are_refused(self):
        for rank, size in ((2, 2), (-1, 2), (0, 0)):
            with self.assertRaises(forebay.ConfigError):
                forebay.Loader(self.path, rank=rank, world_size=size)
        with self.assertRaisesRegex(forebay.ConfigError, "world_size 1099511627776: must be at most"):
            forebay.Loader(self.path, rank=0, world_size=2**40)
        with self.assertRaisesRegex(forebay.ConfigError, "order.mode"):
            forebay.Loader(self.path, rank=0, world_size=2, set={"order.mode": "arrival"})

    def test_ranks_are_plain_processes_with_the_usual_environment(self):
        whole = [[float(row[1]) for row in batch] for batch in self.rows(self.open())]
        found = []
        for rank in range(2):
            done = run_python(RANK, self.path, env={**package.environment(), "RANK": str(rank), "WORLD_SIZE": "2"})
            self.assertEqual(done.returncode, 0, done.stderr)
            found.append(json.loads(done.stdout))
        self.assertEqual([one + other for one, other in zip(*found)], whole)


if __name__ == "__main__":
    main()
