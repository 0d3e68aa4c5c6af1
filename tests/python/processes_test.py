"""A loader among signals, forks, threads, workers, and at the end of its process."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import package
from package import BARE
from support.harness import Scenario, main

import forebay

ROWS = 2600
SLOW = [{"op": "spin", "microseconds": 5000}]  # 13 s for one actor

# Reads until Ctrl-C, then says how it ended and which threads are left.
READS = """
import os, sys, time, forebay
loader = forebay.Loader(sys.argv[1])
print("ready", flush=True)
try:
    for batch in loader: pass
except KeyboardInterrupt:
    print("interrupted", flush=True)
loader.close()
print(len(os.listdir("/proc/self/task")), flush=True)
"""

FORKS = """
import os, sys, forebay
loader = forebay.Loader(sys.argv[1])
iterator = iter(loader)
batch = next(iterator)
child = os.fork()
if child == 0:
    said = []
    for call in (lambda: next(iterator), lambda: loader.stats(), lambda: loader.state_dict(),
                 lambda: forebay.Loader(sys.argv[1])):
        try:
            call()
        except forebay.Error as error:
            said.append("fork" in str(error))
    del batch, iterator
    loader.close()
    del loader
    print(said, flush=True)
    sys.exit(0)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, 1 + sum(1 for _ in iterator), flush=True)
