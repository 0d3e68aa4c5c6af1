"""The plan of operators: it changes no batch, no count and no error, and is shown with what it costs."""
import json

from support.harness import Scenario, main

LISTS = [{"op": "sigrid_hash", "columns": ["C*"], "max_value": 100000},
         {"op": "n_gram", "columns": ["C1", "C2"], "n": 2, "output": "pair"},
         {"op": "fill", "columns": ["I*"], "value": 0},
         {"op": "bucketize", "columns": ["I1"], "borders": [1, 10, 100], "output": "bucket"},
         {"op": "clamp", "columns": ["I*"], "min": 0},
         {"op": "log1p", "columns": ["I*"]},
         {"op": "sampling", "rate": 0.5}]
AS_WRITTEN = ("--set", "pipeline.optimize=false")


class Plan(Scenario):
    def badly_ordered(self):
        job = self.job(order={"batch_size": 500, "epochs": 2}, dataset={"bad_rows": 3}, transform=LISTS,
                       trainer={"model": "none", "evaluate_share": 0.1}, pipeline={"memory": "400MiB", "cpus": 2})
        job.put_criteo(20000, files=2)
        with open(job.folder / "data/day_1.tsv", "a") as file:
            file.write("no row\n")
        return job

    def test_batches_counts_and_quarantine_are_those_of_the_list_as_written(self):
        job = self.badly_ordered()
        found = []
        for options in ([], AS_WRITTEN):
            result = self.assert_done(job.run("ingest", "--json", *options))
            quarantine = (job.folder / ".forebay/quarantine.tsv").read_text()
            found.append([quarantine, *(result[key] for key in ("order_digest", "rows", "batches", "bad_rows",
                                                                "rows_held_out"))])
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0][4], 1)

    def test_a_state_of_the_one_is_resumed_by_the_other(self):
        job = self.badly_ordered()
        whole = self.assert_done(job.run("ingest", "--json"))
        self.assert_done(job.run("ingest", "--json", "--max-batches", "11", "--state", "half.json"))
        rest = self.assert_done(job.run("ingest", "--json", "--resume", "half.json", *AS_WRITTEN))
        self.assertEqual(rest["order_digest"], whole["order_digest"])

    def test_both_lists_are_shown_and_measured_after_a_run(self):
        job = self.badly_ordered()
        before = self.assert_done(job.run("plan", "--json"))
        self.assertEqual([one["op"] for one in before["as_written"]], [one["op"] for one in LISTS])
        self.assertEqual(before["as_run"][0]["op"], "sampling")
        self.assertEqual(before["as_run"][0]["operators"], [6])
        chain = next(one for one in before["as_run"] if one["op"] == "fill, clamp, log1p")
        self.assertIn("I13", chain["columns"])
        self.assertTrue(all(one["measured_ns"] is None for one in before["as_run"]))
        run = self.assert_done(job.run("ingest", "--json"))
        self.assertEqual([one["op"] for one in run["plan"]["as_run"]], [one["op"] for one in before["as_run"]])
        after = self.assert_done(job.run("plan", "--json"))
        self.assertTrue(all(one["measured_ns"] > 0 for one in after["as_run"]), after)
        page = job.run("plan")
        self.assertEqual(page.status, 0, page)
        self.assertIn("as written", page.out)
        self.assertIn("fill, clamp, log1p", page.out)

    def test_costs_that_are_damaged_or_of_another_list_are_left_alone(self):
        job = self.badly_ordered()
        self.assert_done(job.run("ingest", "--json"))
        (job.folder / ".forebay/plan").write_text("forebay-plan 1\nnonsense")
        after = self.assert_done(job.run("plan", "--json"))
        self.assertTrue(all(one["measured_ns"] is None for one in after["as_run"]), json.dumps(after))


if __name__ == "__main__":
    main()
