"""`forebay tune compare`: keys, figures that agree with the trace, determinism, reports, bad input."""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import xml.etree.ElementTree

from support.harness import FOREBAY, Running, Scenario, main

RUN_KEYS = {"pipeline", "policy", "seed", "ratio_overall", "ratio_after_30", "ratio_final", "decisions_to_95",
            "out_of_memory", "peak_memory_bytes", "cpus_used", "actors", "actors_fewest", "bottleneck_share",
            "seconds_per_decision", "recoveries"}
GIB = 1 << 30


def pipeline_text(name, memory=64 * GIB, seconds=0.3, events=()):
    """Three stages on 16 CPUs; a fixed allocation trains 16 / (0.1 + `seconds` + 0.05) splits/s at most."""
    stages = [("load", 0.1), ("udf", seconds), ("batch", 0.05)]
    text = (f'name = "{name}"\ncpus = 16\nmemory_bytes = {memory}\nbase_bytes = {GIB}\nrows_per_split = 1000\n'
            "queue_splits = 8\n[trainer]\nstep_seconds = 0.001\nprefetch_splits = 8\n")
    for stage, cost in stages:
        text += (f'[[stage]]\nname = "{stage}"\nseconds = {cost}\nnoise = 0.2\nbytes_per_actor = {GIB // 4}\n'
                 f"bytes_out = {GIB // 64}\n")
    return text + "".join(f"[[event]]\n{event}\n" for event in events)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def without_times(result):
    """What has to be the same in every run of a comparison: all but CPU times."""
    for each in [*result["runs"], *result["summary"].values()]:
        del each["seconds_per_decision"]
    return result


