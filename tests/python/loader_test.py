"""A loop over a loader: the batches of `forebay ingest`, epoch by epoch, and what may happen in such a loop."""
import gc
import logging
import os
import pathlib
import threading

import package
from package import digest_of_ingest, rows_of
from support.harness import DENSE, SPARSE, Scenario, change_in_place, main

import forebay

ROWS = 2600  # 26 batches of 100
TRANSFORM = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 3, "max_value": 1000}]


class NumpyScalar:
    """What a job may be given in place of a number: `numpy.int64(3)`."""

    shape = ()

    def __init__(self, value):
        self.item = lambda: value


class Loading(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 100, "epochs": 2})
        self.files.put_criteo(ROWS, files=3)
        self.path = self.files.folder / "job.toml"

    def open(self, **options):
        loader = forebay.Loader(self.path, **options)
        self.addCleanup(loader.close)
        return loader

    def digest(self, loader):
        return loader.stats()["order_digest"]


class OtherBytes(Scenario):
    """Names that are not UTF-8 are what `os.fsdecode` makes of them."""

    def setUp(self):
        super().setUp()
        self.place = self.folder / os.fsdecode(b"d\xff")
        self.place.mkdir()
        self.column = os.fsdecode(b"a\xfe")
        self.data = self.place / os.fsdecode(b"rows\xff.csv")
        self.more = os.fsdecode(b"c\xfd")
        self.data.write_bytes(b"y,a\xfe,b,c\xfd\n" + b"1,2,3,4\n" * 20)
        self.columns = {"label": "y", "dense": [self.column], "sparse": ["b"], "extra": [self.more]}

    def values(self, **job):
        with forebay.Loader(job.pop("job", job)) as loader:
            batch = next(iter(loader))
            self.assertEqual((loader.schema.dense, loader.schema.extra), ([self.column], [self.more]))
            self.assertEqual(list(batch.extra), [self.more])
            return batch[self.column].tolist()

    def test_files_and_columns_of_a_dict_may_have_any_bytes(self):
        for path in (self.data, self.place / "*.csv"):
            tables = {"dataset": {"format": "csv", "paths": [path]}, "columns": self.columns}
            self.assertEqual(self.values(**tables), [2.0] * 20)

    def test_the_path_of_a_job_file_may_have_any_bytes(self):
        job = self.place / os.fsdecode(b"job\xff.toml")
        job.write_text('[dataset]\nformat = "csv"\npaths = ["*.csv"]\n[columns]\nlabel = "y"\n'
                       'dense = ["a*"]\nsparse = ["b"]\nextra = ["c*"]\n')
        self.assertEqual(self.values(job=job), [2.0] * 20)

    def test_errors_name_them(self):
        missing = str(self.data) + "x"
        tables = {"dataset": {"format": "csv", "paths": [missing]}, "columns": self.columns}
        with self.assertRaises(forebay.ConfigError) as refused:
            forebay.Loader(tables)
        self.assertIn(missing, str(refused.exception))


