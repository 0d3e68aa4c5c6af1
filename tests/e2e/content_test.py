"""Files whose content changes in place under their old size and time, as a failing disk or a copying program leaves them:
the run fails and names file and row, wherever the change is met."""
import gzip
import os
import shutil
import signal

from support import harness
from support.cluster import Cluster, ClusterScenario
from support.harness import change_in_place

ROWS = 3000


class Content(ClusterScenario):
    def criteo(self, name="job", **tables):
        job = self.job(name, **{"order": {"batch_size": 100, "epochs": 2, "seed": 4}, **tables})
        self.lines = job.put_criteo(ROWS, files=2)
        return job

    def damage(self, job, name="data/day_1.tsv", row=ROWS // 2 + 700):
        """Makes the label of a row of day_1.tsv unreadable; returns the words that name the row."""
        lines = self.lines[ROWS // 2:row]
        at = sum(map(len, lines))
        change_in_place(job.folder / name, at, b"x")
        return "day_1.tsv", f"line {len(lines) + 1} (byte {at})", "is damaged"

    def test_a_row_that_goes_bad_after_the_first_epoch_fails_the_run_in_every_order(self):
        for i, order in enumerate(({"shuffle": True}, {"shuffle": "file"}, {"shuffle": False}, {"mode": "arrival"})):
            with self.subTest(order=order):
                job = self.criteo(f"job{i}")
                job.change(order=order)
                self.assert_done(job.run("ingest", "--json", "--max-batches", ROWS // 100 + 2, "--state", "half.json"))
                words = self.damage(job)
                self.assert_refused(job.run("ingest", "--json", "--resume", "half.json"), 1, *words)
        os.utime(job.folder / "data/day_1.tsv")  # a file that may be another is indexed again
        self.assert_refused(job.run("ingest", "--json", "--resume", "half.json"), 2, "day_1.tsv")

    def test_a_row_that_goes_bad_within_one_run_fails_it_though_bad_rows_would_allow_it(self):
        job = self.criteo(dataset={"bad_rows": 5}, order={"epochs": 10000, "batch_size": 100})
        running = job.start("ingest", "--json", "--state", "state.json", "--dump", "dump.tsv")
        dump = job.folder / "dump.tsv"
        self.wait_until(lambda: dump.exists() and dump.stat().st_size > 2 * ROWS * 100 or not running.alive())
        running.signal(signal.SIGSTOP)  # so that it sees the file before or after, never between write and time
        os.waitid(os.P_PID, running.process.pid, os.WSTOPPED)
        words = self.damage(job)
        running.signal(signal.SIGCONT)
        self.assert_refused(running.wait(60), 1, *words, seconds=60)

    def test_damage_between_index_and_run_is_named_even_if_every_row_can_be_read(self):
        job = self.criteo()
        self.assert_done(job.run("index", "--json"))
        first = self.lines[ROWS // 2]
        change_in_place(job.folder / "data/day_1.tsv", 0, b"1" if first[:1] == "0" else b"0")
        self.assert_refused(job.run("ingest", "--json"), 1, "day_1.tsv: the ", "rows from line 1 on (bytes 0 to ", "touch it")
        os.utime(job.folder / "data/day_1.tsv")
        self.assert_done(job.run("ingest", "--json"))

    def packed(self, spill, pack):
        job = self.criteo("job", dataset={"paths": ["data/*.gz"]}, run={"spill": spill})
        for i in range(2):
            plain = job.folder / f"data/day_{i}.tsv"
            job.put(f"data/day_{i}.tsv.gz", pack(plain.read_bytes()))
            plain.unlink()
        return job

    def test_a_decompressed_copy_that_is_damaged_is_named_and_made_again_once_it_is_gone(self):
        job = self.packed("1GiB", gzip.compress)
        digest = self.assert_done(job.run("ingest", "--json"))["order_digest"]
        copies = sorted(job.folder.glob(".forebay/spill/*day_1*"))
        self.assertEqual(len(copies), 1, job.run_dir_files())
        row = self.lines[ROWS // 2:ROWS // 2 + 700]
        change_in_place(copies[0], sum(map(len, row)), b"x")
        self.assert_refused(job.run("ingest", "--json"), 1, "day_1.tsv.gz: line 701 ", copies[0].name, "remove it")
        copies[0].unlink()
        self.assertEqual(self.assert_done(job.run("ingest", "--json"))["order_digest"], digest)

    def test_packed_files_that_are_read_from_restart_points_are_checked(self):
        stored = lambda content: gzip.compress(content, 0)  # a byte of it is a byte of the content
        job = self.packed("0", stored)
        for shuffle in (True, False):
            job.change(order={"shuffle": shuffle})
            self.assert_done(job.run("ingest", "--json"))
        path = job.folder / "data/day_1.tsv.gz"
        row = self.lines[ROWS // 2 + 700].encode()
        change_in_place(path, path.read_bytes().index(row), b"x")
        for shuffle in (True, False):
            job.change(order={"shuffle": shuffle})
            self.assert_refused(job.run("ingest", "--json"), 1, "day_1.tsv.gz: line 701 ", "touch it")

    def test_damage_that_workers_meet_fails_the_run_when_the_trainers_files_have_it_too(self):
        job = self.criteo()
        self.assert_done(job.run("ingest", "--json", "--max-batches", ROWS // 100 + 2, "--state", "half.json"))
        words = self.damage(job)
        cluster = Cluster(self, job, "ingest", "--resume", "half.json", local=False)
        cluster.worker(name="far")
        finished, ends = cluster.finish(60)
        self.assertEqual((finished.status, ends["far"].status), (1, 1), finished)
        for word in words:
            self.assertIn(word, finished.err.splitlines()[-1], finished)
            self.assertIn(word, ends["far"].err.splitlines()[-1], ends["far"])

    def test_a_worker_whose_own_copy_is_damaged_is_refused_by_name_and_the_job_goes_on(self):
        job = self.criteo()
        digest = self.assert_done(job.run("ingest", "--json"))["order_digest"]
        shutil.copytree(job.folder / "data", self.folder / "copy")
        roots = ["--data-root", f"{job.folder / 'data'}={self.folder / 'copy'}", "--dir", str(self.folder / "mine")]
        cluster = Cluster(self, job, local=False)
        cluster.worker(*roots, name="far")
        finished, _ = cluster.finish(60)
        self.assert_same_run(finished, digest, 2 * ROWS)
        words = self.damage(job, self.folder / "copy/day_1.tsv")
        cluster = Cluster(self, job, local=False)
        cluster.worker(*roots, name="far")
        self.wait_until(lambda: "refused: worker far: " in cluster.trainer.stderr_now() or not cluster.trainer.alive(), 20)
        cluster.worker(name="right")
        finished, ends = cluster.finish(60)
        self.assert_same_run(finished, digest, 2 * ROWS)
        self.assertEqual({name: end.status for name, end in ends.items()}, {"far": 1, "right": 0}, [str(end) for end in ends.values()])
        for word in words:
            self.assertIn(word, ends["far"].err)


if __name__ == "__main__":
    harness.main()
