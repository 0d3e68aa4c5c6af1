"""inspect and synth: the command line's results as dicts, its refusals as exceptions."""
import json
import logging
import os
import pathlib
import signal
import subprocess

import package
from package import BARE
from support.harness import Running, Scenario, main

import forebay

PROGRAM = pathlib.Path(forebay.__file__).parent / "bin/forebay"
# Makes rows until Ctrl-C.
MAKES = """
import sys, forebay
try:
    forebay.synth(rows=10**9, out=sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def end_group(leader):
    """Ends what a failed test has left."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Commands(Scenario):
    def of_the_command_line(self, *words, cwd=None):
        finished = Running([*words, "--json"], cwd or self.folder, program=PROGRAM).wait()
        self.assertEqual(finished.status, 0, finished)
        return finished.json

    def bytes_of(self, folder):
        return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


class Synth(Commands):
    def test_it_writes_the_bytes_of_the_command_line(self):
        made = forebay.synth(rows=700, files=3, seed=4, out=self.folder / "ours")
        want = self.of_the_command_line("synth", "criteo", "--rows", 700, "--files", 3, "--seed", 4, "--out", "theirs")
        self.assertEqual(made, want)
        self.assertEqual((made["rows"], made["files"]), (700, 3))
        self.assertEqual(self.bytes_of(self.folder / "ours"), self.bytes_of(self.folder / "theirs"))
        self.assertRegex(str(made), r"rows +700\n")

    def test_its_rows_feed_a_loader(self):
        forebay.synth(rows=700, out=self.folder / "data")
        job = {"dataset": {"format": "criteo_tsv", "paths": [self.folder / "data/*.tsv"]}, "run.dir": str(self.folder / "run")}
        with forebay.Loader(job) as loader:
            self.assertEqual(sum(len(batch) for batch in loader), 700)

    def test_files_that_are_there_stay_unless_they_are_given_up(self):
        forebay.synth(rows=7, out=self.folder)
        before = self.bytes_of(self.folder)
        with self.assertRaisesRegex(forebay.ConfigError, "is there already"):
            forebay.synth(rows=8, out=self.folder)
        self.assertEqual(self.bytes_of(self.folder), before)
        self.assertEqual(forebay.synth(rows=8, out=self.folder, force=True)["rows"], 8)

    def test_pipelines_are_made_too(self):
        made = forebay.synth("pipelines", count=3, seed=7, events=True, out=self.folder / "pipelines")
        self.assertEqual((made["files"], len(self.bytes_of(self.folder / "pipelines"))), (3, 3))

    def test_wrong_values_are_refused_with_the_words_of_the_command_line(self):
        for options, words in (({}, "--rows"), ({"rows": -1}, "--rows"), ({"layout": "csv", "rows": 1}, "no such layout"),
                               ({"rows": 10, "files": 0}, "")):
            with self.assertRaisesRegex(forebay.ConfigError, words) as caught:
                forebay.synth(**options, out=self.folder / "refused")
            self.assertNotIn("forebay: ", str(caught.exception))
        self.assertFalse((self.folder / "refused").exists())

    def test_ctrl_c_stops_it_and_leaves_no_file_and_no_process(self):
        # A notebook interrupts Python alone, a terminal every process of the group.
        for interrupt in (os.kill, os.killpg):
            process = subprocess.Popen([BARE, "-c", MAKES, str(self.folder / "rows")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, start_new_session=True)
            self.addCleanup(end_group, process.pid)
            self.wait_until(lambda: list(self.folder.glob("rows/*")))
            interrupt(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, err), (0, "interrupted\n", ""))
            with self.assertRaises(ProcessLookupError):
                os.killpg(process.pid, 0)  # no process of the group is left
            self.assertEqual(list(self.folder.glob("rows/*")), [])

    def test_lines_on_the_way_go_to_the_log(self):
        with self.assertLogs("forebay", logging.INFO) as logs:
            forebay.synth(rows=1_000_001, files=1, out=self.folder)
        self.assertIn("of 1,000,001 rows", logs.output[-1])
        self.assertNotIn("forebay: ", "".join(line.split("forebay:", 1)[1] for line in logs.output))


