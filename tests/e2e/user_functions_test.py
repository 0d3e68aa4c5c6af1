"""Users' functions that end the process, or take its memory: never silently, never with status 0."""
import json
import os
import pathlib
import signal
import time

from support.cluster import Cluster, resident
from support.harness import FOREBAY, MIB, Scenario, main

FOLDER = pathlib.Path(os.environ.get("FOREBAY_USER_FUNCTIONS", pathlib.Path(FOREBAY).parent.parent / "tests/e2e"))
LIBRARY = FOLDER / "libe2e_user_functions.so"


def udf(function, library=LIBRARY, **more):
    return {"op": "udf", "library": str(library), "function": function, "columns": ["I1", "C1"], **more}


class UserFunctions(Scenario):
    def udf_job(self, *transforms, rows=3000, name="job", **tables):
        job = self.job(name, transform=list(transforms), **tables)
        job.put_criteo(rows)
        return job

    def assert_named(self, function, status, *words, before=(), params=""):
        job = self.udf_job(*before, udf(function, params=params))
        finished = job.run("ingest", "--json", timeout=30)
        number = len(before) + 1
        self.assert_refused(finished, status, f"[[transform]] number {number} (udf): {function} of {LIBRARY}", *words)
        self.assertNotIn("innocent of", finished.err, finished)


class Ends(UserFunctions):
    def test_an_exit_is_an_error_for_any_status(self):
        for function, call in (("calls_exit", "exit(0)"), ("calls_underscore_exit", "_exit(0)"),
                               ("calls_capital_exit", "_Exit(0)"), ("calls_quick_exit", "quick_exit;")):
            with self.subTest(function):
                self.assert_named(function, 1, f"called {call}", before=[udf("innocent")])

    def test_an_abort_and_a_crash_end_with_their_signal_and_are_named(self):
        for function, number in (("calls_abort", signal.SIGABRT), ("throws_out_of_noexcept", signal.SIGABRT),
                                 ("crashes", signal.SIGSEGV), ("divides", signal.SIGFPE),
                                 ("meets_a_short_file", signal.SIGBUS), ("traps", signal.SIGILL),
                                 ("overflows_its_stack", signal.SIGSEGV)):
            with self.subTest(function):
                self.assert_named(function, -number, number.name)

    def test_an_exit_in_a_functions_thread_names_the_loaded_functions(self):
        job = self.udf_job(udf("innocent"), udf("exits_in_a_thread_of_its_own"))
        self.assert_refused(job.run("ingest", "--json", timeout=30), 1, "called exit(0)", "no operator",
                            "[[transform]] number 1 (udf): innocent of", "[[transform]] number 2 (udf): exits_in_a_thread_of_its_own of")

    def test_a_forked_child_of_a_function_may_end_in_any_way(self):
        finished = self.udf_job(udf("forks")).run("ingest", "--json", timeout=30)
        self.assertEqual(self.assert_done(finished)["rows"], 3000)
        self.assertNotIn("called", finished.err, finished)

    def test_a_second_interrupt_inside_a_function_does_not_blame_the_function(self):
        job = self.udf_job(udf("leaks", params="30000"))
        running = job.start("ingest", "--json")
        self.wait_until(lambda: (job.folder / ".forebay/control").exists())
        running.signal(signal.SIGINT)
        time.sleep(0.1)
        running.signal(signal.SIGINT)
        finished = running.wait(20)
        self.assertEqual(finished.status, 130, finished)
        self.assertNotIn("called", finished.err, finished)

    def test_a_row_that_is_not_there_fails_the_run(self):
        job = self.udf_job(udf("reads_past_the_rows"))
        self.assert_refused(job.run("ingest", "--json"), 1, "reads_past_the_rows", "there is no row ")


