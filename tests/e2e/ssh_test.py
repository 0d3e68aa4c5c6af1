"""Jobs over a real sshd on loopback, by the scripts of `forebay launch ssh`."""
import getpass
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from support.harness import Running, Scenario, main
from support.processes import processes_below
from support.ssh_host import SshHost, missing

ROWS = 6000


@unittest.skipIf(missing(), missing())
class Ssh(Scenario):
    def setUp(self):
        super().setUp()
        self.host = SshHost(self.folder / "sshd", ["node-0", "node-1", "node-2"])
        self.addCleanup(self.host.stop)
        self.host.start()
        self.environment = {**os.environ, "FOREBAY_REMOTE_DIR": str(self.folder / "remote/job")}

    def launched(self, workers=0, slow=0, name="job", sets=()):
        """Makes a job and its launch folder for the test's own sshd."""
        steps = {"transform": [{"op": "spin", "microseconds": slow}]} if slow else {}
        job = self.job(name, order={"batch_size": 100}, pipeline={"cpus": 1, "memory": "256MiB"},
                       tuner={"mode": "off"}, run={"grace": "5s"}, **steps)
        job.put_criteo(ROWS, files=2)
        hosts = job.put("my-hosts", "# the test's\nnode-0 slots=1 role=trainer\n"
                        f"{getpass.getuser()}@node-1:{self.host.port} slots=2 role=worker\nnode-2\n")
        said = self.assert_done(Running(["launch", "ssh", "job.toml", "--command", "ingest", "--json", "--workers", workers,
                                         "--hosts", hosts, *sets], job.folder).wait())
        folder = pathlib.Path(said["files"][0]).parent
        shutil.copy(self.host.configuration, folder / "ssh_config")
        return job, folder

    def start(self, folder, *words):
        return subprocess.Popen([folder / "start.sh", *words], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def finished(self, process, seconds=120):
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            self.fail(f"start.sh did not end\n{out}\n{err}\n{self.host.log()}")
        return process.returncode, out, err

    def assert_nothing_left(self, job):
        self.wait_until(lambda: not processes_below(self.folder / "remote") + processes_below(job.folder), 30)
        self.assertFalse((self.folder / "remote").exists())
        left = job.run_dir_files()
        self.assertEqual([name for name in left if name.endswith(("/running", "/address", ".part", ".host"))], [])

    def test_a_job_runs_on_its_host_and_its_log_comes_back(self):
        job, folder = self.launched()
        want = self.assert_done(job.run("ingest", "--json"))
        status, out, err = self.finished(self.start(folder))
        self.assertEqual(status, 0, err)
        result = json.loads(out.splitlines()[-1])
        self.assertEqual((result["rows"], result["order_digest"]), (ROWS, want["order_digest"]))
        self.assertEqual((job.folder / ".forebay/logs/ssh-trainer.out").read_text(), out)
        self.assert_nothing_left(job)

    def test_a_folder_with_spaces_and_quotes_is_a_folder(self):
        self.environment["FOREBAY_REMOTE_DIR"] = str(self.folder / "remote/it's \"far\" $HOME")
        job, folder = self.launched(name="it's \"here\" $HOME 50%")
        status, out, err = self.finished(self.start(folder))
        self.assertEqual(status, 0, err)
        self.assertEqual(json.loads(out.splitlines()[-1])["rows"], ROWS)

    def test_workers_join_from_their_hosts_and_scale_sh_starts_and_stops_them(self):
        job, folder = self.launched(workers=1, slow=3000, sets=["--set", "cluster.min_workers=1"])
        twin, _ = self.launched(name="twin")
        want = self.assert_done(twin.run("ingest", "--json"))
        process = self.start(folder)

        def working():
            asked = Running(["status", "--dir", job.folder, "--json"], self.folder).wait()
            nodes = asked.json.get("nodes", []) if asked.status == 0 else []
            return sum(node["state"] == "working" for node in nodes if node["name"] != "local")
        for wanted in (1, 3, 2):
            if wanted != 1:
                scaled = subprocess.run([folder / "scale.sh", str(wanted)], env=self.environment, stdin=subprocess.DEVNULL,
                                        capture_output=True, text=True, timeout=60)
                self.assertEqual(scaled.returncode, 0, scaled.stderr)
            self.wait_until(lambda: working() == wanted or process.poll() is not None, 60)
        status, out, err = self.finished(process)
        self.assertEqual(status, 0, err)
        result = json.loads(out.splitlines()[-1])
        self.assertEqual((result["rows"], result["order_digest"]), (ROWS, want["order_digest"]))
        self.assertGreaterEqual(len(result["rows_by_node"]), 3, result)  # The third worker may leave before its first split.
        self.assertIn("splits", (job.folder / ".forebay/logs/ssh-worker-1.log").read_text())
        self.assert_nothing_left(job)

    def test_the_trainers_exit_status_is_passed_on(self):
        job, folder = self.launched()
        job.change(dataset={"paths": ["none/*.tsv"]})
        status, out, err = self.finished(self.start(folder))
        self.assertEqual((status, out), (2, ""), err)
        self.assertIn("forebay: ", err)
        self.assert_nothing_left(job)

    def test_sigterm_and_stop_sh_stop_in_order(self):
        job, folder = self.launched(slow=3000)
        for way in ("signal", "script"):
            process = self.start(folder)
            log = self.folder / "remote/job/trainer.err"
            self.wait_until(lambda: log.exists() and "rows" in log.read_text(), 60)
            if way == "signal":
                process.send_signal(signal.SIGTERM)
            else:
                subprocess.run([folder / "stop.sh"], env=self.environment, stdin=subprocess.DEVNULL, check=True, timeout=60)
            status, out, err = self.finished(process)
            self.assertEqual(status, 143, err)
            self.assertLess(json.loads(out.splitlines()[-1])["rows"], ROWS)
            self.assertTrue((job.folder / ".forebay/ssh.state").stat().st_size)
            self.assert_nothing_left(job)

    def test_a_task_whose_number_cannot_be_written_is_ended_and_reported(self):
        _, folder = self.launched()
        place = self.folder / "remote/full"
        (place / "trainer.new").mkdir(parents=True)  # so nothing can be written there
        shutil.copy(folder / "task.sh", place)
        done = subprocess.run(["bash", place / "task.sh", "start", "trainer", "sleep", "600"], timeout=60,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(f"trainer did not start within 10 s; look whether {place} is full", done.stderr)
        self.wait_until(lambda: not processes_below(place), 30)

    def test_stop_kills_no_process_that_took_an_old_number(self):
        job, folder = self.launched()
        place = self.folder / "remote/other"
        place.mkdir(parents=True)
        shutil.copy(folder / "task.sh", place)
        with subprocess.Popen(["sleep", "60"]) as bystander:
            (place / "trainer.pid").write_text(f"{bystander.pid} 12345\n")
            done = subprocess.run(["bash", place / "task.sh", "stop", "trainer", "1"], timeout=30)
            self.assertEqual((done.returncode, bystander.poll()), (0, None))
            bystander.kill()


if __name__ == "__main__":
    main()
