"""Functions in Python as transforms: values, order, names, errors, states."""
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import package
from support.harness import Scenario, main

package.run_again_with("numpy, cloudpickle", package.TOOLS / "python", "/usr/bin/python3")
import forebay  # noqa: E402
import functions  # noqa: E402
import numpy  # noqa: E402

ROWS = 3000
HERE = str(pathlib.Path(__file__).parent)
RATIO = forebay.python(functions.ratio, columns=["I1", "I2"], adds=["ratio"])


def as_table(function, **keys):
    """The operator in a job file."""
    return {"op": "python", "function": f"functions:{function}", "columns": ["I1", "C1"], "path": [HERE], **keys}


class Transforms(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 500})
        self.files.put_criteo(ROWS, files=3)
        self.path = self.files.folder / "job.toml"

    def loader(self, *transforms, job=None, **sets):
        loader = forebay.Loader(job or self.path, transforms=transforms,
                                set={key.replace("__", "."): value for key, value in sets.items()})
        self.addCleanup(loader.close)
        return loader

    def read(self, *transforms, **sets):
        """All batches of an epoch, and the digest."""
        with self.loader(*transforms, **sets) as loader:
            return list(loader), loader.stats()["order_digest"]

    def fails(self, name, *words, **keys):
        transform = forebay.python(getattr(functions, name), columns=["I1", "C1"], adds=["ratio"], **keys)
        with self.assertRaises(forebay.DataError) as raised:
            self.read(transform)
        for word in (f"(python): functions:{name}: day_", *words):
            self.assertIn(word, str(raised.exception))
        return str(raised.exception)


