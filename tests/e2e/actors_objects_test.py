"""Objects handed around between processes: fetched, counted, and what happens when a process is killed."""
from support.actors import ActorScenario, Program
from support.harness import main

MIB = 1 << 20


class ObjectsOnOtherProcesses(ActorScenario):
    def holders(self, program, count):
        for number in range(1, count + 1):
            self.node(f"n{number}")
            self.assertEqual(program.do("holder", f"h{number}", f"n{number}"), "done")

    def test_nodes_fetch_an_object_and_a_killed_holder_releases_it(self):
        program = Program(self, self.head.address)
        self.holders(program, 4)
        self.assertEqual(program.do("put", "a", 40), "done")
        for number in range(1, 5):
            self.assertEqual(program.do("take", f"h{number}", "a"), "done")
        for number in range(1, 5):
            program.begin("sum", f"h{number}")
        self.assertEqual([program.read() for _ in range(4)], [f"sum h{number}: {40 * MIB}" for number in range(1, 5)])
        program.do("forget", "a")
        self.assertRegex(program.do("put", "b", 40), "error 3 objects take .* bytes of memory")
        for number in range(1, 4):
            self.assertEqual(program.do("take", f"h{number}", "none"), "done")
        self.assertRegex(program.do("put", "b", 40), "error 3 ")
        self.kill("n4")
        self.until(program, "done", "put", "b", 40)

    def test_a_killed_owner_leaves_its_objects_only_where_they_were_fetched(self):
        program = Program(self, self.head.address)
        self.holders(program, 3)
        self.assertEqual(program.do("make", "h1", 8, "a"), "done")
        for holder in ("h2", "h3"):
            self.assertEqual(program.do("take", holder, "a"), "done")
        self.assertEqual(program.do("sum", "h2"), str(8 * MIB))
        self.kill("n1")
        self.assertRegex(program.do("read", "a"), "error 2 the owner of the object")
        self.assertRegex(program.do("sum", "h3"), "error 2 .*the owner of the object")
        self.assertEqual(program.do("sum", "h2"), str(8 * MIB))

    def test_large_messages_and_answers_are_exact_and_in_order(self):
        program = Program(self, self.head.address)
        self.holders(program, 2)
        for holder in ("h1", "h2"):  # together more than the 64 MiB of objects that the program may have
            self.assertEqual(program.do("fill", holder, 0, 11, 20), "done")
        for holder in ("h1", "h2"):
            self.assertEqual(program.do("filled", holder), "0 1 2 3 4 5 6 7 8 9 10")
        self.assertEqual(program.do("whole", "h1", 20), str(20 * MIB))
        self.assertRegex(program.do("fill", "h1", 0, 1, 65), "error 0 a large message: .* is larger than the memory for objects")
        self.assertRegex(program.do("whole", "h1", 80), "error 0 a large message: .* is larger than the memory for objects")

    def test_a_killed_program_leaves_a_beginning_of_its_messages(self):
        program = Program(self, self.head.address)
        self.holders(program, 1)
        sender = Program(self, self.head.address)
        self.assertEqual(sender.do("meet", "h1"), "done")
        sender.begin("fill", "h1", 0, 1000, 20)
        self.wait_until(lambda: len(program.do("filled", "h1").split()) > 4)
        sender.kill()
        self.assertEqual(program.do("fill", "h1", 5000, 5003, 20), "done")
        numbers = program.do("filled", "h1").split()
        self.assertEqual(numbers, [*map(str, range(len(numbers) - 3)), "5000", "5001", "5002"])


if __name__ == "__main__":
    main()
