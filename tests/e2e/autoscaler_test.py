"""cluster.scale obeyed at once: the job settles at the fewest workers that feed its trainer, from any start."""
import os
import signal
import subprocess
import threading
import time

from support.cluster import Cluster, ClusterScenario
from support.harness import FOREBAY, main
from user_functions_test import udf

# Obeys at once: starts workers, or stops the latest.
SCALE = """#!/bin/bash
# usage: scale.sh N    N workers from now on
cd "$(dirname "$0")" || exit 1
echo "$1" >>asked
touch pids
mapfile -t pids <pids
while ((${#pids[@]} < $1)); do
  "$FOREBAY_BIN" worker --join "$(cat .forebay/address)" --name "w-$(date +%N)" --cpus 1 --memory 200MiB \\
    --dir "$PWD/worker-${#pids[@]}" </dev/null >/dev/null 2>>workers.log &
  pids+=("$!")
done
while ((${#pids[@]} > $1)); do
  kill "${pids[-1]}"
  unset 'pids[-1]'
done
printf '%s\\n' "${pids[@]}" | grep . >pids || true
"""
ROWS, SPLITS = 3000, 36


class Trainer:
    """Takes the rows of `ingest --dump` at its own pace, as a trainer does: the demand, in splits a second."""

    def __init__(self, path, demand):
        self.path, self.demand = path, demand
        self.rows = 0
        os.mkfifo(path)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        due = time.monotonic()
        with open(self.path, "rb") as rows:
            for line in rows:
                self.rows += 1
                if self.rows % 50 == 0:
                    due = max(due + 50 * SPLITS / ROWS / self.demand, time.monotonic() - 0.1)
                    time.sleep(max(0, due - time.monotonic()))


class Autoscaler(ClusterScenario):
    def setUp(self):
        super().setUp()
        os.environ["FOREBAY_BIN"] = FOREBAY

    def start(self, demand, milliseconds, workers=0, **cluster):
        """A trainer of this demand; a worker makes 1000 / `milliseconds` splits a second."""
        job = self.job(order={"batch_size": 100, "epochs": 100000},
                       transform=[{**udf("waits", params=str(milliseconds)), "stage": "work"}],
                       pipeline={"memory": "300MiB"}, tuner={"mode": "off", "period": "1s"})
        job.put_criteo(ROWS, files=3)
        job.put("scale.sh", SCALE).chmod(0o755)
        self.trainer = Trainer(job.folder / "rows", demand)
        run = Cluster(self, job, "ingest", "--dump", "rows", local=False, scale=job.folder / "scale.sh", **cluster)
        if workers:
            subprocess.run([job.folder / "scale.sh", str(workers)], check=True)
        return run

    def asked(self, cluster):
        path = cluster.job.folder / "asked"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def stop(self, cluster):
        cluster.trainer.signal(signal.SIGTERM)
        cluster.trainer.wait(60)

    def seen_for(self, cluster, seconds, until=None):
        """Waits, or less long until `until` holds of the numbers asked for."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and cluster.trainer.alive():
            time.sleep(0.2)
            if until and until(self.asked(cluster)):
                return True
        return False

    def assert_settles(self, cluster, fewest, most, seconds=90):
        """Some number from `fewest` to `most` is asked for and stays."""
        quiet = 5
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.seen_for(cluster, 0.5)
            asked = self.asked(cluster)
            if asked and fewest <= asked[-1] <= most and not self.seen_for(cluster, quiet, lambda now: now != asked):
                return
        self.fail(f"{self.asked(cluster)}\n{cluster.trainer.stderr_now()}")

    # Bounds that hold on a busy machine, too, where a worker makes fewer.
    def test_a_job_settles_at_the_workers_that_feed_its_trainer_and_its_next_run_starts_with_them(self):
        # A worker makes at most 62 splits/s (16 ms each); 140 feed the trainer: 3 workers, or one more.
        cluster = self.start(demand=140, milliseconds=16)
        self.assert_settles(cluster, 3, 6)
        asked = self.asked(cluster)
        self.assertEqual(asked[0], 1, asked)
        self.assertLessEqual(max(asked), 8, asked)
        self.assertIn("0 of 1 worker are here", cluster.trainer.stderr_now())
        kept = cluster.job.folder / ".forebay/tuner"
        self.wait_until(lambda: list(kept.glob("workers-*")), 60)
        # A quarter of the demand is what one worker makes.
        self.trainer.demand = 35
        self.assertTrue(self.seen_for(cluster, 90, lambda now: now[-1] <= 2), self.asked(cluster))
        self.stop(cluster)
        needed = [path.read_text() for path in kept.glob("workers-*")]
        self.assertIn(needed, [[f"{count}\n"] for count in range(1, 7)])

    def test_too_many_workers_at_the_start_are_stopped_at_once(self):
        cluster = self.start(demand=60, milliseconds=16, workers=6)
        self.assert_settles(cluster, 1, 3)
        self.assertLessEqual(len(self.asked(cluster)), 4, self.asked(cluster))
        self.stop(cluster)


if __name__ == "__main__":
    main()
