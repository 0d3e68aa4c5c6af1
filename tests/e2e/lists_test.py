"""Lists of very uneven lengths in row groups that a page index cuts stay within the limit."""
import random
import unittest

from support.harness import Scenario, main

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

ROWS = 200_000
LONG = 2000  # rows with long lists, at the group's begin


@unittest.skipIf(pyarrow is None, "pyarrow is not installed")
class Lists(Scenario):
    def ingest(self, name, long_list, **options):
        """Reads one row group of many pages: `long_list(i)` in the first rows, one id in the others."""
        job = self.job(name, dataset={"format": "parquet", "paths": ["a.parquet"]},
                       columns={"label": "label", "dense": [], "sparse": ["ids", "other*"]},
                       order={"batch_size": 512, "epochs": 1}, pipeline={"memory": "300MiB"})
        draw = random.Random(1)
        others = {f"other{k}": pyarrow.array([draw.getrandbits(62) for _ in range(ROWS)], pyarrow.int64()) for k in range(3)}
        table = pyarrow.table({
            "label": pyarrow.array([i % 2 for i in range(ROWS)], pyarrow.int8()), **others,
            "ids": pyarrow.array([long_list(i) if i < LONG else [i % 50] for i in range(ROWS)],
                                 pyarrow.list_(pyarrow.int64()))})
        pyarrow.parquet.write_table(table, job.folder / "a.parquet", row_group_size=ROWS, write_page_index=True,
                                    data_page_size=16 << 10, write_batch_size=64, **options)
        done = self.assert_done(job.run("ingest", "--json"))
        self.assertEqual(done["rows"], ROWS)
        self.assertGreater(done["strata"], 2)  # the group is cut
        self.assertLess(done["peak_memory_bytes"], 300 << 20)

    def test_long_lists_in_a_few_pages_stay_within_the_limit(self):
        draw = random.Random(2)
        self.ingest("distinct", lambda i: [draw.getrandbits(62) for _ in range(600)], compression="none",
                    use_dictionary=["label"])
        self.ingest("equal", lambda i: [7] * 2000, compression="zstd", use_dictionary=["label", "ids"])


if __name__ == "__main__":
    main()
