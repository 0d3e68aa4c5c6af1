"""Columns that repeat over neighbouring rows are stored once, and nobody can tell from the batches."""
from support.cluster import Cluster
from support.harness import Running, Scenario, main
from support.requests import COLUMNS, REPEATED, csv_text, request_rows

CSV = {"format": "csv", "paths": ["a.csv"], "csv.list_delimiter": "|"}
# Over columns of one group, over columns of two, over a group and plain columns, and over rows.
OPERATORS = [
    {"op": "fill", "columns": ["age"], "value": 30.0},
    {"op": "sigrid_hash", "columns": ["history"], "max_value": 1000},
    {"op": "first_x", "columns": ["history"], "x": 5, "output": "latest"},
    {"op": "bucketize", "columns": ["age"], "borders": [18.0, 40.0], "output": "decade"},
    {"op": "jaccard", "columns": ["history", "seen"], "output": "overlap"},
    {"op": "cartesian", "columns": ["decade", "item"], "output": "cross"},
    {"op": "sampling", "rate": 0.8},
    {"op": "positive_modulus", "columns": ["history"], "modulus": 300},
    {"op": "log1p", "columns": ["age", "position"]},
]


class Dedup(Scenario):
    def requests(self, name="job", requests=1500, seed=1, **tables):
        job = self.job(name, **{"dataset": CSV, "columns": COLUMNS,
                                "order": {"batch_size": 700, "epochs": 2, "seed": 3}, **tables})
        rows = request_rows(requests, seed=seed)
        job.put("a.csv", csv_text(rows))
        return job, rows

    def both(self, job, *options, command="ingest"):
        """The JSON of two runs, without and with columns stored once, which have to make the same batches."""
        job.tables["columns"].pop("dedup", None)
        job.change()
        plain = self.assert_done(job.run(command, "--json", *options))
        job.change(columns={"dedup": REPEATED})
        once = self.assert_done(job.run(command, "--json", *options))
        for key in ("rows", "batches", "order_digest", "bad_rows", "rows_held_out"):
            self.assertEqual(once[key], plain[key], key)
        self.assertEqual(plain["dedup_ratio"], 1)
        return plain, once

    def test_the_same_batches_of_text(self):
        job, rows = self.requests()
        _, once = self.both(job)
        self.assertEqual(once["rows"], 2 * len(rows))
        self.assertGreater(once["dedup_ratio"], 4)  # about 12.5 rows a request, which blocks cut
        job.change(order={"shuffle": False, "batch_size": 64})
        self.both(job)
        self.assertIn("stored once", job.run("ingest").out)

    def test_the_same_batches_through_operators_over_groups_and_over_all_columns(self):
        job, _ = self.requests(transform=OPERATORS, trainer={"evaluate_share": 0.1})
        self.both(job)
        self.both(job, "--set", "pipeline.optimize=false")
        job.tables["transform"] = [{**each, "stage": "own"} for each in OPERATORS]
        self.both(job)

    def test_damaged_rows_and_quoted_fields_among_repeated_ones(self):
        job, rows = self.requests(dataset={**CSV, "bad_rows": 100_000})
        lines = csv_text(rows).splitlines()
        for at in range(10, len(lines), 7):
            lines[at] = lines[at].replace(",", ",x", 1) if at % 3 else lines[at].replace("0,", "2,", 1)
        for at in range(12, len(lines), 5):  # with doubled quotes, whose text lies elsewhere
            click, age, position, user, rest = lines[at].split(",", 4)
            lines[at] = f'{click},{age},{position},"u""{user}",{rest}'
        job.put("a.csv", "\n".join(lines) + "\n")
        plain, _ = self.both(job)
        self.assertGreater(plain["bad_rows"], 100)

    def test_the_same_batches_of_parquet_in_grains(self):
        text, _ = self.requests("text", requests=4000, order={"shuffle": False})
        self.assert_done(text.run("convert", "--raw", "--out", "made", "--json"))
        job = self.job("parquet", dataset={"format": "parquet", "paths": [f"{text.folder}/made/*.parquet"]},
                       columns=COLUMNS, transform=OPERATORS, order={"batch_size": 700, "epochs": 2, "seed": 3})
        _, once = self.both(job)
        self.assertGreater(once["strata"], 2)
        self.assertGreater(once["dedup_ratio"], 6)
        job.tables["trainer"] = {"evaluate_share": 0.5}
        self.both(job)

    def test_inspect_says_how_often_values_come_in_a_row(self):
        text, rows = self.requests(requests=500, order={"shuffle": False})
        self.assert_done(text.run("convert", "--raw", "--out", "made", "--json"))
        runs = 1 + sum(row[4] != before[4] for row, before in zip(rows[1:], rows))
        for path in (text.folder / "a.csv", *text.folder.glob("made/*.parquet")):
            shown = self.assert_done(Running(("inspect", str(path), "--json"), text.folder).wait())["files"][0]
            history = next(column for column in shown["columns"] if column["name"] == "history")
            self.assertAlmostEqual(history["in_a_row"], len(rows) / runs, delta=1, msg=path)

    def test_a_state_goes_on_with_and_without(self):
        job, _ = self.requests(order={"batch_size": 100, "epochs": 1})
        whole = self.assert_done(job.run("ingest", "--json"))
        job.change(columns={"dedup": REPEATED})
        self.assert_done(job.run("ingest", "--json", "--max-batches", "33", "--state", "state.json"))
        del job.tables["columns"]["dedup"]
        rest = self.assert_done(job.run("ingest", "--json", "--resume", "state.json"))
        self.assertEqual(rest["order_digest"], whole["order_digest"])

    def test_workers_send_each_repeated_row_once(self):
        job, _ = self.requests(requests=6000, transform=OPERATORS, order={"batch_size": 700, "epochs": 4})
        alone = self.assert_done(job.run("ingest", "--json"))
        job.change(columns={"dedup": REPEATED})
        cluster = Cluster(self, job, local=False)
        for name in ("one", "two"):
            cluster.worker(name=name)
        finished, _ = cluster.finish()
        done = self.assert_done(finished)
        self.assertEqual(done["order_digest"], alone["order_digest"])
        self.assertGreater(done["dedup_ratio"], 4)

    def test_training_has_the_losses_of_plain_columns(self):
        job, _ = self.requests(trainer={"embedding_dim": 8, "max_table_rows": 2000, "bottom_mlp": [16, 8],
                                        "top_mlp": [16, 1], "evaluate_share": 0.1})
        plain, once = self.both(job, "--restart", command="train")
        self.assertAlmostEqual(once["loss"], plain["loss"], delta=1e-6)

    def test_groups_that_make_no_sense_are_refused(self):
        job, _ = self.requests(requests=3)
        for groups, words in (([["nowhere"]], ("columns.dedup", "no dense or sparse column matches", "nowhere")),
                              ([["user"], ["us*"]], ("columns.dedup", "user", "already used")),
                              ([["click"]], ("columns.dedup", "click", "is the label")),
                              ("user", ("columns.dedup", "list of lists"))):
            job.change(columns={"dedup": groups})
            self.assert_refused(job.run("ingest"), 2, *words)


if __name__ == "__main__":
    main()
