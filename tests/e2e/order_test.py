"""The order of rows is a function of the dataset and the seed, and of nothing else."""
import gzip
import os
import shutil
import subprocess

from support.harness import Scenario, allocation, main

ROWS = 20000


class Order(Scenario):
    def setUp(self):
        super().setUp()
        self.data = self.job()
        self.lines = self.data.put_criteo(ROWS, files=3)

    def digest(self, job, *options):
        result = self.assert_done(job.run("ingest", "--json", *options))
        self.assertEqual(result["rows"], ROWS * result["epochs"])
        return result["order_digest"]

    def test_the_digest_is_the_same_for_any_allocation_memory_and_run(self):
        first = self.digest(self.data)
        self.assertEqual(self.digest(self.data), first)
        self.assertEqual(self.digest(self.data, *allocation(3, 4, 2, 5)), first)
        self.assertEqual(self.digest(self.data, *allocation(1, 1, 8, 1)), first)
        self.assertEqual(self.digest(self.data, "--set", "pipeline.memory=160MiB"), first)
        self.assertEqual(self.digest(self.data, "--set", "pipeline.memory=2GiB", "--set", "pipeline.cpus=1"), first)

    def test_the_digest_differs_for_seeds_batch_sizes_and_epochs(self):
        seen = {self.digest(self.data, *options) for options in
                ([], ["--set", "order.seed=2"], ["--set", "order.batch_size=999"],
                 ["--set", "order.epochs=2"], ["--set", "order.shuffle=false"],
                 ["--set", "order.shuffle=\"file\""])}
        self.assertEqual(len(seen), 6)

    def test_a_copy_has_the_same_order(self):
        first = self.digest(self.data)
        copy = self.job("copy")
        shutil.copytree(self.data.folder / "data", copy.folder / "data")
        self.assertEqual(self.digest(copy), first)
        os.utime(copy.folder / "data/day_1.tsv", (1, 1))
        self.assertEqual(self.digest(copy), first)

    def test_compressed_files_have_the_order_of_the_plain_ones(self):
        first = self.digest(self.data, "--set", "order.epochs=2")
        mixed = self.job("mixed", dataset={"paths": ["data/day_*"]}, order={"epochs": 2})
        for i in range(3):
            content = (self.data.folder / f"data/day_{i}.tsv").read_bytes()
            if i == 0:
                mixed.put("data/day_0.tsv.gz", gzip.compress(content))
            elif i == 1:
                half = len(content) // 2  # two members, as `cat a.gz b.gz` makes
                mixed.put("data/day_1.tsv.gz", gzip.compress(content[:half], 1) + gzip.compress(content[half:], 9))
            else:
                plain = mixed.put("data/day_2.tsv", content)
                subprocess.run(["zstd", "-q", "--rm", plain], check=True)
        self.assertEqual(self.digest(mixed), first)
        self.assertEqual(self.digest(mixed, *allocation(3, 2, 2, 2)), first)

    def numbers(self, *options):
        """Returns the rows' numbers (C1) in the order of the trainer's batches."""
        finished, rows = self.data.dump(*options)
        self.assert_done(finished)
        return [int(row[15]) for row in rows]

    def test_without_shuffle_rows_come_in_file_order(self):
        self.assertEqual(self.numbers("--set", "order.shuffle=false"), list(range(ROWS)))

    def test_shuffled_by_file_the_files_stay_in_order(self):
        got = self.numbers("--set", "order.shuffle=\"file\"")
        bounds = [ROWS * i // 3 for i in range(4)]
        for begin, end in zip(bounds, bounds[1:]):
            self.assertNotEqual(got[begin:end], list(range(begin, end)))
            self.assertEqual(sorted(got[begin:end]), list(range(begin, end)))

    def test_a_shuffle_leaves_no_trace_of_the_old_order(self):
        for seed in (1, 2, 3):
            got = self.numbers("--set", f"order.seed={seed}")
            mean = (ROWS - 1) / 2
            spread = sum((i - mean) ** 2 for i in range(ROWS))
            correlation = sum((i - mean) * (number - mean) for i, number in enumerate(got)) / spread
            kept = sum(after == before + 1 for before, after in zip(got, got[1:]))
            self.assertLess(abs(correlation), 0.05)
            self.assertLess(kept, ROWS / 100)

    def test_epochs_have_different_orders(self):
        got = self.numbers("--set", "order.epochs=2")
        self.assertNotEqual(got[:ROWS], got[ROWS:])
        self.assertEqual(sorted(got[:ROWS]), sorted(got[ROWS:]))


if __name__ == "__main__":
    main()
