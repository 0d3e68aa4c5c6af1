"""label_threshold, weight and extra of [columns]: from the file to the dump, workers and resumed runs."""
from support.cluster import Cluster
from support.harness import float32_text, main
from support.rated import COLUMNS, RatedScenario, made_rows


class Columns(RatedScenario):
    def test_the_dump_ends_with_the_weight_and_the_extra_columns(self):
        rows = made_rows(3000)
        job = self.rated(rows)
        finished, dumped = job.dump()
        self.assert_done(finished)
        header = (job.folder / "dump.tsv").read_text().split("\n")[0].split("\t")
        self.assertEqual(header, ["batch", "label", "age", "item", "weight", "time", "session"])
        by_time = {row[5]: row[1:] for row in dumped}
        self.assertEqual(len(by_time), 3000)
        sessions = {}
        for session, rating, age, importance, item, time in rows:
            label, *features, weight, _, hashed = by_time[time]
            self.assertEqual(label, "1" if float(rating) >= 4.1 else "0", rating)
            self.assertEqual(features, [float32_text(age), item])
            self.assertEqual(weight, float32_text(importance))
            self.assertEqual(sessions.setdefault(session, hashed), hashed)
        self.assertEqual(len(set(sessions.values())), len(sessions))

    def test_bad_weights_and_labels_go_to_the_quarantine(self):
        rows = made_rows(4000)
        for at, column, text in ((100, 3, "-1"), (900, 3, ""), (2100, 3, "inf"), (2600, 3, "nan"), (3000, 1, "good"),
                                 (3999, 1, "")):
            rows[at][column] = text
        job = self.rated(rows)
        self.assert_refused(job.run("ingest", "--json"), 1, "bad_rows")
        job.change(dataset={"bad_rows": 6})
        finished, dumped = job.dump("--set", "order.epochs=2")
        result = self.assert_done(finished)
        self.assertEqual((result["bad_rows"], result["rows"], len(dumped)), (6, 7988, 7988))
        self.assertEqual(len({row[5] for row in dumped}), 3994)
        quarantine = (job.folder / ".forebay" / "quarantine.tsv").read_text()
        for field in ("-1", "", "inf", "nan"):
            self.assertIn(f'column importance: "{field}" is not a weight (finite and at least 0)', quarantine)
        for field in ("good", ""):
            self.assertIn(f'column rating: "{field}" is not a finite number', quarantine)

    def test_each_of_the_keys_changes_the_digest_and_a_threshold_alone_only_labels(self):
        plain = {"label": "rating", "label_threshold": 4.1, "dense": ["age"], "sparse": ["item"]}
        digests = {}
        for name, columns in (("plain", plain), ("weight", {**plain, "weight": "importance"}),
                              ("extra", {**plain, "extra": ["time"]}), ("both", COLUMNS),
                              ("threshold", {**plain, "label_threshold": 2})):
            other = self.rated(columns=columns, name=name)
            digests[name] = self.assert_done(other.run("ingest", "--json"))["order_digest"]
        self.assertEqual(len(set(digests.values())), len(digests), digests)
        # In file order, labels that are written as 0 and 1 give the same batches.
        rows = made_rows(8000)
        for row in rows:
            row[1] = "1" if float(row[1]) >= 4.1 else "0"
        in_order = {"batch_size": 512, "shuffle": False}
        read = self.rated(columns=plain, name="read", order=in_order)
        del plain["label_threshold"]
        written = self.rated(rows, columns=plain, name="written", order=in_order)
        self.assertEqual(*(self.assert_done(job.run("ingest", "--json"))["order_digest"] for job in (read, written)))

    def test_operators_keep_weights_and_extra_columns_with_their_rows(self):
        job = self.rated(transform=[{"op": "sampling", "rate": 0.4}, {"op": "log1p", "columns": ["age"]},
                                    {"op": "sigrid_hash", "columns": ["item"], "salt": 0, "max_value": 7}])
        finished, dumped = job.dump()
        result = self.assert_done(finished)
        self.assertTrue(2800 < result["rows"] < 3600, result)
        want = {row[5]: (row[1], row[3]) for row in made_rows(8000)}
        for row in dumped:
            rating, importance = want[row[5]]
            self.assertEqual(row[1], "1" if float(rating) >= 4.1 else "0")
            self.assertEqual(row[4], float32_text(importance))
        job.change(transform=[{"op": "log1p", "columns": ["age"], "output": "time"}])
        self.assert_refused(job.run("ingest", "--json"), 2, "time", "columns.extra")

    def test_workers_make_the_same_batches(self):
        job = self.rated(order={"batch_size": 300, "epochs": 3})
        alone = self.assert_done(job.run("ingest", "--json"))
        for workers, local in ((1, False), (2, True)):
            cluster = Cluster(self, job, local=local, min_workers=workers)
            for _ in range(workers):
                cluster.worker()
            finished, _ = cluster.finish()
            self.assertEqual(self.assert_done(finished)["order_digest"], alone["order_digest"], finished)

    def test_a_state_of_other_columns_is_refused_and_of_the_same_goes_on(self):
        job = self.rated(order={"batch_size": 300, "epochs": 2})
        whole = self.assert_done(job.run("ingest", "--json"))
        self.assert_done(job.run("ingest", "--json", "--max-batches", 9, "--state", "state"))
        for change in ("columns.label_threshold=4.2", "columns.weight=time", "columns.extra=[\"time\"]"):
            sets = ["--set", change]
            if "weight" in change:
                sets += ["--set", "columns.extra=[]"]
            self.assert_refused(job.run("ingest", "--json", "--resume", "state", *sets), 2, "columns")
        resumed = self.assert_done(job.run("ingest", "--json", "--resume", "state"))
        self.assertEqual(resumed["order_digest"], whole["order_digest"])

    def test_a_column_has_one_use_and_a_key_that_cannot_be_is_named(self):
        job = self.rated(made_rows(10))
        for changes, words in (({"weight": "age"}, ("columns.weight", '"age"', "columns.dense")),
                               ({"extra": ["item"]}, ("columns.extra", '"item"', "columns.sparse")),
                               ({"extra": ["time", "t*"]}, ("columns.extra", '"time"')),
                               ({"weight": "importnce"}, ("columns.weight", "importance")),
                               ({"extra": ["none_*"]}, ("columns.extra", "none_*")),
                               ({"label_threshold": "4"}, ("columns.label_threshold", "number"))):
            job.change(columns={**COLUMNS, **changes})
            self.assert_refused(job.run("ingest", "--json"), 2, *words)

    def test_criteo_files_can_have_them_too(self):
        job = self.job(columns={"label": "label", "dense": ["I1"], "sparse": ["C2"], "weight": "I13",
                                "extra": ["C1", "I2"]}, dataset={"bad_rows": 100000})
        lines = job.put_criteo(2000)
        fields = [line.rstrip("\n").split("\t") for line in lines]
        sound = [row for row in fields if row[13] not in ("", "-1", "-2")]
        finished, dumped = job.dump()
        result = self.assert_done(finished)
        self.assertEqual((result["rows"], result["bad_rows"]), (len(sound), 2000 - len(sound)))
        want = sorted((float32_text(row[13]), str(int(row[14], 16)), row[2] or "0") for row in sound)
        self.assertEqual(sorted(row[-3:] for row in dumped), want)


if __name__ == "__main__":
    main()
