"""The page of a running job, its report, and what both look like in Chromium.

FOREBAY_PICTURES=DIR keeps the screenshots."""
import json
import os
import re
import subprocess
import unittest
import urllib.request

from support.browser import SOURCE
from support.harness import Running, main
from support.page import InChromium, Served

IDS = ["verdict", "stages", "memory", "tuner", "nodes", "history"]


class Api(Served):
    def test_status_and_history_are_those_of_the_run(self):
        running, address = self.started()
        self.wait_until(lambda: len(self.get(address, "api/history?seconds=60")) >= 2)
        status = self.get(address, "api/status")
        asked = self.assert_done(Running(["status", "--dir", self.slow.folder, "--json"], self.folder).wait(60))
        self.assertEqual(status.keys(), asked.keys())
        self.assertGreater(status["rows"], 0)
        sample = self.get(address, "api/history?seconds=60")[-1]
        self.assertLessEqual({"time", "rows_per_second", "starved_ratio", "memory_bytes", "stages"}, sample.keys())
        self.assertEqual([stage["name"] for stage in sample["stages"]], [stage["name"] for stage in status["stages"]])
        self.assertLessEqual({"name", "actors", "busy"}, sample["stages"][0].keys())
        self.assertEqual(self.refused(address, "/api/status", "POST"), 405)
        self.assertEqual(self.refused(address, "/api/other"), 404)
        self.assertEqual(self.refused(address, "/", Host="evil.example"), 403)
        taken = re.match(r"http://([^/]+)/", address)[1]
        other = self.job("other", run={"dashboard": taken})
        other.put_criteo(10)
        self.assert_refused(other.run("ingest", "--json"), 2, "run.dashboard", taken)
        self.stopped(running)
        with self.assertRaises(OSError):
            self.get(address, "api/status")

    def test_events_end_with_the_run(self):
        running, address = self.started()
        stream = urllib.request.urlopen(address + "api/events", timeout=60)
        self.wait_until(lambda: self.get(address, "api/status").get("decisions", 0) > 1)
        self.stopped(running)
        events = re.findall(r"event: (\w+)\ndata: (.*)", stream.read().decode())
        decisions = [json.loads(data) for kind, data in events if kind == "decision"]
        self.assertLessEqual({"number", "what", "why", "predicted", "measured", "time"}, decisions[0].keys())
        self.assertEqual((events[-1][0], json.loads(events[-1][1])["how"]), ("end", "stopped"))

    def test_a_token_keeps_others_out(self):
        os.environ["FOREBAY_DASHBOARD_TOKEN"] = "a-token-for-this-test"
        self.addCleanup(os.environ.pop, "FOREBAY_DASHBOARD_TOKEN")
        running, address = self.started()
        self.assertNotIn("a-token-for", running.stderr_now())
        self.assertEqual(self.refused(address, "/"), 401)
        self.assertEqual(self.get(address, "api/status?token=a-token-for-this-test")["command"], "ingest")
        self.stopped(running)

    def test_an_address_that_is_none_is_refused(self):
        self.assert_refused(self.slow.run("ingest", "--json", "--dashboard", "here"), 2, "--dashboard here", "HOST:PORT")

    def test_a_report_names_its_run_and_a_killed_run_hides_no_older_one(self):
        record = self.slow.folder / ".forebay/record.json"
        self.assert_done(self.slow.run("ingest", "--json", "--max-batches", "1"))
        told = self.assert_done(Running(["report", self.slow.folder, "--json"], self.folder).wait(60))["runs"]
        self.assertRegex(told[0], r"^forebay ingest job.toml, began 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC, done$")
        done = record.read_text()
        running, _ = self.started()
        self.wait_until(lambda: record.read_text() != done or not running.alive())
        running.signal(9)
        running.wait()
        told = Running(["report", self.slow.folder], self.folder).wait(60)
        self.assertRegex(told.out, "run: forebay ingest job.toml, began .* UTC, still running or killed")

    def test_a_folder_without_a_record_has_no_report(self):
        self.assert_refused(Running(["report", ".", "--out", "r.html"], self.folder).wait(60), 2, "record.json")
        self.assert_refused(Running(["report", "a", "b", "c"], self.folder).wait(60), 2, "two")


