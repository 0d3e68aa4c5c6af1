"""The page of runs that are no plain ones: a cluster that loses a worker, a run that fails, a training with tiers."""
import json
import os
import re
import signal

from support.cluster import Cluster
from support.harness import Running, change_in_place, main
from support.page import InChromium, address_of

TABLE_ROWS = 20000
OPS = [{"op": "log1p", "columns": ["I*"]},
       {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": TABLE_ROWS}]


class PageLive(InChromium):
    def wait_for_text(self, selector, text, seconds=60):
        inside = f"(document.querySelector({json.dumps(selector)})?.innerText ?? '')"
        self.browser.wait(f"{inside}.includes({json.dumps(text)})", seconds)

    def assert_heard_nobody_else(self, address):
        heard = self.browser.heard()
        self.assertEqual([url for url in heard["requests"] if not url.startswith(address)], [])
        return heard["errors"]

    def test_a_worker_that_is_killed_leaves_the_page_and_the_run_goes_on(self):
        cluster = Cluster(self, self.slow, min_workers=2)
        cluster.worker(name="first")
        cluster.worker(name="second")
        self.wait_until(lambda: "dashboard: http://" in cluster.trainer.stderr_now())
        address = address_of(cluster.trainer)
        self.browser.open(address)
        self.browser.wait("document.querySelectorAll('#nodes tbody tr').length === 3")  # with the trainer's own
        for name in ("first", "second"):
            self.wait_for_text("#nodes", name)
        row = "[...document.querySelectorAll('#nodes tbody tr')].find((each) => each.innerText.startsWith('second'))"
        self.browser.wait(f"/working/.test({row}?.innerText)")
        # Its energy is an estimate here, or counted where the kernel lets us; it has some after a second.
        self.browser.wait(rf"/\d\s*J/.test({row}?.innerText)")
        self.wait_for_text(".tiles", "of it workers")
        cluster.kill("second")
        self.browser.wait(f"{row} === undefined")
        # The page may draw the nodes anew between two looks, with the list of changes closed.
        self.browser.wait("(document.querySelector('#nodes details').open = true)"
                          " && document.querySelector('#nodes').innerText.includes('second left')")
        self.wait_for_text("#nodes", "first")
        rows = self.get(address, "api/status")["rows"]
        self.wait_until(lambda: self.get(address, "api/status")["rows"] > rows)
        self.shown("cluster")
        self.assertEqual(self.assert_heard_nobody_else(address), [])
        cluster.trainer.signal(signal.SIGTERM)
        finished, _ = cluster.finish()
        self.assertEqual(finished.status, 143, finished)
        self.wait_for_text(".state", "stopped")
        energy = finished.json["energy"]
        self.assertGreater(energy["worker_joules"], 0)
        self.assertAlmostEqual(energy["joules"], energy["cpu_joules"] + energy["worker_joules"], places=6)
        self.assertIn(energy["worker_method"], ("estimate", "rapl"))

    def test_a_viewer_whose_clock_is_behind_sees_the_run_go_on(self):
        running, address = self.started()
        self.browser.open(address, behind=600)
        self.wait_for_text(".state", "running")
        asked = address + "api/history"
        self.wait_until(lambda: sum(url.startswith(asked) for url in self.browser.heard()["requests"]) > 3)
        self.assertEqual(self.browser.text(".state").lower(), "running")
        self.assertEqual(self.assert_heard_nobody_else(address), [])
        self.stopped(running)

    def test_a_link_in_a_page_of_another_site_opens_the_page(self):
        token = "a-token-for-this-test"
        os.environ["FOREBAY_DASHBOARD_TOKEN"] = token
        self.addCleanup(os.environ.pop, "FOREBAY_DASHBOARD_TOKEN")
        running, address = self.started()
        self.browser.open(f"data:text/html,<a href='{address}?token={token}'>the run</a>")
        self.browser.follow("a")
        self.wait_for_text(".state", "running")
        self.stopped(running)

    def test_a_run_that_fails_says_why_while_it_is_looked_at(self):
        running, address = self.started()
        self.browser.open(address)
        self.wait_for_text(".state", "running")
        self.browser.wait("document.querySelector('.tiles dd')")
        change_in_place(self.slow.folder / "data/day_0.tsv", 1000, b"no row of this kind" * 20)
        self.wait_for_text(".state", "failed", 120)
        self.assertIn("day_0.tsv", self.browser.text(".failure"))
        self.shown("failed-live")
        self.assert_heard_nobody_else(address)
        self.assertEqual(running.wait().status, 1)

    def test_a_training_shows_its_tables_by_tier_its_loss_and_its_auc(self):
        job = self.job("tiers", order={"batch_size": 256, "epochs": 100}, transform=OPS,
                       trainer={"threads": 1, "evaluate_share": 0.1, "evaluate_every": 20},
                       run={"dashboard": "127.0.0.1:0"}, **{"trainer.tables": {"storage": "tiered", "memory": "9MiB"}})
        self.assert_done(Running(["synth", "criteo", "--rows", 20000, "--files", 2, "--out", "tiers/data", "--json"],
                                 self.folder).wait())
        running, address = self.started(job=job, command="train")
        self.browser.open(address)
        self.browser.wait("document.querySelectorAll('#training [aria-label=\"Tables by tier\"] tbody tr').length === 27", 120)
        self.wait_for_text("#training", "all tables")
        self.browser.wait("document.querySelectorAll('#training [aria-label=\"Evaluations\"] tbody tr').length > 0", 120)
        self.wait_for_text("#history", "AUC of evaluations")
        self.assertRegex(self.browser.text(".tiles"), r"(?i)loss\s+0\.\d+")
        cells = self.browser.text("#training [aria-label='Tables by tier'] tbody tr:nth-child(1)")
        self.assertRegex(cells, rf"all tables\s+{26 * TABLE_ROWS:,} rows")
        on_disk = "rows_on_disk"
        self.wait_until(lambda: any(table[on_disk] for table in self.get(address, "api/status")["learning"]["tables"]))
        learned = self.get(address, "api/status")["learning"]
        for table in learned["tables"]:
            self.assertEqual(table["rows"], TABLE_ROWS)
            self.assertLessEqual(table["rows_in_memory"] + table["rows_on_disk"], TABLE_ROWS)
        self.assertGreater(sum(table["rows_in_memory"] for table in learned["tables"]), 0)
        self.shown("tiers")
        self.assertEqual(self.assert_heard_nobody_else(address), [])
        self.stopped(running)
        self.browser.open(self.report(job.folder).as_uri())
        self.assertTrue(re.search(r"all tables", self.browser.text("#training")))


if __name__ == "__main__":
    main()