class Values(Transforms):
    def test_dense_columns_are_those_of_the_batch(self):
        for batch in self.read(RATIO)[0]:
            columns = {name: numpy.asarray(batch[name]) for name in ("I1", "I2")}
            known = (columns["I1"] != 0) & (columns["I2"] != 0)  # neither was missing, which is NaN in the function
            self.assertGreater(known.sum(), 100)
            self.assertTrue(numpy.array_equal(numpy.asarray(batch["ratio"])[known],
                                              functions.ratio(columns)["ratio"][known]))
            self.assertFalse(numpy.isnan(numpy.asarray(batch["ratio"])).any())

    def test_lists_come_and_go_as_values_and_lengths(self):
        batches, _ = self.read(forebay.python(functions.lists, columns="C1", adds="count", adds_sparse="twice", max_ids=2))
        for batch in batches:
            values, lengths = map(numpy.asarray, batch["C1"])
            twice, counts = map(numpy.asarray, batch["twice"])
            self.assertTrue(numpy.array_equal(twice, numpy.repeat(values, 2)))
            self.assertTrue(numpy.array_equal(counts, 2 * lengths))
            self.assertTrue(numpy.array_equal(numpy.asarray(batch["count"]), lengths))

    def test_globs_name_columns_of_both_kinds_and_later_functions_see_earlier_results(self):
        transform = forebay.python(functions.everything, columns=["I*", "C*", "ratio"], adds=["sum"])
        loader = self.loader(RATIO, transform)
        self.assertEqual(loader.schema.dense[-2:], ["ratio", "sum"])
        batch = next(iter(loader))
        want = sum(numpy.asarray(batch[name]).astype("f8") for name in loader.schema.dense[:-1])
        want += sum(numpy.asarray(batch[name][1]) for name in loader.schema.sparse)
        self.assertTrue(numpy.allclose(numpy.asarray(batch["sum"]), want, rtol=1e-4))
        self.assertEqual([stage["name"] for stage in loader.stats()["stages"]],
                         ["load", "decode", "shuffle", "python", "python-2", "batch"])

    def test_a_function_may_write_into_what_it_gets(self):
        plain = self.read()[0]
        changed = self.read(forebay.python(functions.in_place, columns=["I1"], adds=["ones"]))[0]
        for one, other in zip(plain, changed):
            self.assertTrue(numpy.array_equal(numpy.asarray(one["I1"]), numpy.asarray(other["I1"])))
            self.assertTrue((numpy.asarray(other["ones"]) == 1).all())

    def test_the_order_is_the_same_for_any_number_of_processes(self):
        want = self.read(RATIO, tuner__mode="off")[1]
        for sets in ({"pipeline__allocation__python": 3}, {"tuner__period": "100ms"}, {"pipeline__cpus": 1}):
            self.assertEqual(self.read(RATIO, **sets)[1], want, sets)

    def test_a_job_file_a_dict_and_the_command_line_see_the_same_batches(self):
        want = self.read(RATIO)[1]
        table = as_table("ratio", columns=["I1", "I2"], adds=["ratio"])
        job = {"dataset": {"paths": [str(self.files.folder / "data/*.tsv")]}, "order": {"batch_size": 500}}
        for loader in (self.loader(RATIO, job=job), self.loader(job={**job, "transform": [table]})):
            self.assertEqual((sum(map(len, loader)), loader.stats()["order_digest"]), (ROWS, want))
            loader.close()
        self.files.change(transform=[table])
        self.assertEqual(self.read()[1], want)
        os.environ["FOREBAY_PYTHON"] = sys.executable
        self.assertEqual(package.digest_of_ingest(self.files), want)

    def test_prints_do_not_mix_with_the_programs_output(self):
        self.files.change(transform=[as_table("prints", adds=["ratio"])])
        finished = self.files.run("ingest", "--json")
        self.assertEqual(self.assert_done(finished)["rows"], ROWS)
        self.assertEqual(len(finished.out.splitlines()), 1)
        self.assertIn("printed by a function", finished.err)

    def test_the_example_runs(self):
        done = subprocess.run([sys.executable, package.SOURCE / "examples/python/udf.py", self.path], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(done.stdout.startswith(f"{ROWS} rows, "), done)
        self.assertIn(" crossed ids in the last 500 rows", done.stdout)

    def test_processes_have_the_cpus_of_the_loader(self):
        transform = forebay.python(functions.number_of_cpus, columns=["I1"], adds=["ratio"])
        self.assertEqual({value for batch in self.read(transform, pipeline__cpus=1)[0]
                          for value in numpy.asarray(batch["ratio"])}, {1.0})


    def test_processes_follow_a_change_of_the_cpus(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU")
        transform = forebay.python(functions.number_of_cpus, columns=["I1"], adds=["ratio"])
        loader = self.loader(transform, pipeline__cpus=2, pipeline__prefetch="64KiB")
        self.assertEqual(next(iter(loader))["ratio"].tolist()[0], 2)
        loader.set(**{"pipeline.cpus": 1})
        seen = {value for _ in range(10) for batch in loader for value in batch["ratio"].tolist()[-1:]}
        self.assertIn(1, seen)


class Names(Transforms):
    MAIN = textwrap.dedent("""
        import sys, forebay
        print("main")
        offset = 5
        def shifted(columns): return {"ratio": columns["I1"] + offset}
        def inner():
            by = 5
            return lambda columns: {"ratio": columns["I1"] + by}
        for function in (shifted, inner()):
            loader = forebay.Loader(sys.argv[1], transforms=[forebay.python(function, columns="I1", adds="ratio")])
            print([sum(sum(batch["ratio"].tolist()) - sum(batch["I1"].tolist()) for batch in loader)])
        """)

    def test_functions_of_the_main_script_go_by_value_and_do_not_run_it(self):
        script = self.folder / "main.py"
        script.write_text(self.MAIN)
        done = subprocess.run([sys.executable, script, self.path], capture_output=True, text=True, timeout=60, check=False)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3, done)
        self.assertEqual((lines[0], lines[1]), ("main", lines[2]), done)

    def test_an_object_with_a_call_goes_by_value(self):
        transform = forebay.python(functions.Scale(3), columns=["I1"], adds=["ratio"])
        self.assertEqual(transform.function, "functions:Scale")
        for batch in self.read(transform)[0]:
            self.assertTrue(numpy.array_equal(numpy.asarray(batch["ratio"]), 3 * numpy.asarray(batch["I1"])))

    def test_without_cloudpickle_the_error_says_what_to_do(self):
        before = sys.modules.get("cloudpickle")
        sys.modules["cloudpickle"] = None
        self.addCleanup(sys.modules.__setitem__, "cloudpickle", before)
        with self.assertRaisesRegex(forebay.ConfigError, "pip install cloudpickle, or move the function into a module"):
            forebay.python(lambda columns: columns, columns=["I1"], adds=["ratio"])
        forebay.python(functions.ratio, columns=["I1"], adds=["ratio"])

    def test_by_value_is_refused_where_workers_may_join(self):
        transform = forebay.python(lambda columns: {"ratio": columns["I1"]}, columns=["I1"], adds=["ratio"])
        with self.assertRaisesRegex(forebay.ConfigError, "cannot go to workers; move it into a module"):
            self.loader(transform, cluster__listen="tcp://127.0.0.1:0")

    def test_what_cannot_be_imported_is_refused_before_anything_starts(self):
        for function, word in (("functions:nobody", "has no function nobody"), ("functions:numpy", "is no function"),
                               ("nowhere:ratio", "nowhere cannot be imported"), ("functions", "package.module:name"),
                               ("__main__:ratio", "main script")):
            table = {**as_table("ratio", adds=["ratio"]), "function": function}
            with self.assertRaises(forebay.ConfigError) as raised:
                self.loader(table)
            self.assertIn(word, str(raised.exception))
        for keys, word in (({}, "adds"), ({"adds": ["I1"]}, "I1"), ({"adds": ["a"], "adds_sparse": ["a"]}, "a"),
                           ({"adds": ["a"], "columns": ["nothing*"]}, "nothing"), ({"adds": ["a"], "colour": 1}, "colour")):
            with self.assertRaises(forebay.ConfigError) as raised:
                self.loader({**as_table("ratio"), **keys})
            self.assertIn(word, str(raised.exception))
        for wrong in (functions.ratio, "ratio", 7):
            with self.assertRaisesRegex(forebay.ConfigError, "is no transform; give what forebay.python returns"):
                self.loader(wrong)

    def test_an_interpreter_without_numpy_is_named(self):
        env = {**package.environment(), "FOREBAY_PYTHON": str(package.BARE)}
        self.files.change(transform=[as_table("ratio", adds=["ratio"])])
        from support.harness import FOREBAY
        for python, words in ((str(package.BARE), "has no numpy"), ("/no/python", "/no/python: cannot be started")):
            done = subprocess.run([FOREBAY, "ingest", "job.toml"], cwd=self.files.folder, capture_output=True, text=True,
                                  timeout=60, check=False, env={**env, "FOREBAY_PYTHON": python})
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(words, done.stderr)


class Errors(Transforms):
    def test_an_exception_names_function_file_and_row(self):
        message = self.fails("raises", "row at byte", "raised ValueError: an id that nobody expects", "functions.py:",
                             "in raises")
        row = int(message.split("row at byte ")[1].split(":")[0])
        name = message.split("functions:raises: ")[1].split(",")[0]
        line = (self.files.folder / "data" / name).read_bytes()[row:].split(b"\n")[0].decode()
        self.assertEqual(int(line.split("\t")[14], 16), 1234)

    def test_an_exception_that_no_part_repeats_names_the_smallest_rows(self):
        self.fails("needs_two_rows", "rows", "RuntimeError: only with others")

    def test_an_exception_without_words_is_named(self):
        self.fails("raises_silently", "raised Silent: its message cannot be shown, because that raised LookupError",
                   "functions.py:")

    def test_an_exit_is_an_exception(self):
        self.fails("leaves", "raised SystemExit: bye")

    def test_wrong_results_name_column_and_what_is_wrong(self):
        for name, word in (("nothing", "it returned None; return a dict with the columns ratio"),
                           ("too_short", "ratio has the shape ("), ("too_deep", "ratio has the shape ("),
                           ("texts", "return numbers"), ("too_few", "it returned no column ratio"),
                           ("too_many", "it returned a column 'other'")):
            with self.subTest(name):
                self.assertIn("rows at bytes", self.fails(name, word))
        for name, word in (("ratio_only", "it returned no column twice"), ("no_lists", "a sparse column is (values, lengths)"),
                           ("wrong_lengths", "add up to its 3 values"), ("negative_lengths", "must be 0 or more"),
                           ("too_many_ids", "raise max_ids")):
            with self.subTest(name):
                self.fails({"ratio_only": "slow"}.get(name, name), word, adds_sparse=["twice"])

    def test_the_next_loop_raises_the_error_again(self):
        loader = self.loader(forebay.python(functions.leaves, columns=["I1"], adds=["ratio"]))
        for _ in range(2):
            with self.assertRaisesRegex(forebay.DataError, "functions:leaves"):
                list(loader)


class States(Transforms):
    def test_a_state_goes_on_with_any_number_of_processes_and_knows_the_version(self):
        whole = self.read(RATIO)[1]
        loader = self.loader(RATIO)
        batches = iter(loader)
        next(batches), next(batches)
        state = json.loads(json.dumps(loader.state_dict()))
        loader.close()
        other = self.loader(RATIO, pipeline__allocation__python=2)
        other.load_state_dict(state)
        self.assertEqual(sum(map(len, other)), ROWS - 1000)
        self.assertEqual(other.stats()["order_digest"], whole)
        renamed = forebay.python(functions.ratio, columns=["I1", "I2"], adds=["ratio"], version=2)
        with self.assertRaisesRegex(forebay.ConfigError, "transform"):
            self.loader(renamed).load_state_dict(state)

    def test_the_memory_of_processes_is_counted_and_reserved(self):
        loader = self.loader(RATIO)
        plain = self.loader(job={"dataset": {"paths": [str(self.files.folder / "data/*.tsv")]}})
        for each in (loader, plain):
            next(iter(each))
        self.assertGreater(loader.stats()["memory"], plain.stats()["memory"] + (16 << 20))
        with self.assertRaisesRegex(forebay.ConfigError, "MiB for those of functions in Python"):
            next(iter(self.loader(RATIO, pipeline__memory="40MiB")))


if __name__ == "__main__":
    main()
