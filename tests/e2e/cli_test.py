"""The command line: help, versions, completion, JSON, and commands that need no libtorch."""
import fcntl
import os
import pathlib
import re
import shlex
import socket
import subprocess

from support.harness import FOREBAY, Running, Scenario, main

COMMANDS = ["train", "ingest", "index", "synth", "inspect", "bench", "doctor"]


class CommandLine(Scenario):
    def forebay(self, *arguments):
        return Running(arguments, self.folder).wait(timeout=30)

    def test_help_shows_an_example_of_every_command(self):
        overview = self.forebay("help")
        self.assertEqual(overview.status, 0)
        self.assertEqual(self.forebay("--help").status, 0)
        for command in COMMANDS:
            self.assertIn(command, overview.out)
            page = self.forebay(command, "--help")
            self.assertEqual(page.status, 0, page)
            self.assertRegex(page.out, rf"(?i)example[\s\S]*forebay {command}", command)

    def test_examples_of_modelled_pipelines_and_of_launch_can_be_pasted(self):
        job = self.job("here")
        job.put_criteo(10)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/forebay").symlink_to(FOREBAY)
        # The last examples of tune compare and of emulate take too long.
        for command, lines in ((["simulate"], 3), (["emulate"], 1), (["tune", "compare"], 1), (["launch"], 4)):
            page = self.forebay(*command, "--help").out
            examples = re.split(r"(?i)^examples?:$", page, flags=re.MULTILINE)[1].strip("\n").split("\n")
            pasted = "\n".join(examples[:lines]).replace(" --submit", "")
            done = subprocess.run(["bash", "-euc", pasted], cwd=job.folder, capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})
            self.assertEqual(done.returncode, 0, (pasted, done.stderr))
            for path in re.findall(r"pipelines/[\w.-]+\.toml", page):
                self.assertTrue((job.folder / path).exists(), path)

    def test_the_version_names_the_libraries_quickly(self):
        best = 1.0
        for _ in range(5):
            version = self.forebay("--version")
            self.assertEqual(version.status, 0)
            best = min(best, version.cpu_seconds)  # the clock's seconds are also those of its neighbours
        self.assertRegex(version.out, r"forebay \d+\.\d+")
        for library in ("zlib", "zstd", "xxhash"):
            self.assertIn(library, version.out.lower())
        self.assertLess(best, 0.1)

    def test_the_program_does_not_link_libtorch(self):
        needed = subprocess.run(["ldd", FOREBAY], capture_output=True, text=True, check=True).stdout
        # Without the addresses, which contain "c10" now and then.
        libraries = re.sub(r"\(0x[0-9a-f]+\)", "", needed)
        self.assertIn("libc.so", libraries)
        self.assertNotRegex(libraries, "torch|c10|openblas")

    def test_completion_is_written_for_three_shells(self):
        for shell in ("bash", "zsh", "fish"):
            finished = self.forebay("completion", shell)
            self.assertEqual(finished.status, 0)
            self.assertIn("ingest", finished.out)
        subprocess.run(["bash", "-n"], input=self.forebay("completion", "bash").out, text=True, check=True)
        self.assertEqual(self.forebay("completion", "tcsh").status, 2)

    def completed(self, line):
        """Returns what bash would offer for the last word of a line, which it splits at = and :, too."""
        words = [word for word in re.split(r"\s|([=:])", line) if word]
        words += [""] if line.endswith(" ") else []
        script = (self.forebay("completion", "bash").out + "COMP_WORDS=(" + " ".join(map(shlex.quote, words)) +
                  f')\nCOMP_CWORD={len(words) - 1}\n_forebay\nprintf "%s\\n" "${{COMPREPLY[@]}}"\n')
        done = subprocess.run(["bash", "-uc", script], cwd=self.folder, capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return done.stdout.split("\n")[:-1]

    def test_bash_completes_parts_their_options_and_fixed_words(self):
        (self.folder / "my job.toml").touch()
        (self.folder / "out").mkdir()
        files = ["my job.toml", "out"]
        for line, wanted in (("forebay tu", ["tune"]), ("forebay tune s", ["show"]), ("forebay keys n", ["new"]),
                             ("forebay launch sl", ["slurm"]), ("forebay synth cr", ["criteo"]),
                             ("forebay bench in", ["ingest"]), ("forebay completion b", ["bash"]),
                             ("forebay tune compare --m", ["--machine"]),
                             ("forebay tune compare --machine em", ["emulated"]),
                             ("forebay tune compare --seeds 2 --re", ["--report"]),
                             ("forebay convert job.toml --to n", ["npy"]), ("forebay convert job.toml --to=n", ["npy"]),
                             ("forebay help tr", ["train", "trace"]), ("forebay tune --po", ["--policies"]),
                             ("forebay keys new ", files), ("forebay launch slurm my", ["my job.toml"]),
                             ("forebay train ", files), ("forebay train --set a.b=c ", files),
                             ("forebay report out m", ["my job.toml"]), ("forebay convert --out=o", ["out"]),
                             ("forebay tune freeze my", ["my job.toml"]), ("forebay status ", [""]),
                             ("forebay train job.toml my", [""]), ("forebay ingest --max-batches ", [""])):
            with self.subTest(line):
                self.assertEqual(sorted(self.completed(line)), sorted(wanted))

    def test_columns_of_help_begin_under_each_other(self):
        for command in (["simulate"], ["emulate"], ["tune", "compare"], ["inspect"]):
            options = self.forebay(*command, "--help").out.split("\noptions:\n")[1].split("\n\n")[0].split("\n")
            begins = {re.match(r"  --.*?  +(?=\S)", line).end() for line in options}
            self.assertEqual(len(begins), 1, options)

    def test_errors_say_what_to_give(self):
        (self.folder / "job.toml").write_text('[dataset]\npaths = ["*.tsv"]\n')
        for arguments, said in (
                (["ingest", "job.toml", "--dashboard", "8265"],
                 "--dashboard 8265: give HOST:PORT, such as 127.0.0.1:8265"),
                (["status", "--join", "127.0.0.1:1", "--keys", "none"],
                 "`forebay keys new none` makes it, or copy it from the trainer"),
                (["status"], "no job runs in .; go to the job's folder, or give --dir or --join"),
                (["set", "pipeline.cpus=1"], "no job runs in .; go to the job's folder, or give --dir"),
                (["ingest", "job.toml", "--set", "pipeline.cpus"], "must be KEY=VALUE")):
            with self.subTest(arguments):
                finished = self.forebay(*arguments)
                self.assertEqual(finished.status, 2, finished)
                self.assertTrue(finished.err.endswith(said + "\n") or "KEY=VALUE" in said and said in finished.err, finished)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            finished = self.forebay("head", "--listen", address, "--store", "store")
            self.assertEqual(finished.status, 2, finished)
            self.assertIn(f"cannot listen at {address}: Address already in use; give a free port, or 0", finished.err)

    def test_keys_new_names_the_files_that_a_node_needs(self):
        self.assertIn("a node needs `server.key`, `client.key` and `client.key_secret`.\n",
                      self.forebay("keys", "new", "keys").out)
        self.assertIn("a node needs `server.key`, and `n7.key` and `n7.key_secret`,\nas client.key and client.key_secret.\n",
                      self.forebay("keys", "new", "keys", "--client", "n7").out)

    def test_wrong_usage_is_one_line_and_status_2(self):
        for arguments in (["trian", "job.toml"], ["ingest"], ["ingest", "a", "b"], ["ingest", "job.toml", "--nope"],
                          ["ingest", "job.toml", "--max-batches", "-1"], ["ingest", "job.toml", "--max-batches", "x"],
                          ["synth", "criteo", "--rows", "0", "--out", "d"], ["synth", "avazu"], ["--nope"],
                          ["head", "--listen", "127.0.0.1:0", "--store", "store", "more"],
                          ["head", "--listen", "127.0.0.1:0", "--store", "store", "--lease", "0"],
                          ["worker", "--join", "127.0.0.1:1", "--name", ".."],
                          ["ingest", "job.toml", "--max-batches", "1", "2"], ["ingest", "job.toml", "--resume", ""],
                          ["train", "job.toml", "--resume", "--restart"],
                          ["synth", "criteo", "--rows", "9", "--count", "2", "--out", "d"],
                          ["set", "--dir", "nowhere", "pipeline.cpus=1"]):
            with self.subTest(arguments=arguments):
                finished = self.forebay(*arguments)
                self.assertEqual(finished.status, 2, finished)
                self.assertTrue(finished.err.startswith("forebay: "), finished)
                self.assertLessEqual(len(finished.err.splitlines()), 2, finished)
                self.assertEqual(finished.out, "")
        self.assertEqual(os.listdir(self.folder), [])

    def test_without_arguments_the_help_is_shown_with_status_2(self):
        finished = self.forebay()
        self.assertEqual(finished.status, 2)
        self.assertIn("ingest", finished.err + finished.out)

    def test_the_operators_are_listed(self):
        listed = self.forebay("inspect", "--ops")
        self.assertEqual(listed.status, 0)
        for op in ("bucketize", "log1p", "sigrid_hash", "clamp", "fill", "spin", "udf"):
            self.assertIn(op, listed.out)

    def test_synthetic_pipelines_are_refused_before_the_first_is_written(self):
        there = self.folder / "made/random-7-1.toml"
        there.parent.mkdir()
        there.write_text("mine")
        make = ("synth", "pipelines", "--count", "2", "--seed", "7", "--out", "made")
        self.assert_refused(self.forebay(*make), 2, "random-7-1.toml is there already", "--force")
        self.assertEqual([path.name for path in there.parent.iterdir()], [there.name])
        self.assert_done(self.forebay(*make, "--force", "--json"))
        self.assertNotEqual(there.read_text(), "mine")
        limited = ["bash", "-c", 'ulimit -f 1; exec "$0" "$@"']  # A file may have 1024 bytes.
        self.assertGreater(there.stat().st_size, 1024)
        self.assert_refused(Running([*make, "--force"], self.folder, limited).wait(timeout=30), 1, "random-7-")

    def test_a_folder_that_another_synth_fills_is_refused_with_or_without_force(self):
        made = self.folder / "made"
        made.mkdir()
        locked = os.open(made, os.O_RDONLY)  # as the other one holds it, from before its first file on
        fcntl.flock(locked, fcntl.LOCK_EX)
        for kind in (["criteo", "--rows", "9"], ["pipelines", "--count", "2"]):
            for force in ([], ["--force"]):
                self.assert_refused(self.forebay("synth", *kind, "--out", "made", *force), 2,
                                    "--out made: another synth writes into it")
        self.assertEqual(os.listdir(made), [])
        os.close(locked)
        self.assert_done(self.forebay("synth", "criteo", "--rows", "9", "--out", "made", "--json"))

    def test_synth_says_which_files_of_an_earlier_run_it_leaves(self):
        make = ("synth", "criteo", "--rows", "9", "--out", "made", "--json")
        self.assertEqual(self.forebay(*make, "--files", "3").err, "")
        self.assertEqual(self.forebay(*make, "--files", "3", "--force").err, "")
        fewer = self.forebay(*make, "--files", "1", "--force")
        self.assert_done(fewer)
        self.assertIn("--out made has 2 more of an earlier run, from made/day_1.tsv on", fewer.err)

    def test_synthetic_files_are_the_same_bytes_for_the_same_seed(self):
        def content(folder, seed):
            made = self.forebay("synth", "criteo", "--rows", "3000", "--files", "2", "--seed", seed, "--out", folder,
                                "--json")
            self.assertEqual(made.status, 0, made)
            files = sorted((self.folder / folder).glob("*.tsv"))
            self.assertEqual((made.json["rows"], made.json["files"]), (3000, 2))
            text = b"".join(file.read_bytes() for file in files)
            self.assertEqual(made.json["bytes"], len(text))
            self.assertTrue(0.6 < made.json["best_auc"] < 1)
            return text
        self.assertEqual(content("a", 1), content("b", 1))
        self.assertNotEqual(content("a2", 1), content("c", 2))
        lines = content("d", 3).decode().splitlines()
        self.assertEqual(len(lines), 3000)
        row = re.compile(r"[01](\t-?\d*){13}(\t([0-9a-f]{8})?){26}")
        self.assertTrue(all(row.fullmatch(line) for line in lines))

    def test_index_describes_the_dataset_and_writes_only_beside_the_job(self):
        job = self.job()
        job.put_criteo(5000, files=3)
        result = self.assert_done(job.run("index", "--json"))
        size = sum(path.stat().st_size for path in (job.folder / "data").iterdir())
        self.assertEqual((result["rows"], result["files"], result["bytes"]), (5000, 3, size))
        self.assertGreater(result["blocks"], 16)
        self.assertEqual(self.assert_done(job.run("index", "--json"))["fingerprint"], result["fingerprint"])
        self.assertEqual(os.listdir(self.folder), ["job"])
        self.assertEqual({path.split("/")[0] for path in job.run_dir_files()}, {"job.toml", "data", ".forebay"})

    def test_a_relative_run_dir_moves_the_jobs_folder(self):
        job = self.job(run={"dir": "kept"})
        job.put_criteo(500)
        self.assert_done(job.run("ingest", "--json"))
        self.assertTrue((job.folder / "kept").is_dir())
        self.assertFalse((job.folder / ".forebay").exists())

    def test_paths_are_relative_to_the_job_file(self):
        job = self.job()
        job.put_criteo(500)
        finished = Running(["ingest", "job/job.toml", "--json"], self.folder).wait()
        self.assertEqual(self.assert_done(finished)["rows"], 500)
        self.assertFalse((self.folder / ".forebay").exists())

    def test_ingest_reports_every_key_and_names_the_bottleneck(self):
        job = self.job()
        job.put_criteo(20000)
        result = self.assert_done(job.run("ingest", "--json"))
        for key in ("rows", "bad_rows", "batches", "epochs", "seconds", "rows_per_second", "starved_ratio",
                    "order_digest", "peak_memory_bytes", "allocation", "prefetch", "decisions", "rows_by_node",
                    "rows_held_out"):
            self.assertIn(key, result)
        self.assertEqual(set(result["allocation"]), {"load", "decode", "shuffle", "transform"})
        job.change(transform=[{"op": "spin", "microseconds": 100}])
        finished = job.run("ingest")
        self.assertIn("transform", finished.err + finished.out, finished)

    def test_the_time_of_a_run_is_exact_to_the_millisecond(self):
        job = self.job(order={"batch_size": 50})
        job.put_criteo(100)
        results = [self.assert_done(job.run("ingest", "--json")) for _ in range(5)]
        self.assertLess(min(result["seconds"] for result in results), 0.08)  # Threads look every 0.1 s.
        for result in results:
            self.assertAlmostEqual(result["rows_per_second"], result["rows"] / result["seconds"], places=3)

    def test_with_closed_streams_no_output_goes_into_files(self):
        job = self.job()
        job.put_criteo(200)
        dumps = []
        for closed in "", "<&- >&- 2>&-":
            call = f'exec "$0" ingest job.toml --json --dump dump.tsv {closed}'
            run = subprocess.run(["bash", "-c", call, FOREBAY], cwd=job.folder, capture_output=True, timeout=60)
            self.assertEqual(run.returncode, 0, run)
            dumps.append((job.folder / "dump.tsv").read_bytes())
            self.assertNotIn("order_digest", (job.folder / ".forebay/lock").read_text())
        self.assertEqual(dumps[0], dumps[1])

    def test_an_unwritable_result_is_a_failure_and_a_closed_pipe_is_not(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([FOREBAY, "inspect", "--ops"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "^forebay: stdout: ")
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as pipe:
            run = subprocess.run([FOREBAY, "inspect", "--ops"], stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_doctor_accepts_a_good_job_and_rejects_a_bad_one(self):
        job = self.job(pipeline={"memory": "1GiB"})  # without it, a half of what the neighbours leave
        job.put_criteo(500)
        good = job.run("doctor")
        self.assertEqual(good.status, 0, good)
        (pathlib.Path(job.folder) / "data/day_0.tsv").unlink()
        bad = job.run("doctor")
        self.assertEqual(bad.status, 1, bad)

    def test_doctor_finds_keys_and_addresses_for_which_train_refuses_a_job(self):
        job = self.job(pipeline={"memory": "1GiB"}, trainer={"model": "none"})
        job.put_criteo(500)
        self.assertEqual(self.forebay("keys", "new", "keys").status, 0)
        self.assertEqual(self.forebay("keys", "new", "open").status, 0)
        (self.folder / "open/server.key_secret").chmod(0o640)
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        used = f"127.0.0.1:{taken.getsockname()[1]}"
        everywhere = "cluster.listen=tcp://0.0.0.0:0"

        def verdicts(*sets):
            ended = job.run("doctor", "--json", *(word for each in sets for word in ("--set", each)))
            return ended.status, {check["name"]: (check["status"], check["message"]) for check in ended.json["checks"]}

        for name, sets in (("cluster", [everywhere]),
                           ("cluster", [everywhere, f"cluster.keys={self.folder}/open"]),
                           ("cluster", [everywhere, "cluster.keys=missing"]),
                           ("cluster", [f"cluster.listen=tcp://{used}"]),
                           ("cluster", [f"cluster.head=tcp://{used}"]),
                           ("dashboard", [f"run.dashboard={used}"])):
            status, found = verdicts(*sets)
            self.assertEqual((status, found[name][0]), (1, "bad"), (sets, found))
            refused = job.run("train", *(word for each in sets for word in ("--set", each)))
            self.assertEqual(refused.status, 2, refused)
            self.assertIn(found[name][1], refused.err)
        status, found = verdicts(f"cluster.metrics={used}")
        self.assertEqual((status, found["metrics"][0]), (0, "warn"), found)
        self.assertTrue({"cluster", "dashboard"}.isdisjoint(found), found)
        address = job.folder / ".forebay/address"
        address.write_text("of an earlier run\n")
        status, found = verdicts(everywhere, f"cluster.keys={self.folder}/keys", "run.dashboard=127.0.0.1:0",
                                 "cluster.metrics=127.0.0.1:0")
        self.assertEqual((status, {found[name][0] for name in ("cluster", "dashboard", "metrics")}), (0, {"ok"}), found)
        self.assertEqual(address.read_text(), "of an earlier run\n")

    def test_a_job_file_may_be_a_file_address_and_no_other_one(self):
        job = self.job(pipeline={"memory": "1GiB"})
        job.put_criteo(500)
        address = f"file://{job.folder}/job.toml"
        self.assertIn(f"ok    job: {job.folder}/job.toml", self.forebay("doctor", address).out)
        self.assertIn("job", self.forebay("inspect", address).out)
        self.assertEqual(self.forebay("index", address, "--json").json["rows"], 500)
        for address in ("http://h/job.toml", "file://h/job.toml"):
            refused = self.forebay("index", address)
            self.assertEqual(refused.status, 2, refused)
            self.assertIn(f"job file {address}: a job file is read from this machine alone", refused.err)

    def test_inspect_and_doctor_say_how_a_parquet_file_lies(self):
        data = pathlib.Path(__file__).parent / "data/parquet_testing"
        job = self.job(dataset={"format": "parquet", "paths": [str(data / "alltypes_plain.snappy.parquet")]},
                       columns={"label": "bool_col", "dense": ["double_col"], "sparse": ["int_col"]},
                       pipeline={"memory": "1GiB"}, trainer={"model": "none"})
        path = str(data / "alltypes_plain.snappy.parquet")
        shown = self.forebay("inspect", path, "--json").json["files"][0]
        self.assertEqual((shown["kind"], shown["rows"], shown["layout"]["row_groups"]), ("parquet", 2, 1))
        columns = {column["name"]: column for column in shown["columns"]}
        self.assertEqual(columns["int_col"]["codecs"], ["SNAPPY"])
        self.assertTrue(columns["int_col"]["encodings"])
        self.assertEqual(columns["int_col"]["in_a_row"], 1)  # two different rows
        self.assertEqual(columns["timestamp_col"]["in_a_row"], 1)
        self.assertEqual(columns["double_col"]["in_a_row"], 1)
        looked = self.forebay("doctor", path, "--json").json
        self.assertEqual([check["status"] for check in looked["checks"]], ["ok", "ok"])
        self.assertEqual(looked["layout"]["rows_per_group"], 2)
        checked = job.run("doctor", "--json")
        self.assertEqual(checked.status, 0, checked)
        self.assertEqual(checked.json["layout"]["wanted_columns"], 3)
        self.assertEqual(checked.json["layout"]["grains"], 1)
        names = [check["name"] for check in checked.json["checks"]]
        self.assertLessEqual({"layout", "grains", "reads"}, set(names))


if __name__ == "__main__":
    main()
