"""Actors on other processes: started, found by name and called there; what happens when their process dies."""
import json
import os
import pathlib
import signal
import time

from support.actors import FOLDER, LOST, SHARDS, ActorScenario, Program
from support.cut import Link
from support.harness import Running, main

PARAMETER_SERVER = FOLDER / "e2e_parameter_server"


class ActorsOnOtherProcesses(ActorScenario):
    def test_two_programs_share_an_actor_by_its_name(self):
        one = Program(self, self.head.address)
        one.begin("spawn", "c", 40)  # Waits for a node.
        self.node("n1")
        self.assertEqual(one.read(), "spawn c: done")
        self.assertEqual(one.do("add", "c", 1), "done")
        two = Program(self, self.head.address)
        self.assertEqual(two.do("find", "c"), "done")
        self.assertEqual(two.do("add", "c", 1), "done")
        self.assertEqual(two.do("total", "c"), "42")
        self.assertEqual(one.do("total", "c"), "42")
        self.assertEqual(two.do("receive", "c"), "42")  # A reference in a message leads back here.
        self.assertEqual(self.status(), {"c": ("n1", "running", 0)})
        self.assertIn("name is taken by an actor on node n1", two.do("spawn", "c", 0))
        self.assertIn("a counter does not begin below 0", two.do("spawn", "d", -1))
        two.do("watch", "c")
        one.do("stop", "c")
        gone = "error 1 no actor of the cluster is named c"
        # The node tells the watcher, and the head the finder: neither waits for the other.
        self.wait_until(lambda: two.do("find", "c") == gone and two.downs)
        self.assertEqual(two.downs, ["down c"])
        self.assertEqual(one.do("spawn", "c", 7), "done")
        self.assertEqual(one.do("total", "c"), "7")
        ends = Running(["status", "--join", self.head.address], self.folder).wait(30)
        self.assertIn("1 actor on 1 node", ends.out)
        self.nodes["n1"].signal(signal.SIGTERM)
        self.assertEqual(self.nodes.pop("n1").wait(20).status, 143)

    def test_a_killed_process_fails_what_waits_and_its_actors_start_elsewhere(self):
        self.node("n1")
        self.node("n2")
        program = Program(self, self.head.address)
        other = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "kept", 1, 1, "n1"), "done")
        self.assertEqual(program.do("spawn", "lost", 1, 0, "n1"), "done")
        for name in ("kept", "lost"):
            self.assertEqual(other.do("find", name), "done")
            other.do("watch", name)
        program.do("add", "kept", 5)
        program.begin("wait", "kept")
        time.sleep(0.2)  # The question is with the actor.
        begin = time.monotonic()
        self.kill("n1")
        self.assertRegex(program.read(), "wait kept: error 2 actor kept on node n1: ")
        self.assertLess(time.monotonic() - begin, LOST)
        self.until(program, "1", "total", "kept")  # From its arguments: it keeps no state.
        self.assertEqual(program.do("place", "kept"), "n2 1")
        self.until(other, "1", "total", "kept")
        self.until(other, "error 1 no actor of the cluster is named lost", "total", "lost")
        self.assertEqual([down.split(": ")[0] for down in sorted(other.downs)],
                         ["down kept actor kept on node n1", "down lost actor lost on node n1"])
        self.assertEqual(self.status(), {"kept": ("n2", "running", 1)})
        self.kill("n2")  # No restart is left.
        self.until(program, "error 1 no actor of the cluster is named kept", "total", "kept")

    def test_an_actor_that_blocks_the_shared_threads_of_a_node_is_named(self):
        self.node("n1")
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 3), "done")
        self.assertEqual(program.do("block", "c"), "done")
        self.wait_until(lambda: "actor c has held the only thread" in self.nodes["n1"].stderr_now())
        self.assertEqual(program.do("spawn", "d", 4), "done")  # The node goes on; its actors wait.
        program.begin("total", "d")
        (pathlib.Path(self.folder) / "unblock").touch()
        self.assertEqual(program.read(), "total d: 4")

    def test_an_actor_that_throws_or_ends_its_process(self):
        self.node("n1")
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 3, 2), "done")
        program.do("add", "c", 1)
        self.assertEqual(program.do("throw", "c"), "error 2 actor c on node n1: told to throw")
        self.assertEqual(program.do("total", "c"), "3")  # In the same process.
        program.begin("crash", "c")
        self.assertRegex(program.read(), "crash c: error 2 actor c on node n1: ")
        ended = self.nodes.pop("n1").wait(20)
        self.assertEqual(ended.status, -signal.SIGABRT, ended)
        self.assertIn("libe2e_actor_types.so", ended.err)
        self.node("n2")
        self.until(program, "3", "total", "c")

    def test_a_node_that_was_frozen_ends_actors_that_live_elsewhere_by_now(self):
        self.node("n1")
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 3, 1), "done")
        self.node("n2")
        frozen = self.nodes["n1"]
        frozen.signal(signal.SIGSTOP)
        self.until(program, "n2 1", "place", "c")
        self.until(program, "3", "total", "c")
        frozen.signal(signal.SIGCONT)
        self.wait_until(lambda: "actor c lives elsewhere by now, and ends here" in frozen.stderr_now())
        program.do("add", "c", 1)
        self.assertEqual(program.do("total", "c"), "4")
        self.assertEqual(self.status(), {"c": ("n2", "running", 1)})

    def test_a_program_lets_go_of_a_copy_that_only_the_head_has_lost(self):
        link = Link(self, self.head.address)
        self.start_node("n1", join=link.address)
        self.wait_until(lambda: "node n1 offers actors" in self.head.running.stderr_now())
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 1, 3), "done")
        program.do("add", "c", 5)
        self.assertEqual(program.do("keep", "c"), "done")
        program.do("add", "c", 7)
        self.assertEqual(program.do("total", "c"), "13")
        self.node("n2")
        program.do("watch", "c")
        link.cut.set()
        self.until(program, "n2 1", "place", "c")
        self.until(program, "6", "total", "c")  # The copy on n1 is there and would answer 13.
        self.assertEqual(program.downs, ["down c actor c on node n1: the head has lost node n1"])
        program.do("add", "c", 1)
        self.assertEqual(program.do("keep", "c"), "done")
        link.cut.clear()
        self.wait_until(lambda: "actor c lives elsewhere by now, and ends here" in self.nodes["n1"].stderr_now())
        self.assertEqual(program.do("total", "c"), "7")
        self.kill("n2")
        self.until(program, "7", "total", "c")
        self.assertEqual(program.do("place", "c"), "n1 2")

    def test_actors_outlive_a_head_that_is_killed(self):
        self.node("n1")
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 3), "done")
        program.do("add", "c", 1)
        self.head.kill()
        self.assertEqual(program.do("total", "c"), "4")
        self.head.start()
        other = Program(self, self.head.address)
        self.until(other, "done", "find", "c")
        self.assertEqual(other.do("total", "c"), "4")

    def test_a_kept_state_is_loaded_where_the_actor_starts_again(self):
        self.node("n1")
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 1, 3, "n1"), "done")
        program.do("add", "c", 5)
        self.assertEqual(program.do("keep", "c"), "done")
        program.do("add", "c", 7)
        self.assertEqual(program.do("throw", "c"), "error 2 actor c on node n1: told to throw")
        self.assertEqual(program.do("total", "c"), "6")  # In the same process.
        self.node("n2")
        self.kill("n1")
        self.until(program, "6", "total", "c")
        self.assertEqual(program.do("place", "c"), "n2 1")
        program.do("add", "c", 1)
        self.assertEqual(program.do("keep", "c"), "done")
        program.do("stop", "c")
        self.wait_until(lambda: program.do("find", "c") == "error 1 no actor of the cluster is named c")
        self.assertEqual(program.do("spawn", "c", 1, 3), "done")  # Another actor of that name.
        self.node("n3")
        self.kill("n2")
        self.until(program, "1", "total", "c")

    def test_names_and_kept_states_outlive_head_and_node_together(self):
        for name in ("n1", "n2"):
            self.node(name)
        program = Program(self, self.head.address)
        for name, node in (("moves", "n1"), ("stays", "n2"), ("ends", "n1")):
            self.assertEqual(program.do("spawn", name, 1, 0 if name == "ends" else 3, node), "done")
            program.do("add", name, 5)
            self.assertEqual(program.do("keep", name), "done")
            program.do("add", name, 1)
        self.head.kill()
        self.kill("n1")
        self.assertEqual(program.do("total", "stays"), "7")
        self.assertRegex(program.do("keep", "stays"), "error 2 ")  # No head is there.
        self.head.start()
        self.until(program, "6", "total", "moves", seconds=12)
        self.assertEqual(program.do("total", "stays"), "7")
        self.assertEqual(self.status(), {"moves": ("n2", "running", 1), "stays": ("n2", "running", 0)})
        self.assertEqual(program.do("keep", "stays"), "done")
        self.head.kill()
        self.kill("n2")
        self.start_node("n2")
        self.head.start()
        self.until(program, "7", "total", "stays", seconds=12)
        self.until(program, "6", "total", "moves")

    def test_actors_go_where_there_is_room(self):
        self.node("n1")
        program = Program(self, self.head.address)
        spawn = lambda name, *options: program.do("spawn", name, 1, 3, *options)
        self.assertEqual(spawn("a", "anywhere", 0.75, 200), "done")
        self.assertEqual(spawn("b", "anywhere", 0.5, 150),
                         "error 3 actor b needs 0.5 CPUs and 150 MiB, and no node has room: n1 lacks 0.25 CPUs and 50 MiB")
        self.assertEqual(spawn("b", "anywhere", -1), "error 0 actor b: its CPUs must be a number from 0 to 1,000,000")
        self.node("n2")
        self.assertEqual(spawn("b", "anywhere", 0.5, 150), "done")
        self.assertEqual(spawn("c", "anywhere", 0, 0, "pack", "b"), "done")
        self.assertEqual(spawn("d", "anywhere", 0, 0, "pack"), "done")
        self.assertEqual([program.do("place", name) for name in "abcd"], ["n1 0", "n2 0", "n2 0", "n2 0"])
        self.kill("n2")
        self.until(program, "n1 1", "place", "c")
        self.assertIn("error 2 actor b needs 0.5 CPUs and 150 MiB, and no node has room: n1 lacks", program.do("place", "b"))
        program.do("stop", "a")
        self.until(program, "n1 1", "place", "b")

    def test_a_group_is_started_as_a_whole_or_not_at_all(self):
        self.node("n1")
        program = Program(self, self.head.address)
        self.assertEqual(program.do("group", "c", 3, 120), "error 3 actor c2 needs 120 MiB, and no node has room: n1 lacks 60 MiB")
        self.assertIn("a counter does not begin below 0", program.do("group", "c", 2, 120, -1))
        self.assertEqual(self.status(), {})
        self.node("n2")
        self.assertEqual(program.do("group", "c", 3, 120, 7), "done")
        self.assertEqual([program.do("total", f"c{i}") for i in range(3)], ["7"] * 3)
        self.assertEqual([program.do("place", f"c{i}") for i in range(3)], ["n1 0", "n2 0", "n1 0"])

    def test_what_is_wrong_is_said(self):
        worker = ["worker", "--join", self.head.address, "--actors"]
        no_library = self.folder / "none.so"
        no_library.write_bytes(b"\x7fELF")
        for library, word in ((no_library, "cut short"), (FOLDER / "libe2e_user_functions.so", "FOREBAY_ACTORS"),
                              (self.folder / "absent.so", "No such file")):
            self.assert_refused(Running([*worker, library], self.folder).wait(20), 2, str(library), word)
        program = Program(self, self.head.address, "impatient")
        self.assertRegex(program.do("spawn", "c", 0, 0, "nowhere"), "error 1 .* no node has the type nothing; there is no node")


