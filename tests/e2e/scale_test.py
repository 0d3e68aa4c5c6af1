"""A job that asks for its own workers: cluster.scale starts real ones."""
import os
import signal

from support.cluster import Cluster, ClusterScenario
from support.harness import FOREBAY, main
from support.processes import processes_below

# Does on this machine alone what a launcher's scale.sh does.
SCALE = """#!/bin/bash
# usage: scale.sh N    N workers from now on
cd "$(dirname "$0")" || exit 1
echo "$1" >>asked
touch started
for ((i = $(wc -l <started); i < $1; ++i)); do
  "$FOREBAY_BIN" worker --join "$(cat .forebay/address)" --name "asked-$i" --cpus 1 --memory 300MiB \\
    --dir "$PWD/worker-$i" </dev/null >/dev/null 2>"worker-$i.log" &
  echo "$!" >>started
done
"""


class Scale(ClusterScenario):
    def setUp(self):
        super().setUp()
        os.environ["FOREBAY_BIN"] = FOREBAY

    def test_a_job_requests_the_workers_that_it_needs_and_they_end_with_it(self):
        # 800,000 rows of 20 µs are 16 s of one worker's work: enough time to see that one worker is too slow for the
        # trainer.
        job = self.work(epochs=40, tuner={"period": "1s"})
        digest = self.digest_alone(job)
        job.put("scale.sh", SCALE).chmod(0o755)
        cluster = Cluster(self, job, local=False, max_workers=3, scale=job.folder / "scale.sh")
        finished, _ = cluster.finish()
        result = self.assert_same_run(finished, digest, 800000)
        asked = [int(line) for line in (job.folder / "asked").read_text().split()]
        self.assertEqual(asked[0], 1, finished)  # without a worker, one to learn from
        self.assertEqual(max(asked), 3, finished)
        made = {name for name, rows in result["rows_by_node"].items() if rows > 0}
        self.assertLessEqual(made, {"asked-0", "asked-1", "asked-2"}, finished)
        self.assertGreaterEqual(len(made), 2, finished)
        self.assertIn("0 of 1 worker are here", finished.err)
        self.wait_until(lambda: not processes_below(job.folder), 30)
        self.assertFalse((job.folder / ".forebay/address").exists())
        logs = [path.read_text() for path in job.folder.glob("worker-*.log")]
        self.assertTrue(all("made" in log for log in logs), logs)  # ended of themselves

    def test_a_launcher_that_fails_is_named_and_the_job_goes_on(self):
        job = self.work(epochs=1, tuner={"period": "1s"})
        digest = self.digest_alone(job)
        job.put("scale.sh", "#!/bin/sh\nexit 3\n").chmod(0o755)
        cluster = Cluster(self, job, local=False, scale=job.folder / "scale.sh")
        self.wait_until(lambda: "scale.sh 1\" ended with exit status 3" in cluster.trainer.stderr_now())
        cluster.worker(name="by-hand")
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 20000)

    def test_a_stopped_job_leaves_no_launcher_behind(self):
        # The launcher's own child must end, too.
        script = "#!/bin/bash\ntouch asked\n'{0}/napper' 600\n".format(self.folder)
        os.symlink("/bin/sleep", self.folder / "napper")
        for command, number, status in (("ingest", signal.SIGTERM, 143), ("ingest", signal.SIGINT, 130),
                                        ("train", signal.SIGTERM, 143), ("train", signal.SIGINT, 130)):
            with self.subTest(command=command, status=status):
                job = self.work(epochs=400, tuner={"period": "1s"}, trainer={"model": "emulated", "step": "20ms"})
                job.put("scale.sh", script).chmod(0o755)
                (job.folder / "asked").unlink(missing_ok=True)
                cluster = Cluster(self, job, command, local=False, scale=job.folder / "scale.sh")
                self.wait_until(lambda: (job.folder / "asked").exists() and processes_below(self.folder / "napper"))
                cluster.trainer.signal(number)
                finished, _ = cluster.finish(timeout=30)
                self.assertEqual(finished.status, status, finished)
                self.assertIn("still ran at the end of the run and was ended", finished.err)
                self.assertEqual(processes_below(self.folder / "napper"), [])
                self.assertEqual(processes_below(job.folder / "scale.sh"), [])


if __name__ == "__main__":
    main()