class Reading(Loading):
    def test_two_passes_are_the_rows_and_the_digest_of_two_epochs_of_ingest(self):
        for transform in ([], TRANSFORM):
            self.files.change(transform=transform)
            finished, want = self.files.dump()
            with self.open() as loader:
                self.assertEqual((loader.schema.dense, loader.schema.sparse), (DENSE, SPARSE))
                self.assertEqual((loader.schema.extra, loader.schema.weight), ([], False))
                got = []
                for epoch in range(2):
                    batches = list(loader)
                    self.assertEqual((len(batches), len(loader), loader.exact_length), (26, 26, True))
                    got += [row for batch in batches for row in rows_of(batch, loader.schema)]
                self.assertEqual(got, want)
                self.assertEqual(self.digest(loader), self.assert_done(finished)["order_digest"])

    def test_a_batch_has_its_columns_by_name_and_all_of_them_key_by_key(self):
        batch = next(iter(self.open()))
        self.assertEqual((batch.index, batch.rows, len(batch)), (0, 100, 100))
        self.assertEqual((batch.labels.shape, batch.labels.dtype), ((100,), "<f4"))
        self.assertEqual((batch.dense.shape, batch.dense.dtype), ((100, 13), "<f4"))
        self.assertEqual((batch.lengths.shape, batch.lengths.dtype), ((26, 100), "<i4"))
        self.assertEqual(batch.values.dtype, "<i8")
        dense = batch.dense.tolist()
        self.assertEqual(batch["I3"].tolist(), [row[2] for row in dense])
        lengths, ids = batch.lengths.tolist(), batch.values.tolist()
        for column, name in enumerate(SPARSE):
            begin = sum(map(sum, lengths[:column]))
            values, own = batch[name]
            self.assertEqual(own.tolist(), lengths[column])
            self.assertEqual(values.tolist(), ids[begin:begin + sum(lengths[column])])
        self.assertEqual((batch.weights, batch.extra), (None, {}))
        with self.assertRaisesRegex(KeyError, "C27"):
            batch["C27"]
        for wrong, kind in ((0, "int"), (None, "NoneType"), (b"I3", "bytes")):
            for look_up in (batch.__getitem__, batch.unique):
                with self.assertRaisesRegex(TypeError, f"by name: give a str, not {kind}$"):
                    look_up(wrong)

    def test_columns_that_repeat_are_handed_out_once_with_an_inverse_index(self):
        columns = {"label": "click", "dense": ["age", "price"], "sparse": ["history", "item"],
                   "dedup": [["age", "history"]]}
        files = self.job(dataset={"format": "csv", "paths": ["a.csv"], "csv.list_delimiter": "|"}, columns=columns,
                         order={"batch_size": 100})
        lines = [f"{i % 2},{i // 8},{i},{i // 8}|{i // 8 + 5},{i}" for i in range(400)]
        files.put("a.csv", "click,age,price,history,item\n" + "\n".join(lines) + "\n")
        with forebay.Loader(files.folder / "job.toml") as loader:
            for batch in loader:
                ages, inverse = (array.tolist() for array in batch.unique("age"))
                self.assertLess(len(ages), 80)
                self.assertEqual([ages[i] for i in inverse], batch["age"].tolist())
                pairs, lengths, inverse = (array.tolist() for array in batch.unique("history"))
                self.assertEqual(lengths, [2] * len(ages))
                self.assertEqual([id for i in inverse for id in pairs[2 * i:2 * i + 2]], batch["history"][0].tolist())
                plain, none = batch.unique("price")
                self.assertEqual((plain.tolist(), none), (batch["price"].tolist(), None))
                self.assertEqual(batch.unique("item")[2], None)
                self.assertRaises(KeyError, batch.unique, "nowhere")

    def test_weights_and_extra_columns_are_those_of_the_dump(self):
        lines = ["click,age,w,when,item\n"] + [f"{i % 2},{i},{i / 4},{i * 10 ** 10},{i % 7}\n" for i in range(50)]
        job = self.job("csv", dataset={"format": "csv", "paths": ["rows.csv"]}, order={"batch_size": 20},
                       columns={"label": "click", "dense": ["age"], "sparse": ["item"], "weight": "w", "extra": ["when"]})
        job.put("rows.csv", "".join(lines))
        _, want = job.dump()
        got = []
        with forebay.Loader(job.folder / "job.toml") as loader:
            self.assertEqual((loader.schema.extra, loader.schema.weight), (["when"], True))
            for batch in loader:
                self.assertEqual(list(batch.extra), ["when"])
                beside = zip(batch.weights.tolist(), batch.extra["when"].tolist())
                got += [(*row, "%.9g" % weight, when) for row, (weight, when) in zip(rows_of(batch, loader.schema), beside)]
        self.assertEqual([(*row[:-1], int(float(row[-1]))) for row in want], got)

    def test_a_job_may_be_a_dict(self):
        self.files.change(transform=TRANSFORM)
        job = {"dataset": {"format": "criteo_tsv", "paths": [self.files.folder / "data/*.tsv"]},
               "order": {"batch_size": 100}, "run.dir": str(self.folder / "other"), "transform": TRANSFORM}
        with forebay.Loader(job, set={"order.seed": 7}) as loader:
            rows = sum(len(batch) for batch in loader)
            self.assertEqual((rows, self.digest(loader)),
                             (ROWS, digest_of_ingest(self.files, "--set", "order.seed=7", "--set", "order.epochs=1")))
        with self.assertRaisesRegex(forebay.ConfigError, "order.seed"):
            forebay.Loader({**job, "order": {"seed": object()}})

    def test_an_empty_table_of_a_dict_means_what_it_means_in_a_job_file(self):
        job = {"dataset": {"paths": [self.files.folder / "data/*.tsv"], "csv": {}}, "run.dir": str(self.folder / "other")}
        for tables, words in (({"order": {}, "trainer": {"tables": {}}}, None),
                              ({"ordr": {}}, "unknown key ordr; did you mean order"),
                              ({"order": {"seed": {}}}, "order.seed is a table, but must be a whole number"),
                              ({"transform": [{"op": "log1p", "columns": {}}]}, r"number 1: columns must be a value, not a table")):
            with self.subTest(tables):
                if words is None:
                    with forebay.Loader({**job, **tables}) as loader:
                        self.assertEqual(sum(len(batch) for batch in loader), ROWS)
                    continue
                with self.assertRaisesRegex(forebay.ConfigError, words):
                    forebay.Loader({**job, **tables})

    def test_paths_are_paths_in_overrides_too(self):
        paths = [self.files.folder / "data/day_0.tsv", self.files.folder / "data/day_1.tsv"]
        with self.open(set={"dataset.paths": paths}) as loader:
            rows = sum(len(batch) for batch in loader)
        with self.open(set={"dataset.paths": tuple(map(str, paths)), "run.dir": self.folder / "other"}) as loader:
            self.assertEqual(sum(len(batch) for batch in loader), rows)
        self.assertTrue(0 < rows < ROWS)

    def test_rows_that_are_left_out_end_their_epoch_and_make_the_length_a_bound(self):
        self.files.put("data/day_9.tsv", "damaged\n" * 3)
        for keys, length in (({"dataset.bad_rows": 5}, 27), ({"trainer.evaluate_share": 0.3}, 27),
                             ({"order.drop_last": True, "order.batch_size": 700}, 3)):
            keys = {"dataset.bad_rows": 5, **keys}
            options = [word for key, value in keys.items() for word in ("--set", f"{key}={str(value).lower()}")]
            with self.open(set=keys) as loader:
                self.assertEqual((len(loader), loader.exact_length), (length, False))
                counts = [sum(1 for _ in loader) for _ in range(2)]
                self.assertEqual(counts, [len(loader)] * 2)
                self.assertTrue(loader.exact_length)
                self.assertEqual(loader.stats()["bad_rows"], 3)
                digest = self.digest(loader)
            self.assertEqual(digest, digest_of_ingest(self.files, *options))

    def test_figures_are_those_of_the_run(self):
        loader = self.open(set={"pipeline.memory": "256MiB"})
        for _ in range(3):
            for _ in loader:
                pass
        stats = loader.stats()
        self.assertEqual((stats["rows"], stats["batches"], stats["epochs"], stats["bad_rows"]), (3 * ROWS, 78, 3, 0))
        self.assertGreater(stats["rows_per_second"], 0)
        self.assertTrue(0 <= stats["starved_ratio"] <= 1)
        self.assertTrue(0 < stats["memory"] <= stats["memory_limit"] == 256 << 20)
        self.assertEqual([stage["name"] for stage in stats["stages"]],
                         ["load", "decode", "shuffle", "transform", "batch"])


