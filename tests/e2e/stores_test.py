"""Jobs whose data lies in a store: the same rows and digest through faults, refusals in seconds, nothing secret shown."""
import os
import unittest
import unittest.mock

from support import harness
from support.cluster import Cluster, free_port
from support.store import KEYS, Store
from support.tls import TlsFront

ROWS = 3000


class Stores(harness.Scenario):
    def setUp(self):
        super().setUp()
        environment = unittest.mock.patch.dict(os.environ, KEYS)
        environment.start()
        self.addCleanup(environment.stop)
        self.bucket = self.folder / "store" / "clicks"
        self.bucket.mkdir(parents=True)

    def stored(self, paths, name="job", **tables):
        """A job that reads `paths`, and its rows, which lie in the store."""
        job = self.job(name, dataset={"paths": paths}, **tables)
        lines = harness.criteo_lines(ROWS, 1)
        for i in range(3):
            (self.bucket / f"day={i}").mkdir(exist_ok=True)
            part = lines[ROWS * i // 3:ROWS * (i + 1) // 3]
            path = self.bucket / f"day={i}" / "part.tsv"
            if not path.exists():
                path.write_text("".join(part))
        return job, lines

    def store(self, **settings):
        store = Store(self.folder / "store", **settings)
        self.addCleanup(store.end)
        return store

    def test_rows_of_a_store_come_once_through_faults_in_the_same_order(self):
        digests = set()
        for i, faults in enumerate(({}, {"refused": 0.1, "stalled": 0.05, "reset": 0.05, "short": 0.05})):
            store = self.store(**faults)
            job, lines = self.stored(["s3://clicks/day=*/*.tsv"], f"job{i}",
                                     storage={"endpoint": store.address, "timeout": "500ms"})
            finished, rows = job.dump()
            said = self.assert_done(finished)
            self.assert_same_rows(rows, lines)
            self.assertGreater(said["requests"], 3)
            self.assertGreaterEqual(said["bytes_read"], sum(map(len, lines)))
            self.assertNotIn(KEYS["AWS_SECRET_ACCESS_KEY"], finished.err + finished.out)
            digests.add(said["order_digest"])
        self.assertEqual(len(digests), 1)

    def test_a_second_run_reads_no_index_again_until_an_object_changes(self):
        store = self.store()
        job, lines = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": store.address})
        first = self.assert_done(job.run("index", "--json"))
        again = self.assert_done(job.run("index", "--json"))
        self.assertGreater(first["bytes_read"], sum(map(len, lines)) - 1)
        self.assertLess(again["bytes_read"], 1 << 20)
        self.assertEqual(first["fingerprint"], again["fingerprint"])
        with open(self.bucket / "day=1" / "part.tsv", "a") as file:
            file.write(lines[0])
        changed = self.assert_done(job.run("index", "--json"))
        self.assertEqual(changed["rows"], ROWS + 1)

    def test_files_of_a_web_server_and_file_addresses_give_the_same_rows(self):
        store = self.store(access_key="")
        job, lines = self.stored([f"{store.address}/clicks/day={i}/part.tsv" for i in range(3)], "web")
        finished, rows = job.dump()
        self.assert_done(finished)
        self.assert_same_rows(rows, lines)
        job, _ = self.stored([f"file://{self.bucket}/day=*/*.tsv"], "files")
        local, rows = job.dump()
        self.assert_done(local)
        self.assert_same_rows(rows, lines)

    def test_two_spellings_of_one_address_are_one_file_and_refused(self):
        store = self.store(access_key="")
        job, _ = self.stored([f"{store.address}/clicks/{name}" for name in ("day=0/part.tsv", "x/../day=0/%70art.tsv")])
        self.assert_refused(job.run("index", "--json"), 2, "art.tsv twice; its rows would count twice")

    def test_what_a_store_refuses_is_said_within_seconds(self):
        store = self.store()
        for paths, status, *words in ((["s3://nothing/*.tsv"], 2, "s3://nothing does not exist"),
                                      (["s3://clicks/no.tsv"], 2, "s3://clicks/no.tsv"),
                                      ([f"{store.address}/clicks/*.tsv"], 2, "glob"),
                                      (["s3://clicks/none=*/*.tsv"], 2, "matches no file")):
            with self.subTest(paths=paths):
                job, _ = self.stored(paths, storage={"endpoint": store.address})
                for command in ("ingest", "index"):
                    self.assert_refused(job.run(command, "--json"), status, *words, seconds=5)

    def test_doctor_says_what_a_store_answers_and_what_it_refuses(self):
        store = self.store()
        job, _ = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": store.address},
                             pipeline={"memory": "1GiB"}, trainer={"model": "none"})
        finished = job.run("doctor", "--json")
        said = self.assert_done(finished)
        self.assertIn("asking s3://clicks: about ", finished.err)
        found = said["stores"][0]
        self.assertEqual((found["endpoint"], found["listed"], found["may_list"]), (store.address, 3, True))
        self.assertTrue(found["ranges"] and found["etag"] and found["if_match"])
        self.assertLessEqual(found["first_byte_ms"], found["first_byte_p99_ms"])
        checks = {check["name"]: check["status"] for check in said["checks"]}
        self.assertEqual((checks["store"], checks["list"], checks["dataset"]), ("ok", "ok", "ok"))
        self.assertNotIn(KEYS["AWS_SECRET_ACCESS_KEY"], finished.err + finished.out)
        options = ["--set", f"storage.endpoint={store.address}"]
        one = harness.Running(["doctor", "s3://clicks/day=0/part.tsv", *options], self.folder).wait()
        self.assertEqual(one.status, 0, one)
        self.assertIn("ok    ranges: s3://clicks/day=0/part.tsv", one.out)
        with unittest.mock.patch.dict(os.environ, AWS_ENDPOINT_URL=store.address):
            shown = harness.Running(["inspect", "s3://clicks/day=0/part.tsv", "--json"], self.folder).wait()
        self.assertEqual(self.assert_done(shown)["files"][0]["kind"], "criteo_tsv")
        job.change(dataset={"paths": ["s3://nothing/*.tsv"]})
        bad = job.run("doctor")
        self.assertEqual(bad.status, 1, bad)
        self.assertIn("bad   store: s3://nothing does not exist", bad.out)
        self.assertNotIn("dataset:", bad.out)

    def test_denied_skewed_and_half_answers_are_named(self):
        for settings, words in (({"secret": "another"}, ["SignatureDoesNotMatch", "check the credentials"]),
                                ({"clock_ahead": 3600}, ["clock"]), ({"clock_ahead": -3600}, ["clock"]),
                                ({"region": "eu-south-1"}, ["s3://clicks is in region eu-south-1"]),
                                ({"cut_listings": 1}, ["s3://clicks: its listing is cut off"])):
            with self.subTest(settings=settings):
                store = self.store(**settings)
                job, _ = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": store.address})
                finished = job.run("ingest", "--json")
                self.assert_refused(finished, 2, *words, seconds=5)
                self.assertNotIn(KEYS["AWS_SECRET_ACCESS_KEY"], finished.err)

    def test_a_store_that_is_down_is_waited_for(self):
        port = free_port()
        job, lines = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": f"http://127.0.0.1:{port}"})
        running = job.start("ingest", "--json", "--dump", "dump.tsv")
        self.wait_until(lambda: "no answer yet" in running.stderr_now() or not running.alive())
        self.store(port=port)
        finished = running.wait(60)
        self.assert_done(finished)
        self.assert_same_rows(harness.read_dump(job.folder / "dump.tsv"), lines)

    def test_a_store_that_goes_down_in_a_run_is_waited_for(self):
        first = self.store()
        job, lines = self.stored(["s3://clicks/day=*/*.tsv"], order={"batch_size": 100, "epochs": 4, "seed": 3},
                                 storage={"endpoint": first.address})
        sound = self.assert_done(job.run("ingest", "--json"))
        store = self.store(sound_objects=4, ends=1)  # in the second epoch at the latest
        job.change(storage={"endpoint": store.address})
        running = job.start("ingest", "--json", "--dump", "dump.tsv")
        # Nobody listens any more.
        self.wait_until(lambda: "no answer yet" in running.stderr_now() or not running.alive())
        self.assertIn("connect to 127.0.0.1", running.stderr_now())
        self.assertEqual(store.process.wait(), 0)
        back = self.store(port=store.port, refused=1)
        self.wait_until(lambda: back.requests() >= 5 or not running.alive())  # all of them refused with 503
        back.change(refused=0)
        finished = running.wait(60)
        said = self.assert_done(finished)
        self.assertEqual(said["order_digest"], sound["order_digest"])
        self.assert_same_rows(harness.read_dump(job.folder / "dump.tsv"), lines, epochs=4)

    def test_a_store_that_denies_in_a_run_ends_it_with_what_it_says(self):
        first = self.store()
        job, _ = self.stored(["s3://clicks/day=*/*.tsv"], order={"batch_size": 100, "epochs": 4},
                             storage={"endpoint": first.address})
        self.assert_done(job.run("index", "--json"))
        job.change(storage={"endpoint": self.store(sound_objects=4).address})
        finished = job.run("ingest", "--json")
        self.assert_refused(finished, 1, "s3://clicks/day=", "HTTP 403 AccessDenied", "check what these credentials")

    def test_a_store_of_an_own_authority_is_trusted_by_name(self):
        tls = TlsFront(self, self.folder, self.store().port)
        job, lines = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": tls.address})
        self.assert_refused(job.run("ingest", "--json"), 2, "certificate", "AWS_CA_BUNDLE", seconds=5)
        with unittest.mock.patch.dict(os.environ, AWS_CA_BUNDLE=str(tls.certificate)):
            finished, rows = job.dump()
            self.assert_done(finished)
            self.assert_same_rows(rows, lines)
        with unittest.mock.patch.dict(os.environ, AWS_CA_BUNDLE=str(self.folder / "none.pem")):
            self.assert_refused(job.run("ingest", "--json"), 2, "none.pem", seconds=5)

    def test_a_store_that_never_answers_fails_the_run_with_1(self):
        job, _ = self.stored(["s3://clicks/day=*/*.tsv"],
                             storage={"endpoint": f"http://127.0.0.1:{free_port()}", "give_up_after": "1s"})
        for command in ("ingest", "index"):
            finished = job.run(command, "--json")
            self.assertEqual(finished.status, 1, finished)
            self.assertIn("storage.give_up_after", finished.err)

    def test_wrong_keys_of_the_storage_table_are_refused(self):
        for key, value in (("credentials", "AKIDEXAMPLE"), ("credentials", "profile:"), ("connections", 0),
                           ("timeout", "0s"), ("endpont", "x")):
            job, _ = self.stored(["s3://clicks/day=*/*.tsv"], f"job-{key}-{value}", storage={key: value})
            self.assert_refused(job.run("ingest", "--json"), 2, f"storage.{key}")

    def test_without_credentials_the_variable_is_named(self):
        with unittest.mock.patch.dict(os.environ):
            del os.environ["AWS_ACCESS_KEY_ID"]
            job, _ = self.stored(["s3://clicks/day=*/*.tsv"])
            self.assert_refused(job.run("ingest", "--json"), 2, "AWS_ACCESS_KEY_ID is not set", seconds=5)

    def test_a_stop_during_a_silence_is_orderly(self):
        job, _ = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": f"http://127.0.0.1:{free_port()}"})
        running = job.start("ingest", "--json")
        self.wait_until(lambda: "no answer yet" in running.stderr_now() or not running.alive())
        running.signal(harness.signal.SIGTERM)
        self.assertEqual(running.wait(10).status, 143)

    def test_a_worker_reads_the_store_itself(self):
        store = self.store()
        job, lines = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": store.address},
                                 pipeline={"memory": "400MiB"})
        alone = self.assert_done(job.run("ingest", "--json"))
        before = store.requests()
        self.assertEqual(alone["requests"], before)
        cluster = Cluster(self, job, local=False)
        cluster.worker()
        finished, ends = cluster.finish()
        done = self.assert_done(finished)
        self.assertEqual(done["order_digest"], alone["order_digest"])
        self.assertEqual(done["rows_by_node"], {"w1": ROWS})
        asked = done["requests_by_node"]["w1"]
        self.assertGreaterEqual(asked["bytes_read"], sum(map(len, lines)))
        self.assertLess(asked["requests"], done["requests"])  # The trainer lists and opens, too.
        self.assertEqual(done["requests"], store.requests() - before)
        self.assertEqual({end.status for end in ends.values()}, {0})

    def test_what_a_worker_that_died_has_read_is_counted(self):
        store = self.store()
        job, _ = self.stored(["s3://clicks/day=*/*.tsv"], storage={"endpoint": store.address}, order={"epochs": 4},
                             transform=[{"op": "spin", "microseconds": 100}], pipeline={"memory": "400MiB"})
        self.assert_done(job.run("index", "--json"))
        cluster = Cluster(self, job, local=False)
        cluster.worker()

        def asked_by_w1():
            status = harness.Running(["status", "--dir", job.folder, "--json"], self.folder).wait(30)
            nodes = status.json.get("nodes", []) if status.status == 0 else []
            return sum(node["requests"] for node in nodes if node["name"] == "w1")

        self.wait_until(lambda: asked_by_w1() > 0 or not cluster.trainer.alive())
        at_least = asked_by_w1()
        cluster.kill("w1")
        cluster.worker()
        finished, _ = cluster.finish()
        done = self.assert_done(finished)
        by_node = done["requests_by_node"]
        self.assertGreaterEqual(by_node["w1"]["requests"], max(1, at_least))
        self.assertGreater(by_node["w2"]["requests"], 0)
        self.assertGreater(done["requests"], by_node["w1"]["requests"] + by_node["w2"]["requests"])


if __name__ == "__main__":
    harness.main()
