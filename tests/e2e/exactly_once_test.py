"""Every row of the files reaches the trainer once per epoch; rows that do not are counted."""
import collections
import csv
import io

from support.harness import Scenario, allocation, criteo_lines, dumped, main

ROWS = 7001


class ExactlyOnce(Scenario):
    def test_each_epoch_holds_each_row_once(self):
        job = self.job(order={"epochs": 2, "batch_size": 512})
        lines = job.put_criteo(ROWS, files=4)
        for options in ([], allocation(2, 3, 2, 3), ["--set", "order.shuffle=false"],
                        ["--set", "order.mode=arrival", *allocation(2, 3, 2, 2)]):
            finished, rows = job.dump(*options)
            result = self.assert_done(finished)
            self.assertEqual((result["rows"], result["epochs"], result["bad_rows"]), (2 * ROWS, 2, 0))
            self.assert_same_rows(rows[:ROWS], lines)
            self.assert_same_rows(rows[ROWS:], lines)
            self.assertEqual(result["batches"], 28)  # 7001 = 13 * 512 + 345: 14 batches an epoch
            sizes = collections.Counter(row[0] for row in rows)
            self.assertEqual([sizes[i] for i in range(28)], ([512] * 13 + [345]) * 2)

    def test_drop_last_leaves_out_the_rest_of_each_epoch(self):
        job = self.job(order={"epochs": 2, "batch_size": 512, "drop_last": True})
        job.put_criteo(ROWS, files=2)
        finished, rows = job.dump()
        result = self.assert_done(finished)
        self.assertEqual((result["batches"], result["rows"]), (26, 26 * 512))
        self.assertEqual(set(collections.Counter(row[0] for row in rows).values()), {512})

    def test_one_row_and_a_missing_last_newline_are_read(self):
        job = self.job()
        lines = criteo_lines(1, seed=5)
        job.put("data/a.tsv", lines[0].rstrip("\n"))
        finished, rows = job.dump()
        self.assertEqual(self.assert_done(finished)["rows"], 1)
        self.assert_same_rows(rows, lines)

    def test_carriage_returns_upper_case_hex_and_empty_files_are_accepted(self):
        job = self.job()
        lines = criteo_lines(300, seed=6)
        job.put("data/a.tsv", "".join(line.replace("\n", "\r\n") for line in lines[:100]))
        job.put("data/b.tsv", "")
        job.put("data/c.tsv", "".join(line.upper() for line in lines[100:]))
        finished, rows = job.dump()
        self.assert_done(finished)
        self.assert_same_rows(rows, lines)

    def test_without_damaged_rows_no_quarantine_is_named(self):
        job = self.job()
        job.put_criteo(200)
        done = self.assert_done(job.run("ingest", "--json"))
        self.assertEqual((done["bad_rows"], done["quarantine"]), (0, ""))

    def test_damaged_rows_are_left_out_counted_and_kept_aside(self):
        job = self.job(dataset={"bad_rows": 5}, order={"epochs": 2, "batch_size": 100})
        lines = criteo_lines(1000, seed=7)
        damaged = {
            100: "not a row\n",
            250: lines[250].replace("\t", "", 1),
            400: "2" + lines[400][1:],
            555: lines[555].rstrip("\n") + "xyz\n",
            999: "0\t99999999999999999999" + lines[999][lines[999].index("\t", 2):],
        }
        text = [damaged.get(i, line) for i, line in enumerate(lines)]
        job.put("data/a.tsv", "".join(text))
        finished, rows = job.dump(*allocation(2, 2, 2, 2))
        result = self.assert_done(finished)
        sound = [line for i, line in enumerate(lines) if i not in damaged]
        self.assertEqual((result["rows"], result["bad_rows"]), (2 * 995, 5))
        self.assert_same_rows(rows, sound, epochs=2)
        sizes = collections.Counter(row[0] for row in rows)
        self.assertEqual([sizes[i] for i in range(10)], [100] * 9 + [95])  # batches stay full
        kept = (job.folder / result["quarantine"]).read_text().splitlines()
        offsets = {str(len("".join(text[:i]))): str(i + 1) for i in damaged}
        entries = [line.split("\t") for line in kept if "a.tsv" in line]
        self.assertEqual(len(entries), 5, kept)
        for entry in entries:
            self.assertIn(entry[1], offsets, entry)
            self.assertEqual(entry[2], offsets[entry[1]], entry)

        finished = job.run("ingest", "--set", "dataset.bad_rows=4")
        self.assert_refused(finished, 1, "a.tsv", "bad_rows")

    def test_rows_held_out_are_the_same_for_any_order_and_are_counted(self):
        job = self.job(trainer={"evaluate_share": 0.1})
        lines = job.put_criteo(ROWS, files=2)
        finished, rows = job.dump()
        result = self.assert_done(finished)
        self.assertEqual(result["rows"] + result["rows_held_out"], ROWS)
        self.assertLess(abs(result["rows_held_out"] - ROWS / 10), 100)
        finished, again = job.dump("--set", "order.shuffle=false", *allocation(2, 2, 2, 2))
        self.assert_done(finished)
        self.assertEqual(sorted(row[1:] for row in rows), sorted(row[1:] for row in again))
        self.assertFalse({row[1:] for row in rows} - set(map(dumped, lines)))

    def test_csv_with_quotes_newlines_a_bom_and_lists_is_read(self):
        job = self.job(dataset={"format": "csv", "paths": ["a.csv"]},
                       columns={"label": "click", "dense": ["price"], "sparse": ["item", "user_*"]})
        table = [["click", "note", "price", "item", "user_a", "user_b"],
                 ["0", 'says "hi", twice', "1.5", "7", "x", "-3"],
                 ["1", "two\nlines", "", "", "x", "007"],
                 ["1.0", "", "1e3", "9223372036854775807", "y", "x"]]
        text = io.StringIO()
        csv.writer(text, lineterminator="\r\n").writerows(table)
        job.put("a.csv", "\ufeff" + text.getvalue() + "\r\n")
        finished, rows = job.dump("--set", "order.shuffle=false")
        self.assert_done(finished)
        self.assertEqual([row[1:4] for row in rows],
                         [("0", "1.5", "7"), ("1", "0", ""), ("1", "1000", "9223372036854775807")])
        first, second, third = rows
        self.assertEqual(first[5], "-3")
        self.assertEqual(first[4], second[4])     # one string, one id
        self.assertEqual(first[4], third[5])      # in any column
        self.assertNotIn(second[5], ("7", "007"))  # 007 is no canonical number: hashed
        self.assertNotEqual(third[4], first[4])


if __name__ == "__main__":
    main()