class Loops(Loading):
    def test_after_a_break_the_next_loop_goes_on_in_the_epoch(self):
        loader = self.open()
        for batch in loader:
            if batch.index == 9:
                break
        self.assertEqual([batch.index for batch in loader], list(range(10, 26)))
        for batch in loader:
            if batch.index == 51:  # the epoch's last
                break
        self.assertEqual([batch.index for batch in loader], list(range(52, 78)))

    def test_an_exception_in_the_body_leaves_the_loader_as_a_break_does(self):
        loader = self.open()
        try:
            for batch in loader:
                raise ArithmeticError
        except ArithmeticError:
            self.assertEqual(next(iter(loader)).index, 1)

    def fill(self, loader):
        """Keeps batches until the loader has no room for more; returns the iterator, the number of batches, the error."""
        kept = []
        while True:
            iterator = iter(loader)
            try:
                kept.extend(iterator)
            except forebay.ConfigError as error:
                count = len(kept)
                kept.clear()  # the error's traceback holds this frame
                return iterator, count, error

    def test_an_exception_out_of_next_leaves_the_loader_as_a_break_does_though_somebody_keeps_it(self):
        keys = {"pipeline.memory": "64MiB", "pipeline.prefetch": "16MiB", "order.batch_size": ROWS // 4}
        loader = self.open(set=keys)
        first, count, error = self.fill(loader)
        self.assertIsNotNone(error.__traceback__)
        self.assertEqual(next(iter(loader)).index, count)
        self.assertEqual(list(first), [])  # another has begun

    def test_a_loop_that_was_left_by_an_exception_may_itself_go_on(self):
        keys = {"pipeline.memory": "64MiB", "pipeline.prefetch": "16MiB", "order.batch_size": ROWS // 4}
        loader = self.open(set=keys)
        first, count, _ = self.fill(loader)
        self.assertEqual([batch.index for batch in first], list(range(count, count // 4 * 4 + 4)))

    def test_two_iterators_at_once_are_refused(self):
        loader = self.open()
        first = iter(loader)
        next(first)
        with self.assertRaisesRegex(forebay.Error, "iterated already"):
            iter(loader)
        self.assertEqual(sum(1 for _ in first), 25)
        with self.assertRaises(StopIteration):
            next(first)
        self.assertEqual(next(iter(loader)).index, 26)

    def test_two_loaders_of_one_job_run_side_by_side(self):
        one, two = self.open(), self.open()
        for a, b in zip(one, two):
            self.assertEqual(a.labels.tolist(), b.labels.tolist())
        self.assertEqual(self.digest(one), self.digest(two))

    def test_a_closed_loader_says_so_and_its_batches_stay(self):
        with self.open() as loader:
            batch = next(iter(loader))
            labels = batch.labels.tolist()
        loader.close()
        for call in (lambda: next(iter(loader)), loader.stats, loader.state_dict, lambda: len(loader)):
            with self.assertRaisesRegex(forebay.Error, "closed"):
                call()
        self.assertEqual(batch.labels.tolist(), labels)

    def test_batches_arrays_and_loaders_go_in_any_order(self):
        for drop in range(24):
            loader = forebay.Loader(self.path)
            iterator = iter(loader)
            batch = next(iterator)
            kept = {"loader": loader, "iterator": iterator, "batch": batch, "array": batch["C2"][0],
                    "capsule": batch.dense.__dlpack__()}
            want = kept["array"].tolist()
            del loader, iterator, batch
            names = sorted(kept, key=lambda name: hash((name, drop)))
            for name in names:
                if name == "array":
                    self.assertEqual(kept[name].tolist(), want)
                del kept[name]
                gc.collect()

    def test_a_loader_in_a_cycle_is_collected_and_its_threads_end(self):
        def threads():
            return len(os.listdir("/proc/self/task"))

        before = threads()
        loader = forebay.Loader(self.path)
        iterator = iter(loader)
        loader.trainer = {"loader": loader, "iterator": iterator, "batch": next(iterator)}
        self.assertGreater(threads(), before)
        view = loader.trainer["batch"].labels
        want = view.tolist()
        del loader, iterator
        gc.collect()
        self.assertEqual((threads(), view.tolist()), (before, want))

    def test_the_tuner_decides_while_a_loop_runs(self):
        loader = self.open(set={"tuner.period": "100ms", "tuner.mode": "on"})
        while loader.stats()["decisions"] == 0:
            for _ in loader:
                pass
        self.assertGreater(loader.stats()["decisions"], 0)

    def test_one_thread_reads_and_others_look(self):
        loader = self.open()
        errors = []

        def look():
            try:
                for _ in range(200):
                    loader.stats(), loader.state_dict(), len(loader)
            except Exception as error:  # the test shows it
                errors.append(error)

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        self.assertEqual(sum(1 for _ in loader), 26)
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_a_loader_is_changed_before_and_while_it_runs(self):
        loader = self.open()
        loader.set(**{"pipeline.memory": "200MiB"})
        next(iter(loader))
        self.assertEqual(loader.stats()["memory_limit"], 200 << 20)
        loader.set(**{"pipeline.cpus": 1, "pipeline.memory": "100MiB", "tuner.mode": "off"})
        self.assertEqual(loader.stats()["memory_limit"], 100 << 20)
        for keys in ({"order.seed": 3}, {"pipeline.memory": "1MiB"}):
            with self.assertRaisesRegex(forebay.ConfigError, next(iter(keys))):
                loader.set(**keys)
        self.assertEqual([batch.index for batch in loader], list(range(1, 26)))
        fresh = self.open()
        with self.assertRaises(forebay.ConfigError):
            fresh.set(**{"order.batch_size": 0})
        self.assertEqual(len(list(fresh)), 26)


class Failures(Loading):
    def test_a_wrong_job_is_a_config_error_with_the_words_of_the_command_line(self):
        for key, value in (("order.sed", 7), ("order.batch_size", 0), ("pipeline.memory", "1MiB"), ("dataset.paths", "x")):
            told = self.files.run("ingest", "--set", f"{key}={value}").err
            with self.assertRaises(forebay.ConfigError) as caught:
                self.open(set={key: value})
            error = caught.exception
            self.assertTrue(isinstance(error, ValueError) and isinstance(error, forebay.Error))
            self.assertIn(error.key, ("order.seed", key))
            if key.startswith("order"):
                self.assertEqual(told.splitlines()[-1], f"forebay: {error}")
        with self.assertRaisesRegex(forebay.ConfigError, "nowhere.toml"):
            forebay.Loader("nowhere.toml")

    def test_a_value_or_option_of_a_wrong_type_is_a_config_error_that_names_the_key(self):
        for options, key in (({"set": {"order.seed": object()}}, "order.seed"), ({"set": ["order.seed=1"]}, ""),
                             ({"set": {"order.sed": 1}}, "order.sed")):
            with self.assertRaises(forebay.ConfigError) as raised:
                self.open(**options)
            self.assertEqual(raised.exception.key, key)
        with self.assertRaises(forebay.ConfigError) as raised:
            forebay.Loader({"dataset": {"paths": ["a"]}, "transform": {"op": "log1p"}})
        self.assertEqual(raised.exception.key, "transform")
        with self.assertRaises(TypeError):
            self.open(rank=0.0)
        numbers = self.open(set={"order.seed": NumpyScalar(3)})
        self.assertEqual(self.open(set={"order.seed": 3}).state_dict(), numbers.state_dict())

    def test_a_loader_goes_on_from_a_state_in_another_current_folder(self):
        os.chdir(self.files.folder)
        self.addCleanup(os.chdir, "/")
        loader = forebay.Loader(b"job.toml")
        self.addCleanup(loader.close)
        first = [batch.index for _, batch in zip(range(3), loader)]
        state = loader.state_dict()
        os.chdir("/")
        loader.load_state_dict({**state, "batches": NumpyScalar(state["batches"])})
        self.assertEqual(next(iter(loader)).index, first[-1] + 1)
        with open(self.path, "a") as file:
            file.write("[tuner]\nmod = 'on'\n")
        with self.assertRaisesRegex(forebay.Error, "the loader is closed: its job can no longer be opened"):
            loader.load_state_dict(state)

    def test_a_key_that_is_no_text_is_named(self):
        with self.assertRaisesRegex(forebay.ConfigError, "order.1: the key of a job is text"):
            forebay.Loader({"order": {1: 2}})

    def test_what_is_no_state_is_refused_and_the_loader_goes_on(self):
        loader = self.open()
        batches = iter(loader)
        first = next(batches).index
        for nothing in (None, [], "state", {"epoch": object()}, {"epoch": {1, 2}}):
            with self.assertRaisesRegex(forebay.ConfigError, "load_state_dict: .*state_dict()"):
                loader.load_state_dict(nothing)
        self.assertEqual(next(batches).index, first + 1)

    def test_a_damaged_file_is_a_data_error_again_at_each_loop(self):
        with self.open() as loader:
            next(iter(loader))
        change_in_place(self.files.folder / "data/day_1.tsv", 20000, b"damaged")
        loader = self.open()
        for _ in range(2):
            with self.assertRaisesRegex(forebay.DataError, "day_1.tsv"):
                for _ in loader:
                    pass

    def test_a_pipeline_that_is_stuck_is_a_stall_error_and_a_program_that_pauses_is_none(self):
        self.files.change(transform=[{"op": "spin", "microseconds": 10000}], order={"batch_size": 10},
                          run={"stall_after": "300ms", "stall_fail": "600ms"})
        with self.open() as loader:
            for _ in range(2):
                with self.assertRaisesRegex(forebay.StallError, "transform"):
                    for _ in loader:
                        pass
        self.files.change(transform=[])
        loader = self.open()
        for batch in loader:
            if batch.index == 3:
                threading.Event().wait(1.5)
        self.assertEqual(batch.index, 259)

    def test_a_rank_or_a_transform_that_is_none_is_refused(self):
        for options, words in (({"rank": 1}, "rank 1"), ({"transforms": [print]}, "is no transform")):
            with self.assertRaisesRegex(forebay.ConfigError, words):
                self.open(**options)

    def test_batches_that_are_kept_fill_the_limit_and_the_loader_says_so(self):
        keys = {"pipeline.memory": "64MiB", "pipeline.prefetch": "16MiB", "order.batch_size": ROWS}
        loader = self.open(set=keys)
        kept = []
        with self.assertRaisesRegex(forebay.ConfigError, "pipeline.memory.*holds .* batches") as caught:
            for _ in range(2000):
                kept.extend(loader)
                self.assertLessEqual(loader.stats()["memory"], 64 << 20)
        self.assertEqual(caught.exception.key, "pipeline.memory")
        self.assertGreater(len(kept), 10)
        views = [batch.values for batch in kept]
        kept.clear()
        with self.assertRaises(forebay.ConfigError):
            list(loader)  # views hold the memory, too
        views.clear()
        while loader.stats()["batches"] < 100:
            for _ in loader:
                pass
        epochs, digest = loader.stats()["epochs"], self.digest(loader)
        loader.close()
        options = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
        self.assertEqual(digest, digest_of_ingest(self.files, *options, "--set", f"order.epochs={epochs}"))

    def test_lines_for_the_user_go_to_the_log(self):
        with self.assertLogs("forebay", logging.INFO) as logs:
            self.files.change(run={"stall_after": "100ms"}, transform=[{"op": "spin", "microseconds": 5000}])
            next(iter(self.open()))
        self.assertIn("no progress", "\n".join(logs.output))


class Memory(Loading):
    def test_a_hundred_epochs_take_no_more_memory_than_three(self):
        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

        # A busy machine lets the pipeline run ahead, by as much as may be prefetched.
        loader = self.open(set={"pipeline.prefetch": "1MiB"})
        at_third = 0
        for epoch in range(100):
            for _ in loader:
                pass
            if epoch == 2:
                at_third = resident()
        self.assertLess(abs(resident() - at_third), 10 << 20)


if __name__ == "__main__":
    main()
