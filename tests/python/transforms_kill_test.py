"""Processes that run functions in Python: killed, stopped, left alone, and on workers."""
import os
import pathlib
import signal
import subprocess
import sys

import package
from support.cluster import Cluster
from support.harness import Scenario, main

package.run_again_with("numpy", package.TOOLS / "python", "/usr/bin/python3")
import forebay  # noqa: E402
import functions  # noqa: E402

ROWS = 6000
HERE = str(pathlib.Path(__file__).parent)
SLOW = forebay.python(functions.slow, columns=["I1"], adds=["ratio"])

READS = """
import sys, forebay, functions
loader = forebay.Loader(sys.argv[1], transforms=[forebay.python(functions.slow, columns=["I1"], adds=["ratio"])])
print("ready", flush=True)
try:
    for batch in loader: print("batch", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def children_of(parent):
    """Processes of functions that `parent` started."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
            words = (path.parent / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z" and b"forebay._child" in words:
            found.append(int(path.parent.name))
    return sorted(found)


def is_there(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Functions(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 200})
        self.files.put_criteo(ROWS, files=3)
        self.path = self.files.folder / "job.toml"


class Kills(Functions):
    def loader(self, **sets):
        loader = forebay.Loader(self.path, transforms=[SLOW],
                                set={"pipeline.prefetch": "64KiB", **{key.replace("__", "."): sets[key] for key in sets}})
        self.addCleanup(loader.close)
        return loader

    def one_child(self):
        self.wait_until(lambda: len(children_of(os.getpid())) == 1)
        return children_of(os.getpid())[0]

    def kill_one(self):
        child = self.one_child()
        os.kill(child, signal.SIGKILL)
        self.wait_until(lambda: not is_there(child))

    def test_a_killed_process_is_replaced_once_and_no_row_is_lost(self):
        with self.loader(tuner__mode="off") as loader:
            whole = sum(map(len, loader)), loader.stats()["order_digest"]
        loader = self.loader(tuner__mode="off")
        batches = iter(loader)
        rows = len(next(batches))
        self.kill_one()
        rows += sum(map(len, batches))
        self.assertEqual((rows, loader.stats()["order_digest"]), whole)
        self.kill_one()
        with self.assertRaises(forebay.DataError) as raised:
            for _ in range(3):
                list(loader)
        for word in ("functions:slow: day_", "was killed by signal 9", "replaced once"):
            self.assertIn(word, str(raised.exception))

    def test_each_actor_has_one_process_and_they_end_with_it(self):
        loader = self.loader(tuner__mode="off", pipeline__allocation__python=3, pipeline__prefetch="64MiB")
        next(iter(loader))
        self.wait_until(lambda: len(children_of(os.getpid())) == 3)
        before = children_of(os.getpid())
        for child in before:
            os.kill(child, signal.SIGKILL)
        list(loader)
        loader.close()
        self.assertEqual(children_of(os.getpid()), [])

    def start(self, seconds):
        env = {**os.environ, "SLOW_SECONDS": str(seconds), "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{HERE}"}
        process = subprocess.Popen([sys.executable, "-c", READS, self.path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=env)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.wait_until(lambda: children_of(process.pid))
        return process

    def test_ctrl_c_in_a_function_that_takes_an_hour_leaves_nothing(self):
        process = self.start(3600)
        children = children_of(process.pid)
        for each in (process.pid, *children):  # as a terminal does
            os.kill(each, signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (0, "interrupted\n"), err)
        self.assertFalse([child for child in children if is_there(child)])

    def test_a_killed_program_takes_its_processes_along(self):
        process = self.start(3600)
        children = children_of(process.pid)
        process.kill()
        process.wait()
        self.wait_until(lambda: not [child for child in children if is_there(child)])

    def test_an_idle_process_ends_with_a_killed_program(self):
        process = self.start(0)
        self.wait_until(lambda: process.stdout.readline() == "batch\n")
        children = children_of(process.pid)
        process.kill()
        process.wait()
        self.wait_until(lambda: not [child for child in children if is_there(child)])

    def test_the_command_line_stops_in_order(self):
        self.files.change(transform=[{"op": "python", "function": "functions:slow", "columns": ["I1"], "adds": ["ratio"],
                                      "path": [HERE], "interpreter": sys.executable}])
        os.environ["SLOW_SECONDS"] = "3600"
        self.addCleanup(os.environ.pop, "SLOW_SECONDS")
        running = self.files.start("ingest", "--json")
        self.wait_until(lambda: children_of(running.process.pid))
        children = children_of(running.process.pid)
        running.signal(signal.SIGTERM)
        finished = running.wait(30)
        self.assertEqual(finished.status, 143, finished)
        self.assertFalse([child for child in children if is_there(child)])

    def test_memory_that_a_function_takes_fails_the_run_by_name(self):
        self.files.change(transform=[{"op": "python", "function": "functions:takes_memory", "columns": ["I1"],
                                      "adds": ["ratio"], "path": [HERE], "interpreter": sys.executable}],
                          order={"epochs": 1000, "batch_size": 200}, pipeline={"memory": "400MiB"})
        finished = self.files.run("ingest", "--json", timeout=60)
        self.assert_refused(finished, 1, "pipeline.memory: ", "over the limit of 400 MiB", seconds=60)


class Workers(Functions):
    def setUp(self):
        super().setUp()
        self.files.change(transform=[{"op": "python", "function": "functions:ratio", "columns": ["I1", "I2"],
                                      "adds": ["ratio"]}])
        self.files.put("functions.py", pathlib.Path(functions.__file__).read_text())
        os.environ["FOREBAY_PYTHON"] = sys.executable
        alone = self.files.run("ingest", "--json")
        self.want = self.assert_done(alone)["order_digest"]

    def assert_made_by_worker(self, *options, move_to=None):
        cluster = Cluster(self, self.files, min_workers=1, local=False)
        if move_to:
            self.move_module(cluster, move_to)
        cluster.worker(*options)
        finished, ends = cluster.finish()
        self.assertEqual([end.status for end in ends.values()], [0], f"{ends['w1']}\n{finished}")
        done = self.assert_done(finished)
        self.assertEqual((done["order_digest"], done["rows_by_node"]), (self.want, {"w1": ROWS}))

    def move_module(self, cluster, folder):
        """Takes the module out of the job's folder, once the trainer has imported it and waits for workers."""
        self.wait_until(lambda: "is open, " in cluster.trainer.stderr_now())
        (self.files.folder / "functions.py").rename(folder / "functions.py")

    def test_workers_find_the_module_where_the_job_says(self):
        self.assert_made_by_worker()

    def test_workers_find_the_module_where_they_are_told(self):
        modules = self.folder / "modules"
        modules.mkdir()
        self.assert_made_by_worker("--python-path", f"{self.folder}:{modules}", move_to=modules)

    def test_a_worker_without_python_or_the_module_says_what_to_do(self):
        cluster = Cluster(self, self.files, min_workers=3, local=False)  # so that it does not end before
        self.move_module(cluster, self.folder)
        empty = self.folder / "empty"
        empty.mkdir()
        refused = cluster.worker("--python-path", "/nowhere").wait(30)
        self.assert_refused(refused, 2, "--python-path /nowhere: there is no such folder")
        for python, path, words in (("/no/python", HERE, ("/no/python: cannot be started", "FOREBAY_PYTHON")),
                                    (sys.executable, str(empty), ("functions cannot be imported", "--python-path"))):
            os.environ["FOREBAY_PYTHON"] = python
            worker = cluster.worker("--python-path", path)
            self.wait_until(lambda: "cannot open job" in worker.stderr_now())
            for word in ("[[transform]] number 1 (python): function: functions:ratio: ", *words):
                self.assertIn(word, worker.stderr_now())

    def test_a_worker_that_is_stopped_does_not_wait_for_a_function(self):
        self.files.change(transform=[{"op": "python", "function": "functions:slow", "columns": ["I1"], "adds": ["ratio"]}])
        os.environ["SLOW_SECONDS"] = "3600"
        self.addCleanup(os.environ.pop, "SLOW_SECONDS")
        cluster = Cluster(self, self.files, min_workers=1, local=False)
        worker = cluster.worker("--grace", "100ms")
        self.wait_until(lambda: "joined" in worker.stderr_now() and children_of(worker.process.pid))
        children = children_of(worker.process.pid)
        worker.signal(signal.SIGTERM)
        del cluster.workers["w1"]
        finished = worker.wait(30)
        self.assertEqual(finished.status, 143, finished)
        self.assertFalse([child for child in children if is_there(child)])

    def test_a_worker_that_is_killed_leaves_no_process_and_no_gap(self):
        self.files.change(order={"epochs": 10}, transform=[
            {"op": "python", "function": "functions:slow", "columns": ["I1"], "adds": ["ratio"]}])
        want = self.assert_done(self.files.run("ingest", "--json", "--set", "pipeline.allocation.python=4"))["order_digest"]
        cluster = Cluster(self, self.files, min_workers=1)
        worker = cluster.worker()
        self.wait_until(lambda: children_of(cluster.trainer.process.pid) and children_of(worker.process.pid))
        children = children_of(worker.process.pid)
        cluster.kill("w1")
        finished, _ = cluster.finish()
        self.assertEqual(self.assert_done(finished)["order_digest"], want)
        self.assertFalse([child for child in children if is_there(child)])



if __name__ == "__main__":
    main()
