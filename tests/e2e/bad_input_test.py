"""Wrong input of any kind gives one or two lines that name the place, soon, and exit status 1 or 2."""
import gzip
import itertools
import os
import pathlib
import shutil
import subprocess

from support import harness
from support.harness import Scenario, criteo_lines, main

CSV = {"format": "csv", "paths": ["a.csv"]}
GOOD = "".join(criteo_lines(2000, seed=3))


class BadData(Scenario):
    def refused(self, job, status, *words):
        finished = job.run("ingest", "--json", timeout=30)
        self.assert_refused(finished, status, *words)

    def test_paths_that_match_nothing(self):
        self.refused(self.job(dataset={"paths": ["nowhere.tsv"]}), 2, "nowhere.tsv")
        self.refused(self.job(dataset={"paths": ["data/*.nothing"]}), 2, "data/*.nothing")
        self.refused(self.job(dataset={"paths": []}), 2, "paths")

    def test_refuses_paths_that_are_not_files(self):
        job = self.job(dataset={"paths": ["data"]})
        job.put("data/a.tsv", GOOD)
        self.refused(job, 2, "data")
        job.change(dataset={"paths": ["pipe"]})
        os.mkfifo(job.folder / "pipe")
        self.refused(job, 2, "pipe")
        job.change(dataset={"paths": ["loop"]})
        os.symlink("loop", job.folder / "loop")
        self.refused(job, 2, "loop")
        job.change(dataset={"paths": ["/dev/zero"]})
        self.refused(job, 2, "/dev/zero")

    def test_a_file_that_may_not_be_read(self):
        job = self.job(dataset={"paths": ["/proc/self/mem"]})
        self.refused(job, 2, "/proc/self/mem")

    def test_data_sets_without_rows(self):
        job = self.job()
        job.put("data/a.tsv", "")
        self.refused(job, 2, "row")
        job = self.job("csv", dataset=CSV, columns={"label": "click", "dense": [], "sparse": ["x"]})
        job.put("a.csv", "click,x\n")
        self.refused(job, 2, "row")
        job.put("a.csv", "")
        self.refused(job, 2, "a.csv")

    def test_escapes_control_characters_of_names_in_messages(self):
        evil = "x\x1b[2J\nforebay: all is well\x9b1m"
        job = self.job(dataset={**CSV, "paths": ["*.csv"]}, columns={"label": evil, "dense": [], "sparse": ["x"]})
        job.put("a.csv", "click,x\n1,2\n")
        self.refused(job, 2, "x\\x1b[2J\\x0aforebay: all is well\\xc2\\x9b1m")
        job.change(columns={"label": "click"})
        job.put(f"{evil}.csv", "click,x\n7,2\n")
        finished = job.run("ingest", "--json")
        self.assert_refused(finished, 1, "x\\x1b[2J\\nforebay: all")
        log = (job.folder / ".forebay" / "logs" / "ingest.log").read_text()
        for text in (finished.err, log, (job.folder / ".forebay" / "quarantine.tsv").read_text()):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\nforebay: all", text)

    def test_a_message_is_short_even_for_a_long_name(self):
        job = self.job(dataset=CSV, columns={"label": "y" * 100000, "dense": [], "sparse": ["x"]})
        job.put("a.csv", "click,x\n1,2\n")
        finished = job.run("ingest", "--json")
        self.assert_refused(finished, 2, "yyyy")
        self.assertLess(len(finished.err), 5000)

    def test_damaged_compressed_files(self):
        packed = gzip.compress(GOOD.encode())
        frames = subprocess.run(["zstd", "-q", "-c"], input=GOOD.encode(), capture_output=True, check=True).stdout
        for name, content in {
            "short.tsv.gz": packed[:len(packed) // 2],
            "tail.tsv.gz": packed[:-3],
            "flipped.tsv.gz": packed[:5000] + bytes([packed[5000] ^ 0xff]) + packed[5001:],
            "trailing.tsv.gz": packed + b"garbage that is no gzip member",
            "garbage.tsv.gz": os.urandom(5000),
            "empty.tsv.gz": b"",
            "plain.tsv.gz": GOOD.encode(),
            "short.tsv.zst": frames[:len(frames) // 2],
            "garbage.tsv.zst": os.urandom(5000),
            "flipped.tsv.zst": frames[:5000] + bytes([frames[5000] ^ 0xff]) + frames[5001:],
        }.items():
            with self.subTest(name):
                job = self.job(name, dataset={"paths": [name]})
                job.put(name, content)
                finished = job.run("ingest", "--json", timeout=30)
                self.assertIn(finished.status, (1, 2), finished)
                self.assert_refused(finished, finished.status, name)

    def test_contents_that_are_not_rows(self):
        for name, content in {
            "garbage.tsv": os.urandom(100000),
            "zeros.tsv": b"\0" * 100000,
            "endless.tsv": b"x" * 10_000_000,
            "endless_tabs.tsv": b"\t" * 10_000_000,
            "one_bad_row.tsv": GOOD.encode() + b"0\tnot a row\n",
            "utf16.tsv": GOOD[:5000].encode("utf-16"),
        }.items():
            with self.subTest(name):
                job = self.job(name, dataset={"paths": [name]})
                job.put(name, content)
                finished = job.run("ingest", "--json", timeout=30)
                self.assertIn(finished.status, (1, 2), finished)
                self.assert_refused(finished, finished.status, name)

    def test_the_first_damaged_row_is_named_with_its_line(self):
        job = self.job(order={"shuffle": False})
        job.put("data/a.tsv", GOOD + "0\tbroken\n")
        self.refused(job, 1, "a.tsv", "2001", "bad_rows")

    def test_csv_headers_and_columns_that_do_not_fit(self):
        columns = {"label": "click", "dense": ["price"], "sparse": ["item"]}
        rows = "0,1.5,7\n1,2.5,8\n"
        for text, change, words in [
            ("click,price,item\n" + rows, {"label": "clack"}, ["clack"]),
            ("click,price,item\n" + rows, {"dense": ["prize_*"]}, ["prize_*"]),
            ("click,price,item\n" + rows, {"sparse": ["item", "price"]}, ["price"]),
            ("click,price,item\n" + rows, {"sparse": ["click"]}, ["click"]),
            ("click,price,price\n" + rows, {}, ["price"]),
            ("click,price,item\n0,1.5\n", {}, ["a.csv", "2"]),
            ("click,price,item\n3,1.5,7\n", {}, ["a.csv", "2"]),
            ("click,price,item\n0,abc,7\n", {}, ["a.csv", "2"]),
            ('click,price,item\n0,1.5,"never closed\n' + rows, {}, ["a.csv"]),
        ]:
            with self.subTest(words=words, text=text[:60]):
                job = self.job(f"job{abs(hash((text, str(change))))}", dataset=CSV, columns={**columns, **change})
                job.put("a.csv", text)
                finished = job.run("ingest", "--json")
                self.assertIn(finished.status, (1, 2), finished)
                self.assert_refused(finished, finished.status, *words)

    def test_a_second_file_with_another_header(self):
        job = self.job(dataset={"format": "csv", "paths": ["*.csv"]},
                       columns={"label": "click", "dense": [], "sparse": ["item"]})
        job.put("a.csv", "click,item\n0,1\n")
        job.put("b.csv", "item,click\n1,0\n")
        self.refused(job, 2, "b.csv")

    def test_a_file_that_changes_while_it_is_read(self):
        job = self.job(order={"batch_size": 100}, transform=[{"op": "spin", "microseconds": 300}])
        job.put_criteo(20000)
        running = job.start("ingest", "--json", "--dump", "dump.tsv")
        dump = job.folder / "dump.tsv"
        self.wait_until(lambda: dump.exists() and dump.stat().st_size > 0 or not running.alive())
        os.truncate(job.folder / "data/day_0.tsv", 100000)
        finished = running.wait(timeout=60)
        self.assert_refused(finished, 1, "day_0.tsv", seconds=60)


class BadConfiguration(Scenario):
    def setUp(self):
        super().setUp()
        self.good = self.job()
        self.good.put("data/a.tsv", GOOD)

    def refused(self, options, *words):
        self.assert_refused(self.good.run("ingest", "--json", *options, timeout=30), 2, *words)

    def test_the_unchanged_job_runs(self):
        self.assertEqual(self.assert_done(self.good.run("ingest", "--json"))["rows"], 2000)

    def test_unknown_keys_name_the_nearest_one(self):
        for key, near in [("order.sed", "order.seed"), ("pipeline.memroy", "pipeline.memory"),
                          ("pipline.cpus", "pipeline.cpus"), ("dataset.csv.delimeter", "dataset.csv.delimiter"),
                          ("pipeline.allocation.decod", "decode"), ("trainer.modl", "trainer.model")]:
            self.refused(["--set", f"{key}=1"], key.rsplit(".", 1)[-1], near)
            self.good.put("other.toml", (self.good.folder / "job.toml").read_text())

    def test_impossible_values(self):
        for setting in ["order.batch_size=0", "order.batch_size=-5", "order.batch_size=99999999999999999999",
                        "order.batch_size=2.5", "order.batch_size=many", "order.epochs=-1", "order.seed=-1",
                        "order.mode=fast", "order.shuffle=3", "pipeline.memory=12 parsecs", "pipeline.memory=-1",
                        "pipeline.memory=0", "pipeline.memory=99999999999GiB", "pipeline.cpus=0",
                        "pipeline.cpus=100000", "pipeline.allocation.decode=0", "pipeline.allocation.load=-2",
                        "pipeline.allocation.load=100000000", "dataset.bad_rows=-1", "dataset.format=excel",
                        "trainer.model=gpt", "trainer.evaluate_share=1.5", "trainer.evaluate_share=-0.1",
                        "trainer.checkpoint_every=soon", "trainer.optimizer=lamb", "trainer.pooling=max",
                        "trainer.table_optimizer=adam", "trainer.cross_layers=0", "trainer.warmup_steps=-1",
                        "trainer.decay_steps=many", "trainer.clip_norm=-1", "trainer.checkpoint_steps=-1",
                        "trainer.keep=0", "trainer.evaluate_every=5m", "trainer.early_stopping=-1",
                        "trainer.early_stopping_metric=ne", "trainer.tables.storage=disk",
                        "trainer.tables.memory=0", "trainer.tables.admit_after=0",
                        "trainer.tables.evict_after=-1", "trainer.tables.placement=rows", "tuner.mode=maybe",
                        "dataset.paths=3", "dataset=3",
                        "order.drop_last=perhaps"]:
            with self.subTest(setting):
                self.refused(["--set", setting], setting.split("=")[0].split(".")[-1])

    def test_settings_without_a_key_or_value(self):
        for setting in ["order.seed", "=3", "", "order..seed=1", "a=b=c"]:
            with self.subTest(setting):
                self.refused(["--set", setting])

    def test_impossible_transforms(self):
        for transform, words in [
            ({"op": "log2p", "columns": ["I*"]}, ["log2p", "log1p"]),
            ({"op": "log1p", "columns": ["X*"]}, ["X*"]),
            ({"op": "log1p", "columns": ["C1"]}, ["C1"]),
            ({"op": "sigrid_hash", "columns": ["C*"], "salt": 0}, ["max_value"]),
            ({"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 0}, ["max_value"]),
            ({"op": "sigrid_hash", "columns": ["C*"], "salt": "x", "max_value": 10}, ["salt"]),
            ({"op": "log1p", "columns": ["I*"], "base": 3}, ["base"]),
            ({"columns": ["I*"]}, ["op"]),
            ({"op": "udf", "library": "nowhere.so", "function": "f", "columns": ["I*"]}, ["nowhere.so"]),
        ]:
            with self.subTest(transform=transform):
                self.good.change(transform=[transform])
                self.refused([], *words)

    def test_files_that_are_not_jobs(self):
        for content in (b"order = [", b"\0\1\2", b"[order]\nseed = 1\nseed = 2\n", b"x" * 1_000_000, b""):
            self.good.put("job.toml", content)
            self.refused([], "job.toml" if content else "")
        os.unlink(self.good.folder / "job.toml")
        self.refused([], "job.toml")
        os.mkdir(self.good.folder / "job.toml")
        self.refused([], "job.toml")

    def test_output_paths_that_cannot_be_written(self):
        self.refused(["--dump", "no/such/folder/dump.tsv"], "no/such/folder/dump.tsv")
        self.refused(["--state", "no/such/folder/state"], "no/such/folder/state")
        self.good.put("file", "")
        self.refused(["--set", "run.dir=file"], "file")

    def test_a_full_disk_fails_the_run(self):
        finished = self.good.run("ingest", "--json", "--dump", "/dev/full")
        self.assert_refused(finished, 1, "/dev/full")

    def test_a_limit_of_threads_is_named_without_a_hang_or_abort(self):
        binary = shutil.copy(harness.FOREBAY, self.folder)
        user = "54321"  # Root has no such limit, and of other users nobody knows what else runs.
        if os.getuid() != 0:
            user = None
        for path in (self.folder, self.good.folder, *self.good.folder.rglob("*")):
            path.chmod(0o777)
        listen = ["--set", "cluster.listen=tcp://127.0.0.1:0"]
        refused = 0
        for options, count in itertools.product(([], listen), (1, 2, 4, 7, 11, 16)):
            words = ["prlimit", f"--nproc={count if user else threads_of_this_user() + count}"]
            if user:
                words = ["setpriv", f"--reuid={user}", "--clear-groups", *words]
            ended = subprocess.run([*words, binary, "ingest", "job.toml", "--json", *options], cwd=self.good.folder,
                                   capture_output=True, text=True, timeout=60)
            self.assertIn(ended.returncode, (0, 1, 2), f"{count} threads: {ended}")
            if ended.returncode != 0:
                refused += 1
                self.assertRegex(ended.stderr.splitlines()[-1], "^forebay: .*thread.*(ulimit -u|pids.max).*", f"{count}: {ended}")
        self.assertGreater(refused, 5)


def threads_of_this_user():
    return sum(len(os.listdir(task)) for task in pathlib.Path("/proc").glob("[0-9]*/task")
               if task.stat().st_uid == os.getuid())


if __name__ == "__main__":
    main()
