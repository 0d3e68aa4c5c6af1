"""Stages that the job names: actors, counters and a place in the tuner's decisions of their own, and the same batches."""
import json
import signal

from support.cluster import Cluster, ClusterScenario
from support.harness import Running, main
from status_test import Scraped
from user_functions_test import udf

BUILT_IN = ["load", "decode", "shuffle"]


def sets(**counts):
    """--set options for actors of named stages."""
    return [word for stage, count in counts.items() for word in ("--set", f"pipeline.allocation.{stage}={count}")]


class Stages(Scraped, ClusterScenario):
    def cut(self, cheap=2, dear=20, epochs=40, rows=20000, tuner=(), **tables):
        """A job of 30 splits an epoch with two stages whose functions wait so many milliseconds a split."""
        job = self.job(order={"batch_size": 500, "epochs": epochs},
                       transform=[{"op": "log1p", "columns": ["I*"]},
                                  {**udf("waits", params=str(cheap)), "stage": "cheap"},
                                  {**udf("innocent"), "columns": ["I2"]},
                                  {**udf("waits", params=str(dear)), "stage": "dear"}],
                       pipeline={"memory": "400MiB", "cpus": 2, "max_actors": 14},
                       tuner={"policy": "greedy", "period": "200ms", **dict(tuner)}, **tables)
        job.put_criteo(rows, files=3)
        return job

    def whole(self, job):
        """The same job without names of stages."""
        plain = [{key: value for key, value in transform.items() if key != "stage"}
                 for transform in job.tables["transform"]]
        other = self.job("whole", **{**job.tables, "transform": plain})
        other.put_criteo(20000, files=3)
        return other

    def shown(self, job, log="."):
        asked = Running(["tune", "show", log, "--json"], job.folder).wait(30)
        self.assertEqual(asked.status, 0, asked)
        return asked.json

    def assert_dear_got_more(self, shown):
        """Ten times the work: at least twice the actors in the second half of the run."""
        applied = [decision["applied"] for decision in shown["decisions"]]
        self.assertEqual(set(applied[0]), {*BUILT_IN, "transform", "cheap", "dear", "prefetch"})
        late = applied[len(applied) // 2:]
        actors = {stage: sum(one[stage] for one in late) / len(late) for stage in ("transform", "cheap", "dear")}
        self.assertGreaterEqual(actors["dear"], 2 * actors["cheap"], shown)
        self.assertGreaterEqual(actors["dear"], 2 * actors["transform"], shown)

    def test_the_cut_changes_no_batch_and_every_figure_names_its_stages(self):
        job = self.cut(dear=1, epochs=1, tuner={"mode": "off"})
        stages = [*BUILT_IN, "transform", "cheap", "dear"]
        result = self.assert_done(job.run("ingest", "--json", *sets(dear=3, cheap=2)))
        self.assertEqual(result["allocation"], {**dict.fromkeys(stages, 1), "dear": 3, "cheap": 2})
        self.assertEqual(list(result["allocation"]), stages)
        whole = self.whole(job)
        self.assertEqual(self.assert_done(whole.run("ingest", "--json"))["order_digest"], result["order_digest"])

    def capacity(self, job, stage):
        """The bytes that may wait before a stage of the running job; 0 while it does not answer."""
        asked = Running(["status", "--dir", job.folder, "--json"], job.folder).wait(30)
        stages = asked.json["stages"] if asked.status == 0 else []
        return next((each["queue_capacity_bytes"] for each in stages if each["name"] == stage), 0)

    def test_more_may_wait_before_a_stage_that_works_in_bursts(self):
        job = self.cut(cheap=10, dear=300, epochs=400, tuner={"mode": "off"})
        job.tables["transform"][-1]["function"] = "waits_in_turns"
        job.change()
        running = job.start("ingest", "--json", "--set", "pipeline.fuse=false")
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        self.wait_until(lambda: self.capacity(job, "dear") >= 8 * self.capacity(job, "decode") > 0, 60)
        running.signal(signal.SIGINT)
        self.assertEqual(running.wait().status, 130)

    def test_stages_are_fused_as_the_job_says_and_no_batch_changes(self):
        job = self.cut(cheap=1, dear=1, epochs=1)
        found = {}
        for how, groups in {"auto": [[*BUILT_IN, "transform"]], "false": [],
                            '[["load", "decode"], ["cheap", "dear"]]': [["load", "decode"], ["cheap", "dear"]]}.items():
            result = self.assert_done(job.run("ingest", "--json", "--set", f"pipeline.fuse={how}"))
            self.assertEqual(result["fused"], groups)
            for group in groups:
                self.assertEqual(len({result["allocation"][stage] for stage in group}), 1, result["allocation"])
            found[how] = result["order_digest"]
        self.assertEqual(len(set(found.values())), 1, found)

    def test_a_given_allocation_is_fused_only_where_the_key_says_so(self):
        job = self.cut(cheap=0, dear=0, epochs=1, tuner={"mode": "off"})
        self.assertEqual(self.assert_done(job.run("ingest", "--json"))["fused"], [])
        result = self.assert_done(job.run("ingest", "--json", *sets(load=2),
                                          "--set", 'pipeline.fuse=[["load", "decode"]]'))
        self.assertEqual(result["fused"], [["load", "decode"]])
        self.assertEqual([result["allocation"][stage] for stage in BUILT_IN], [2, 2, 1])

    def test_groups_that_cannot_be_are_refused(self):
        job = self.cut(epochs=1)
        for groups, word in [('[["load", "parse"]]', "parse is no stage"), ('[["load", "shuffle"]]', "does not follow"),
                             ('[["load"], ["load"]]', "listed twice"), ("sometimes", '"auto", false, or a list')]:
            with self.subTest(groups):
                self.assert_refused(job.run("ingest", "--json", "--set", f"pipeline.fuse={groups}"), 2,
                                    "pipeline.fuse", word)

    def test_a_running_group_shows_each_stage_and_is_frozen_as_it_stands(self):
        job = self.cut(cheap=1, dear=20, epochs=100)
        running = job.start("ingest", "--json")
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        self.wait_until(lambda: self.rows_so_far(job) > 20000)
        status = Running(["status", "--json"], job.folder).wait(30).json
        self.assertEqual(status["fused"], [[*BUILT_IN, "transform"]])
        stages = {stage["name"]: stage for stage in status["stages"]}
        for name in status["fused"][0]:
            self.assertGreater(stages[name]["splits"], 0, stages)
            self.assertGreater(stages[name]["busy_seconds"], 0, stages)
        running.signal(15)
        running.wait()
        frozen = Running(["tune", "freeze", "job.toml", "--json"], job.folder).wait(30)
        self.assertEqual(frozen.status, 0, frozen)
        result = self.assert_done(job.run("ingest", "--json", "--max-batches", "20"))
        self.assertEqual(result["fused"], [[*BUILT_IN, "transform"]])

    def test_a_run_is_resumed_with_another_cut(self):
        job = self.cut(cheap=0, dear=0, epochs=1, tuner={"mode": "off"})
        begun = self.assert_done(job.run("ingest", "--json", "--state", "state", "--max-batches", "7"))
        whole = self.whole(job)
        (whole.folder / "state").write_bytes((job.folder / "state").read_bytes())
        ended = self.assert_done(whole.run("ingest", "--json", "--resume", "state"))
        self.assertEqual(begun["rows"] + ended["rows"], 20000)

    def test_a_running_job_shows_its_stages(self):
        job = self.cut(cheap=1, dear=40, epochs=100, cluster={"metrics": "127.0.0.1:0"}, tuner={"mode": "off"})
        running = job.start("ingest", "--json", *sets(dear=2))
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        self.wait_until(lambda: self.rows_so_far(job) > 0)
        status = Running(["status", "--json"], job.folder).wait(30).json
        stages = [*BUILT_IN, "transform", "cheap", "dear"]
        self.assertEqual([stage["name"] for stage in status["stages"]], [*stages, "batch"])
        self.assertEqual(status["allocation"], {**dict.fromkeys(stages, 1), "dear": 2})
        self.assertEqual(self.figure(running, 'forebay_stage_actors{stage="dear"}'), 2)
        traced = Running(["trace", "--out", "trace.json"], job.folder).wait(30)
        self.assertEqual(traced.status, 0, traced)
        events = json.loads((job.folder / "trace.json").read_text())["traceEvents"]
        self.assertEqual({event["name"] for event in events if event["ph"] == "X"}, {*stages, "batch"})
        running.signal(15)
        self.assertEqual(running.wait().status, 143)

    def test_the_tuner_gives_each_stage_what_it_needs(self):
        job = self.cut()
        result = self.assert_done(job.run("ingest", "--json"))
        self.assertGreater(result["decisions"], 3)
        self.assert_dear_got_more(self.shown(job))

    def test_on_a_worker_the_tuner_gives_each_stage_what_it_needs(self):
        job = self.cut()
        digest = self.assert_done(self.whole(job).run("ingest", "--json", "--set", 'transform.1.params="0"',
                                                      "--set", 'transform.3.params="0"'))["order_digest"]
        cluster = Cluster(self, job, "ingest", local=False, min_workers=1)
        worker = cluster.worker("--metrics", "127.0.0.1:0")
        self.wait_until(lambda: self.rows_so_far(job) > 0)
        self.assertIn('forebay_stage_actors{stage="dear"}', self.scraped(worker))
        finished, _ = cluster.finish()
        result = self.assert_same_run(finished, digest, 800000)
        self.assertEqual(result["rows_by_node"]["w1"], 800000)
        self.assert_dear_got_more(self.shown(job, ".forebay/decisions-w1.jsonl"))

    def test_names_that_cannot_be_are_refused(self):
        job = self.cut(epochs=1)
        for stage, word in [("load", "another stage"), ("batch", "another stage"), ("Dear", "must be a letter"),
                            ("transform", "neighbours")]:
            with self.subTest(stage):
                self.assert_refused(job.run("ingest", "--json", "--set", f"transform.3.stage={stage}"), 2,
                                    "[[transform]] number 4: stage", word)
        self.assert_refused(job.run("ingest", "--json", *sets(chep=2)), 2, "pipeline.allocation.chep", "did you mean cheap",
                            "load, decode, shuffle, transform, cheap, dear")
        running = self.cut(dear=40, epochs=50).start("ingest", "--json")
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        self.wait_until(lambda: self.rows_so_far(job) > 0)
        refused = Running(["set", "pipeline.allocation.dear=3"], job.folder).wait(30)
        self.assert_refused(refused, refused.status, "pipeline.allocation.dear cannot be changed")
        self.assertEqual(Running(["set", "tuner.mode=off"], job.folder).wait(30).status, 0)
        running.signal(15)
        self.assertEqual(running.wait().status, 143)


if __name__ == "__main__":
    main()
