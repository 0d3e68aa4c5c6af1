"""Parquet files give their rows, whoever wrote them; damaged ones are refused by file, row group and column."""
import pathlib
import shutil
import unittest

from support.harness import Scenario, float32_text, main

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

FILES = pathlib.Path(__file__).parent / "data/parquet_testing"  # of apache/parquet-testing
IN_ORDER = {"shuffle": False, "batch_size": 1000}


class Parquet(Scenario):
    def parquet_job(self, path, name="job", **columns):
        return self.job(name, dataset={"format": "parquet", "paths": [str(path)]}, columns=columns, order=IN_ORDER)

    def rows(self, job):
        finished = job.run("ingest", "--json", "--dump", "dump.tsv")
        self.assert_done(finished)
        _, *lines = (job.folder / "dump.tsv").read_text().splitlines()
        return [tuple(line.split("\t")[1:]) for line in lines]

    def ids_of_texts(self, texts):
        """What the CSV format makes of them."""
        job = self.job("texts", dataset={"format": "csv", "paths": ["t.csv"]}, order=IN_ORDER,
                       columns={"label": "click", "dense": [], "sparse": ["t"]})
        job.put("t.csv", "click,t\n" + "".join(f"0,{text}\n" for text in texts))
        return [row[-1] for row in self.rows(job)]

    def test_rows_of_other_writers(self):
        ids = dict(zip(("abc", "04/01/09"), self.ids_of_texts(["abc", "04/01/09"])))
        for name, columns, rows in (
                ("alltypes_plain.snappy", {"label": "bool_col", "dense": ["float_col", "double_col", "timestamp_col"],
                                           "sparse": ["id", "bigint_col", "date_string_col", "string_col"]},
                 [("1", "0", "0", float32_text(1238544000), "6", "0", ids["04/01/09"], "0"),
                  ("0", float32_text(1.1), float32_text(10.1), float32_text(1238544060), "7", "10", ids["04/01/09"],
                   "1")]),
                ("alltypes_dictionary", {"label": "bool_col", "dense": ["tinyint_col"], "sparse": ["int_col"]},
                 [("1", "0", "0"), ("0", "1", "1")]),
                ("datapage_v2.snappy", {"label": "d", "dense": ["c", "b"], "sparse": ["e", "a"]},
                 [("1", "2", "1", "1,2,3", ids["abc"]), ("1", "3", "2", "", ids["abc"]),
                  ("1", "4", "3", "", ids["abc"]), ("0", "5", "4", "1,2,3", ""), ("1", "2", "5", "1,2", ids["abc"])])):
            with self.subTest(name):
                job = self.parquet_job(FILES / f"{name}.parquet", name, **columns)
                self.assertEqual(self.rows(job), rows)

    def test_thresholds_weights_and_extra_columns(self):
        job = self.parquet_job(FILES / "alltypes_plain.snappy.parquet", label="double_col", label_threshold=10.0,
                               weight="float_col", dense=["int_col"], extra=["bigint_col", "timestamp_col", "string_col"])
        self.assertEqual(self.rows(job), [("0", "0", "0", "0", "1238544000", "0"),
                                          ("1", "1", float32_text(1.1), "10", "1238544060", "1")])
        job.change(columns={"label": "bool_col", "weight": "id", "extra": ["date_string_col"]}, dataset={"bad_rows": 1})
        del job.tables["columns"]["label_threshold"]
        job.change(columns={"extra": ["nowhere"]})
        self.assert_refused(job.run("ingest"), 2, "columns.extra", "nowhere")
        job.change(columns={"extra": [], "weight": "string_col"})
        self.assert_refused(job.run("ingest"), 2, "columns.weight", '"string_col"')

    def test_null_labels_are_damaged_rows(self):
        path = FILES / "rle_boolean_encoding.parquet"
        job = self.parquet_job(path, label="datatype_boolean", dense=["datatype_*"])
        self.assert_refused(job.run("ingest"), 2, "datatype_boolean", "columns.label")
        shutil.copy(FILES / "datapage_v2.snappy.parquet", job.folder / "a.parquet")
        job.change(dataset={"paths": ["a.parquet"], "bad_rows": 4}, columns={"label": "b", "dense": ["c"]})
        finished = job.run("ingest", "--json")
        self.assert_done(finished)
        self.assertEqual((finished.json["rows"], finished.json["bad_rows"]), (1, 4))
        quarantine = (job.folder / finished.json["quarantine"]).read_text()
        self.assertIn("\t3\trow group 0, row 3\tlabel: 4 is not 0 or 1", quarantine)
        job.change(dataset={"bad_rows": 0})
        self.assert_refused(job.run("ingest"), 1, "a.parquet: row group 0, row 1", "label: 2 is not 0 or 1")

    def test_columns_that_cannot_be_read_are_refused_before_the_start(self):
        path = FILES / "datapage_v2.snappy.parquet"
        job = self.parquet_job(path, label="d", dense=["c"])
        for columns, *words in (
                ({"label": "d", "dense": ["e"]}, "columns.dense", '"e"', "a list of INT32"),
                ({"label": "d", "dense": ["a"]}, "columns.dense", '"a"', "BYTE_ARRAY (text)"),
                ({"label": "a", "dense": ["c"]}, "columns.label", '"a"', "BYTE_ARRAY (text)"),
                ({"label": "d", "dense": [], "sparse": ["c"]}, "columns.sparse", '"c"', "DOUBLE"),
                ({"label": "nowhere", "dense": ["c"]}, "columns.label", "nowhere"),
                ({"label": "", "dense": ["c"]}, "columns.label is missing", "parquet"),
                ({"label": "d", "dense": ["f"], "sparse": []}, "columns.dense", '"f"')):
            with self.subTest(columns):
                job.change(columns={"sparse": [], **columns})
                self.assert_refused(job.run("ingest"), 2, *words)

    def test_files_that_do_not_fit_each_other(self):
        job = self.parquet_job("*.parquet", label="bool_col", dense=["id"])
        shutil.copy(FILES / "alltypes_plain.snappy.parquet", job.folder / "a.parquet")
        shutil.copy(FILES / "datapage_v2.snappy.parquet", job.folder / "b.parquet")
        self.assert_refused(job.run("ingest"), 2, "b.parquet", '"bool_col"', "missing")
        job.put("b.parquet", "")
        self.assert_refused(job.run("ingest"), 2, "b.parquet", "not a Parquet file")

    def test_damaged_and_encrypted_files(self):
        for name, columns, status, *words in (
                ("ARROW-GH-43605.parquet", {"label": "min_fl", "dense": []}, 2),
                ("ARROW-GH-45185.parquet", {"label": "x", "dense": ["x"]}, 2, '"x"'),
                ("ARROW-GH-45185.parquet", {"label": "x", "dense": [], "sparse": ["x"]}, 2, '"x"'),
                ("ARROW-GH-47662.parquet", {"label": "flba_field", "dense": ["flba_field"]}, 2, "flba_field"),
                ("ARROW-RS-GH-6229-DICTHEADER.parquet",
                 {"label": "nation_key", "dense": ["region_key"], "sparse": ["name"]}, 2, "row group 0", 'column "name"'),
                ("ARROW-RS-GH-6229-LEVELS.parquet", {"label": "outer", "dense": ["outer"]}, 2, "outer"),
                ("PARQUET-1481.parquet", {"label": "x", "dense": ["x"]}, 2, '"x"'),
                ("nation.dict-malformed.parquet", {"label": "nation_key", "dense": ["region_key"], "sparse": ["*me*"]}, 1,
                 "row group 0", 'column "'),
                ("rle-dict-uncompressed-corrupt-checksum.parquet",
                 {"label": "long_field", "dense": [], "sparse": ["binary_field"]}, 1, "row group 0", "checksum"),
                ("encrypt_columns_plaintext_footer.parquet.encrypted", {"label": "boolean_field", "dense": ["float_field"]}, 2,
                 "encrypted"),
                ("uniform_encryption.parquet.encrypted", {"label": "boolean_field", "dense": ["float_field"]}, 2, "encrypted")):
            with self.subTest(name):
                job = self.parquet_job(FILES / name, name, **columns)
                job.change(dataset={"bad_rows": 100000})
                if columns["dense"] or columns.get("sparse"):
                    self.assert_refused(job.run("ingest"), status, name, *words)

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed")
    def test_a_column_of_type_null_has_missing_values_of_every_kind(self):
        known = {"label": [0, 1], "city": ["a", None], "h": [[1, 2], []], "x": [1.5, 2.5], "w": [0.5, 2.0]}
        job = self.parquet_job("*.parquet", label="label", dense=["x"], sparse=["city", "h"], extra=["w"])
        (city,) = self.ids_of_texts(["a"])
        rows = {"known": [("0", float32_text(1.5), city, "1,2", "0.5"), ("1", float32_text(2.5), "", "", "2")],
                "null": [("0", "0", "", "", "nan"), ("1", "0", "", "", "nan")]}
        nulls = {name: pyarrow.nulls(2) for name in ("city", "h", "x", "w")}
        columns = {"known": known, "null": {"label": [0, 1], **nulls}}
        for order in (("known", "null"), ("null", "known"), ("null", "null", "known", "null")):
            for dedup in ([], [["city", "h"]]):
                with self.subTest(order=order, dedup=dedup):
                    for old in job.folder.glob("*.parquet"):
                        old.unlink()
                    for i, name in enumerate(order):
                        pyarrow.parquet.write_table(pyarrow.table(columns[name]), job.folder / f"{i}.parquet")
                    job.change(columns={"dedup": dedup})
                    self.assertEqual(self.rows(job), [row for name in order for row in rows[name]])
        half = {name: values if name in ("label", "h") else pyarrow.nulls(2) for name, values in known.items()}
        other = {name: pyarrow.nulls(2) if name == "h" else values for name, values in known.items()}
        for i, table in enumerate((half, other)):  # neither file knows the kinds of all columns
            pyarrow.parquet.write_table(pyarrow.table(table), job.folder / f"{i}.parquet")
        for old in (2, 3):
            (job.folder / f"{old}.parquet").unlink()
        self.assertEqual([row[3] for row in self.rows(job)], ["1,2", "", "", ""])

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed")
    def test_rows_that_pyarrow_writes_in_many_ways(self):
        count = 5000
        table = pyarrow.table({
            "label": pyarrow.array([i % 2 for i in range(count)], pyarrow.int8()),
            "small": pyarrow.array([None if i % 7 == 0 else i % 100 for i in range(count)], pyarrow.int16()),
            "half": pyarrow.array([i % 1000 / 8 for i in range(count)], pyarrow.float16()),
            "real": pyarrow.array([i / 3 for i in range(count)], pyarrow.float64()),
            "pair": pyarrow.array([None if i % 11 == 0 else [i, None if i % 5 == 0 else -i] for i in range(count)],
                                  pyarrow.list_(pyarrow.float32(), 2)),
            "id": pyarrow.array([i * i for i in range(count)], pyarrow.int64()),
            "word": pyarrow.array([None if i % 13 == 0 else str(i % 300) for i in range(count)]),
            "list": pyarrow.array([None if i % 17 == 0 else [j for j in range(i % 6)] for i in range(count)],
                                  pyarrow.list_(pyarrow.int32())),
            "in": pyarrow.array([{"it": i % 50} for i in range(count)], pyarrow.struct([("it", pyarrow.uint8())]))})
        expected = []
        for i in range(count):
            pair = [0, 0] if i % 11 == 0 else [i, 0 if i % 5 == 0 else -i]
            dense = [0 if i % 7 == 0 else i % 100, i % 1000 / 8, i / 3, *pair]
            expected.append((str(i % 2), *[float32_text(value) for value in dense], str(i * i),
                             "" if i % 13 == 0 else str(i % 300),
                             "" if i % 17 == 0 else ",".join(str(j) for j in range(i % 6)), str(i % 50)))
        plain = {name: "PLAIN" for name in ("label", "small", "half", "real", "id", "word")}
        for number, options in enumerate((
                {}, {"compression": "gzip", "data_page_version": "2.0"}, {"compression": "zstd", "row_group_size": 777},
                {"compression": "brotli", "data_page_size": 300, "write_batch_size": 16, "write_page_index": True},
                {"compression": "lz4", "use_dictionary": False, "write_page_checksum": True},
                {"compression": "none", "use_dictionary": False, "column_encoding":
                 {**plain, "small": "DELTA_BINARY_PACKED", "id": "DELTA_BINARY_PACKED", "word": "DELTA_BYTE_ARRAY",
                  "real": "BYTE_STREAM_SPLIT", "half": "BYTE_STREAM_SPLIT"}},
                {"compression": "snappy", "use_dictionary": False, "data_page_version": "2.0", "column_encoding":
                 {**plain, "word": "DELTA_LENGTH_BYTE_ARRAY"}})):
            with self.subTest(options):
                job = self.parquet_job("a.parquet", f"job{number}", label="label", dense=["small", "half", "real", "pair*"],
                                       sparse=["id", "word", "list", "in.it"])
                pyarrow.parquet.write_table(table, job.folder / "a.parquet", **options)
                self.assertEqual(self.rows(job), expected)


if __name__ == "__main__":
    main()