class Inspect(Commands):
    def setUp(self):
        super().setUp()
        self.files = self.job(pipeline={"memory": "1GiB"})  # By default it depends on what other programs leave.
        self.files.put_criteo(300)
        self.data = self.files.folder / "data/day_0.tsv"

    def test_it_is_the_json_of_the_command_line(self):
        for words in ((self.data,), (self.data, self.files.folder / "job.toml")):
            self.assertEqual(forebay.inspect(*words), self.of_the_command_line("inspect", *words))
        self.assertEqual(forebay.inspect(ops=True), self.of_the_command_line("inspect", "--ops"))

    def test_a_report_on_one_file_has_its_keys(self):
        report = forebay.inspect(str(self.data))
        self.assertEqual((report["kind"], report["rows"]), ("criteo_tsv", 300))
        self.assertEqual(json.loads(json.dumps(report))["files"][0]["rows"], 300)
        with self.assertRaises(KeyError):
            report["no such key"]
        with self.assertRaises(KeyError):
            forebay.inspect(self.data, self.data)["rows"]

    def test_it_is_shown_as_tables(self):
        report = forebay.inspect(self.data)
        text = str(report)
        self.assertEqual(text, repr(report))
        self.assertTrue(text.startswith(f"{self.data}:\n  kind "))
        self.assertRegex(text, r"  rows +300\n")
        self.assertRegex(text, r"  columns:\n    name +looks_like\n    label +label\n    I1 +dense\n")
        html = report._repr_html_()
        self.assertIn("<td>I13</td><td>dense</td>", html)
        self.assertEqual(html.count("<table>"), html.count("</table>"))
        ops = str(forebay.inspect(ops=True))
        self.assertRegex(ops, r"  name +log1p\n")

    def test_a_long_list_is_cut_where_it_is_shown(self):
        names = [f"column_{number}" for number in range(75)]
        wide = self.files.put("wide.csv", ",".join(["click", *names]) + "\n" + ",".join(["1"] * 76) + "\n")
        report = forebay.inspect(wide)
        self.assertEqual(len(report["columns"]), 76)
        self.assertIn("    column_58 ", str(report))
        self.assertNotIn("column_59 ", str(report).split("first_rows")[0])
        self.assertIn("    and 16 more\n", str(report))

    def test_states_of_a_loader_are_known(self):
        with forebay.Loader(self.files.folder / "job.toml") as loader:
            next(iter(loader))
            self.files.put("state.json", json.dumps(loader.state_dict()))
        self.assertEqual(forebay.inspect(self.files.folder / "state.json")["kind"], "state")

    def test_a_name_that_looks_like_an_option_is_a_file(self):
        (self.folder / "--ops").write_bytes(self.data.read_bytes())
        there = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, there)
        self.assertEqual(forebay.inspect("--ops")["rows"], 300)

    def test_names_are_unicode_whatever_the_locale_and_have_any_space_within(self):
        names = ["a\u2028b.tsv", "a\u0085b.tsv", "ä.tsv"]
        for name in names:
            (self.folder / name).write_bytes(self.data.read_bytes())
            self.assertEqual(forebay.inspect(self.folder / name)["rows"], 300)
        done = package.run_python("import sys, forebay; print(forebay.inspect(sys.argv[1])['rows'])", self.folder / "ä.tsv",
                                  env={**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"})
        self.assertEqual((done.stdout, done.returncode), ("300\n", 0), done.stderr)

    def test_what_is_not_there_or_unknown_is_a_config_error_and_what_is_damaged_a_data_error(self):
        self.files.put("odd", bytes(range(128, 256)) * 8)
        for path, words in (("nowhere", "nowhere cannot be read"), (self.files.folder / "odd", "odd")):
            with self.assertRaisesRegex(forebay.ConfigError, words):
                forebay.inspect(path)
        with self.assertRaisesRegex(forebay.ConfigError, "--ops"):
            forebay.inspect()
        self.files.put("cut.parquet", b"PAR1" + bytes(100) + b"PAR1")
        with self.assertRaisesRegex(forebay.DataError, "cut.parquet"):
            forebay.inspect(self.files.folder / "cut.parquet")

    def test_a_package_without_its_program_says_so(self):
        done = package.run_python("import pathlib, forebay\nfrom forebay import _command\n_command.program = lambda: pathlib.Path('/nowhere')\n"
                                  "try: forebay.inspect('x')\nexcept forebay.Error as error: print(error)")
        self.assertRegex(done.stdout, "/nowhere: No such file.*install the package again")


if __name__ == "__main__":
    main()