class TuneCompare(Scenario):
    def put(self, name, **options):
        path = self.folder / f"{name}.toml"
        path.write_text(pipeline_text(name, **options))
        return path

    def start(self, *arguments):
        return Running(["tune", "compare", *arguments], self.folder)

    def compare(self, *arguments):
        return self.start(*arguments).wait(timeout=100)

    def test_every_run_and_policy_has_its_keys(self):
        paths = [self.put("b"), self.put("a", memory=6 * GIB)]
        result = self.assert_done(self.compare(*paths, "--policies", "greedy,max,oracle", "--seeds", "2", "--json"))
        names = [(run["pipeline"], run["policy"], run["seed"]) for run in result["runs"]]
        self.assertEqual(names, [(pipeline, policy, seed) for pipeline in "ba" for policy in ("greedy", "max", "oracle")
                                 for seed in (1, 2)])
        self.assertEqual(set(result["summary"]), {"greedy", "max", "oracle"})
        for run in result["runs"]:
            self.assertLessEqual(RUN_KEYS, set(run))
            self.assertAlmostEqual(run["bottleneck_share"], 0.3 / 0.45)
            self.assertEqual(run["recoveries"], [])
        by_name = {(run["pipeline"], run["policy"]): run for run in result["runs"]}
        self.assertGreater(by_name["b", "oracle"]["ratio_after_30"], 0.9)
        self.assertTrue(by_name["a", "max"]["out_of_memory"])
        self.assertEqual(by_name["a", "max"]["ratio_after_30"], 0)
        self.assertIsNone(by_name["a", "max"]["decisions_to_95"])
        self.assertGreater(by_name["a", "max"]["peak_memory_bytes"], 6 * GIB)
        self.assertFalse(by_name["a", "greedy"]["out_of_memory"])
        self.assertEqual(result["summary"]["max"]["out_of_memory"], 2)

    def test_the_same_seeds_give_the_same_result(self):
        paths = [self.put("a"), self.put("b", seconds=0.2)]
        first, second = (without_times(self.assert_done(self.compare(*paths, "--seeds", "2", "--json")))
                         for _ in range(2))
        self.assertEqual(first, second)

    def test_figures_are_those_of_the_trace(self):
        event = 'at_seconds = 101.0\nstage = "udf"\nseconds_factor = 3.0'
        path = self.put("a", events=[event])
        finished = self.compare(path, "--policies", "greedy,threshold", "--seeds", "1", "--report", "out", "--json")
        result = self.assert_done(finished)
        trace = rows_of(self.folder / "out/trace.csv")
        for run in result["runs"]:
            periods = [row for row in trace if row["policy"] == run["policy"]]
            self.assertEqual(len(periods), 201)  # 401 s
            trained = [float(row["trained"]) for row in periods]
            possible = [2 * float(row["oracle_splits_per_second"]) for row in periods]
            self.assertAlmostEqual(possible[49], 2 * 16 / 0.45)
            self.assertAlmostEqual(possible[50], 16 / 0.45 + 16 / 1.05)  # 100 s ... 102 s, the event in the middle
            self.assertAlmostEqual(possible[51], 2 * 16 / 1.05)
            self.assertAlmostEqual(run["ratio_overall"], sum(trained[1:]) / sum(possible[1:]))
            self.assertAlmostEqual(run["ratio_after_30"], sum(trained[31:]) / sum(possible[31:]))
            self.assertAlmostEqual(run["ratio_final"], sum(trained[-10:]) / sum(possible[-10:]))
            good = [sum(trained[k:k + 3]) >= 0.95 * sum(possible[k:k + 3]) for k in range(199)]
            self.assertEqual(run["decisions_to_95"], good.index(True, 1) if True in good[1:48] else None)
            self.assertEqual([recovery["at_seconds"] for recovery in run["recoveries"]], [101])
            self.assertEqual(run["recoveries"][0]["decisions_to_95"],
                             good.index(True, 51) - 50 if True in good[51:] else None)
            self.assertAlmostEqual(run["actors"], sum(int(row["actors"]) for row in periods[-10:]) / 10)
            self.assertEqual(run["peak_memory_bytes"], max(int(row["memory_peak_bytes"]) for row in periods))
        runs = rows_of(self.folder / "out/runs.csv")
        self.assertEqual([float(run["ratio_overall"]) for run in runs], [run["ratio_overall"] for run in result["runs"]])

    def test_a_report_ties_tables_and_plots_together(self):
        self.put("a & b")
        finished = self.compare(self.folder, "--policies", "greedy,max", "--seeds", "1", "--decisions", "35",
                                "--report", "deep/out")
        self.assertEqual(finished.status, 0, finished)
        out = self.folder / "deep/out"
        page = (out / "index.html").read_text()
        self.assertIn("a &amp; b", page)
        self.assertIn("Policies over all runs", (out / "report.md").read_text())
        plots = re.findall(r'src="([^"]+)"', page)
        drawn = subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True).returncode == 0
        if drawn:
            self.assertEqual(plots, ["plots/summary.svg", "plots/01.svg"])
        else:
            self.assertIn("python3-matplotlib", finished.err)
        for plot in plots:
            root = xml.etree.ElementTree.parse(out / plot).getroot()
            self.assertTrue(root.tag.endswith("svg"), root.tag)
            self.assertIn("oracle", (out / plot).read_text())
        again = self.compare(self.folder / "a & b.toml", "--policies", "max", "--seeds", "1", "--report", "deep/out")
        self.assertEqual(again.status, 0, again)
        self.assertEqual({row["policy"] for row in rows_of(out / "runs.csv")}, {"max"})

    def test_without_matplotlib_the_tables_are_written_and_the_package_is_named(self):
        (self.folder / "bin").mkdir()
        for place in ("bin/python3",):
            (self.folder / place).write_text("#!/bin/sh\nexit 5\n")
            (self.folder / place).chmod(0o755)
        path = self.put("a")
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run([FOREBAY, "tune", "compare", path, "--policies", "max", "--seeds", "1", "--report", "out"],
                              cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no plots", done.stderr)
        self.assertTrue((self.folder / "out/trace.csv").exists())
        self.assertIn("no plots", (self.folder / "out/index.html").read_text())

    def test_files_that_no_report_wrote_are_left_alone(self):
        path = self.put("a")
        (self.folder / "mine").mkdir()
        (self.folder / "mine/runs.csv").write_text("mine")
        self.assert_refused(self.compare(path, "--report", "mine"), 2, "mine", "runs.csv")
        self.assertEqual(os.listdir(self.folder / "mine"), ["runs.csv"])
        (self.folder / "file").write_text("")
        self.assert_refused(self.compare(path, "--report", "file"), 2, "file")

    def test_bad_input_is_named_and_nothing_is_started(self):
        good = self.put("a")
        impossible = self.put("b", seconds=-1)
        twin = self.folder / "twin.toml"
        twin.write_text(pipeline_text("a"))
        (self.folder / "empty").mkdir()
        for arguments, words in (
                ([impossible], ("b.toml", "seconds", "-1")),
                ([good, "no.toml"], ("no.toml",)),
                ([good, twin], ("a.toml", "twin.toml", "'a'")),
                (["empty"], ("empty", ".toml")),
                ([good, "--policies", "greedi"], ("greedi", "greedy")),
                ([good, "--policies", "greedy,,max"], ("--policies",)),
                ([good, "--policies", "max,max"], ("max", "twice")),
                ([good, "--seeds", "0"], ("--seeds", "0")),
                ([good, "--seeds", "many"], ("--seeds", "many")),
                ([good, "--decisions", "1"], ("--decisions", "1")),
                ([good, "--machine", "real"], ("--machine", "real", "emulated")),
                ([], ("PIPELINE",))):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.compare(*arguments), 2, *words)

    def test_a_signal_stops_a_comparison_and_finished_runs_are_reported(self):
        running = self.start(self.put("a"), "--seeds", "1000", "--decisions", "2000", "--json")
        self.wait_until(lambda: pathlib.Path(f"/proc/{running.process.pid}/task").exists() and
                        len(os.listdir(f"/proc/{running.process.pid}/task")) >= 1)
        self.wait_until(lambda: cpu_seconds(running.process.pid) > 0.3)
        running.signal(signal.SIGINT)
        finished = running.wait(timeout=20)
        self.assertEqual(finished.status, 130, finished)
        self.assertIn("stopped after", finished.err)
        self.assertIn("runs", json.loads(finished.out.splitlines()[-1]))

    def put_world(self):
        path = self.put("world")
        nodes = "".join(f'[[node]]\nname = "{name}"\ncpus = {cpus}\nmemory_bytes = {64 * GIB}\n{more}\n'
                        for name, cpus, more in (("n1", 8, "trainer = true"), ("n2", 4, "link_rate = 1.0e8")))
        event = '[[event]]\nat_seconds = 40\nnode = "n2"\npresent = false\n'
        path.write_text(path.read_text() + nodes + event)
        return path

    def test_every_node_of_a_world_has_its_figures_and_the_best_is_searched_once(self):
        path = self.put_world()
        arguments = [path, "--policies", "greedy,oracle", "--seeds", "1", "--decisions", "40", "--json"]
        result = self.assert_done(self.compare(*arguments))
        for run in result["runs"]:
            self.assertEqual(set(run) - {"guarded_decisions", "faults", "decisions", "memory_limit_bytes"},
                             RUN_KEYS | {"best_known", "nodes", "ratio_final"})
            self.assertTrue(run["best_known"])
            self.assertGreater(run["ratio_overall"], 0.9)
            self.assertEqual([node["name"] for node in run["nodes"]], ["n1", "n2"])
            self.assertAlmostEqual(sum(node["share"] for node in run["nodes"]), 1)
            self.assertEqual(len(run["recoveries"]), 1)
        kept = path.parent / ".forebay/world.toml.best.json"
        self.assertEqual(len(json.loads(kept.read_text())["best"]), 2)  # with n2 and without
        before = kept.stat().st_mtime_ns
        again = self.assert_done(self.compare(*arguments))
        self.assertEqual(without_times(again), without_times(result))
        self.assertEqual(kept.stat().st_mtime_ns, before)

    def test_a_world_of_several_nodes_is_compared_in_real_time(self):
        path = self.put_world()
        result = self.assert_done(self.compare(path, "--machine", "emulated", "--policies", "central,greedy", "--seeds", "1",
                                               "--decisions", "5", "--json"))
        self.assertEqual([run["policy"] for run in result["runs"]], ["central", "greedy"])
        self.assertEqual(["fed_workers" in run for run in result["runs"]], [True, False])
        self.assertLessEqual(result["runs"][0]["fed_workers"], 1)
        for run in result["runs"]:
            self.assertEqual(run["faults"], 0)
            self.assertFalse(run["out_of_memory"])
            self.assertGreater(run["ratio_overall"], 0.2)
            self.assertEqual([node["name"] for node in run["nodes"]], ["n1", "n2"])
            self.assertAlmostEqual(sum(node["share"] for node in run["nodes"]), 1)
        tuned = self.assert_done(Running(["emulate", path, "--policy", "central", "--period", "500ms", "--seconds", "4",
                                          "--json"], self.folder).wait(60))
        self.assertGreater(sum(tuned["allocation"].values()), 6)
        self.assertLessEqual(tuned["fed_workers"], 1)

    def test_a_world_of_several_nodes_is_simulated_by_node(self):
        path = self.put_world()
        figures = self.assert_done(Running(["simulate", path, "--allocation", "udf=4,n2.udf=2", "--seconds", "60",
                                            "--json"], self.folder).wait())
        self.assertEqual(figures["allocation"], {"n1.load": 1, "n1.udf": 4, "n1.batch": 1,
                                                 "n2.load": 1, "n2.udf": 2, "n2.batch": 1})
        self.assertTrue(figures["best_known"])
        self.assertAlmostEqual(sum(node["splits_per_second"] for node in figures["nodes"]),
                               figures["splits_per_second"], places=6)

    def test_the_policies_are_listed(self):
        listed = Running(["tune", "--policies"], self.folder).wait()
        self.assertEqual(listed.status, 0, listed)
        for policy in ("static", "one", "even", "proportional", "greedy", "autotune", "autotune-budget", "plumber",
                       "threshold", "max", "oracle"):
            self.assertRegex(listed.out, rf"(?m)^{policy} ")
        names = self.assert_done(Running(["tune", "--policies", "--json"], self.folder).wait())["policies"]
        self.assertTrue(all(each["source"] and each["summary"] for each in names))

    def test_the_cost_of_tuning_is_measured_against_its_limits(self):
        results = self.assert_done(Running(["bench", "tuner", "--rounds", "1", "--json"], self.folder).wait())["results"]
        by_name = {each["name"]: each for each in results}
        self.assertEqual((by_name["simulator_steps"]["unit"], by_name["simulator_steps"]["limit"]), ("steps/s", 2e6))
        self.assertEqual((by_name["decision"]["unit"], by_name["decision"]["limit"]), ("s", 1e-3))
        self.assertEqual(by_name["simulator_steps_shared"]["limit"], 3e5)
        self.assertEqual(by_name["simulator_steps_nodes"]["limit"], 5e4)
        for name in ("simulator_steps", "simulator_steps_shared", "simulator_steps_nodes", "decision"):
            self.assertGreater(by_name[name]["value"], 0)

    def test_the_emulated_machine_is_compared_in_real_time(self):
        path = self.put("a")
        result = self.assert_done(self.compare(path, "--machine", "emulated", "--policies", "greedy", "--seeds", "1",
                                               "--decisions", "5", "--json"))
        self.assertGreater(result["runs"][0]["ratio_overall"], 0.5)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
