"""States of a loader in Python: everywhere in a job, and those of the command line."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import package
from package import BARE, digest_of_ingest
from support.harness import Scenario, main

import forebay

ROWS = 2600  # 26 batches of 100
KILLS = 25

# Goes on from the file of the last state; writes a state after each batch, then says so.
TRAINS = """
import json, os, sys, forebay
job, kept = sys.argv[1:]
loader = forebay.Loader(job)
if os.path.exists(kept):
    loader.load_state_dict(json.load(open(kept)))
while loader.stats()["epochs"] < 3:
    for batch in loader:
        with open(kept + ".part", "w") as file:
            json.dump(loader.state_dict(), file)
        os.replace(kept + ".part", kept)
        print(batch.index, flush=True)
print(loader.stats()["order_digest"])
"""


class Positions(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 100})
        self.files.put_criteo(ROWS, files=3)
        self.path = self.files.folder / "job.toml"

    def open(self, **options):
        loader = forebay.Loader(self.path, **options)
        self.addCleanup(loader.close)
        return loader


class Position(Positions):
    def digest_of_two_epochs(self):
        return digest_of_ingest(self.files, "--set", "order.epochs=2")

    def read_to(self, loader, batches):
        while loader.stats()["epochs"] * 26 < batches:
            for batch in loader:
                if batch.index + 1 == batches:
                    return

    def test_a_state_is_small_flat_and_of_the_batches_handed_out(self):
        loader = self.open()
        before = loader.state_dict()
        for batch in loader:
            state = loader.state_dict()
            self.assertEqual(state["batches"], batch.index + 1)
            self.assertLess(len(json.dumps(state)), 1024)
            self.assertEqual({type(value) for value in state.values()}, {int, str})
        self.assertEqual(before["batches"], 0)
        self.assertEqual(json.loads(json.dumps(state)), state)

    def test_a_cost_that_was_set_stays_when_a_state_is_loaded(self):
        class Heard:
            def __init__(self, reader):
                self.reader, self.calls = reader, []

            def __getattr__(self, name):
                return getattr(self.reader, name)

            def set(self, *words):
                self.calls.append(words)
                return self.reader.set(*words)

        self.files.change(transform=[{"op": "spin", "microseconds": 0}])
        loader = self.open()
        next(iter(loader))
        state = loader.state_dict()
        loader.set(**{"transform.0.microseconds": 1, "transform.0.cost": 2})
        loader.set(**{"transform.0.microseconds": 3})
        loader.load_state_dict(state)
        heard = loader._reader = Heard(loader._reader)
        self.assertEqual([batch.index for batch in loader], list(range(1, 26)))
        self.assertEqual(heard.calls, [("transform.0.cost", "2"), ("transform.0.microseconds", "3")])

    def test_any_state_of_two_epochs_goes_on_to_the_same_digest(self):
        want = self.digest_of_two_epochs()
        loader = self.open()
        states = [loader.state_dict()]
        for _ in range(2):
            states += [loader.state_dict() for _ in loader]
            states.append(loader.state_dict())  # behind the epoch's end
        self.assertEqual(len(states), 1 + 2 * 27)
        other = self.open(set={"pipeline.allocation.decode": 2})
        for state in states:
            other.load_state_dict(state)
            self.assertEqual(other.state_dict(), state)
            indexes = []
            while other.stats()["epochs"] < 2:
                indexes += [batch.index for batch in other]
            self.assertEqual(indexes, list(range(state["batches"], 52)))
            self.assertEqual(other.stats()["order_digest"], want)

    def test_a_state_of_an_epochs_end_means_the_next_epochs_first_batch(self):
        for keys in ({}, {"order.drop_last": True, "order.batch_size": 700}, {"trainer.evaluate_share": 0.2}):
            loader = self.open(set=keys)
            last = [loader.state_dict() for _ in loader][-1]
            first = next(iter(loader))
            for state in (last, loader.state_dict()):
                other = self.open(set=keys)
                other.load_state_dict(state)
                batch = next(iter(other))
                if state is last:
                    self.assertEqual((batch.index, batch.labels.tolist()), (first.index, first.labels.tolist()))
                else:
                    self.assertEqual(batch.index, first.index + 1)
                other.close()
            loader.close()

    def test_states_and_those_of_the_command_line_are_one(self):
        want = self.digest_of_two_epochs()
        result = self.assert_done(self.files.run("ingest", "--json", "--state", "state", "--max-batches", 7))
        self.assertEqual(result["batches"], 7)
        state = json.loads((self.files.folder / "state").read_text())
        with self.open() as loader:
            loader.load_state_dict(state)
            self.assertEqual(loader.state_dict(), state)
            self.read_to(loader, 30)
            (self.files.folder / "state").write_text(json.dumps(loader.state_dict()))
        keys = ["--resume", "state", "--set", "order.epochs=2"]
        result = self.assert_done(self.files.run("ingest", "--json", *keys))
        self.assertEqual((result["batches"], result["order_digest"]), (22, want))

    def test_a_state_of_another_job_is_refused_and_changes_nothing(self):
        other_rows = self.job("other", order={"batch_size": 100})
        other_rows.put_criteo(ROWS, files=3, seed=9)
        with forebay.Loader(other_rows.folder / "job.toml") as other:
            wrong = [other.state_dict()]
        for keys in ({"order.seed": 9}, {"order.batch_size": 99}):
            with self.open(set=keys) as other:
                wrong.append(other.state_dict())
        job = {"dataset": {"format": "criteo_tsv", "paths": [self.files.folder / "data/*.tsv"]}, "order.batch_size": 100,
               "transform": [{"op": "log1p", "columns": ["I1"]}], "run.dir": str(self.folder / "other")}
        with forebay.Loader(job) as other:
            wrong.append(other.state_dict())
        loader = self.open()
        own = loader.state_dict()
        wrong += [{}, {**own, "batches": 3}, {"version": 9}]
        words = ["dataset", "seed", "batch_size", "transform", "version", "checksum", "version"]
        for begun in (False, True):
            for state, word in zip(wrong, words, strict=True):
                with self.assertRaisesRegex(forebay.ConfigError, word):
                    loader.load_state_dict(state)
                self.assertEqual(loader.state_dict(), own)
            self.assertEqual(next(iter(loader)).index, 1 if begun else 0)
            own = loader.state_dict()
        self.assertEqual(len(list(loader)), 24)

    def test_a_state_may_be_loaded_in_the_middle_of_a_loop(self):
        loader = self.open()
        start, seen = loader.state_dict(), []
        for batch in loader:
            seen.append(batch.index)
            if seen == [0, 1, 2]:
                loader.load_state_dict(start)
        self.assertEqual(seen, [0, 1, 2, *range(26)])

    def test_a_state_is_loaded_within_a_second(self):
        loader = self.open()
        self.read_to(loader, 20)
        state = loader.state_dict()
        begin = time.monotonic()
        loader.load_state_dict(state)
        next(iter(loader))
        self.assertLess(time.monotonic() - begin, 1)

    def test_a_program_that_is_killed_again_and_again_sees_each_batch_as_one_that_is_not(self):
        self.files.change(order={"batch_size": 5})  # 1,560 batches in three epochs
        want = digest_of_ingest(self.files, "--set", "order.epochs=3")
        draw = random.Random(5)
        for _ in range(KILLS):
            process = subprocess.Popen([BARE, "-c", TRAINS, str(self.path), str(self.folder / "kept")],
                                       stdout=subprocess.PIPE, text=True)
            for _ in range(draw.randint(1, 3)):
                line = process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
            process.stdout.close()
            process.wait()
            self.assertTrue(line.strip().isdigit(), line)
        done = package.run_python(TRAINS, self.path, self.folder / "kept")
        self.assertEqual((done.returncode, done.stdout.split()[-1:]), (0, [want]), done.stderr)
        self.assertGreater(int(pathlib.Path(self.folder / "kept").read_text().count("batches")), 0)


class Stateful(Positions):
    """A trainer that knows loaders as PyTorch's StatefulDataLoader has them: `iter`, `len`, and the two functions of state."""

    def train(self, loader, kept, most):
        """Trains for at most so many steps; returns the labels that it saw."""
        if kept:
            loader.load_state_dict(kept["loader"])
        seen, epoch = [], kept["epoch"] if kept else 0
        while epoch < 2:
            iterator = iter(loader)
            while (batch := next(iterator, None)) is not None:
                seen.append(batch.labels.tolist())
                if len(seen) == most:
                    return seen, {"loader": loader.state_dict(), "epoch": epoch}
            epoch += 1
        return seen, None

    def test_a_trainer_that_counts_to_the_length_never_asks_for_the_end(self):
        for keys in ({}, {"order.drop_last": True, "order.batch_size": 700}):
            loader, seen, kept = self.open(set=keys), [], []
            for _ in range(3):
                kept.append(iter(loader))
                seen += [next(kept[-1]).index for _ in range(len(loader))]
            self.assertEqual(seen, list(range(3 * len(loader))))
            for iterator in kept[:-1]:
                self.assertEqual(list(iterator), [])
            next(iter(loader))
            loader.close()

    def test_a_trainer_by_duck_typing_goes_on_where_it_was(self):
        whole, _ = self.train(self.open(), None, 10**9)
        self.assertEqual(len(whole), 2 * len(self.open()))
        for at in (1, 25, 27, 51):
            begin, kept = self.train(self.open(), None, at)
            rest, _ = self.train(self.open(), json.loads(json.dumps(kept)), 10**9)
            self.assertEqual(begin + rest, whole)


if __name__ == "__main__":
    main()
