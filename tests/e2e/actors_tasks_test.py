"""Tasks: functions of a library that run on nodes, and again elsewhere when a node is killed."""
import time

from support.actors import ActorScenario, Program
from support.harness import main


class TasksOnOtherProcesses(ActorScenario):
    def processes(self):
        return {name: node.process.pid for name, node in self.nodes.items()}

    def test_a_task_runs_where_there_is_room_and_its_error_is_the_answer(self):
        program = Program(self, self.head.address)
        program.begin("half", "x", 84)  # Waits for a node.
        self.node("n1")
        self.node("n2")
        self.assertEqual(program.read(), "half x: 42")
        self.assertEqual(program.do("half", "x", 3), "error 3 odd")
        self.assertEqual(program.do("half", "x", 0), "error 0 the task threw: told to throw")
        self.assertEqual(program.do("need_even", "x", 2), "done")
        self.assertEqual(program.do("need_even", "x", 3), "error 3 odd")
        self.assertEqual(program.do("exact_half", "x", 84), "42")
        self.assertEqual(program.do("exact_half", "x", 3), "none")
        begin = time.monotonic()
        ran = program.do("processes", "x", 4, 300).split()  # Each needs a CPU, and a node has one.
        self.assertGreater(time.monotonic() - begin, 0.6)
        self.assertEqual(sorted(set(map(int, ran))), sorted(self.processes().values()))
        self.assertEqual(len(ran), 4)
        self.wait_until(lambda: self.status() == {})

    def test_a_task_that_no_node_has_is_waited_for_as_long_as_its_patience(self):
        program = Program(self, self.head.address)  # Its cluster's patience is 10 s.
        begin = time.monotonic()
        self.assertRegex(program.do("half", "x", 84, 300), "^error ")
        self.assertLess(time.monotonic() - begin, 5)

    def test_a_task_runs_again_when_its_node_is_killed(self):
        program = Program(self, self.head.address)
        self.node("n1")
        program.begin("processes", "x", 1, 1500)
        self.wait_until(lambda: [state[:2] for state in self.status().values()] == [("n1", "running")])
        self.node("n2")
        self.kill("n1")
        self.assertEqual(program.read(), f"processes x: {self.processes()['n2']}")
        program.begin("processes", "x", 1, 5000, 0)
        self.wait_until(lambda: [state[:2] for state in self.status().values()] == [("n2", "running")])
        self.kill("n2")
        self.assertRegex(program.read(), "processes x: error 2 ")


if __name__ == "__main__":
    main()
