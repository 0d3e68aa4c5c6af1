"""Preprocessed arrays (format npy): the rows of the trios, each once an epoch; what is refused and how it is named."""
import random
import zipfile

from support import harness
from support.harness import float32_text
from support.npy import flat, npy, npz

DENSE, SPARSE = 13, 26


class Npy(harness.Scenario):
    def rows(self, count, seed=1):
        """[(label, dense, ids)]; C1 is the row's number."""
        draw = random.Random(seed)
        return [(int(draw.random() < 0.3), [draw.gauss(0, 2) for _ in range(DENSE)],
                 [i] + [draw.randrange(-2**31, 2**31) for _ in range(SPARSE - 1)]) for i in range(count)]

    def put(self, job, trio, rows, **arrays):
        """Writes a trio; `arrays` replaces its files by their names."""
        n = len(rows)
        files = {"labels": npy("i", (n, 1), [row[0] for row in rows]),
                 "dense": npy("f", (n, DENSE), flat(row[1] for row in rows)),
                 "sparse": npy("i", (n, SPARSE), flat(row[2] for row in rows)), **arrays}
        for name, content in files.items():
            job.put(f"data/{trio}_{name}.npy", content)

    def npy_job(self, **tables):
        job = self.job(dataset={"format": "npy", "paths": ["data/day_*"]}, order={"batch_size": 100, "seed": 3})
        job.change(**tables)
        return job

    def dumped(self, row):
        label, dense, ids = row
        return (float32_text(label), *map(float32_text, dense), *map(str, ids))

    def test_each_row_of_all_trios_comes_once_and_in_file_order_without_a_shuffle(self):
        job = self.npy_job()
        rows = self.rows(25000)
        self.put(job, "day_0", rows[:15000])
        self.put(job, "day_1", rows[15000:])
        finished, dump = job.dump()
        self.assertEqual(self.assert_done(finished)["rows"], 25000)
        self.assertEqual(sorted(row[1:] for row in dump), sorted(map(self.dumped, rows)))
        self.assertNotEqual([row[1:] for row in dump], list(map(self.dumped, rows)))
        digest = finished.json["order_digest"]
        for paths in (["data/*_dense.npy"], ["data/day_0_labels.npy", "data/day_0_sparse.npy", "data/day_1_dense.npy"]):
            job.change(dataset={"paths": paths})
            self.assertEqual(self.assert_done(job.run("ingest", "--json"))["order_digest"], digest)
        job.change(order={"shuffle": False})
        finished, dump = job.dump()
        self.assertEqual([row[1:] for row in dump], list(map(self.dumped, rows)))

    def test_a_run_resumes_inside_a_trio(self):
        job = self.npy_job()
        self.put(job, "day_0", self.rows(20000))
        digest = self.assert_done(job.run("ingest", "--json"))["order_digest"]
        self.assert_done(job.run("ingest", "--json", "--max-batches", 77, "--state", "half.json"))
        self.assertEqual(self.assert_done(job.run("ingest", "--json", "--resume", "half.json"))["order_digest"], digest)

    def test_multi_hot_files_give_lists_of_fixed_lengths(self):
        job = self.npy_job(columns={"label": "label", "dense": ["I2"], "sparse": ["C*"]})
        n, sizes = 3000, (3, 1, 0, 12)
        draw = random.Random(2)
        ids = [[[draw.randrange(2**31) for _ in range(size)] for size in sizes] for _ in range(n)]
        job.put("data/day_0_labels.npy", npy("f", (n,), [i % 2 for i in range(n)]))
        job.put("data/day_0_dense.npy", npy("d", (n, 2), flat((0, i) for i in range(n))))
        job.put("data/day_0_sparse_multi_hot.npz", npz({
            str(key): npy("i", (n, size), flat(row[key] for row in ids)) for key, size in enumerate(sizes)}))
        finished, dump = job.dump()
        self.assert_done(finished)
        want = [(str(i % 2), str(i), *(",".join(map(str, list_)) for list_ in ids[i])) for i in range(n)]
        self.assertEqual(sorted(row[1:] for row in dump), sorted(want))

    def test_nan_is_missing_and_arrays_by_column_are_the_same_rows(self):
        job = self.npy_job(columns={"label": "label", "dense": ["I1", "I3"], "sparse": ["C2"]},
                           order={"batch_size": 2, "shuffle": False})
        job.put("data/day_0_labels.npy", npy("B", (3, 1), [1, 0, 1]))
        job.put("data/day_0_dense.npy", npy("f", (3, 3), [float("nan"), 1, 2, 9, 9, 9, 3, 4, float("inf")], fortran=True))
        job.put("data/day_0_sparse.npy", npy("q", (3, 2), [0, 0, 0, -5, 2**40, 7], fortran=True))
        finished, dump = job.dump()
        self.assert_done(finished)
        self.assertEqual([row[1:] for row in dump], [("1", "0", "3", "-5"), ("0", "1", "4", str(2**40)), ("1", "2", "inf", "7")])

    def test_damaged_labels_are_quarantined_by_row_and_the_held_out_rows_are_the_others(self):
        job = self.npy_job()
        rows = self.rows(20000)
        labels = [row[0] for row in rows]
        labels[12345] = 5
        self.put(job, "day_0", rows, labels=npy("i", (20000, 1), labels))
        self.assert_refused(job.run("ingest", "--json"), 1, "day_0_sparse.npy", "row 5792", "label: 5 is not 0 or 1")
        job.change(dataset={"bad_rows": 1})
        finished, dump = job.dump()
        self.assertEqual(self.assert_done(finished)["bad_rows"], 1)
        self.assertEqual(len(dump), 19999)
        line = (job.folder / ".forebay/quarantine.tsv").read_text().splitlines()[1].split("\t")
        self.assertEqual(line[1:4], ["12345", "row group 1, row 5792",
                                     "label: 5 is not 0 or 1, in the trio's _labels.npy"])
        job.change(trainer={"evaluate_share": 0.25})
        done = self.assert_done(job.run("ingest", "--json"))
        self.assertEqual(done["rows"] + done["rows_held_out"], 19999)

    def test_what_cannot_be_read_is_refused_by_name_before_the_start(self):
        job = self.npy_job()
        rows = self.rows(100)
        big = npy("i", (100, 1), [0] * 100).replace(b"<i4", b">i4")
        cases = {
            "unequal": (dict(labels=npy("i", (99, 1), [0] * 99)), "day_0_labels.npy has 99 rows"),
            "labels": (dict(labels=npy("i", (100, 2), [0] * 200)), "day_0_labels.npy has 2 columns"),
            "floats": (dict(sparse=npy("f", (100, 1), [0.0] * 100)), "day_0_sparse.npy holds float32"),
            "big": (dict(labels=big), "big-endian"),
            "object": (dict(labels=big.replace(b"'>i4'", b"'|O' ")), '"|O"'),
            "empty": (dict(labels=b""), "day_0_labels.npy"),
            "text": (dict(dense=b"label,I1\n0,1\n"), "day_0_dense.npy"),
        }
        for name, (arrays, words) in cases.items():
            with self.subTest(name):
                self.put(job, "day_0", rows, **arrays)
                finished = job.run("ingest", "--json")
                self.assert_refused(finished, finished.status, "day_0_", words)
                self.assertIn(finished.status, (1, 2))
        self.put(job, "day_0", rows)
        (job.folder / "data/day_0_labels.npy").unlink()
        self.assert_refused(job.run("ingest", "--json"), 2, "day_0_labels.npy", "beside each other")
        self.put(job, "day_0", rows)
        (job.folder / "data/day_0_sparse.npy").unlink()
        packed = npz({"0": npy("i", (100, 1), [0] * 100)}, zipfile.ZIP_DEFLATED)
        job.put("data/day_0_sparse_multi_hot.npz", packed)
        self.assert_refused(job.run("ingest", "--json"), 2, "day_0_sparse_multi_hot.npz", "np.savez, not np.savez_compressed")

    def test_files_cut_anywhere_and_lying_headers_are_named(self):
        job = self.npy_job()
        rows = self.rows(50)
        multi = npz({"0": npy("i", (50, 2), range(100)), "1": npy("i", (50, 1), range(50))})
        self.put(job, "day_0", rows)
        (job.folder / "data/day_0_sparse.npy").unlink()
        job.put("data/day_0_sparse_multi_hot.npz", multi)
        self.assert_done(job.run("ingest", "--json"))
        whole = {name: (job.folder / "data" / name).read_bytes() for name in
                 ("day_0_dense.npy", "day_0_labels.npy", "day_0_sparse_multi_hot.npz")}
        for name, content in whole.items():
            for percent in range(0, 100, 9):
                with self.subTest(name=name, percent=percent):
                    job.put("data/" + name, content[:len(content) * percent // 100])
                    finished = job.run("ingest", "--json")
                    self.assert_refused(finished, finished.status, name)
                    self.assertIn(finished.status, (1, 2))
            job.put("data/" + name, content)
        lying = whole["day_0_dense.npy"].replace(b"(50, 13)", b"(9" + b"9" * 3 + b",3)")
        job.put("data/day_0_dense.npy", lying)
        finished = job.run("ingest", "--json")
        self.assert_refused(finished, finished.status, "day_0_dense.npy", "shape")

    def test_a_file_of_a_trio_that_changes_during_a_run_fails_it_by_name(self):
        job = self.npy_job(order={"epochs": 10000, "batch_size": 100})
        self.put(job, "day_0", self.rows(20000))
        running = job.start("ingest", "--json", "--dump", "dump.tsv")
        dump = job.folder / "dump.tsv"
        self.wait_until(lambda: dump.exists() and dump.stat().st_size > 1_000_000 or not running.alive())
        job.put("data/day_0_labels.npy", npy("i", (20000, 1), [1] * 20000))
        self.assert_refused(running.wait(60), 1, "day_0_labels.npy changed since it was indexed", seconds=60)

    def test_no_output_replaces_any_file_of_a_trio(self):
        job = self.npy_job(dataset={"format": "npy", "paths": ["data/day_0_dense.npy"]})
        self.put(job, "day_0", self.rows(100))
        for name in ("dense", "sparse", "labels"):
            self.assert_refused(job.run("ingest", "--json", "--dump", f"data/day_0_{name}.npy"), 2, f"day_0_{name}.npy")


if __name__ == "__main__":
    harness.main()