class Status(ActorScenario):
    def actors(self):
        asked = Running(["status", "--join", self.head.address, "--json"], self.folder).wait(30)
        return self.assert_done(asked)["actors"]

    def test_a_status_has_what_an_actor_does(self):
        self.node("n1")
        program = Program(self, self.head.address)
        self.assertEqual(program.do("spawn", "c", 1, 1), "done")
        self.assertEqual(self.actors(), [{"name": "c", "type": "counter", "node": "n1", "state": "running", "restarts": 0,
                                          "crashes": 0, "busy": 0, "waiting_bytes": 0}])
        self.assertRegex(program.do("throw", "c"), "told to throw")
        program.do("spin", "c", 6000)  # The next turn's message waits.
        self.wait_until(lambda: self.actors()[0]["busy"] > 0.9)
        now = self.actors()[0]
        self.assertEqual(now["crashes"], 1)
        self.assertGreater(now["waiting_bytes"], 0)
        page = Running(["status", "--join", self.head.address], self.folder).wait(30).out
        self.assertRegex(page, r"c +counter +n1 +running +(9\d|100) % +\d+ B +0 +1")
        self.wait_until(lambda: self.actors()[0]["busy"] == 0 and self.actors()[0]["waiting_bytes"] == 0)


class ParameterServer(ActorScenario):
    library = SHARDS

    def test_the_sum_is_exact_while_nodes_are_killed(self):
        for name in ("n1", "n2", "n3"):
            self.node(name)
        shards, steps, dimension = 3, 2000, 100
        run = Running(["--join", self.head.address, "--shards", shards, "--steps", steps, "--dim", dimension], self.folder,
                      program=PARAMETER_SERVER)
        placed = lambda: os.pread(run.out.fileno(), 1 << 16, 0).decode().count('"placed"')
        self.wait_until(lambda: placed() == shards)
        self.kill("n1")
        self.wait_until(lambda: "restarted" in os.pread(run.out.fileno(), 1 << 16, 0).decode())
        self.node("n1")
        self.head.kill()
        self.kill("n2")
        self.head.start()
        finished = run.wait(60)
        events = [json.loads(line) for line in finished.out.splitlines()]
        self.assertEqual((finished.status, events[-1]), (0, {"event": "done", "sum": shards * steps * dimension}), finished)
        self.assertEqual({event["node"] for event in events[:shards]}, {"n1", "n2", "n3"})
        self.assertIn("restarted", [event["event"] for event in events], finished)


if __name__ == "__main__":
    main()
