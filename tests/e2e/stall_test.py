"""A stage without progress is named, and fails the run after a bound."""
from support.harness import Scenario, main


class Stall(Scenario):
    def setUp(self):
        super().setUp()
        # A second a row: the first split takes minutes in the transform stage.
        self.stuck = self.job(transform=[{"op": "spin", "microseconds": 1_000_000}], run={"stall_after": "1s"})
        self.stuck.put_criteo(2000)

    def test_a_stuck_stage_is_named_with_the_reason(self):
        running = self.stuck.start("ingest", "--json", "--set", "run.stall_fail=60s")
        self.wait_until(lambda: "transform" in running.stderr_now(), seconds=15)
        self.assertTrue(running.alive())
        running.signal(15)
        finished = running.wait(timeout=10)
        self.assertEqual(finished.status, 143, finished)

    def test_a_stage_stuck_for_too_long_fails_the_run(self):
        finished = self.stuck.run("ingest", "--json", "--set", "run.stall_fail=3s", timeout=30)
        self.assertEqual(finished.status, 1, finished)
        self.assertEqual(finished.out, "", finished)
        self.assertIn("transform", finished.err.splitlines()[-1], finished)
        self.assertTrue(finished.err.splitlines()[-1].startswith("forebay: "), finished)
        self.assertLess(finished.seconds, 15)

    def test_a_slow_stage_is_not_reported_as_stuck(self):
        slow = self.job("slow", order={"batch_size": 100}, run={"stall_after": "2s", "stall_fail": "4s"},
                        transform=[{"op": "spin", "microseconds": 3000}])
        slow.put_criteo(2500)
        finished = slow.run("ingest", "--json")
        self.assert_done(finished)
        self.assertNotIn("stall", finished.err.lower())


if __name__ == "__main__":
    main()
