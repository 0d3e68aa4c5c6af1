"""A job on several nodes trains on the same rows in the same order while nodes join, stall and die."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import time

from support import harness
from support.cluster import Cluster, ClusterScenario, Head, free_port, resident
from support.processes import processes_below

MIB = harness.MIB


def fill(path):
    """Writes a file until its disk is full."""
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while file.write(bytes(1024)):
            pass


class SameOrder(ClusterScenario):
    def test_any_number_of_workers_gives_the_order_of_one_machine(self):
        job = self.work()
        digest = self.digest_alone(job)
        for workers, local in ((1, False), (2, True), (3, False), (8, False)):
            cluster = Cluster(self, job, local=local, min_workers=workers)
            for _ in range(workers):
                cluster.worker()
            finished, ends = cluster.finish()
            result = self.assert_same_run(finished, digest, 80000)
            self.assertEqual({end.status for end in ends.values()}, {0}, [str(end) for end in ends.values()])
            self.assertEqual("local" in result["rows_by_node"], local, finished)
            if workers <= 3:
                self.assertEqual(len([name for name in result["rows_by_node"] if name != "local"]), workers, finished)

    def test_workers_fuse_the_stages_that_the_trainer_fuses(self):
        job = self.work(tuner={"period": "0.2s"})  # The log begins with a worker's first period.
        digest = self.digest_alone(job)
        for how, stages in {'"auto"': ["load+decode+shuffle+transform"], "false": ["load", "decode", "shuffle", "transform"],
                            '[["load", "decode"]]': ["load+decode", "shuffle", "transform"]}.items():
            job.change(pipeline={"fuse": json.loads(how)})
            cluster = Cluster(self, job, local=False, min_workers=1)
            cluster.worker()
            finished, _ = cluster.finish()
            result = self.assert_same_run(finished, digest, 80000)
            self.assertEqual(["+".join(group) for group in result["fused"]], [name for name in stages if "+" in name])
            with open(job.folder / ".forebay" / "decisions-w1.jsonl") as log:
                seen = json.loads(log.readline())["layout"]["stages"]
            self.assertEqual([stage["name"] for stage in seen], stages)

    def test_workers_that_join_and_leave_in_order_change_nothing(self):
        job = self.work(epochs=6)
        digest = self.digest_alone(job)
        cluster = Cluster(self, job, local=False)
        cluster.worker("--json")

        left = []

        def come_and_go(draw):
            cluster.worker("--json")
            name = draw.choice(sorted(cluster.workers)[:-1])
            leaving = cluster.workers.pop(name)
            if not left:  # The first one works before it goes, the others go whenever it comes.
                self.wait_until(lambda: self.splits_made(job).get(name, 0) > 0)
            leaving.signal(signal.SIGTERM)
            left.append(leaving.wait(30))
            self.assertIn(left[-1].status, (143, 0))

        self.harass(cluster, come_and_go, times=5)
        finished, ends = cluster.finish()
        self.assert_same_run(finished, digest, 120000)
        self.assertGreater(left[0].json["splits"], 0, left[0])

    def test_training_on_workers_ends_with_the_loss_of_training_alone(self):
        job = self.work(rows=6000, trainer={"model": "emulated", "step": "1ms"})
        alone = self.assert_done(job.run("train", "--json"))
        cluster = Cluster(self, job, "train", "--restart", local=False)
        cluster.worker()
        finished, _ = cluster.finish()
        self.assertEqual(self.assert_done(finished)["order_digest"], alone["order_digest"])

    def test_damaged_rows_on_workers_are_quarantined_once(self):
        job = self.work(epochs=2)
        lines = harness.criteo_lines(500, 9, start=90000)
        lines[7] = "x" + lines[7]
        lines[300] = "1\t2\n"
        job.put("data/day_9.tsv", "".join(lines))
        job.change(dataset={"bad_rows": 2})
        digest = self.digest_alone(job)
        alone = (job.folder / ".forebay/quarantine.tsv").read_text()
        cluster = Cluster(self, job, local=False)
        cluster.worker()
        cluster.worker()
        finished, _ = cluster.finish()
        result = self.assert_same_run(finished, digest, 2 * 20498)
        self.assertEqual(result["bad_rows"], 2)
        self.assertEqual((job.folder / ".forebay/quarantine.tsv").read_text(), alone)


class Faults(ClusterScenario):
    def test_workers_killed_repeatedly_lose_no_row(self):
        job = self.work(epochs=8)
        digest = self.digest_alone(job)
        cluster = Cluster(self, job, local=False, heartbeat="50ms")
        for _ in range(3):
            cluster.worker()

        def kill_one(draw):
            cluster.kill(draw.choice(sorted(cluster.workers)))
            cluster.worker()

        self.harass(cluster, kill_one, times=20)
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 160000)
        self.assertEqual(processes_below(job.folder), [])

    def test_frozen_workers_that_come_back_change_nothing(self):
        job = self.work(epochs=6)
        digest = self.digest_alone(job)
        cluster = Cluster(self, job, local=False, heartbeat="50ms", lease="500ms", rejoin="5s")
        for _ in range(3):
            cluster.worker()

        def freeze(draw):
            worker = cluster.workers[draw.choice(sorted(cluster.workers))]
            worker.signal(signal.SIGSTOP)
            time.sleep(draw.choice((0.1, 0.2, 0.9)))
            worker.signal(signal.SIGCONT)

        self.harass(cluster, freeze, times=8)
        finished, ends = cluster.finish()
        self.assert_same_run(finished, digest, 120000)
        self.assertEqual({end.status for end in ends.values()}, {0}, [str(end) for end in ends.values()])

    def test_workers_end_in_order_when_the_trainer_is_killed_for_good(self):
        job = self.work(epochs=8)
        cluster = Cluster(self, job, local=False, heartbeat="50ms", lease="500ms", rejoin="1s", min_workers=4)
        for _ in range(4):
            cluster.worker()
        # Then each has splits that it announces until its end.
        self.wait_until(lambda: min(self.splits_made(job).values(), default=0) > 2)
        cluster.trainer.signal(signal.SIGKILL)
        _, ends = cluster.finish()
        for end in ends.values():
            self.assertIn("the job's trainer has gone and not come back", end.err)
            self.assertEqual(end.status, 0, end)

    def test_a_head_killed_during_a_run_restarts_from_its_store(self):
        job = self.work(epochs=8)
        digest = self.digest_alone(job)
        head = Head(self, job.folder)
        cluster = Cluster(self, job, head=head.address, local=False)
        for _ in range(2):
            cluster.worker()

        def kill_head(_):
            head.kill()
            head.start()

        self.harass(cluster, kill_head, times=5, pause=(0.3, 0.8))
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 160000)

    def test_a_trainer_stopped_during_a_run_resumes_with_other_workers(self):
        job = self.work(epochs=8)
        digest = self.digest_alone(job)
        port = free_port()
        cluster = Cluster(self, job, "ingest", "--state", "state.json", local=False,
                          listen=f"tcp://127.0.0.1:{port}")
        cluster.worker()
        cluster.worker()
        time.sleep(1)
        cluster.trainer.signal(signal.SIGTERM)
        stopped = cluster.trainer.wait()
        self.assertEqual(stopped.status, 143, stopped)
        for worker in cluster.workers.values():
            self.assertEqual(worker.wait(30).status, 0)
        cluster.workers = {}
        again = Cluster(self, job, "ingest", "--resume", "state.json", local=False,
                        listen=f"tcp://127.0.0.1:{port}")
        again.worker(name="later")
        finished, _ = again.finish()
        result = self.assert_done(finished)
        self.assertEqual(result["order_digest"], digest)
        self.assertEqual(result["rows"] + stopped.json["rows"], 160000)

    def test_joins_kills_and_freezes_at_once_lose_no_row(self):
        job = self.work(epochs=10)
        digest = self.digest_alone(job)
        head = Head(self, job.folder)
        cluster = Cluster(self, job, head=head.address, local=True, heartbeat="50ms")
        for _ in range(3):
            cluster.worker()

        def harm(draw):
            what = draw.randrange(4)
            if what == 0:
                cluster.kill(draw.choice(sorted(cluster.workers)))
                cluster.worker()
            elif what == 1:
                worker = cluster.workers[draw.choice(sorted(cluster.workers))]
                worker.signal(signal.SIGSTOP)
                time.sleep(draw.choice((0.1, 0.6)))
                worker.signal(signal.SIGCONT)
            elif what == 2:
                head.kill()
                head.start()
            else:
                cluster.worker()
                leaving = cluster.workers.pop(sorted(cluster.workers)[0])
                leaving.signal(signal.SIGTERM)
                leaving.wait(30)

        self.harass(cluster, harm, times=16)
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 200000)


    def test_a_worker_joins_the_head_of_a_job_and_not_its_trainer(self):
        job = self.work(epochs=1)
        head = Head(self, job.folder)
        cluster = Cluster(self, job, head=head.address, local=False)
        told = r"workers join the head at (\S+) and bring their splits to (\S+)"
        self.wait_until(lambda: re.search(told, cluster.trainer.stderr_now()), 20)
        join, trainer = re.search(told, cluster.trainer.stderr_now()).groups()
        self.assertEqual((join, cluster.address_file.read_text()), (head.address, head.address + "\n"))
        lost = harness.Running(["worker", "--join", trainer, "--name", "lost", "--cpus", "1", "--memory", "300MiB",
                                "--patience", "2s"], job.folder).wait(timeout=60)
        self.assertEqual(lost.status, 1, lost)
        self.assertIn("the workers of a job with cluster.head join that head", lost.err.splitlines()[-1])
        cluster.worker()
        finished, _ = cluster.finish()
        self.assertEqual(self.assert_done(finished)["address"], head.address)

    def test_a_head_reports_a_full_disk_and_goes_on_when_there_is_space(self):
        job = self.work(epochs=2)
        digest = self.digest_alone(job)
        disk = job.folder / "disk"
        disk.mkdir()
        mount = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c",
                 'mount -t tmpfs -o size=256k none disk && exec "$0" "$@"']
        head = Head(self, job.folder, store="disk/store", prefix=mount)
        if not head.running.alive() and "join at" not in head.running.stderr_now():
            self.skipTest("cannot mount a disk of its own: " + head.running.stderr_now())
        filling = pathlib.Path(f"/proc/{head.running.process.pid}/root{disk}/filling")
        fill(filling)
        cluster = Cluster(self, job, head=head.address, local=False)
        cluster.worker()
        self.wait_until(lambda: "has no room on its disk" in cluster.trainer.stderr_now(), 20)
        # Repeated: the store's own handling of a full disk must not end the head.
        refusals = "the head cannot be used: the store"
        self.wait_until(lambda: cluster.trainer.stderr_now().count(refusals) >= 2 or not head.running.alive(), 20)
        filling.unlink()
        finished, ends = cluster.finish()
        self.assert_same_run(finished, digest, 40000)
        self.assertEqual({end.status for end in ends.values()}, {0}, [str(end) for end in ends.values()])
        self.assertIn("the store can be written again", head.running.stderr_now())


class Bounds(ClusterScenario):
    def test_no_process_exceeds_its_memory_limit_when_one_side_is_slow(self):
        for slow in ("trainer", "worker"):
            job = self.work(epochs=3, microseconds=0 if slow == "trainer" else 60,
                            trainer={"model": "emulated", "step": "8ms" if slow == "trainer" else "0ms"})
            cluster = Cluster(self, job, "train", "--restart", local=False)
            for _ in range(2):
                cluster.worker()
            peaks = {}
            while cluster.trainer.alive():
                for name, running in {"trainer": cluster.trainer, **cluster.workers}.items():
                    peaks[name] = max(peaks.get(name, 0), resident(running.process.pid))
                time.sleep(0.02)
            finished, _ = cluster.finish()
            self.assert_done(finished)
            self.assertLess(peaks.pop("trainer"), 400 * MIB, finished)
            for name, peak in peaks.items():
                self.assertLess(peak, 300 * MIB, name)

    def test_missing_and_dead_workers_are_reported_within_seconds(self):
        job = self.work(epochs=50)
        cluster = Cluster(self, job, local=False, heartbeat="50ms")
        self.wait_until(lambda: "no worker has joined" in cluster.trainer.stderr_now(), 10)
        cluster.worker(name="only")
        self.wait_until(lambda: "only" in cluster.trainer.stderr_now(), 20)
        time.sleep(0.5)
        cluster.kill("only")
        self.wait_until(lambda: "worker only was lost" in cluster.trainer.stderr_now(), 10)
        self.wait_until(lambda: "no worker is left" in cluster.trainer.stderr_now(), 10)

    def test_a_head_that_is_silent_or_busy_is_reported_within_seconds(self):
        job = self.work(rows=2000, epochs=1)
        nobody = Cluster(self, job, head=f"tcp://127.0.0.1:{free_port()}", local=False)
        self.wait_until(lambda: "the head has not been reached" in nobody.trainer.stderr_now(), 10)
        nobody.trainer.signal(signal.SIGTERM)
        self.assertEqual(nobody.trainer.wait().status, 143)
        head = Head(self, self.folder)
        first = Cluster(self, job, head=head.address, local=False)
        self.wait_until(lambda: "no worker has joined yet" in first.trainer.stderr_now(), 10)
        second = Cluster(self, job, "ingest", "--set", "run.dir=second", head=head.address, local=False)
        second.address_file = job.folder / "second/address"
        self.wait_until(lambda: "takes one at a time" in second.trainer.stderr_now(), 10)
        self.assertNotIn("no worker", second.trainer.stderr_now())
        head.kill()
        self.wait_until(lambda: "the head has not been reached" in first.trainer.stderr_now(), 10)

    def test_two_trainers_of_one_job_on_one_head_run_one_after_the_other(self):
        job = self.work(epochs=2)
        digest = self.digest_alone(job)
        twin = harness.Job(self.folder / "twin", **job.tables)
        shutil.copytree(job.folder / "data", twin.folder / "data")
        head = Head(self, self.folder)
        first = Cluster(self, job, head=head.address, local=False, min_workers=1)
        self.wait_until(lambda: "is open" in head.running.stderr_now())
        second = Cluster(self, twin, head=head.address)  # its own node waits with it, and makes nothing of the first's
        self.wait_until(lambda: "takes one at a time" in second.trainer.stderr_now() and "worker local" in head.running.stderr_now())
        first.worker()
        self.assert_same_run(first.finish()[0], digest, 40000)
        self.assert_same_run(second.finish()[0], digest, 40000)

    def test_a_paused_head_goes_on_with_its_job_while_another_waits(self):
        job = self.work(epochs=8, microseconds=60)
        digest = self.digest_alone(job)
        twin = harness.Job(self.folder / "twin", **job.tables)
        shutil.copytree(job.folder / "data", twin.folder / "data")
        head = Head(self, self.folder)
        first = Cluster(self, job, head=head.address)
        self.wait_until(lambda: self.rows_so_far(job) > 0)
        second = Cluster(self, twin, head=head.address)  # Its node may join first, by the same name.
        self.wait_until(lambda: "takes one at a time" in second.trainer.stderr_now())
        head.running.signal(signal.SIGSTOP)
        time.sleep(3)
        head.running.signal(signal.SIGCONT)
        self.wait_until(lambda: "is out of reach" in head.running.stderr_now())
        self.assert_same_run(first.finish()[0], digest, 160000)
        self.assert_same_run(second.finish()[0], digest, 160000)
        opened = re.findall(r"job (\w+) is open", head.running.stderr_now())
        self.assertEqual([job == opened[0] for job in opened], [True, True, False])

    def test_a_head_that_is_stopped_ends_in_order(self):
        head = Head(self, self.folder)
        head.running.signal(signal.SIGTERM)
        ended = head.running.wait()
        self.assertEqual((ended.status, ended.json["address"]), (143, head.address))

    def test_a_worker_with_other_data_is_refused_by_name_and_the_job_goes_on(self):
        job = self.work(epochs=2)
        digest = self.digest_alone(job)
        other = self.folder / "other"
        shutil.copytree(job.folder / "data", other / "data")
        changed = (other / "data/day_1.tsv").read_bytes()
        (other / "data/day_1.tsv").write_bytes(b"0" + changed[1:] if changed[:1] == b"1" else b"1" + changed[1:])
        cluster = Cluster(self, job, local=False)
        roots = ["--data-root", f"{job.folder}={other}"]
        cluster.worker(*roots, "--dir", str(other / "mine"), name="wrong")
        cluster.worker(*roots, "--dir", str(other / "its"), "--expendable", name="expendable")
        self.wait_until(lambda: all(re.search(f"refused: worker {name}: .*day_1.tsv has other content", cluster.trainer.stderr_now())
                                    for name in ("wrong", "expendable")), 20)
        cluster.worker(name="right")
        finished, ends = cluster.finish()
        result = self.assert_same_run(finished, digest, 40000)
        self.assertEqual(set(result["rows_by_node"]), {"right"}, finished)
        self.assertEqual((ends["wrong"].status, ends["expendable"].status, ends["right"].status), (1, 0, 0), ends["wrong"])
        self.assertRegex(ends["wrong"].err.splitlines()[-1], "^forebay: this worker was refused: .*day_1.tsv has other content")

    def test_a_worker_whose_name_is_taken_ends_when_its_patience_does(self):
        cluster = Cluster(self, self.work(epochs=8), min_workers=1)
        cluster.worker(name="twin")
        self.wait_until(lambda: "joined as twin" in cluster.workers["twin"].stderr_now())
        second = harness.Running(["worker", "--join", cluster.address, "--name", "twin", "--patience", "1s"], cluster.job.folder)
        cluster.workers["second"] = second
        _, ends = cluster.finish()
        self.assertEqual(ends["second"].status, 1, ends["second"])
        self.assertIn("this worker was refused: a living worker on ", ends["second"].err.splitlines()[-1])

    def test_a_worker_with_too_little_memory_is_refused_with_the_bytes_needed(self):
        job = self.work(epochs=1)
        cluster = Cluster(self, job, local=False)
        small = cluster.worker("--memory", "40MiB", name="small")
        self.wait_until(lambda: "start it with" in small.stderr_now() or not small.alive())
        figure = re.search(r"--memory 40MiB is too little.* start it with --memory (\d+MiB)", small.stderr_now())
        self.assertTrue(figure, small.stderr_now())
        ended = cluster.workers.pop("small").wait(20)  # The job goes on, and this worker does not wait for its end.
        self.assertEqual(ended.status, 2, ended)
        self.assertIn(f"this worker was refused: {figure[0]}", ended.err)
        cluster.worker("--memory", figure[1], name="enough")
        finished, ends = cluster.finish()
        self.assertEqual(self.assert_done(finished)["rows_by_node"], {"enough": 20000})
        self.assertLess(ends["enough"].peak_bytes, int(figure[1][:-3]) * MIB)
        self.assertIn(f"start it with --memory {figure[1]}", finished.err)

    def test_a_worker_serves_any_number_of_trainers_of_a_head_within_its_memory(self):
        job = self.work(epochs=200, microseconds=5)
        head = Head(self, job.folder)
        cluster = Cluster(self, job, head=head.address, local=False)
        # Enough for one job, and too little beside the memory of two that have ended.
        worker = cluster.worker("--memory", "72MiB")
        for _ in range(8):
            self.wait_until(lambda: self.rows_so_far(job) > 0 or not worker.alive() or "is too little" in worker.stderr_now(), 30)
            self.assertNotIn("is too little", worker.stderr_now())
            self.assertTrue(worker.alive(), worker.stderr_now())
            cluster.trainer.signal(signal.SIGKILL)
            cluster.trainer.wait()
            cluster.address_file.unlink(missing_ok=True)
            cluster.start_trainer()

    def test_a_file_that_changes_under_a_worker_ends_its_part_by_name_and_the_job_goes_on(self):
        job = self.work(epochs=8)
        digest = self.digest_alone(job)
        shutil.copytree(job.folder / "data", self.folder / "copy")
        cluster = Cluster(self, job, local=False)
        cluster.worker("--data-root", f"{job.folder / 'data'}={self.folder / 'copy'}", "--dir", str(self.folder / "mine"), name="far")
        self.wait_until(lambda: self.rows_so_far(job) > 0)
        with open(self.folder / "copy/day_1.tsv", "a") as file:
            file.write("more\n")
        self.wait_until(lambda: re.search("refused: worker far: .*day_1.tsv.*changed", cluster.trainer.stderr_now()), 20)
        cluster.worker(name="right")
        finished, ends = cluster.finish()
        self.assert_same_run(finished, digest, 160000)
        self.assertEqual({name: end.status for name, end in ends.items()}, {"far": 1, "right": 0}, [str(end) for end in ends.values()])

    def test_listening_beyond_loopback_is_refused_without_keys(self):
        job = self.work(rows=500)
        self.assert_refused(job.run("ingest", "--set", "cluster.listen=tcp://0.0.0.0:0"), 2, "cluster.keys")
        self.assert_refused(harness.Running(["worker", "--join", "192.0.2.1:29400"], job.folder).wait(), 2, "keys")

    def test_an_address_of_every_interface_is_told_with_this_hosts_name(self):
        job = self.work(rows=500)
        self.assertEqual(harness.Running(["keys", "new", "keys"], job.folder).wait().status, 0)
        here = rf"{re.escape(socket.gethostname())}:\d+"
        finished = job.run("ingest", "--json", "--set", "cluster.listen=tcp://0.0.0.0:0", "--set", "cluster.keys=keys")
        self.assertRegex(self.assert_done(finished)["address"], f"^tcp://{here}$")
        self.assertRegex(finished.err, f"workers join at tcp://{here}\n")
        head = harness.Running(["head", "--listen", "tcp://0.0.0.0:0", "--store", "head-store", "--keys", "keys", "--json"],
                               job.folder)
        self.wait_until(lambda: "join at" in head.stderr_now() or not head.alive())
        head.signal(signal.SIGTERM)
        ended = head.wait()
        self.assertRegex(ended.json["address"], f"^tcp://{here}$")
        self.assertRegex(ended.out, f"^tcp://{here}\n")
        self.assertRegex(ended.err, f"join at {here}\n")

    def test_only_nodes_with_the_keys_can_join(self):
        job = self.work(epochs=2)
        digest = self.digest_alone(job)
        for name in ("keys", "others"):
            self.assertEqual(harness.Running(["keys", "new", name], job.folder).wait().status, 0)
        cluster = Cluster(self, job, local=False, keys="keys")
        cluster.worker("--keys", "others", "--patience", "3s", name="stranger")
        stranger = cluster.workers.pop("stranger")
        asked = harness.Running(["status", "--join", cluster.address], job.folder).wait()
        self.assert_refused(asked, 1, "no head answers", "uses keys")
        cluster.worker("--keys", "keys", name="friend")
        finished, _ = cluster.finish()
        result = self.assert_same_run(finished, digest, 40000)
        self.assertEqual(set(result["rows_by_node"]), {"friend"}, finished)
        ended = stranger.wait(30)
        self.assertEqual(ended.status, 1)
        self.assertRegex(ended.err.splitlines()[-1], "no head answers at .* a job does that has no keys or another server.key")

    def test_a_job_leaves_no_process_or_file_behind(self):
        job = self.work(epochs=1)
        cluster = Cluster(self, job, local=False)
        cluster.worker()
        cluster.worker()
        time.sleep(0.5)
        for name in list(cluster.workers):
            cluster.kill(name)
        cluster.worker(name="last")
        cluster.finish()
        self.assertEqual(processes_below(job.folder), [])
        self.assertFalse((job.folder / ".forebay/address").exists())
        again = Cluster(self, job)
        again.trainer.signal(signal.SIGKILL)
        again.trainer.wait()
        self.assert_done(job.run("ingest", "--json"))
        self.assertFalse((job.folder / ".forebay/address").exists())  # nor what a killed run left
        outside = [path for path in pathlib.Path("/tmp").glob("forebay-worker*")]
        self.assertEqual(outside, [])


if __name__ == "__main__":
    harness.main()
