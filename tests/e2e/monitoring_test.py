"""The Grafana dashboard and the alert rules name metrics and labels that a run serves."""
import json
import re
import shutil
import signal
import subprocess
import urllib.request

from support.browser import SOURCE
from support.harness import Scenario, main

FOLDER = SOURCE / "tools/monitoring"
FUNCTIONS_LABELS = {"job", "instance"}  # Prometheus' own


class Monitoring(Scenario):
    def served(self):
        """Metric names and their labels, of a run with a cluster."""
        job = self.job(order={"batch_size": 100, "epochs": 100}, transform=[{"op": "spin", "microseconds": 300}],
                       cluster={"metrics": "127.0.0.1:0", "listen": "tcp://127.0.0.1:0"})
        job.put_criteo(2000)
        running = job.start("ingest", "--json")
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        self.wait_until(lambda: "metrics: http://" in running.stderr_now(), 60)
        address = re.search(r"metrics: (http://\S+)", running.stderr_now())[1]
        text = ""

        def has_a_node():
            nonlocal text
            text = urllib.request.urlopen(address, timeout=20).read().decode()
            return "forebay_node_leases{" in text
        self.wait_until(has_a_node)
        running.signal(signal.SIGTERM)
        self.assertEqual(running.wait().status, 143)
        labels = {}
        for name, inside in re.findall(r"^(forebay_\w+)(?:\{(.*)\})? ", text, re.M):
            labels.setdefault(name, set()).update(re.findall(r"(\w+)=\"", inside))
        return labels

    def test_all_that_the_files_name_is_served(self):
        served = self.served()
        dashboard = json.loads((FOLDER / "grafana.json").read_text())
        targets = [target for panel in dashboard["panels"] for target in panel["targets"]]
        self.assertGreater(len(targets), 15)
        for target in targets:
            names = re.findall(r"forebay_\w+", target["expr"])
            self.assertTrue(names, target)
            for name in names:
                self.assertIn(name, served, target)
                used = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) - FUNCTIONS_LABELS
                self.assertLessEqual(used, served[name], target)
        rules = (FOLDER / "alerts.yml").read_text()
        for expression in re.findall(r"expr: (.*)", rules):
            for name in re.findall(r"forebay_\w+", expression):
                self.assertIn(name, served, expression)

    def test_panels_have_units_and_do_not_overlap(self):
        panels = json.loads((FOLDER / "grafana.json").read_text())["panels"]
        places = set()
        for panel in panels:
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], panel["title"])
            at = panel["gridPos"]
            mine = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
            self.assertFalse(places & mine, panel["title"])
            places |= mine

    def test_promtool_accepts_the_rules_and_their_tests(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool (Debian: prometheus) is not installed")
        for words in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
            checked = subprocess.run(["promtool", *words], cwd=FOLDER, capture_output=True, text=True, timeout=60)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    main()