loader.close()
child = os.fork()
if child == 0:
    with forebay.Loader(sys.argv[1]) as own:
        print(sum(len(batch) for batch in own), flush=True)
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Processes(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 100})
        self.files.put_criteo(ROWS, files=3)
        self.path = self.files.folder / "job.toml"

    def start(self, text, *arguments):
        process = subprocess.Popen([BARE, "-c", text, str(self.path), *map(str, arguments)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def test_ctrl_c_ends_a_waiting_loop_within_a_second_and_leaves_nothing(self):
        self.files.change(transform=SLOW, order={"batch_size": ROWS}, pipeline={"cpus": 1})
        process = self.start(READS)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.3)  # it waits for a batch that takes seconds
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.readline(), "interrupted\n")
        self.assertLess(time.monotonic() - begin, 1)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (0, "1\n", ""))

    def test_a_loop_that_was_interrupted_goes_on(self):
        loader = forebay.Loader(self.path, set={"order.batch_size": 1300})
        self.addCleanup(loader.close)
        timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
        timer.start()
        count = 0
        with self.assertRaises(KeyboardInterrupt):
            while True:
                for _ in loader:
                    count += 1
        timer.join()
        index = next(iter(loader)).index
        self.assertTrue(count <= index <= count + 1)  # a batch may have been on its way

    def test_a_signal_that_comes_in_a_wait_costs_no_batch(self):
        self.files.change(transform=[{"op": "spin", "microseconds": 500}], pipeline={"cpus": 1})  # 50 ms a batch
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        loader = forebay.Loader(self.path)
        self.addCleanup(loader.close)
        seen, interrupted = [], 0
        while len(seen) < 10:
            try:
                for batch in loader:
                    seen.append(batch.index)
                    if len(seen) == 10:
                        break
                    signal.setitimer(signal.ITIMER_REAL, 0.02 if len(seen) < 8 else 0)
            except KeyboardInterrupt:
                interrupted += 1
        self.assertGreater(interrupted, 0)
        self.assertEqual(seen, list(range(10)))
        self.assertEqual(loader.state_dict()["batches"], 10)

    def test_other_threads_run_while_one_waits(self):
        self.files.change(transform=SLOW, order={"batch_size": 100}, pipeline={"cpus": 1})
        done = threading.Event()
        longest = [0.0]

        def look_at_the_clock():
            before = time.monotonic()
            while not done.is_set():
                now = time.monotonic()
                longest[0], before = max(longest[0], now - before), now

        with forebay.Loader(self.path) as loader:
            thread = threading.Thread(target=look_at_the_clock)
            thread.start()
            begin = time.monotonic()
            next(iter(loader))
            waited = time.monotonic() - begin
            done.set()
            thread.join()
        self.assertGreater(waited, 0.5)  # 100 rows at least, of 5 ms
        self.assertLess(longest[0], waited / 2)

    def test_other_threads_run_while_a_loader_that_was_dropped_ends(self):
        self.files.change(transform=SLOW, order={"batch_size": 100}, pipeline={"cpus": 1})
        ran = []
        # From now on a thread runs only when another one gives the interpreter away.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1000)
        gate = threading.Lock()
        gate.acquire()
        thread = threading.Thread(target=lambda: gate.acquire() and ran.append("ran"))
        thread.start()
        loader = forebay.Loader(self.path)
        iterator = iter(loader)
        next(iterator)
        gate.release()
        del loader, iterator  # Waits for the split at work, hundreds of rows of 5 ms.
        seen = list(ran)
        thread.join()
        self.assertEqual(seen, ["ran"])

    def test_a_second_thread_that_reads_is_refused_and_close_ends_a_wait(self):
        self.files.change(transform=SLOW, order={"batch_size": ROWS}, pipeline={"cpus": 1})
        loader = forebay.Loader(self.path)
        iterator, said = iter(loader), []

        def read():
            try:
                next(iterator)
            except forebay.Error as error:
                said.append(str(error))

        thread = threading.Thread(target=read)
        thread.start()
        self.wait_until(lambda: loader.stats()["seconds"] > 0)
        with self.assertRaisesRegex(forebay.Error, "another thread"):
            next(iterator)
        loader.close()
        thread.join(timeout=30)
        self.assertEqual(len(said), 1)
        self.assertIn("closed", said[0])

    def test_a_child_of_fork_is_told_and_may_open_a_loader_where_none_ran(self):
        done = package.run_python(FORKS, self.path)
        self.assertEqual(done.stdout.splitlines(), ["[True, True, True, True]", "0 26", str(ROWS), "0"],
                         done.stderr)

    def test_an_interpreter_may_exit_while_loaders_run(self):
        for ending in ("", "sys.exit(3)", "raise SystemExit(3)",
                       "import threading; threading.Thread(target=reads, daemon=True).start()"):
            done = package.run_python(
                "import sys, forebay\nloader = forebay.Loader(sys.argv[1])\nkept = [next(iter(loader))]\n"
                "def reads():\n  try:\n    while True: list(loader)\n  except forebay.Error: pass\n"
                f"other = forebay.Loader(sys.argv[1])\nview = memoryview(next(iter(other)).values)\n{ending}\n", self.path)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (3 if "3" in ending else 0, "", ""), ending)

    def test_an_interpreter_may_exit_inside_a_loop_or_with_an_exception(self):
        for body, status, words in (("sys.exit(4)", 4, ""), ("raise ArithmeticError('own words')", 1, "own words"),
                                    ("import os; os._exit(5)", 5, ""), ("os.kill(os.getpid(), 15)", -15, ""),
                                    ("os.kill(os.getpid(), 2)", -2, "KeyboardInterrupt")):
            done = package.run_python("import os, sys, forebay\nloader = forebay.Loader(sys.argv[1], set={'order.batch_size': 10})\n"
                                      f"for batch in loader:\n  kept = batch.dense\n  {body}\n", self.path)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertNotIn("terminate", done.stderr)
            self.assertEqual(bool(done.stderr), bool(words))

    def test_ctrl_c_ends_the_opening_of_a_loader(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and never answers
            self.files.change(dataset={"format": "parquet", "paths": [f"http://127.0.0.1:{silent.getsockname()[1]}/a.parquet"]},
                              columns={"label": "a", "dense": ["b"]})
            process = self.start("import sys, forebay\nprint('ready', flush=True)\ntry: forebay.Loader(sys.argv[1])\n"
                                 "except KeyboardInterrupt: print('interrupted')")
            silent.settimeout(30)
            self.assertEqual(process.stdout.readline(), "ready\n")
            connection, _ = silent.accept()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            connection.close()
        self.assertEqual((process.returncode, out, err), (0, "interrupted\n", ""))

    def test_a_loader_may_be_made_on_one_thread_read_on_another_and_closed_on_a_third(self):
        made, read = [], []

        def on_a_thread(function):
            thread = threading.Thread(target=function)
            thread.start()
            thread.join()

        on_a_thread(lambda: made.append(forebay.Loader(self.path)))
        on_a_thread(lambda: read.extend(len(batch) for batch in made[0]))
        on_a_thread(lambda: made[0].close())
        self.assertEqual(sum(read), ROWS)

    def test_the_limit_of_cpus_is_that_of_the_loaders_threads(self):
        before = os.sched_getaffinity(0)
        with forebay.Loader(self.path, set={"pipeline.cpus": 1}) as loader:
            next(iter(loader))
            self.assertEqual(os.sched_getaffinity(0), before)
            for number in (signal.SIGINT, signal.SIGTERM):
                self.assertIn(signal.getsignal(number), (signal.default_int_handler, signal.SIG_DFL))

    def test_a_worker_of_the_wheel_makes_the_batches(self):
        self.files.change(cluster={"listen": "tcp://127.0.0.1:0", "local": False})
        with forebay.Loader(self.path) as loader:
            address = (self.files.folder / ".forebay/address").read_text().split()[0]
            worker = subprocess.Popen([BARE, "-m", "forebay", "worker", "--join", address], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True)
            self.addCleanup(worker.kill)
            digests = [sum(len(batch) for batch in loader), loader.stats()["order_digest"]]
        self.assertEqual((worker.wait(timeout=30), worker.stderr.read().count("error")), (0, 0))
        self.files.change(cluster={"local": True})
        with forebay.Loader(self.path) as loader:
            self.assertEqual(digests, [sum(len(batch) for batch in loader), loader.stats()["order_digest"]])


if __name__ == "__main__":
    main()
