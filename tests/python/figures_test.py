"""What a person sees of a loader: its figures as tables, how far a loop is."""
import json
import os
import pty
import struct
import subprocess
import termios
import fcntl

import package
from package import BARE, TOOLS
from support.harness import Scenario, main

import forebay

ROWS = 2600  # 26 batches of 100
LOOPS = """
import sys, time, forebay
from forebay import _progress
_progress.LIVE_SECONDS = _progress.PLAIN_SECONDS = float(sys.argv[2])
loader = forebay.Loader(sys.argv[1], progress=True)
for batch in loader:
    if batch.index == 9: break
print("left", file=sys.stderr)
print(sum(1 for _ in loader))
"""


class Looking(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 100}, pipeline={"memory": "256MiB"})
        self.files.put_criteo(ROWS, files=3)
        self.path = self.files.folder / "job.toml"


class Figures(Looking):
    def setUp(self):
        super().setUp()
        with forebay.Loader(self.path) as loader:
            for _ in loader:
                pass
            self.stats = loader.stats()

    def test_they_are_a_dict_for_a_program(self):
        self.assertIsInstance(self.stats, dict)
        self.assertEqual(json.loads(json.dumps(self.stats)), dict(self.stats))
        self.assertEqual((self.stats["rows"], self.stats["batches"]), (ROWS, 26))

    def test_they_are_a_table_for_a_person(self):
        for text in (str(self.stats), repr(self.stats)):
            self.assertRegex(text, r"read +2,600 rows in 26 batches\n")
            self.assertRegex(text, r"speed +[\d,]+ rows/s over \d+\.\d s; the program waited for data \d+ % of the time\n")
            self.assertRegex(text, r"memory +[\d.]+ [KM]iB of 256 MiB\n")
            self.assertRegex(text, r"completed +1 epoch since")
            self.assertIn(self.stats["order_digest"], text)
            self.assertNotIn("damaged", text)
            self.assertRegex(text, r"stage +actors +splits +busy actors\nload +\d +\d+ +\d\.\d\d\n")
            self.assertEqual([line.split()[0] for line in text.splitlines()[-5:]], [stage["name"] for stage in self.stats["stages"]])

    def test_what_is_none_or_missing_has_no_line(self):
        text = str(forebay.Stats({**self.stats, "order_digest": None, "bad_rows": 2, "rank_digest": "abc", "bytes_read": 3 << 20}))
        self.assertNotIn("order digest", text)
        self.assertRegex(text, r"from files +3.0 MiB\n")
        self.assertRegex(text, r"left out +2 damaged rows\nrank digest +abc\n")
        self.assertEqual(str(forebay.Stats()), "")

    def test_a_notebook_shows_them_as_html(self):
        html = self.stats._repr_html_()
        self.assertIn("<td>2,600 rows in 26 batches</td>", html)
        self.assertIn("<th>busy actors</th>", html)
        self.assertEqual(html.count("<table>"), 2)
        shown = forebay.Stats({"order_digest": "<b>"})._repr_html_()
        self.assertIn("&lt;b&gt;", shown)
        self.assertNotIn("<b>", shown)

    def test_before_the_first_batch_there_is_a_table_too(self):
        with forebay.Loader(self.path) as loader:
            self.assertRegex(str(loader.stats()), r"read +0 rows in 0 batches")


class Progress(Looking):
    def on_a_terminal(self, python, between):
        """The output of the program LOOPS whose stderr is a terminal of 120 columns."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        process = subprocess.Popen([python, "-c", LOOPS, self.path, str(between)], stdout=subprocess.PIPE, stderr=its, text=True,
                                   env=package.environment())
        os.close(its)
        said = b""
        try:
            while more := os.read(ours, 4096):
                said += more
        except OSError:  # the terminal's other end is closed
            pass
        os.close(ours)
        self.assertEqual((process.stdout.read(), process.wait()), ("16\n", 0), said)
        process.stdout.close()
        return said.decode()

    def test_without_a_terminal_there_is_a_line_now_and_then(self):
        for between, lines in ((0, 26), (1000, 0)):
            done = package.run_python(LOOPS, self.path, between)
            self.assertEqual((done.stdout, done.returncode), ("16\n", 0), done.stderr)
            said = [line for line in done.stderr.splitlines() if line != "left"]
            self.assertEqual(len(said), lines)
            for number, line in enumerate(said, 1):
                self.assertRegex(line, rf"^forebay: epoch 1: {number} of 26 batches \(\d+ %\), [\d,]+ rows/s, starved \d+ %, .* of 256 MiB$")

    def test_a_terminal_has_one_line_that_is_written_again(self):
        said = self.on_a_terminal(BARE, 0)
        before, after = said.split("left")
        self.assertEqual(before.count("\r\n"), 1)
        self.assertEqual(before.count("\repoch 1: "), 11)  # ten batches, and where the break was
        self.assertRegex(before, r"\repoch 1: 10 of 26 batches \(38 %\), [^\r]*\033\[K\r\n$")
        self.assertRegex(after, r"\repoch 1: 11 of 26 batches")
        self.assertRegex(after, r"\repoch 1: 26 of 26 batches \(100 %\), [^\r]*\033\[K\r\n$")

    def test_tqdm_shows_it_where_it_is_installed(self):
        python = package.python_with("tqdm", TOOLS / "python")
        if python is None:
            self.skipTest("tqdm is not installed")
        before, after = self.on_a_terminal(python, 0).split("left")
        self.assertRegex(before, r"epoch 1: +38%\|.*\| 10/26 \[.*rows/s, starved \d+ %")
        self.assertRegex(after, r"epoch 1: +100%\|.*\| 26/26 \[.*rows/s, starved \d+ %")

    def test_a_loop_with_progress_is_the_same_loop(self):
        loader = forebay.Loader(self.path, progress=True)
        self.addCleanup(loader.close)
        shown = iter(loader)
        next(shown)
        with self.assertRaisesRegex(forebay.Error, "iterated already"):
            iter(loader)
        self.assertEqual(sum(1 for _ in shown), 25)
        with self.assertRaises(StopIteration):
            next(shown)
        self.assertEqual([batch.index for batch in loader], list(range(26, 52)))
        iterator = iter(loader)
        next(iterator)
        loader.close()
        with self.assertRaisesRegex(forebay.Error, "closed"):
            next(iterator)


if __name__ == "__main__":
    main()
