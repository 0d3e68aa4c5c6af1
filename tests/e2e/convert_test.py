"""`forebay convert` writes a job's rows as Parquet or npy: the same bytes after kills, nothing that was there before."""
import fcntl
import hashlib
import math
import os
import random
import signal
import struct
import time

from support import harness

LOG3 = [{"op": "log", "add": 3, "columns": ["I*"]}]


def npy_bytes(kind, rows, columns, values):
    """What numpy.save writes for a matrix: its header of 128 bytes, then the values."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + text.ljust(117).encode() + b"\n" + values


def floats_of(npy):
    return struct.unpack(f"<{(len(npy) - 128) // 4}f", npy[128:])


class Convert(harness.Scenario):
    def outputs(self, folder):
        return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(folder.rglob("*")) if path.is_file()}

    def same_rows(self, job, source, converted):
        """Both jobs, in file order, hand the same batches to a trainer."""
        digests = [self.assert_done(each.run("ingest", "--json"))["order_digest"] for each in (source, converted)]
        self.assertEqual(*digests, job)

    def parquet_job(self, name, data, **tables):
        """A job of the columns of Criteo in Parquet files."""
        columns = {"label": "label", "dense": ["I*"], "sparse": ["C*"]}
        return self.job(name, dataset={"format": "parquet", "paths": [f"{data}/*.parquet"]}, columns=columns,
                        order={"shuffle": False}, **tables)

    def test_criteo_rows_come_back_from_parquet_raw_and_transformed(self):
        transforms = [{"op": "log1p", "columns": ["I*"]},
                      {"op": "sigrid_hash", "columns": ["C1", "C2"], "salt": 1, "max_value": 1000}]
        job = self.job(order={"shuffle": False}, transform=transforms)
        job.put_criteo(30000, files=3)
        done = self.assert_done(job.run("convert", "--raw", "--out", "raw", "--json"))
        self.assertEqual((done["rows"], done["files"], done["bad_rows"]), (30000, 3, 0), done)
        sizes = [path.stat().st_size for path in (job.folder / "raw").glob("*.parquet")]
        self.assertEqual((len(sizes), sum(sizes)), (3, done["bytes"]))
        self.assert_done(job.run("convert", "--out", "made", "--json"))
        self.same_rows("raw", job, self.parquet_job("from_raw", job.folder / "raw", transform=transforms))
        self.same_rows("transformed", job, self.parquet_job("from_made", job.folder / "made"))

    def test_a_column_whose_name_is_not_utf8_is_refused_for_parquet_by_name(self):
        job = self.job(dataset={"format": "csv", "paths": ["a.csv"]}, columns={"label": "y", "dense": ["a*"], "sparse": ["b"]})
        job.put("a.csv", b"y,a\xff,b\n" + b"1,2,3\n" * 50)
        self.assert_refused(job.run("convert", "--raw", "--out", "raw"), 2, r"column a\xff: its name is not UTF-8", "rename it")
        self.assertFalse(list(job.folder.glob("raw/*.parquet")))

    def test_lists_and_rows_of_parquet_are_converted_again(self):
        job = self.job(dataset={"format": "csv", "paths": ["a.csv"]}, order={"shuffle": False},
                       columns={"label": "y", "dense": ["d"], "sparse": ["one", "many"]})
        draw = random.Random(5)
        lines = ["y,d,one,many"]
        for i in range(9000):
            many = " ".join(str(draw.randrange(1000)) for _ in range(draw.randrange(4)))
            lines.append(f"{i % 2},{'' if i % 7 == 0 else i / 4},{i if i % 3 else ''},{many}")
        job.put("a.csv", "\n".join(lines) + "\n")
        job.change(**{"dataset.csv": {"list_delimiter": " "}})
        self.assert_done(job.run("convert", "--raw", "--out", "one", "--json"))
        again = self.job("again", dataset={"format": "parquet", "paths": [str(job.folder / "one/*.parquet")]},
                         columns={"label": "y", "dense": ["d"], "sparse": ["one", "many"]}, order={"shuffle": False})
        self.same_rows("csv", job, again)
        self.assert_done(again.run("convert", "--raw", "--out", "two", "--json"))
        self.assertEqual((job.folder / "one/a.parquet").read_bytes(), (again.folder / "two/a.parquet").read_bytes())
        refused = job.run("convert", "--out", "npy", "--to", "npy")
        self.assert_refused(refused, 1, "column many: a row has more than one id", "first_x", "convert to parquet")
        self.assertEqual(list((job.folder / "npy").glob("*npy*")), [])

    def test_operators_that_make_lists_of_single_ids_give_list_columns(self):
        grams = {"op": "n_gram", "columns": ["C1", "C2", "C3"], "n": 2, "output": "grams"}
        job = self.job(order={"shuffle": False}, transform=[grams])
        job.put_criteo(1000)
        self.assert_done(job.run("convert", "--out", "made", "--json"))
        self.same_rows("n_gram", job, self.job("again", order={"shuffle": False}, dataset={
            "format": "parquet", "paths": [str(job.folder / "made/*.parquet")]}, columns={
                "label": "label", "dense": ["I*"], "sparse": ["C*", "grams"]}))

    def test_weights_and_extra_columns_are_carried(self):
        columns = {"label": "stars", "label_threshold": 4, "dense": ["d"], "sparse": ["c"], "weight": "w", "extra": ["at"]}
        job = self.job(dataset={"format": "csv", "paths": ["a.csv"]}, order={"shuffle": False}, columns=columns)
        draw = random.Random(6)
        job.put("a.csv", "stars,d,c,w,at\n" + "".join(
            f"{draw.randrange(6)},{draw.random()},{draw.randrange(99)},{draw.randrange(9) / 4},{i}\n" for i in range(9000)))
        self.assert_done(job.run("convert", "--out", "out", "--json"))
        again = self.job("again", dataset={"format": "parquet", "paths": [str(job.folder / "out/a.parquet")]},
                         columns={"label": "stars", "dense": ["d"], "sparse": ["c"], "weight": "w", "extra": ["at"]},
                         order={"shuffle": False})
        self.same_rows("weights", job, again)
        self.assert_refused(job.run("convert", "--to", "npy", "--out", "npy"), 2, "columns.weight", "convert to parquet")

    def test_npy_has_the_bytes_of_torchrecs_preprocessing(self):
        job = self.job(transform=LOG3)
        lines = job.put_criteo(3001, files=2)
        done = self.assert_done(job.run("convert", "--to", "npy", "--out", "npy", "--json"))
        self.assertEqual((done["rows"], done["files"]), (3001, 6))
        for day, part in enumerate((lines[:1500], lines[1500:])):
            rows = [line.rstrip("\n").split("\t") for line in part]
            labels = struct.pack(f"<{len(rows)}i", *(int(row[0]) for row in rows))
            ids = [int(field or "0", 16) for row in rows for field in row[14:]]
            sparse = struct.pack(f"<{len(ids)}I", *ids)  # int32 wraps around: the same bits
            made = [(job.folder / f"npy/day_{day}_{name}.npy").read_bytes() for name in ("labels", "sparse", "dense")]
            self.assertEqual(made[0], npy_bytes("<i4", len(rows), 1, labels))
            self.assertEqual(made[1], npy_bytes("<i4", len(rows), 26, sparse))
            self.assertEqual(made[2][:128], npy_bytes("<f4", len(rows), 13, b""))
            wanted = [math.log(int(field or 0) + 3) for row in rows for field in row[1:14]]
            for value, want in zip(floats_of(made[2]), wanted, strict=True):
                self.assertLessEqual(abs(value - want), 4 * 2**-24 * abs(want))

    def test_a_conversion_killed_at_any_time_ends_with_the_same_bytes(self):
        job = self.job()
        job.put_criteo(60000, files=6)
        for to in ("parquet", "npy"):
            whole = self.assert_done(job.run("convert", "--out", f"whole-{to}", "--to", to, "--json"))
            want = self.outputs(job.folder / f"whole-{to}")
            draw = random.Random(7)
            out = f"killed-{to}"
            kills = 0
            for _ in range(12):
                running = job.start("convert", "--out", out, "--to", to, "--resume", "--json")
                time.sleep(draw.random() * whole["seconds"] * 0.7)  # a random moment, whatever it hits
                running.signal(signal.SIGKILL)
                kills += running.wait().status != 0
            self.assertGreater(kills, 0)
            self.assert_done(job.run("convert", "--out", out, "--to", to, "--resume", "--json"))
            self.assertEqual(self.outputs(job.folder / out), want)
            finished = self.assert_done(job.run("convert", "--out", out, "--to", to, "--resume", "--json"))
            self.assertEqual((finished["rows"], finished["files"]), (0, 0))

    def test_sorted_rows_are_the_same_rows_and_survive_kills(self):
        job = self.job(order={"shuffle": False}, transform=[{"op": "sigrid_hash", "columns": ["C*"], "max_value": 50}])
        job.put_criteo(30000, files=2)
        self.assert_done(job.run("convert", "--out", "plain", "--json"))
        whole = self.assert_done(job.run("convert", "--out", "sorted", "--sort", "C3", "--json"))
        self.assertEqual((whole["rows"], whole["files"]), (30000, 2))
        files = []
        for folder in ("plain", "sorted"):
            read = self.parquet_job(f"read-{folder}", job.folder / folder)
            finished, rows = read.dump()
            self.assert_done(finished)
            files.append([rows[:15000], rows[15000:]])
        for plain, in_order in zip(*files, strict=True):
            column = 1 + 1 + 13 + 2  # batch, label, 13 dense columns, C1 and C2
            self.assertEqual(sorted(row[1:] for row in plain), sorted(row[1:] for row in in_order))
            ids = [int(row[column] or 2**62) for row in in_order]  # rows without an id come last
            self.assertEqual(ids, sorted(ids))
            place = {}
            for i, row in enumerate(plain):
                place.setdefault(row[1:], i)
            first = [place[row[1:]] for row in in_order if row[column] == in_order[0][column]]
            self.assertEqual(first, sorted(first))  # rows with one id keep their order
        want = self.outputs(job.folder / "sorted")
        draw = random.Random(8)
        for _ in range(6):
            running = job.start("convert", "--out", "killed", "--sort", "C3", "--resume", "--json")
            time.sleep(draw.random() * whole["seconds"] * 0.8)
            running.signal(signal.SIGKILL)
            running.wait()
        self.assert_done(job.run("convert", "--out", "killed", "--sort", "C3", "--resume", "--json"))
        self.assertEqual(self.outputs(job.folder / "killed"), want)
        self.assert_refused(job.run("convert", "--out", "killed", "--resume", "--json"), 2, "--sort was C3, is not set")
        self.assert_refused(job.run("convert", "--out", "no", "--sort", "C27"), 2, "--sort C27: the rows have no such column")

    def test_a_stop_leaves_complete_files_alone(self):
        job = self.job(transform=[{"op": "spin", "microseconds": 100}])
        job.put_criteo(40000, files=8)
        running = job.start("convert", "--out", "out", "--json")
        self.wait_until(lambda: (job.folder / "out/day_0.parquet").exists())
        running.signal(signal.SIGINT)
        stopped = running.wait()
        self.assertEqual(stopped.status, 130, stopped)
        files = sorted(path.name for path in (job.folder / "out").iterdir())
        self.assertNotIn(".partial", " ".join(files))
        self.assertEqual(stopped.json["files"], len(files) - 1, stopped)
        self.assertEqual(stopped.json["rows"], 5000 * (len(files) - 1))
        refused = job.run("convert", "--out", "out")
        self.assert_refused(refused, 2, "--out out: holds a conversion; give --resume")
        resumed = self.assert_done(job.run("convert", "--out", "out", "--resume", "--json"))
        self.assertEqual(stopped.json["rows"] + resumed["rows"], 40000)

    def test_damaged_rows_are_left_out_and_counted_once(self):
        job = self.job(dataset={"bad_rows": 2})
        lines = job.put_criteo(2000, files=2)
        job.put("data/day_0.tsv", "".join(lines[:500]) + "7\tbad\n" + "".join(lines[500:1000]))
        done = self.assert_done(job.run("convert", "--out", "out", "--to", "npy", "--json"))
        self.assertEqual((done["rows"], done["bad_rows"]), (2000, 1))
        self.assertIn("day_0.tsv", (job.folder / ".forebay/quarantine.tsv").read_text())
        self.assertEqual(len((job.folder / "out/day_0_labels.npy").read_bytes()), 128 + 4 * 1000)
        job.change(dataset={"bad_rows": 0})
        refused = job.run("convert", "--out", "strict")
        self.assert_refused(refused, 1, "day_0.tsv", "dataset.bad_rows = 0 allows no more")
        self.assertEqual([path.name for path in (job.folder / "strict").iterdir()], ["forebay-convert.json"])

    def test_a_folder_that_another_conversion_fills_is_refused_until_that_ends(self):
        job = self.job()
        job.put_criteo(2000, files=2)
        out = job.folder / "out"
        out.mkdir()
        locked = os.open(out, os.O_RDONLY)  # as the other one holds it, from before its first file on
        fcntl.flock(locked, fcntl.LOCK_EX)
        for more in ([], ["--resume"]):
            self.assert_refused(job.run("convert", "--out", "out", *more), 2, "out: another conversion writes into")
        self.assertEqual(os.listdir(out), [])
        os.close(locked)
        self.assert_done(job.run("convert", "--out", "out", "--json"))

    def test_what_is_there_is_not_destroyed(self):
        job = self.job()
        job.put_criteo(2000, files=2)
        for arguments, words in (
                ((), ("convert needs --out DIR",)),
                (("--out", "data"), ("--out data", "other content")),
                (("--out", "job.toml"), ("--out job.toml",)),
                (("--out", "new", "--to", "orc"), ("--to orc: must be parquet or npy",)),
                (("--out", "data", "--resume"), ("--out data", "other content"))):
            self.assert_refused(job.run("convert", *arguments), 2, *words)
        self.assertFalse((job.folder / "new").exists())
        job.put("data/day_0.txt", (job.folder / "data/day_0.tsv").read_bytes())
        same = job.run("convert", "--out", "new", "--set", 'dataset.paths=["data/day_0.tsv", "data/day_0.txt"]')
        self.assert_refused(same, 2, "day_0.tsv and", "day_0.txt would both become new/day_0.parquet")
        self.assert_done(job.run("convert", "--out", "out", "--json"))
        changed = job.run("convert", "--out", "out", "--resume", "--raw")
        self.assert_refused(changed, 2, "--raw")
        os.unlink(job.folder / "out/day_0.parquet")
        self.assert_refused(job.run("convert", "--out", "out", "--resume"), 2, "day_0.parquet was written and is missing")

    def test_memory_and_columns_are_checked_before_the_start(self):
        job = self.job()
        job.put_criteo(2000)
        small = job.run("convert", "--out", "out", "--set", "pipeline.memory=40MiB")
        self.assert_refused(small, 2, "pipeline.memory = 40 MiB is too small")
        self.assertFalse((job.folder / "out").exists())


if __name__ == "__main__":
    harness.main()
