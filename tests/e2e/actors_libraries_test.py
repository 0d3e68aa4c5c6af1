"""Libraries of actors that one worker ships to another, and libraries that differ."""
import os
import pathlib
import shutil

from support.actors import ActorScenario, Program
from support.harness import Running, main


class ShippedLibraries(ActorScenario):
    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def start(self, name, *options):
        self.nodes[name] = Running(["worker", "--join", self.head.address, "--name", name, "--cpus", "1", "--memory", "300MiB",
                                    *options], self.folder, prefix=("env", f"TMPDIR={self.temporary}"))
        self.addCleanup(self.kill, name)

    def until_head_says(self, line):
        self.wait_until(lambda: line in self.head.running.stderr_now())

    def test_an_actor_runs_on_a_worker_that_was_started_without_its_library(self):
        self.start("n1", "--actors", self.library, "--ship")
        self.until_head_says("node n1 offers actors")
        self.start("n2", "--accept-shipped")
        self.until_head_says("node n2 has library libe2e_actor_types.so now")
        self.assertEqual(list(self.temporary.iterdir()), [])  # It is open: its file has gone.
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 40, 3, "n2"), "done")
        program.do("add", "c", 2)
        self.assertEqual(program.do("total", "c"), "42")
        self.kill("n1")
        self.start("n3", "--accept-shipped")  # From the worker to which it was shipped.
        self.until_head_says("node n3 has library libe2e_actor_types.so now")
        self.kill("n2")
        self.until(program, "40", "total", "c")
        self.assertEqual(program.do("place", "c"), "n3 1")
        program.begin("crash", "c")
        self.assertRegex(program.read(), "crash c: error 2 actor c on node n3: ")
        self.assertIn("shipped library libe2e_actor_types.so", self.nodes.pop("n3").wait(20).err)

    def test_a_worker_takes_no_library_unless_it_was_started_so(self):
        self.start("n1", "--actors", self.library, "--ship")
        self.until_head_says("node n1 offers actors")
        other = self.folder / "libother.so"
        shutil.copy(self.library.parent / "libe2e_shards.so", other)
        self.start("n2", "--actors", other)
        self.until_head_says("node n2 lacks library libe2e_actor_types.so, which node n1 ships; it takes it if it is started with "
                             "--accept-shipped")
        program = Program(self, self.head.address, "impatient")
        self.assertRegex(program.do("spawn", "c", 0, 0, "n2"), "error 1 .*--accept-shipped")

    def test_libraries_that_differ_are_refused_by_name(self):
        self.node("n1")
        other = self.folder / "libe2e_actor_types.so"
        other.write_bytes(pathlib.Path(self.library).read_bytes() + b"\0")  # Another build, which the loader takes.
        self.start("n2", "--actors", other)
        self.wait_until(lambda: "the head refuses node n2: its library libe2e_actor_types.so differs from libe2e_actor_types.so of "
                                "node n1, and both have the type " in self.nodes["n2"].stderr_now())
        self.kill("n1")
        self.until_head_says("node n2 offers actors")

    def test_what_is_wrong_is_said(self):
        worker = ["worker", "--join", self.head.address]
        self.assert_refused(Running([*worker, "--ship"], self.folder).wait(20), 2, "--ship", "--actors")
        large = self.folder / "liblarge.so"
        shutil.copy(self.library, large)
        os.truncate(large, (256 << 20) + 1)
        self.assert_refused(Running([*worker, "--actors", large, "--ship"], self.folder).wait(60), 2, "liblarge.so", "268435457",
                            "256 MiB")
        # Without keys there is only loopback: no other machine can send a library.
        self.assert_refused(Running(["worker", "--join", "192.0.2.1:29400", "--accept-shipped"], self.folder).wait(20), 2, "--join",
                            "keys")
        self.assert_refused(Running([*worker, "--listen", "0.0.0.0:0", "--accept-shipped"], self.folder).wait(20), 2, "--listen",
                            "keys")

    def test_a_file_that_was_changed_since_it_was_opened_is_not_loaded(self):
        changing = self.folder / "libchanging.so"
        shutil.copy(self.library, changing)
        self.start("n1", "--actors", changing, "--ship")
        self.until_head_says("node n1 offers actors")
        with changing.open("r+b") as file:  # The tail of the file is in no page that was mapped.
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
        self.start("n2", "--accept-shipped")
        self.wait_until(lambda: "what came has the digest" in self.nodes["n2"].stderr_now())
        self.assertIn("start that node again", self.nodes["n2"].stderr_now())
        self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    main()