class Loading(UserFunctions):
    def test_a_library_that_was_cut_short_is_refused(self):
        whole = LIBRARY.read_bytes()
        for size in (0, 17, 63, 100, 4096, len(whole) // 2, len(whole) - 1):
            with self.subTest(size):
                job = self.udf_job(name=f"cut-{size}")
                library = job.put("libcut.so", whole[:size])
                job.change(transform=[udf("innocent", library)])
                self.assert_refused(job.run("ingest", "--json"), 2, "[[transform]] number 1 (udf): library: ", "libcut.so",
                                    f"ends after {size} bytes", "cut short")

    def test_a_file_that_is_not_a_library_is_refused_at_once(self):
        job = self.udf_job()
        os.mkfifo(job.folder / "pipe.so")
        for name, word in ((".", "regular file"), ("pipe.so", "regular file"), ("job.toml", "no shared library")):
            job.change(transform=[udf("innocent", job.folder / name)])
            self.assert_refused(job.run("ingest", "--json", timeout=20), 2, "[[transform]] number 1 (udf): library: ", word)

    def test_a_library_that_exits_as_it_is_loaded_is_named(self):
        library = FOLDER / "libe2e_user_functions_exit.so"
        job = self.udf_job(udf("innocent", library))
        for command in ("ingest", "doctor"):
            finished = job.run(command, timeout=30)
            self.assertEqual(finished.status, 1, finished)
            self.assertIn(f"[[transform]] number 1 (udf): the constructors of {library} called exit(0)", finished.err)


class Memory(UserFunctions):
    limit = 160 * MIB

    def endless(self, *transforms, **tables):
        return self.udf_job(*transforms, rows=20000, order={"batch_size": 1000, "epochs": 100000},
                            pipeline={"memory": self.limit, "cpus": 2}, **tables)

    def assert_outgrown(self, finished, *loaded, likely):
        self.assert_refused(finished, 1, "pipeline.memory: ", "over the limit of 160 MiB", f"likely cause: {likely}",
                            *loaded, seconds=60)
        self.assertLess(finished.peak_bytes, 2 * self.limit, finished)

    def test_a_leak_fails_the_run_and_names_the_function_that_leaks(self):
        job = self.endless(udf("borrows"), udf("leaks", params="0"), udf("slow"), tuner={"mode": "off"})
        for actors in (1, 4):
            finished = job.run("ingest", "--json", "--set", f"pipeline.allocation.transform={actors}")
            self.assert_outgrown(finished, "[[transform]] number 1 (udf): borrows of", "[[transform]] number 3 (udf): slow of",
                                 likely=f"[[transform]] number 2 (udf): leaks of {LIBRARY}")

    def test_a_call_that_never_ends_is_found_too(self):
        self.assert_outgrown(self.endless(udf("innocent"), udf("leaks_in_one_call")).run("ingest", "--json"),
                             likely=f"[[transform]] number 2 (udf): leaks_in_one_call of {LIBRARY}")

    def test_no_actor_is_added_from_nine_tenths_of_the_limit_on(self):
        job = self.endless(udf("leaks", params="40"), tuner={"period": "100ms", "policy": "greedy"})
        running = job.start("ingest", "--json")
        log, full_at = job.folder / ".forebay/decisions.jsonl", None

        def decisions():
            return log.read_text().splitlines() if log.exists() else []

        while running.alive():
            if full_at is None and resident(running.process.pid) >= 0.9 * self.limit:
                full_at = len(decisions())
            time.sleep(0.02)
        self.assert_outgrown(running.wait(60), likely="[[transform]] number 1 (udf): leaks of")
        applied = [sum(json.loads(line)["applied"]["actors"]) for line in decisions()[full_at:]]
        self.assertTrue(applied, "no decision was taken near the limit")
        self.assertEqual(max(applied), applied[0], applied)


class OnAWorker(UserFunctions):
    def test_a_worker_ends_with_1_and_a_reason_and_the_job_goes_on(self):
        for function, words in (("exits_on_a_worker", ["called exit(0)"]),
                                ("leaks_on_a_worker", ["--memory: ", "over the limit of 300 MiB", "likely cause"])):
            with self.subTest(function):
                job = self.udf_job(udf(function), {"op": "spin", "microseconds": 20}, name=function, rows=20000,
                                   order={"batch_size": 512, "epochs": 2}, pipeline={"memory": "400MiB"})
                cluster = Cluster(self, job, min_workers=1)
                worker = cluster.worker().wait(60)
                cluster.workers.clear()
                self.assertEqual(worker.status, 1, worker)
                for word in (*words, f"[[transform]] number 1 (udf): {function} of {LIBRARY}"):
                    self.assertIn(word, worker.err, worker)
                finished, _ = cluster.finish()
                self.assertEqual(self.assert_done(finished)["rows"], 40000)


if __name__ == "__main__":
    main()
