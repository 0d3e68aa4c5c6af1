"""A run that is stopped anywhere goes on where it was, and what cannot be continued is refused."""
import itertools

from harness import Scenario, allocation, main

ROWS = 9500


class Resume(Scenario):
    def setUp(self):
        super().setUp()
        self.job_ = self.job(order={"epochs": 2, "batch_size": 500})
        self.lines = self.job_.put_criteo(ROWS, files=3)

    def chain(self, pieces, *options):
        """Runs of so many batches each, every one resumed from the last: (rows dumped, last result)."""
        rows = []
        for i in itertools.count():
            assert i < 50, "the chain does not end"
            state = ["--state", "state", *(["--resume", "state"] if i else [])]
            piece = pieces[i % len(pieces)]
            counts = [(1, 1, 1, 1), (3, 2, 4, 2), (1, 4, 1, 2)][i % 3]
            finished, part = self.job_.dump("--max-batches", piece, *state, *allocation(*counts), *options)
            result = self.assert_done(finished)
            self.assertLess((self.job_.folder / "state").stat().st_size, 1024)
            if result["rows"] == 0:
                return rows, result
            rows += part

    def test_a_chain_of_short_runs_is_the_uninterrupted_run(self):
        finished, whole = self.job_.dump()
        want = self.assert_done(finished)
        for pieces in ([7], [1, 19, 2], [38]):
            rows, result = self.chain(pieces)
            self.assertEqual(result["order_digest"], want["order_digest"])
            self.assertEqual(result["epochs"], 2)
            self.assertEqual(rows, whole)

    def test_a_chain_in_arrival_order_repeats_and_loses_no_row(self):
        rows, result = self.chain([3, 8, 1], "--set", "order.mode=arrival")
        self.assertEqual(result["epochs"], 2)
        self.assert_same_rows(rows[:ROWS], self.lines)
        self.assert_same_rows(rows[ROWS:], self.lines)

    def test_resuming_a_finished_run_does_nothing(self):
        self.assert_done(self.job_.run("ingest", "--json", "--state", "state"))
        result = self.assert_done(self.job_.run("ingest", "--json", "--resume", "state"))
        self.assertEqual((result["rows"], result["batches"], result["epochs"]), (0, 0, 2))

    def test_another_dataset_seed_batch_size_or_transform_is_refused_by_name(self):
        self.assert_done(self.job_.run("ingest", "--json", "--state", "state", "--max-batches", 3))
        again = ["ingest", "--json", "--resume", "state"]
        self.assert_refused(self.job_.run(*again, "--set", "order.seed=9"), 2, "seed")
        self.assert_refused(self.job_.run(*again, "--set", "order.batch_size=501"), 2, "batch_size")
        self.job_.change(transform=[{"op": "log1p", "columns": ["I*"]}])
        self.assert_refused(self.job_.run(*again), 2, "transform")
        self.job_.change(transform=[])
        with open(self.job_.folder / "data/day_1.tsv", "a") as file:
            file.write(self.lines[0])
        self.assert_refused(self.job_.run(*again), 2, "dataset")

    def test_a_damaged_or_missing_state_is_refused(self):
        self.assert_refused(self.job_.run("ingest", "--json", "--resume", "nowhere"), 2, "nowhere")
        for content in (b"", b"garbage", b"\0" * 500, b'{"version": 1}'):
            self.job_.put("state", content)
            self.assert_refused(self.job_.run("ingest", "--json", "--resume", "state"), 2, "state")


if __name__ == "__main__":
    main()
