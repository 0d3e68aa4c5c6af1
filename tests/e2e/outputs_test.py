"""No output of a command destroys an input of a job: it is refused before the start, and no byte changes."""
import fcntl
import os
import signal
import threading

from support import harness

EMULATED = {"model": "emulated", "step": "1ms", "checkpoint_steps": 2}


class Outputs(harness.Scenario):
    def job_with_links(self, **tables):
        """Makes a job of two data files; `link` and `hard` name the first one, `key` names a key."""
        job = self.job(**tables)
        job.put_criteo(2000, files=2)
        os.symlink("data/day_0.tsv", job.folder / "link")
        os.link(job.folder / "data/day_0.tsv", job.folder / "hard")
        return job

    def content(self, job):
        return {path: path.read_bytes() for path in sorted(job.folder.rglob("*"))
                if path.is_file() and ".forebay" not in path.parts}

    def assert_untouched(self, job, command, options, *words, arguments=("job.toml",)):
        before = self.content(job)
        finished = harness.Running([command, *arguments, *options], job.folder).wait()
        self.assert_refused(finished, 2, *words)
        self.assertEqual(self.content(job), before, options)

    def test_ingest_refuses_data_files_links_the_job_file_and_keys_as_outputs(self):
        job = self.job_with_links()
        self.assertEqual(harness.Running(["keys", "new", "keys"], job.folder).wait().status, 0)
        keys = ["--set", "cluster.keys=keys"]
        for option in ("--dump", "--state"):
            for place, what in (("data/day_0.tsv", "dataset.paths"), ("link", "dataset.paths"),
                                ("hard", "dataset.paths"), ("job.toml", "the job file"),
                                ("keys/server.key_secret", "cluster.keys"),
                                ("keys/clients/client.key", "cluster.keys")):
                self.assert_untouched(job, "ingest", [option, place, *keys], f"{option} {place} is", what, "give")
        self.assert_untouched(job, "ingest", ["--dump", "evaluated", "--set", "trainer.evaluate=hard",
                                              "--set", "dataset.paths=data/day_1.tsv", "--state", "link"],
                              "--state link is", "trainer.evaluate")
        self.assertFalse((job.folder / ".forebay").exists())

    def test_files_that_a_run_writes_by_itself_replace_no_input(self):
        job = self.job_with_links()
        (job.folder / ".forebay").mkdir()
        for name in ("lock", "quarantine.tsv", "decisions.jsonl"):
            os.link(job.folder / "data/day_0.tsv", job.folder / ".forebay" / name)
            self.assert_untouched(job, "ingest", [], f"run.dir .forebay/{name} is the same file as", "day_0.tsv")
            (job.folder / ".forebay" / name).unlink()
        data = job.put(".forebay/spill/day_0.tsv", (job.folder / "data/day_0.tsv").read_bytes())
        refused = job.run("index", "--set", f"dataset.paths={data}")
        self.assert_refused(refused, 2, "day_0.tsv lies in .forebay/spill")
        self.assertTrue(data.exists())

    def test_allowed_outputs_are_written(self):
        job = self.job_with_links()
        job.put("old.tsv", "of the run before\n")
        finished, rows = job.dump("--state", "state.json", "--max-batches", "1", name="old.tsv")
        self.assert_done(finished)
        self.assertEqual(len(rows), 1000)
        again = ["--json", "--resume", "state.json", "--state", "state.json", "--dump"]
        self.assert_done(job.run("ingest", *again, "/dev/null", "--max-batches", "0"))
        fifo = job.folder / "fifo"
        os.mkfifo(fifo)
        read = []
        reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
        reader.start()
        self.assert_done(job.run("ingest", *again, "fifo"))
        reader.join()
        self.assertEqual(read[0].count(b"\n"), 1001)
        self.assert_untouched(job, "ingest", ["--resume", "state.json", "--dump", "state.json"], "an input (--resume)")
        self.assert_untouched(job, "ingest", ["--dump", "one", "--state", "one"], "--state one is the same file as --dump one")
        self.assert_untouched(job, "ingest", ["--dump", ".forebay/lock"], "--dump .forebay/lock is the same file as run.dir")

    def test_a_dump_that_another_run_writes_is_refused(self):
        job = self.job_with_links()
        with open(job.put("rows.tsv", "of the other run\n")) as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            self.assert_untouched(job, "ingest", ["--dump", "rows.tsv"], "--dump rows.tsv: another run writes it")
        self.assert_done(job.run("ingest", "--json", "--dump", "rows.tsv"))
        self.assertEqual(job.run("ingest", "--dump", "/dev/stdout").status, 0)

    def test_outputs_of_training_and_export_destroy_neither_data_nor_checkpoints(self):
        job = self.job_with_links(trainer=EMULATED)
        self.assert_done(job.run("train", "--json"))
        last = max((job.folder / "checkpoints").glob("checkpoint-*")).relative_to(job.folder)
        os.link(job.folder / last / "loader.json", job.folder / "part")
        for key, place, words in (("csv", "data/day_1.tsv", "an input"), ("csv", "link", "an input"),
                                  ("csv", "job.toml", "an input"), ("csv", "part", "a checkpoint"),
                                  ("csv", last / "losses.json", "a checkpoint"),
                                  ("tensorboard", "data/day_1.tsv", "is no folder"),
                                  ("tensorboard", last, "a checkpoint"),
                                  ("csv", "checkpoints/checkpoint-000000009", "a checkpoint's name")):
            for begin in ("--resume", "--restart"):
                self.assert_untouched(job, "train", [begin, "--set", f"trainer.{key}={place}"],
                                      f"trainer.{key} {place} ", words)
        self.assert_untouched(job, "ingest", ["--dump", "part"], "--dump part is the same file as", "a checkpoint")
        for place in ("part", last / "manifest.json", last / "model.pt"):
            self.assert_untouched(job, "export", ["--out", place], f"--out {place} ", arguments=["checkpoints"])
        # A report and a model replace what their commands wrote, and no other file.
        for place in ("data/day_0.tsv", "job.toml", ".forebay/record.json"):
            self.assert_untouched(job, "report", ["--out", place], f"--out {place} is there, and is not a report",
                                  arguments=["."])
            self.assert_untouched(job, "export", ["--out", place], f"--out {place} is there, and is not a model",
                                  arguments=["checkpoints"])
        job.put("empty.html", "")
        for _ in range(2):
            self.assert_done(harness.Running(["report", ".", "--out", "empty.html", "--json"], job.folder).wait())
        job.put("start.sh", "node-1\n")
        self.assert_untouched(job, "launch", ["--out", ".", "--hosts", "start.sh", "--force"],
                              "start.sh is an input (--hosts)", arguments=["ssh", "job.toml"])

    def test_inputs_of_another_running_job_are_refused_as_outputs(self):
        job = self.job_with_links(trainer={**EMULATED, "step": "50ms"}, order={"epochs": 1000})
        running = job.start("train")
        self.addCleanup(running.wait)
        self.addCleanup(running.signal, signal.SIGKILL)
        self.wait_until(lambda: any((job.folder / "checkpoints").glob("checkpoint-*")) or not running.alive())
        other = self.job("other")
        other.put_criteo(1000)
        at = f"process {running.process.pid} "
        for place, words in (("data/day_0.tsv", "dataset.paths"), ("hard", "dataset.paths"),
                             ("job.toml", "the job file")):
            self.assert_refused(other.run("ingest", "--state", job.folder / place), 2, at, words)
        before = (job.folder / "data/day_0.tsv").read_bytes()
        for arguments in (["trace", "--dir", ".", "--out", "data/day_0.tsv"],
                          ["synth", "criteo", "--rows", "10", "--files", "2", "--out", "data", "--force"],
                          ["tune", "pretrain", "--out", "hard"]):
            self.assert_refused(harness.Running(arguments, job.folder).wait(), 2, "--out", at)
        self.assertEqual((job.folder / "data/day_0.tsv").read_bytes(), before)
        running.signal(signal.SIGTERM)
        self.wait_until(lambda: not running.alive())
        self.assert_done(other.run("ingest", "--json", "--state", job.folder / "hard"))

    def test_a_file_and_a_link_to_it_do_not_count_twice(self):
        job = self.job_with_links(dataset={"paths": ["data/day_0.tsv", "link"]})
        for paths in ('["data/day_0.tsv", "link"]', '["data/*.tsv", "hard"]'):
            self.assert_refused(job.run("ingest", "--set", f"dataset.paths={paths}"), 2,
                                "dataset.paths names one file twice", "day_0.tsv", "a link")
        self.assert_refused(job.run("train", "--set", "dataset.paths=data/day_1.tsv", "--set",
                                    'trainer.evaluate=["hard", "link"]', "--set", "trainer.model=dlrm"), 2,
                            "trainer.evaluate names one file twice")


if __name__ == "__main__":
    harness.main()