class Page(InChromium):
    def numbers(self):
        return self.browser.text(".tiles") + self.browser.text("#stages")

    def test_a_live_run_changes_on_the_page_until_it_is_stopped(self):
        running, address = self.started()
        self.browser.open(address)
        for name in IDS:
            self.assertEqual(self.browser.ask(f"document.querySelectorAll('#{name}').length"), 1, name)
        self.browser.wait("document.querySelectorAll('#stages tbody tr').length === 5")
        self.browser.wait("document.querySelector('#verdict .sentence')")
        before = self.numbers()
        self.browser.wait(f"document.querySelector('.tiles').innerText + document.querySelector('#stages').innerText !== {json.dumps(before)}")
        self.browser.wait("document.querySelectorAll('#tuner tbody tr').length > 1")
        self.assertRegex(self.browser.text("#stages"), r"transform\s+\d+\s+[\d.]+ %")
        self.assertRegex(self.browser.text(".tiles"), r"rows/s")
        self.browser.wait("document.querySelectorAll('#history canvas').length >= 4")
        self.browser.ask("document.querySelector('.spans button').focus()")
        self.browser.press("Enter")
        self.assertEqual(self.browser.ask("document.querySelector('.spans button').getAttribute('aria-pressed')"), "true")
        self.shown("live")
        heard = self.browser.heard()
        self.assertEqual([url for url in heard["requests"] if not url.startswith(address)], [])
        self.assertEqual(heard["errors"], [])
        self.stopped(running)
        self.browser.wait("document.querySelector('.state').innerText === 'stopped'")

    def test_a_failed_run_says_so_in_its_report(self):
        broken = self.job("broken", run={"dashboard": "127.0.0.1:0"}, order={"batch_size": 100},
                          transform=[{"op": "spin", "microseconds": 1000}])
        broken.put_criteo(3000)
        with open(broken.folder / "data/day_0.tsv", "a") as file:
            file.write("no row of this kind\n")
        ended = broken.run("ingest", "--json")
        self.assertEqual(ended.status, 1, ended)
        self.browser.open(self.report(broken.folder).as_uri(), dark=True)
        self.assertEqual(self.browser.text(".state"), "failed")
        self.assertIn("day_0.tsv", self.browser.text(".failure"))
        self.shown("failed")
        self.assertEqual(self.browser.heard()["errors"], [])

    def test_64_nodes_and_two_runs_fit_on_a_page(self):
        record = self.record_of_a_run()
        node = {"name": "", "host": "h", "state": "working", "trouble": "", "leases": 3, "capacity": 4, "splits_per_second": 2.5,
                "could_make_per_second": 3, "cpus": 8, "busy_cpus": 5.3, "memory_bytes": 1 << 30, "memory_limit_bytes": 4 << 30,
                "silent_seconds": 0.2}
        record["status"] |= {"splits": 100, "splits_finished": 40, "splits_leased": 7, "splits_waiting": 1, "splits_issued_again": 0,
                             "problems": ["node-3 is refused: <no file>"], "nodes": [node | {"name": f"node-{i}"} for i in range(64)]}
        (self.folder / "many").mkdir()
        (self.folder / "many/record.json").write_text(json.dumps(record))
        self.browser.open(self.report("many").as_uri())
        self.assertEqual(self.browser.ask("document.querySelectorAll('#nodes tbody tr').length"), 64)
        self.assertIn("<no file>", self.browser.text("#nodes"))
        self.shown("nodes")
        self.browser.open(self.report("many", self.slow.folder, out="both.html").as_uri())
        self.assertEqual(self.browser.ask("document.querySelectorAll('#comparison tbody tr').length"), 10)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#nodes-2 tbody tr').length"), 0)
        self.shown("two")
        heard = self.browser.heard()
        self.assertEqual(([url for url in heard["requests"] if not url.startswith("file:")], heard["errors"]), ([], []))

    def record_of_a_run(self):
        self.assert_done(self.slow.run("ingest", "--json", "--max-batches", "30"))
        return json.loads((self.slow.folder / ".forebay/record.json").read_text())


class Packed(unittest.TestCase):
    def test_the_page_is_what_its_sources_make(self):
        checked = subprocess.run([SOURCE / "tools/page.sh", "--check"], capture_output=True, text=True)
        if checked.returncode not in (0, 1) or "page.html is not" not in checked.stderr and checked.returncode:
            self.skipTest("the page cannot be packed here: " + checked.stderr.strip())
        self.assertEqual(checked.returncode, 0, checked.stderr)


if __name__ == "__main__":
    main()
