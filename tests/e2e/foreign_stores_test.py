"""Jobs whose data lies in servers of S3 that nobody here wrote: moto and versitygw. One that is not installed is skipped."""
import os
import pathlib
import shutil
import subprocess
import unittest
import unittest.mock
import urllib.error
import urllib.request

from support import harness
from support.cluster import free_port
from support.s3_put import put
from support.store import KEYS

ROWS = 3000
NAMES = [f"day={i}/part a+bé{i}%20,x.tsv" for i in range(3)]  # what a URL or a signature may get wrong
SOURCE = pathlib.Path(os.environ.get("FOREBAY_SOURCE", "."))


def python_with_moto():
    """The python that has moto[server], and why there is none."""
    if given := os.environ.get("FOREBAY_STORE_PYTHON"):
        return given, ""
    made = subprocess.run([SOURCE / "tools/python_tools.sh"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=280)
    return made.stdout.strip(), "" if made.returncode == 0 else "moto cannot be installed: " + made.stderr[-300:]


def answers(address):
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except urllib.error.HTTPError:
        pass  # It refuses those without a signature.
    except OSError:
        return False
    return True


class ForeignStore:
    """What a store has to do for a job. A server's class says how it is started."""

    CHECKS_SIGNATURES = True

    def setUp(self):
        super().setUp()
        environment = unittest.mock.patch.dict(os.environ, KEYS)
        environment.start()
        self.addCleanup(environment.stop)
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        server = subprocess.Popen(self.command(port), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env={**os.environ, **self.variables()})
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.wait_until(lambda: answers(self.address) or server.poll() is not None, seconds=60)
        self.assertIsNone(server.poll(), "the server has ended")
        put(self.address, "/clicks")

    def variables(self):
        return {}

    def stored(self, **tables):
        job = self.job(dataset={"paths": ["s3://clicks/day=*/*.tsv"]}, storage={"endpoint": self.address}, **tables)
        lines = harness.criteo_lines(ROWS, 1)
        for i, name in enumerate(NAMES):
            put(self.address, f"/clicks/{name}", "".join(lines[ROWS * i // 3:ROWS * (i + 1) // 3]).encode())
        return job, lines

    def test_it_lists_several_pages_and_gives_the_rows_of_a_disk(self):
        for i in range(1050):  # more than a page
            put(self.address, f"/clicks/day=9/no rows {i}+.txt")
        job, lines = self.stored()
        finished, rows = job.dump()
        self.assert_done(finished)
        self.assert_same_rows(rows, lines)

    def test_what_is_missing_is_named(self):
        job, _ = self.stored()
        for paths, words in ((["s3://other/*.tsv"], "s3://other does not exist"), (["s3://clicks/no.tsv"], "no.tsv"),
                             (["s3://other/no.tsv"], "s3://other"), (["s3://clicks/none=*/x"], "matches no file")):
            job.change(dataset={"paths": paths})
            self.assert_refused(job.run("ingest", "--json"), 2, words, seconds=5)

    def test_wrong_credentials_are_refused_without_showing_them(self):
        if not self.CHECKS_SIGNATURES:
            self.skipTest("the server checks no signatures")
        job, _ = self.stored()
        for name in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"):
            with unittest.mock.patch.dict(os.environ, {name: "wrong"}):
                finished = job.run("ingest", "--json")
                self.assert_refused(finished, 2, "check the credentials", seconds=5)
                self.assertNotIn(KEYS["AWS_SECRET_ACCESS_KEY"], finished.err)

    def test_an_object_that_is_replaced_makes_a_new_index(self):
        job, lines = self.stored()
        first = self.assert_done(job.run("index", "--json"))
        put(self.address, f"/clicks/{NAMES[0]}", lines[0].encode())
        changed = self.assert_done(job.run("index", "--json"))
        self.assertEqual((first["rows"], changed["rows"]), (ROWS, ROWS - ROWS // 3 + 1))

    def test_doctor_finds_nothing_wrong(self):
        content = bytes(range(256)) * (12 << 10)
        put(self.address, "/clicks/large file.bin", content)
        put(self.address, "/clicks/empty.bin")
        options = ["--set", f"storage.endpoint={self.address}", "--json"]
        looked = harness.Running(["doctor", "s3://clicks/*", *options], self.folder).wait()
        said = self.assert_done(looked)
        found = said["stores"][0]
        self.assertEqual((found["object"], found["object_bytes"], found["listed"]),
                         ("s3://clicks/large file.bin", len(content), 2))
        self.assertTrue(found["may_list"] and found["ranges"] and found["etag"], looked)
        self.assertGreater(found["bytes_per_second"], 0)
        self.assertNotIn("bad", [check["status"] for check in said["checks"]], looked)

    def test_a_parquet_file_is_read_by_its_columns(self):
        data = pathlib.Path(__file__).parent / "data/parquet_testing/alltypes_plain.snappy.parquet"
        put(self.address, "/clicks/a.parquet", data.read_bytes())
        digests = []
        for path in ("s3://clicks/a.parquet", str(data)):
            job = self.job(f"job-{len(digests)}", dataset={"format": "parquet", "paths": [path]},
                           columns={"label": "bool_col", "dense": ["double_col"], "sparse": ["int_col"]},
                           storage={"endpoint": self.address}, pipeline={"memory": "1GiB"})
            digests.append(self.assert_done(job.run("ingest", "--json"))["order_digest"])
        self.assertEqual(*digests)


class Moto(ForeignStore, harness.Scenario):
    CHECKS_SIGNATURES = False

    def command(self, port):
        python, why = python_with_moto()
        if why:
            self.skipTest(why)
        return [python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]


class VersityGateway(ForeignStore, harness.Scenario):
    def command(self, port):
        program = os.environ.get("FOREBAY_VERSITYGW") or shutil.which("versitygw") or SOURCE / "build/peers/bin/versitygw"
        if not os.path.exists(program):
            self.skipTest("versitygw is not installed; tools/bench_peers.sh versitygw makes it with Go")
        for folder in ("buckets", "attributes"):
            (self.folder / folder).mkdir()
        return [program, "--port", f"127.0.0.1:{port}", "posix", "--sidecar", self.folder / "attributes",
                self.folder / "buckets"]

    def variables(self):
        return {"ROOT_ACCESS_KEY": KEYS["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": KEYS["AWS_SECRET_ACCESS_KEY"]}


if __name__ == "__main__":
    harness.main()
