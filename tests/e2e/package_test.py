"""A program outside the tree is built from the installed package alone and reads the batches of `forebay ingest`."""
import os
import pathlib
import shutil
import signal
import tempfile
import unittest

from support.harness import Running, Scenario, change_in_place, main
from support.package import BUILD, SOURCE, cmake, configure

ROWS = 6000
TRANSFORM = [{"op": "log1p", "columns": ["I*"]},
             {"op": "sigrid_hash", "columns": ["C*"], "salt": 3, "max_value": 1000}]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


MADE = pathlib.Path(tempfile.mkdtemp(prefix="forebay-e2e-"))
PREFIX = MADE / "prefix"


def setUpModule():
    unittest.addModuleCleanup(shutil.rmtree, MADE, ignore_errors=True)
    cmake("--install", BUILD, "--prefix", PREFIX)


class Installed(Scenario):
    def test_the_public_headers_are_all_that_a_program_sees(self):
        headers = [str(path.relative_to(PREFIX / "include")) for path in (PREFIX / "include").rglob("*.h")]
        self.assertEqual(sorted(headers), [f"forebay/{name}.h" for name in
                                           ("actor", "cluster", "context", "field", "future", "loader", "message", "object",
                                            "ref", "result", "task", "testing", "udf", "value")])

    def test_user_functions_need_none_of_the_libraries_that_the_loader_links(self):
        udf = pathlib.Path(shutil.copytree(SOURCE / "examples/udf", self.folder / "udf"))
        hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("spdlog", "ZLIB", "PkgConfig")]
        said = configure(udf, PREFIX, *hidden)
        self.assertRegex(said, "Forebay::loader is not available, since CMake did not find .*spdlog.*pkg-config")

    def test_a_program_that_asks_for_the_loader_is_refused_with_the_names_of_missing_libraries(self):
        copy = pathlib.Path(shutil.copytree(SOURCE / "examples/loader", self.folder / "loader"))
        said = configure(copy, PREFIX, "-DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON", status=1)
        self.assertIn("Forebay::loader is not available, since CMake did not find spdlog", said)
        (self.folder / "modules").mkdir()
        os.environ["PKG_CONFIG_LIBDIR"] = str(self.folder / "modules")
        self.addCleanup(os.environ.pop, "PKG_CONFIG_LIBDIR")
        shutil.rmtree(copy / "build")
        said = configure(copy, PREFIX, status=1)
        for module in ("liblz4", "libzstd", "libzmq", "rocksdb", "libxxhash"):
            self.assertIn(module, said)

    def test_each_component_alone_is_a_package(self):
        for component, other in (("udf", "loader"), ("loader", "udf"), ("actors", "loader")):
            prefix = self.folder / component
            cmake("--install", BUILD, "--prefix", prefix, "--component", component)
            (self.folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(one LANGUAGES CXX)\n"
                f"find_package(Forebay REQUIRED COMPONENTS {component} OPTIONAL_COMPONENTS {other})\n"
                f"if(NOT TARGET Forebay::{component} OR TARGET Forebay::{other})\n"
                "  message(FATAL_ERROR wrong)\nendif()\n")
            shutil.rmtree(self.folder / "build", ignore_errors=True)
            configure(self.folder, prefix)


