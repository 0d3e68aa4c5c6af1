"""What tools/test_summary.py finds in a log of ctest."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "tools/test_summary.py"
LOG = """\
1/4 Testing: e2e: cluster
1/4 Test: e2e: cluster
Output:
----------------------------------------------------------
test_a (__main__.A.test_a)
The documentation of a. ...
  test_a (__main__.A.test_a) (i=0)
The documentation of a. ... skipped "it's slow"
  test_a (__main__.A.test_a) (i=1)
The documentation of a. ... skipped "it's slow"
test_b (__main__.A.test_b) ... ok
test_c (__main__.A.test_c) ... a line of the program
skipped 'no disk'
<end of output>
Test Passed.
2/4 Testing: compare
2/4 Test: compare
skipped: no torch
<end of output>
Test Passed.
3/4 Testing: skipped rows are in no batch
3/4 Test: skipped rows are in no batch
skipped 'this user may read every file'
All tests passed (2 assertions in 1 test case)
<end of output>
Test Pass Reason:
4/4 Testing: broken
4/4 Test: broken
Test Failed.
"""


class TestSummary(unittest.TestCase):
    def summary(self, log):
        with tempfile.TemporaryDirectory() as folder:
            if log is not None:
                path = pathlib.Path(folder, "Testing/Temporary/LastTest.log")
                path.parent.mkdir(parents=True)
                path.write_text(log)
            return subprocess.run([sys.executable, SCRIPT, folder], check=True, capture_output=True, text=True).stdout

    def test_names_skipped_methods_and_tests_once_and_counts_the_others(self):
        self.assertEqual(self.summary(LOG).splitlines(), [
            "skipped: e2e: cluster: test_a: it's slow",
            "skipped: e2e: cluster: test_c: no disk",
            "skipped: compare: no torch",
            "skipped: skipped rows are in no batch: this user may read every file",
            "2 passed, 1 failed"])

    def test_counts_nothing_where_no_test_ran(self):
        self.assertEqual(self.summary(None), "0 passed, 0 failed\n")


if __name__ == "__main__":
    unittest.main()
