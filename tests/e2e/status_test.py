"""Views of a running job: status, top, and the metrics for Prometheus."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import urllib.request

from support.cluster import Cluster, ClusterScenario, Head, free_port
from support.harness import Running, Scenario, main

ROWS = 20000


STAGES = ["load", "decode", "shuffle", "transform", "batch"]


def handles_interrupts(pid):
    """Returns whether a process handles SIGINT itself already."""
    caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(caught[1], 16) >> (signal.SIGINT - 1) & 1 == 1


class Traced:
    """Checks a trace by the rules of its format."""

    def checked_trace(self, path):
        """Returns the five slices of each split, in order."""
        events = json.loads(pathlib.Path(path).read_text())["traceEvents"]
        named = {(event["name"], event["pid"], event["tid"]) for event in events if event["ph"] == "M"}
        slices, arrows, threads = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
        for event in events:
            self.assertIn(event["ph"], "MXstf")
            if event["ph"] == "M":
                continue
            self.assertGreaterEqual(event["ts"], 0)
            self.assertIn(("process_name", event["pid"], 0), named)
            self.assertIn(("thread_name", event["pid"], event["tid"]), named)
            if event["ph"] == "X":
                slices[event["args"]["split"]].append(event)
                threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
            else:
                arrows[event["id"]].append(event)
        for number, of_split in slices.items():
            self.assertEqual([event["name"] for event in of_split], STAGES)
            for one, next_one in zip(of_split, of_split[1:]):
                self.assertLessEqual(one["ts"] + one["dur"], next_one["ts"] + 0.002)
            points = [(event["ph"], event["pid"], event["tid"], event["ts"]) for event in arrows[number]]
            self.assertEqual(points, [(phase, event["pid"], event["tid"], event["ts"]) for phase, event in zip("stttf", of_split)])
        for spans in threads.values():
            for (_, end), (begin, _) in zip(sorted(spans), sorted(spans)[1:]):
                self.assertLessEqual(end, begin + 0.002)
        return slices


class Scraped:
    """Asks for metrics as Prometheus does."""

    def scraped(self, running):
        """Returns the metrics that a process serves at the address that it printed; promtool accepts them."""
        self.wait_until(lambda: "metrics: http://" in running.stderr_now())
        [address] = re.findall(r"metrics: (http://\S+)", running.stderr_now())
        text = urllib.request.urlopen(address, timeout=20).read().decode()
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        return text

    def figure(self, running, name):
        """Returns one metric; 0 while it is missing."""
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.scraped(running), re.M)
        return float(found[1]) if found else 0


class Status(Scraped, Traced, Scenario):
    def setUp(self):
        super().setUp()
        # 20,000 rows at 300 µs: about 6 s of work for one transform actor.
        self.slow = self.job(order={"batch_size": 100}, transform=[{"op": "spin", "microseconds": 300}],
                             cluster={"metrics": "127.0.0.1:0"}, tuner={"mode": "off"})
        self.slow.put_criteo(ROWS, files=2)

    def started(self):
        running = self.slow.start("ingest", "--json")
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        self.wait_until(lambda: self.ask("--json").status == 0 and self.ask("--json").json.get("rows", 0) > 0, 60)
        return running

    def ask(self, *options, command="status"):
        return Running([command, "--dir", self.slow.folder, *options], self.folder).wait(60)

    def test_a_run_whose_metrics_find_their_port_taken_warns_and_goes_on(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            finished = self.slow.run("ingest", "--max-batches", "2", "--json", "--set", f"cluster.metrics={address}")
        self.assert_done(finished)
        self.assertIn(f"warning: cluster.metrics {address}: nothing can listen there (Address already in use)", finished.err)
        self.assertIn("goes on without metrics", finished.err)

    def test_status_and_top_show_a_running_job(self):
        running = self.started()
        said = self.assert_done(self.ask("--json"))
        self.assertEqual([stage["name"] for stage in said["stages"]], ["load", "decode", "shuffle", "transform", "batch"])
        page = self.ask()
        self.assertRegex(page.out, r"ingest, \d+ s: [\d,]+ rows, .* rows/s")
        self.assertRegex(page.out, r"transform +1 +\d+ %")
        top = Running(["top", "--dir", self.slow.folder], self.folder)
        ended = running.wait()
        self.assert_done(ended)
        shown = top.wait(30)
        self.assertEqual(shown.status, 0, shown)
        self.assertGreaterEqual(shown.out.count("rows/s"), 2, shown)
        self.assert_refused(self.ask(), 2, "no job runs in")

    def test_ctrl_c_ends_commands_to_a_frozen_job_at_once(self):
        running = self.started()
        running.signal(signal.SIGSTOP)
        for words in (["status"], ["top"], ["trace"], ["set", "tuner.mode=off"]):
            asking = Running([*words, "--dir", self.slow.folder], self.folder)
            self.wait_until(lambda: handles_interrupts(asking.process.pid))
            asking.signal(signal.SIGINT)
            self.assertEqual(asking.wait(5).status, 130, words)
        running.signal(signal.SIGCONT)
        running.signal(signal.SIGTERM)
        self.assertEqual(running.wait().status, 143)

    def test_prometheus_gets_figures_that_promtool_accepts(self):
        running = self.started()
        self.assertGreater(self.figure(running, "forebay_rows_total"), 0)
        self.assertEqual(self.figure(running, 'forebay_stage_actors{stage="transform"}'), 1)
        [address] = re.findall(r"metrics: (http://\S+)", running.stderr_now())
        self.assert_done(running.wait())
        with self.assertRaises(OSError):
            urllib.request.urlopen(address, timeout=5)

    def test_trace_of_a_running_job_is_valid(self):
        running = self.started()
        self.wait_until(lambda: self.ask("--json").json.get("lowest_missing", 0) >= 4)
        told = self.assert_done(self.ask("--out", "some.json", "--json", command="trace"))
        slices = self.checked_trace(self.folder / "some.json")
        self.assertEqual(len(slices), told["splits"])
        self.assertGreaterEqual(len(slices), 4)
        self.assert_done(self.ask("--out", "few.json", "--seconds", "1ms", "--json", command="trace"))
        self.assertLess(len(self.checked_trace(self.folder / "few.json")), len(slices))
        self.assert_refused(self.ask("--seconds", "soon", command="trace"), 2, "--seconds soon")
        self.assert_refused(self.ask("--out", "no/where.json", command="trace"), 2, "--out")
        self.assert_refused(self.ask("--join", "127.0.0.1:1", command="trace"), 2, "--join", "trainer")
        running.signal(signal.SIGTERM)
        running.wait()
        self.assert_refused(self.ask(command="trace"), 2, "no job runs in")


class Join(Scraped, Traced, ClusterScenario):
    """The same over the network."""

    def ask(self, address, *options, command="status"):
        return Running([command, "--join", address, *options], self.folder).wait(60)

    def test_a_head_lists_its_members_to_any_caller(self):
        cluster = Cluster(self, self.work(epochs=40))
        cluster.worker(name="far")
        self.wait_until(lambda: any(node["name"] == "far" and node["splits"] > 0
                                    for node in self.assert_done(self.ask(cluster.address, "--json"))["nodes"]))
        said = self.assert_done(self.ask(cluster.address, "--json"))
        self.assertEqual({node["name"]: node["state"] for node in said["nodes"]}, {"local": "working", "far": "working"})
        self.assertEqual((said["splits"], said["problems"]), (1200, []))
        page = self.ask(cluster.address)
        self.assertRegex(page.out, r"job \w+, epoch \d+: [\d.]+ splits/s\n")
        self.assertRegex(page.out, r"far +working +\d+ ")
        traced = Running(["trace", "--dir", cluster.job.folder], self.folder).wait(60)
        self.assertEqual(traced.status, 0, traced)
        slices = self.checked_trace(self.folder / "trace.json")
        self.assertEqual({of_split[0]["pid"] for of_split in slices.values()}, {0, 1})
        self.assertEqual({of_split[4]["pid"] for of_split in slices.values()}, {0})
        top = Running(["top", "--join", cluster.address], self.folder)
        self.wait_until(lambda: os.fstat(top.out.fileno()).st_size > 0)
        cluster.trainer.signal(signal.SIGTERM)
        cluster.finish()
        self.assertEqual(top.wait(30).status, 0)

    def test_changed_limits_of_the_trainer_are_told_to_the_head(self):
        cluster = Cluster(self, self.work(epochs=40), "ingest", "--set", "pipeline.cpus=2")
        def local(*options):
            asked = Running(["status", "--json", *options], self.folder).wait(60)
            nodes = {node["name"]: node for node in asked.json["nodes"]} if asked.status == 0 else {}
            return (nodes["local"]["cpus"], nodes["local"]["memory_limit_bytes"] >> 20) if "local" in nodes else None
        views = [("--dir", cluster.job.folder), ("--join", cluster.address)]
        self.wait_until(lambda: all(local(*view) == (2, 400) for view in views))
        for change in ("pipeline.cpus = 1", "pipeline.memory=300MiB"):  # as `analyze` prints it, too
            done = Running(["set", change, "--dir", cluster.job.folder], self.folder).wait(60)
            self.assertEqual(done.status, 0, done)
        self.wait_until(lambda: all(local(*view) == (1, 300) for view in views))

    def test_a_lone_head_and_a_worker_have_metrics_of_their_own(self):
        job = self.work(epochs=40)
        head = Head(self, self.folder, "--metrics", "127.0.0.1:0")
        self.assertEqual(self.figure(head.running, 'forebay_nodes{state="joined"}'), 0)
        cluster = Cluster(self, job, head=head.address, local=False)
        far = cluster.worker("--metrics", "127.0.0.1:0", name="far")
        self.wait_until(lambda: self.figure(far, "forebay_worker_splits_total") > 0)
        self.assertEqual(self.figure(far, "forebay_worker_joined"), 1)
        self.assertGreater(self.figure(far, 'forebay_stage_splits_total{stage="transform"}'), 0)
        self.assertIn('command="worker"', self.scraped(far))
        self.wait_until(lambda: self.figure(head.running, 'forebay_node_splits_total{node="far"}') > 0)
        self.assertEqual(self.figure(head.running, 'forebay_nodes{state="prepared"}'), 1)
        self.assertIn('command="head"', self.scraped(head.running))
        taken = re.search(r"metrics: http://(\S+)/metrics", far.stderr_now())[1]
        for words in (["head", "--listen", "127.0.0.1:0", "--store", "s"], ["worker", "--join", head.address]):
            self.assert_refused(Running([*words, "--metrics", taken], self.folder).wait(30), 2, "--metrics", taken)
        cluster.trainer.signal(signal.SIGTERM)
        finished, ends = cluster.finish()
        self.assertEqual((finished.status, ends["far"].status), (143, 0))
        head.running.signal(signal.SIGTERM)
        self.assertEqual(head.running.wait().status, 143)
        for address in re.findall(r"metrics: (http://\S+)", ends["far"].err):
            with self.assertRaises(OSError):
                urllib.request.urlopen(address, timeout=5)

    def test_an_address_without_an_answer_is_reported_within_seconds(self):
        nobody = f"127.0.0.1:{free_port()}"
        for command in ("status", "top"):
            self.assert_refused(self.ask(nobody, command=command), 1, f"no head answers at {nobody}")
        self.assert_refused(self.ask("nowhere"), 2, "--join", "HOST:PORT")
        self.assert_refused(self.ask("10.1.2.3:99"), 2, "--join", "keys")
        self.assert_refused(self.ask(nobody, "--keys", "nowhere"), 2, "--keys", "nowhere")
        self.assert_refused(self.ask(nobody, "--dir", "."), 2, "--join", "--dir")


if __name__ == "__main__":
    main()