class Loading(Scenario):
    """The example, built from a copy outside the tree."""

    @classmethod
    def setUpClass(cls):
        cls.example = pathlib.Path(shutil.copytree(SOURCE / "examples/loader", MADE / "loader"))
        configure(cls.example, PREFIX)
        cmake("--build", cls.example / "build")

    def setUp(self):
        super().setUp()
        self.job_ = self.job(order={"epochs": 2, "batch_size": 500})
        self.job_.put_criteo(ROWS, files=3)

    def start(self, job, *options):
        return Running(["job.toml", *options], job.folder, program=self.example / "build/loader")

    def load(self, job, *options):
        return self.start(job, *options).wait()

    @staticmethod
    def ingest(job, *options):
        return job.run("ingest", "--json", *options)

    def assert_loader_refused(self, finished, status, *words):
        """Checks for exit `status`, an empty stdout, and a last one or two lines on stderr that contain `words`."""
        self.assertEqual((finished.status, finished.out), (status, ""), finished)
        self.assertTrue(any(line.startswith("loader: ") for line in finished.err.splitlines()[-2:]), finished)
        for word in words:
            self.assertIn(word, finished.err, finished)

    def test_the_example_reads_the_batches_of_ingest_from_their_own_memory(self):
        for transform in ([], TRANSFORM):
            self.job_.change(transform=transform)
            finished, rows = self.job_.dump()
            want = self.assert_done(finished)
            loaded = self.load(self.job_)
            got = self.assert_done(loaded)
            for key in ("rows", "batches", "order_digest"):
                self.assertEqual(got[key], want[key], key)
            self.assertEqual(got["loss_free_sum"], sum(int(label) for _, label, *_ in rows))
            self.assertGreater(got["loss_free_sum"], 0)

    def test_keys_are_set_as_on_the_command_line(self):
        keys = ["--set", "order.seed=9", "--set", "order.epochs=1", "--set", "pipeline.allocation.decode=2"]
        want = self.assert_done(self.job_.run("ingest", "--json", *keys))
        got = self.assert_done(self.load(self.job_, *keys))
        self.assertEqual((got["rows"], got["order_digest"]), (ROWS, want["order_digest"]))

    def test_a_chain_of_short_runs_of_either_program_is_the_uninterrupted_run(self):
        want = self.assert_done(self.job_.run("ingest", "--json"))
        state, rows = [], 0
        for program, batches in ((self.load, 7), (self.load, 6), (self.ingest, 4), (self.load, 100), (self.ingest, 1)):
            result = self.assert_done(program(self.job_, *state, "--state", "state", "--max-batches", batches))
            self.assertEqual(result["batches"], {100: 7, 1: 0}.get(batches, batches))  # 24 in all
            rows += result["rows"]
            state = ["--resume", "state"]
        self.assertEqual((result["order_digest"], rows), (want["order_digest"], 2 * ROWS))

    def test_a_wrong_job_is_refused_by_its_key(self):
        self.assert_loader_refused(self.load(self.job_, "--set", "order.batch_sise=7"), 2, "order.batch_sise",
                                   "order.batch_size")
        self.assert_loader_refused(self.load(self.job_, "--set", "order.batch_size=0"), 2, "order.batch_size")
        self.assert_loader_refused(self.load(self.job_, "--max-batches", "many"), 2, "--max-batches many")
        self.assert_loader_refused(self.load(self.job_, "--resume", "nowhere"), 2, "nowhere")
        self.assert_loader_refused(self.load(self.job_, "--resume"), 2, "usage: ")
        self.assert_done(self.load(self.job_, "--state", "state", "--max-batches", 3))
        self.assert_loader_refused(self.load(self.job_, "--resume", "state", "--set", "order.seed=9"), 2, "seed")
        (self.job_.folder / "job.toml").unlink()
        self.assert_loader_refused(self.load(self.job_), 2, "job.toml")

    def test_a_file_that_was_damaged_since_it_was_indexed_fails_the_run_by_name(self):
        self.assert_done(self.load(self.job_, "--max-batches", 1))
        change_in_place(self.job_.folder / "data/day_1.tsv", 20000, b"damaged")
        finished = self.load(self.job_)
        self.assertEqual(finished.status, self.job_.run("ingest", "--json").status)
        self.assert_loader_refused(finished, 1, "day_1.tsv")

    def test_sigterm_leaves_a_state_that_goes_on_exactly_and_a_folder_has_one_run_at_a_time(self):
        slow = self.job("slow", order={"batch_size": 50}, transform=[{"op": "spin", "microseconds": 300}])
        slow.put_criteo(ROWS)  # 1.8 s for one transform actor
        running = self.start(slow, "--state", "state")
        self.wait_until(lambda: not running.alive() or cpu_seconds(running.process.pid) > 0.5)
        self.assert_loader_refused(self.load(slow), 1, "in use by process", "run.dir")
        running.signal(signal.SIGTERM)
        stopped = running.wait(timeout=10)
        self.assertEqual(stopped.status, 143, stopped)
        self.assertTrue(0 < stopped.json["rows"] < ROWS, stopped)
        result = self.assert_done(self.load(slow, "--resume", "state"))
        self.assertEqual(result["rows"] + stopped.json["rows"], ROWS)
        self.assertEqual(result["order_digest"], self.assert_done(slow.run("ingest", "--json"))["order_digest"])


if __name__ == "__main__":
    main()
