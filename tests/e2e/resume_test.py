"""A run that is stopped anywhere resumes there; a state that does not fit is refused."""
import itertools
import json
import os

from support.harness import Scenario, allocation, main
from support.states import version_1

ROWS = 9500


class Resume(Scenario):
    def setUp(self):
        super().setUp()
        self.job_ = self.job(order={"epochs": 2, "batch_size": 500})
        self.lines = self.job_.put_criteo(ROWS, files=3)

    def chain(self, pieces, *options):
        """Makes runs of so many batches, each resumed from the last one; returns the dumped rows and the last result."""
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



class Numbers(Scenario):
    """Every number of a state is checked against the dataset and the other numbers."""

    def setUp(self):
        super().setUp()
        self.job_ = self.job(dataset={"bad_rows": 9}, order={"epochs": 2, "batch_size": 500})
        lines = self.job_.put_criteo(ROWS, files=3)
        for row in (3, 4000):
            lines[row] = "damaged\n"
        self.job_.put("data/day_0.tsv", "".join(lines[:ROWS // 3]))
        self.job_.put("data/day_1.tsv", "".join(lines[ROWS // 3:ROWS * 2 // 3]))
        self.options = ["--set", "trainer.evaluate_share=0.1"]

    def state_after(self, batches, *options):
        self.assert_done(self.ingest("--state", "state", "--max-batches", batches, *options))
        return json.loads((self.job_.folder / "state").read_text())

    def ingest(self, *options):
        return self.job_.run("ingest", "--json", *self.options, *options)

    def resume(self, state, *options):
        self.job_.put("state", state if isinstance(state, (str, bytes)) else json.dumps(state))
        return self.ingest("--resume", "state", *options)

    def test_a_number_of_a_state_without_checksum_that_does_not_fit_is_refused_by_name(self):
        good = version_1(self.state_after(7))["position"]
        self.assertGreater(good["split_rows"], 1)
        whole = self.state_after(7)
        for key, value in (("split_rows", 1), ("split_rows", 10**6), ("epoch", 1), ("split", good["split"] + 1),
                           ("split", 10**6), ("open_split", good["split"] + 1), ("batches", 0), ("rows", 0),
                           ("rows", good["rows"] + 500), ("bad_rows", 5), ("held_out", 0), ("ahead", "1"),
                           ("epoch", 2**64 - 1), ("digest", "0" * 32)):
            state = version_1(whole)
            state["position"][key] = value
            finished = self.resume(state)
            self.assert_refused(finished, 2, "resume refused: the loader state does not fit", "start anew")
            self.assertRegex(finished.err, rf"dataset: ({key}|open_split|rows|batches) is ")
        for key, value in (("rows", -1), ("rows", 1.5), ("epoch", None), ("ahead", "5-"), ("digest", "xyz")):
            state = version_1(whole)
            state["position"][key] = value
            self.assert_refused(self.resume(state), 2, f'a damaged loader state: "{key}" is ')

    def test_an_edited_state_is_refused_by_its_checksum(self):
        state = self.state_after(7)
        for key, value in (("epoch", 1), ("split_rows", 1), ("order.seed", "2"), ("left_out", 0)):
            self.assert_refused(self.resume({**state, key: value}), 2, 'damaged loader state: "checksum" does not fit')
        text = json.dumps(state)
        self.assert_refused(self.resume(text.replace('"rows":', '"rows":1,"rows":')), 2, "not a loader state")
        self.assert_refused(self.resume({**state, "version": 3}), 2, "version 3", "reads versions 1 and 2")

    def test_a_state_may_be_written_again_as_any_json(self):
        want = self.assert_done(self.ingest())
        state = self.state_after(7)
        again = json.dumps(dict(reversed(state.items())), indent=4)
        self.assertEqual(self.assert_done(self.resume(again))["order_digest"], want["order_digest"])

    def test_a_state_of_version_1_resumes_with_one_message_and_is_written_in_version_2(self):
        whole = self.ingest("--state", "whole")
        want = self.assert_done(whole)
        self.assertNotIn("version", whole.err)
        for batches in (7, 20):  # 17 batches an epoch
            finished = self.resume(version_1(self.state_after(batches)), "--state", "after")
            self.assertEqual(self.assert_done(finished)["order_digest"], want["order_digest"])
            self.assertEqual(finished.err.count("a loader state of version 1"), 1, finished)
            self.assertEqual((self.job_.folder / "after").read_text(), (self.job_.folder / "whole").read_text())

    def test_a_wrong_number_that_only_decoding_shows_fails_the_run_with_the_reason(self):
        whole = self.state_after(20)
        self.assertEqual(whole["epoch"], 1)
        state = version_1(whole)
        state["position"]["split_rows"] -= 1  # Of an epoch's left-out rows version 1 knows the sum alone.
        finished = self.resume(state)
        self.assert_refused(finished, 1, "epoch 1 left out", "the state to resume from is not of this job")

    def test_fewer_damaged_rows_allowed_than_were_counted_is_refused(self):
        state = self.state_after(17)
        self.assertEqual(state["bad_rows"], 2)
        self.assert_refused(self.resume(state, "--set", "dataset.bad_rows=1"), 2, "2 damaged rows", "dataset.bad_rows")

    def test_a_path_that_is_not_a_regular_file_is_refused_without_waiting(self):
        os.mkfifo(self.job_.folder / "fifo")
        (self.job_.folder / "folder").mkdir()
        with open(self.job_.folder / "large", "wb") as file:
            file.truncate(8 << 30)
        for name, why in (("fifo", "not a regular file"), ("folder", "not a regular file"), ("large", "larger than")):
            self.assert_refused(self.ingest("--resume", name), 2, f"--resume {name}", why)

    def test_indexes_of_another_version_are_made_anew_with_one_line(self):
        want = self.assert_done(self.ingest())
        for path in (self.job_.folder / ".forebay/index").glob("*.idx"):
            path.write_bytes(path.read_bytes().replace(b"FBINDEX3", b"FBINDEX2"))
        finished = self.ingest()
        self.assertEqual(self.assert_done(finished)["order_digest"], want["order_digest"])
        self.assertEqual(finished.err.count("indexed anew"), 1, finished)
        self.assertIn("3 indexes are of another version", finished.err)
        self.assertNotIn("anew", self.ingest().err)


if __name__ == "__main__":
    main()
