"""A run that gets a stop signal saves its state and ends; a killed run does not hinder the next one."""
import os
import pathlib
import re
import signal

from support.harness import Running, Scenario, allocation, main

ROWS = 20000
BESIDE = ("e2e", "forebay-test")  # in the names of what tests beside this one make


class Signals(Scenario):
    def setUp(self):
        super().setUp()
        # 20,000 rows at 200 µs: about 4 s of work for one transform actor.
        self.slow = self.job(order={"batch_size": 100}, transform=[{"op": "spin", "microseconds": 200}])
        self.slow.put_criteo(ROWS, files=2)

    def start(self, *options, prefix=()):
        """Starts a run and waits until it hands out batches."""
        (self.slow.folder / "dump.tsv").unlink(missing_ok=True)  # of a run before
        running = Running(["ingest", "job.toml", "--json", "--dump", "dump.tsv", "--state", "state", *options],
                          self.slow.folder, prefix)
        dump = self.slow.folder / "dump.tsv"
        self.wait_until(lambda: dump.exists() and dump.stat().st_size > 0 or not running.alive())
        return running

    def test_an_orderly_stop_saves_a_state_that_resumes_exactly(self):
        want = self.assert_done(self.slow.run("ingest", "--json"))
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            running = self.start(*allocation(2, 2, 1, 1))
            running.signal(number)
            stopped = running.wait(timeout=5)
            self.assertEqual(stopped.status, status, stopped)
            self.assertLess(stopped.json["rows"], ROWS)
            result = self.assert_done(self.slow.run("ingest", "--json", "--resume", "state"))
            self.assertEqual(result["order_digest"], want["order_digest"])
            self.assertEqual(result["rows"] + stopped.json["rows"], ROWS)

    def test_a_stop_during_an_endless_row_does_not_hang(self):
        running = self.start("--set", "order.batch_size=5", "--set", "pipeline.allocation.transform=2")
        running.signal(signal.SIGTERM)
        running.signal(signal.SIGTERM)
        self.assertIn(running.wait(timeout=5).status, (143, -signal.SIGTERM))

    def test_a_hang_up_stops_waiting_and_working_commands(self):
        pipeline = pathlib.Path(__file__).parents[1] / "tuner" / "pipelines" / "balanced.toml"
        for words in (["head", "--listen", "tcp://127.0.0.1:0", "--store", "store"],
                      ["emulate", pipeline, "--seconds", "60"],
                      ["synth", "criteo", "--rows", "100000000", "--seed", "1", "--out", "made"]):
            running = Running(words, self.folder)
            self.wait_until(lambda: catches(running.process.pid, signal.SIGHUP) or not running.alive())
            running.signal(signal.SIGHUP)
            self.assertEqual(running.wait(timeout=20).status, 129, words)

    def test_a_stopped_benchmark_leaves_neither_a_folder_nor_a_process(self):
        made = self.folder / "made"
        made.mkdir()
        # Each is stopped once its rows are there, before it trains for half a minute.
        for part, begun in (("train", ".forebay/index*"), ("ranks", "day_3.tsv")):
            words = ["bench", part, "--rows", "20000", "--json"]
            running = Running(words, self.folder, prefix=["env", f"TMPDIR={made}"])
            self.wait_until(lambda: any(made.rglob(begun)) or not running.alive())
            running.signal(signal.SIGINT)
            stopped = running.wait(timeout=10)
            self.assertEqual((stopped.status, stopped.out), (130, '{"stopped":true}\n'), stopped)
            self.assertEqual(os.listdir(made), [], words)
            self.assertEqual(processes_of(running.process.pid), [], words)

    def test_a_dump_that_nobody_reads_stops_at_the_first_signal(self):
        os.mkfifo(self.slow.folder / "fifo")
        running = Running(["ingest", "job.toml", "--json", "--dump", "fifo"], self.slow.folder)
        self.wait_until(lambda: catches(running.process.pid, signal.SIGTERM) or not running.alive())
        running.signal(signal.SIGTERM)
        self.assertEqual(running.wait(timeout=20).status, 143)
        self.assert_done(self.slow.run("ingest", "--json"))

    def test_a_hang_up_that_was_ignored_at_the_start_stops_nothing(self):
        running = self.start(prefix=["nohup"])
        self.assertTrue(catches(running.process.pid, signal.SIGTERM))
        self.assertFalse(catches(running.process.pid, signal.SIGHUP))
        running.signal(signal.SIGHUP)
        running.signal(signal.SIGTERM)
        self.assertEqual(running.wait(timeout=20).status, 143)

    def test_a_signal_that_comes_twice_at_once_is_one_request(self):
        # timeout(1) signals a process and then its group.
        running = self.start()
        running.signal(signal.SIGTERM)
        running.signal(signal.SIGTERM)
        stopped = running.wait(timeout=5)
        self.assertEqual(stopped.status, 143, stopped)
        self.assertLess(stopped.json["rows"], ROWS)
        self.assertTrue((self.slow.folder / "state").exists())

    def test_after_a_kill_the_next_run_starts_cleanly(self):
        before = set(os.listdir("/dev/shm")), set(os.listdir("/tmp"))
        want = self.assert_done(self.slow.run("ingest", "--json"))
        session = None
        for _ in range(3):
            running = self.start("--set", "pipeline.allocation.decode=3")
            session = running.process.pid
            running.signal(signal.SIGKILL)
            running.wait()
            self.assertEqual(processes_of(session), [])
        outside = [name for name in self.slow.run_dir_files() if not name.startswith((".forebay/", "data/"))]
        self.assertEqual(set(outside) - {"job.toml", "dump.tsv", "state"}, set())
        result = self.assert_done(self.slow.run("ingest", "--json"))
        self.assertEqual(result["order_digest"], want["order_digest"])
        after = set(os.listdir("/dev/shm")), set(os.listdir("/tmp"))
        for old, new in zip(before, after):
            self.assertEqual([name for name in new - old if "forebay" in name and not any(each in name for each in BESIDE)],
                             [])

    def test_a_kill_during_indexing_leaves_no_partial_index(self):
        big = self.job("big")
        block = "".join(big.put_criteo(5000))
        big.put("data/day_0.tsv", block * 40)
        for _ in range(3):
            running = big.start("index", "--json")
            self.wait_until(lambda: (big.folder / ".forebay").exists() or not running.alive())
            running.signal(signal.SIGKILL)
            running.wait()
        result = self.assert_done(big.run("index", "--json"))
        self.assertEqual(result["rows"], 200000)


def catches(pid, number):
    """Returns whether a process handles the signal itself already."""
    caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(caught[1], 16) >> (number - 1) & 1 == 1


def processes_of(session):
    """Returns the living processes of a session, without zombies."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) == session:
            found.append(status.parent.name)
    return found


if __name__ == "__main__":
    main()
