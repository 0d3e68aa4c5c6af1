"""symmetric-run: the same command for every process; each finds its part in its launcher's variables."""
import json
import os
import signal
import subprocess

from support.harness import FOREBAY, Running, Scenario, main

ROWS = 6000
LAUNCHERS = ("SLURM_", "OMPI_", "PMI_", "RANK", "WORLD_SIZE", "MASTER_", "JOB_COMPLETION_INDEX")


class Symmetric(Scenario):
    def made(self, **tables):
        job = self.job(order={"batch_size": 100}, pipeline={"cpus": 1, "memory": "256MiB"}, tuner={"mode": "off"}, **tables)
        job.put_criteo(ROWS, files=2)
        return job

    def start(self, job, variables, *options):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
        return subprocess.Popen([FOREBAY, "symmetric-run", "job.toml", "--command", "ingest", "--json", *options],
                                cwd=job.folder, env={**clean, **variables}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def slurm(self, rank, processes):
        return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(processes), "SLURM_JOB_ID": str(os.getpid()),
                "SLURM_STEP_ID": "0", "SLURM_JOB_NODELIST": "localhost"}

    def test_rank_0_behaves_as_train_and_ingest_do(self):
        job = self.made()
        want = self.assert_done(job.run("ingest", "--json"))
        out, err = self.start(job, self.slurm(0, 1), "--set", "order.epochs=2").communicate(timeout=120)
        self.assertIn(f'"rows":{2 * ROWS}', out, err)
        first = self.start(job, self.slurm(0, 1))
        out, err = first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0, err)
        self.assertIn(want["order_digest"], out)
        refused = self.start(job, self.slurm(0, 1), "--set", "order.epochs=0")
        refused.communicate(timeout=120)
        self.assertEqual(refused.returncode, 2)

    def test_the_other_ranks_are_workers_under_every_launcher(self):
        self.job("twin", order={"batch_size": 100}).put_criteo(ROWS, files=2)
        want = self.assert_done(self.job("twin", order={"batch_size": 100}, tuner={"mode": "off"}).run("ingest", "--json"))
        job = self.made(transform=[{"op": "spin", "microseconds": 500}])
        number = str(os.getpid())
        for variables in (lambda rank: self.slurm(rank, 3),
                          lambda rank: {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "3",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE": "3", "PMIX_NAMESPACE": number},
                          lambda rank: {"RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3",
                                        "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": number}):
            ranks = [self.start(job, variables(rank), "--set", "cluster.min_workers=2") for rank in range(3)]
            said = [process.communicate(timeout=120) for process in ranks]
            self.assertEqual([process.returncode for process in ranks], [0, 0, 0], said)
            result = json.loads(said[0][0].splitlines()[-1])
            self.assertEqual((result["rows"], result["order_digest"]), (ROWS, want["order_digest"]))
            self.assertEqual(len(result["rows_by_node"]), 3, result)

    def test_another_rank_waits_for_the_head_and_stops_on_a_signal(self):
        job = self.made()
        (job.folder / ".forebay").mkdir()
        (job.folder / ".forebay/address").write_text("tcp://127.0.0.1:1\n")  # of a run that was killed
        other = self.start(job, self.slurm(1, 2))
        with self.assertRaises(subprocess.TimeoutExpired):
            other.communicate(timeout=2)
        other.send_signal(signal.SIGTERM)
        other.communicate(timeout=20)
        self.assertEqual(other.returncode, 143)
        lonely = self.start(job, self.slurm(1, 2), "--set", "run.stall_fail=1s")
        _, err = lonely.communicate(timeout=30)
        self.assertEqual(lonely.returncode, 1, err)
        self.assertIn("look at what rank 0 said", err)

    def test_another_rank_that_comes_after_the_end_has_nothing_to_do(self):
        job = self.made()
        first = self.start(job, self.slurm(0, 2))
        _, err = first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0, err)
        late = self.start(job, self.slurm(1, 2))
        _, err = late.communicate(timeout=60)
        self.assertEqual(late.returncode, 0, err)
        self.assertIn("rank 0 has ended its run already", err)
        of_another_launch = self.start(job, {**self.slurm(1, 2), "SLURM_STEP_ID": "1"}, "--set", "run.stall_fail=12s")
        _, err = of_another_launch.communicate(timeout=60)
        self.assertEqual(of_another_launch.returncode, 1, err)
        failed = self.start(job, self.slurm(0, 2), "--set", 'dataset.paths=["none-*.tsv"]')
        failed.communicate(timeout=30)
        self.assertEqual(failed.returncode, 2)
        after_a_refusal = self.start(job, self.slurm(1, 2))
        _, err = after_a_refusal.communicate(timeout=60)
        self.assertEqual(after_a_refusal.returncode, 2, err)
        self.assertIn("rank 0 ended with exit status 2", err)

    def test_without_a_launcher_it_is_refused(self):
        job = self.made()
        process = self.start(job, {})
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2, err)
        self.assertIn("start it by srun", err)

    def test_keys_are_made_once_and_only_their_owner_can_read_them(self):
        job = self.made()
        self.assert_done(Running(["keys", "new", "keys", "--json"], job.folder).wait())
        for path in (job.folder / "keys").rglob("*_secret"):
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)
        self.assert_refused(Running(["keys", "new", "keys"], job.folder).wait(), 2, "keys", "there already")
        self.assert_done(Running(["keys", "new", "keys", "--client", "node-7", "--json"], job.folder).wait())
        self.assertTrue((job.folder / "keys/clients/node-7.key").exists())
        self.assert_refused(Running(["keys", "old", "keys"], job.folder).wait(), 2, "keys new DIR")


if __name__ == "__main__":
    main()
