"""Jobs on a real Slurm of one node, by the scripts of `forebay launch slurm`."""
import json
import pathlib
import tempfile
import unittest

from support.harness import FOREBAY, Running, Scenario, main
from support.processes import processes_below
from support.slurm_cluster import SlurmCluster, missing

ROWS = 6000


@unittest.skipIf(missing(), missing())
class Slurm(Scenario):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="forebay-slurm-")
        cls.addClassCleanup(cls.place.cleanup)
        cls.cluster = SlurmCluster(pathlib.Path(cls.place.name) / "slurm")
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def made(self, name="job", slow=0, **tables):
        """Makes a job of ROWS rows, `slow` microseconds each."""
        steps = {"transform": [{"op": "spin", "microseconds": slow}]} if slow else {}
        job = self.job(name, order={"batch_size": 100}, pipeline={"cpus": 1, "memory": "256MiB"},
                       tuner={"mode": "off"}, **steps, **tables)
        job.put_criteo(ROWS, files=2)
        return job

    def launch(self, job, *options):
        done = self.cluster.run(FOREBAY, "launch", "slurm", "job.toml", "--command", "ingest", "--json", *options,
                                cwd=job.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def wait_for(self, number, *states, seconds=90):
        self.wait_until(lambda: self.cluster.state(number) in states, seconds)

    def logged(self, job, number, kind="out"):
        path = job.folder / f".forebay/logs/slurm-{number}.{kind}"
        return path.read_text() if path.exists() else ""

    def results(self, job, number):
        return [json.loads(line) for line in self.logged(job, number).splitlines() if line.startswith("{")]

    def wait_for_batches(self, job, number, known=0):
        """Waits until the run reports rows: indexing is over, batches flow."""
        self.wait_until(lambda: self.logged(job, number, "err").count("rows") > known, 60)

    def assert_nothing_left(self, job):
        self.wait_until(lambda: not processes_below(job.folder), 30)
        left = job.run_dir_files()
        self.assertEqual([name for name in left if name.endswith(("/started", "/address", ".part"))], [])
        self.wait_until(lambda: not self.cluster.run("squeue", "--noheader").stdout, 60)

    def test_a_submitted_job_runs_to_its_end_with_the_local_digest(self):
        job = self.made()
        want = self.assert_done(job.run("ingest", "--json"))
        said = self.launch(job, "--workers", "0", "--submit")
        self.assertIn(str(job.folder / ".forebay/launch/job.sbatch"), said["files"])
        self.wait_for(said["job_id"], "COMPLETED")
        self.assertEqual(said["output"], str(job.folder / f".forebay/logs/slurm-{said['job_id']}.out"))
        [result] = self.results(job, said["job_id"])
        self.assertEqual((result["rows"], result["order_digest"]), (ROWS, want["order_digest"]))
        self.assert_nothing_left(job)

    def test_a_folder_with_spaces_and_quotes_is_a_folder_and_one_that_slurm_would_rename_is_refused(self):
        renamed = self.made("100%j")
        self.assert_refused(Running(["launch", "slurm", "job.toml"], renamed.folder).wait(), 2, "run.dir", "100%j")
        job = self.made("it's \"here\" $HOME")
        said = self.launch(job, "--workers", "0", "--submit")
        self.wait_for(said["job_id"], "COMPLETED", "FAILED")
        self.assertEqual([result["rows"] for result in self.results(job, said["job_id"])], [ROWS],
                         self.logged(job, said["job_id"], "err"))
        self.assert_nothing_left(job)

    def test_workers_join_and_the_batches_stay_the_same(self):
        job = self.made(slow=1000)
        want = self.assert_done(self.made("twin").run("ingest", "--json"))
        said = self.launch(job, "--workers", "2", "--set", "cluster.min_workers=2")
        script = next(path for path in said["files"] if path.endswith("job.sbatch"))
        number = self.cluster.submit("--nodes=1", "--ntasks-per-node=3", script)
        self.wait_for(number, "COMPLETED", "FAILED", seconds=180)
        logs = "".join(path.read_text() for path in (job.folder / ".forebay/logs").glob("slurm-*"))
        self.assertEqual(self.cluster.state(number), "COMPLETED", logs[-3000:])
        [result] = self.results(job, number)
        self.assertEqual((result["rows"], result["order_digest"]), (ROWS, want["order_digest"]))
        self.assertEqual(len([rows for rows in result["rows_by_node"].values() if rows > 0]), 3, result)
        self.assert_nothing_left(job)

    def test_scale_sh_adds_workers_and_takes_them_away(self):
        job = self.made(slow=5000)
        said = self.launch(job, "--workers", "0", "--submit")
        number, scale = said["job_id"], job.folder / ".forebay/launch/scale.sh"
        self.wait_for_batches(job, number)
        named = self.cluster.job(number)["JobName"] + "-worker"

        def workers():
            return self.cluster.run("squeue", "--noheader", "--name", named, "--states=RUNNING").stdout.count("\n")
        for wanted in (2, 1):
            done = self.cluster.run(scale, str(wanted))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.wait_until(lambda: workers() == wanted, 60)
        self.wait_until(lambda: "working" in Running(["status", "--dir", job.folder], self.folder).wait().out, 60)
        self.cluster.run("scancel", number)
        self.wait_for(number, "CANCELLED")
        self.assert_nothing_left(job)

    def test_symmetric_run_under_srun(self):
        job = self.made(slow=1000)
        want = self.assert_done(self.made("twin").run("ingest", "--json"))
        done = self.cluster.run("srun", "--ntasks=3", "--cpus-per-task=1", "--mem-per-cpu=400", "--kill-on-bad-exit=1",
                                FOREBAY, "symmetric-run", "job.toml", "--command", "ingest", "--json",
                                "--set", "cluster.min_workers=2", cwd=job.folder, timeout=180)
        self.assertEqual(done.returncode, 0, done.stderr)
        [result] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertEqual((result["rows"], result["order_digest"]), (ROWS, want["order_digest"]))
        self.assertEqual(len(result["rows_by_node"]), 3, result)
        self.assert_nothing_left(job)

    def test_a_refused_job_fails_with_its_exit_status(self):
        job = self.made()
        said = self.launch(job, "--workers", "0")
        job.change(dataset={"paths": ["none/*.tsv"]})
        number = self.cluster.submit(said["files"][0])
        self.wait_for(number, "FAILED")
        self.assertEqual(self.cluster.job(number)["ExitCode"], "2:0")
        self.assertIn("forebay: ", self.logged(job, number, "err"))
        self.assert_nothing_left(job)

    def test_scancel_stops_in_order_and_leaves_nothing(self):
        job = self.made(slow=3000)
        number = self.launch(job, "--workers", "0", "--submit")["job_id"]
        self.wait_for_batches(job, number)
        self.cluster.run("scancel", number)
        self.wait_for(number, "CANCELLED")
        self.wait_until(lambda: self.results(job, number), 30)
        [stopped] = self.results(job, number)
        self.assertLess(stopped["rows"], ROWS)
        self.assertTrue((job.folder / f".forebay/slurm-{number}.state").stat().st_size)
        self.assert_nothing_left(job)

    def test_a_requeued_job_resumes_and_misses_no_row(self):
        job = self.made(slow=3000)
        number = self.launch(job, "--workers", "0", "--submit")["job_id"]
        want = self.assert_done(self.made("twin").run("ingest", "--json"))
        self.wait_for_batches(job, number)
        self.assertEqual(self.cluster.run("scontrol", "requeue", number).returncode, 0)
        self.wait_until(lambda: self.results(job, number), 60)
        self.wait_for(number, "COMPLETED", seconds=150)
        first, second = self.results(job, number)
        self.assertEqual(self.cluster.job(number)["Restarts"], "1")
        self.assertEqual(first["rows"] + second["rows"], ROWS)
        self.assertLess(second["rows"], ROWS)
        self.assertEqual(second["order_digest"], want["order_digest"])
        self.assert_nothing_left(job)


if __name__ == "__main__":
    main()
