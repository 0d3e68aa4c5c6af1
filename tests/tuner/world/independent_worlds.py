#!/usr/bin/env python3
"""Worlds once more, written apart from the simulator and meant to be obvious, not fast.

Every actor and every split is an object. At every event all speeds are worked out anew from who is in service, and
all work in progress is moved on by hand. Usage:
independent_worlds.py PIPELINE.toml n1.load=4,decode=8,... PREFETCH SECONDS SEED
prints {"splits_per_second", "cpus_used", "peak_memory_bytes", "out_of_memory"} of a run whose first tenth is left out
of the rates. Actors never leave, since the allocation is fixed; a node that is lost loses them all.
"""
import json
import math
import random
import sys
import tomllib

IDLE, STARTING, SPACED, BUSY, BLOCKED = range(5)
TINY = 1e-9


class Actor:
    def __init__(self, ready_at):
        self.state = STARTING if ready_at is not None else IDLE
        self.ready_at = ready_at
        self.number = None
        self.total = 0.0  # T: seconds of work when alone.
        self.left = 0.0
        self.since = 0.0  # When it began to wait with its split.


class Line:
    """One stage on one node."""

    def __init__(self, table):
        self.table = table
        self.actors = []
        self.queue = []
        self.last_start = -math.inf

    def of(self, state):
        return [actor for actor in self.actors if actor.state == state]


class Node:
    def __init__(self, table, stages):
        self.table = dict(table)
        self.lines = [Line(stage) for stage in stages]
        self.present = True
        self.on_link = []  # [bytes left, number]
        self.crossed = []  # [since, number]
        self.peak = 0
        self.limits = []   # (in force from, bytes)

    def direct(self):
        return self.table.get("trainer", False) or "link_rate" not in self.table

    def in_service(self):
        return sum(len(line.of(BUSY)) for line in self.lines)


class World:
    def __init__(self, file, counts, prefetch, seed):
        self.rng = random.Random(seed)
        self.file = file
        self.stages = [dict(stage) for stage in file["stage"]]
        for stage in self.stages:
            stage["file_seconds"] = stage["seconds"]
        self.resources = [dict(resource) for resource in file.get("resource", [])]
        tables = file.get("node") or [{"name": "", "cpus": file["cpus"], "memory_bytes": file["memory_bytes"],
                                       "trainer": True}]
        self.nodes = [Node(table, self.stages) for table in tables]
        self.home = next(node for node in self.nodes if node.table.get("trainer"))
        self.counts = counts
        self.room = prefetch
        self.step = file["trainer"]["step_seconds"]
        self.pause = file["trainer"].get("pause")
        self.ordered = self.stages[-1].get("ordered", False)
        self.now = 0.0
        self.prefetched = []  # Numbers.
        self.training_until = None
        self.trained = 0
        self.next_number = 0
        self.fresh = 0
        self.lost = []
        self.cpu_seconds = 0.0
        self.out_of_memory = False
        self.ramps = {}  # (table id, key) -> [table, key, from, to, begin, end]
        self.events = sorted(file.get("event", []), key=lambda event: event["at_seconds"])
        for node in self.nodes:
            node.limits = [(0, node.table["memory_bytes"])]
            self.populate(node)

    def populate(self, node):
        for line in node.lines:
            name = line.table["name"]
            count = self.counts.get(node.table["name"] + "." + name, self.counts.get(name, 1))
            start = line.table.get("start_seconds", 0)
            line.actors = [Actor(self.now + start if start > 0 else None) for _ in range(count)]

    # What a split draws when it begins.
    def drawn(self, node, line):
        table = line.table
        n = len(line.actors)
        slow = 1 + table.get("alpha", 0) * (n - 1) + table.get("beta", 0) * n * (n - 1)
        total = table["seconds"] * node.table.get("seconds_factor", 1.0) * slow
        if table.get("noise", 0) > 0:
            sigma = math.sqrt(math.log(1 + table["noise"] ** 2))
            total *= self.rng.lognormvariate(-sigma * sigma / 2, sigma)
        tail = table.get("tail")
        if tail and self.rng.random() < tail["share"]:
            total *= self.rng.paretovariate(tail["shape"])
        return total

    def sees(self, node, resource):
        return resource.get("node", node.table["name"]) == node.table["name"]

    def speeds(self):
        """Of every busy actor: (v, c), as {actor: (v, c)}."""
        busy = [(node, line, actor) for node in self.nodes for line in node.lines for actor in line.of(BUSY)]
        granted = []
        for resource in self.resources:
            asked = sum(line.table.get("uses", {}).get(resource["name"], 0) / actor.total
                        for node, line, actor in busy if self.sees(node, resource))
            granted.append(min(1.0, resource["rate"] / asked) if asked > 0 else 1.0)
        found = {}
        for node in self.nodes:
            mine = []
            for owner, line, actor in busy:
                if owner is not node:
                    continue
                stall, other = 1.0, 1.0
                for resource, p in zip(self.resources, granted):
                    if not self.sees(node, resource) or resource["name"] not in line.table.get("uses", {}):
                        continue
                    if resource["name"].startswith(("dram", "llc")):
                        stall = min(stall, p)
                    else:
                        other = min(other, p)
                cpu = line.table.get("cpu", 1.0)
                mine.append((actor, cpu, cpu + 1 / stall - 1, other))

            def used(f):
                return sum(c * min(q, 1 / (1 - cpu + c * f)) for _, cpu, c, q in mine)
            f = 1.0
            if used(1.0) > node.table["cpus"] * (1 + 1e-12):
                low, high = 1.0, 2.0
                while used(high) > node.table["cpus"]:
                    high *= 2
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (middle, high) if used(middle) > node.table["cpus"] else (low, middle)
                f = high
            for actor, cpu, c, q in mine:
                found[actor] = (min(q, 1 / (1 - cpu + c * f)), c)
        return found

    # What happens at one moment.
    def next_up(self):
        """The number that a load actor may start now, or None."""
        if not self.ordered:
            return 0
        number = min(self.lost) if self.lost else self.fresh
        return number if number < self.next_number + self.room else None

    def load(self):
        number = self.next_up()
        free = [node for node in self.nodes if node.present and node.lines[0].of(IDLE)]
        if number is None or not free:
            return False
        node = min(free, key=Node.in_service)  # The first of equals.
        actor = node.lines[0].of(IDLE)[0]
        actor.state, actor.number, actor.since = SPACED, number, self.now
        if self.ordered and number in self.lost:
            self.lost.remove(number)
        elif self.ordered:
            self.fresh += 1
        self.start(node, node.lines[0])
        return True

    def start(self, node, line):
        started = False
        for actor in sorted(line.of(SPACED), key=lambda actor: actor.since):
            rate = line.table.get("max_rate", 0)
            if rate > 0 and self.now < line.last_start + 1 / rate - TINY:
                break
            actor.state = BUSY
            actor.total = actor.left = self.drawn(node, line)
            line.last_start = self.now
            started = True
        return started

    def wants(self, number):
        return self.training_until is None and not self.is_paused() and \
            (not self.ordered or number == self.next_number)

    def is_paused(self):
        if not self.pause or self.now < self.pause["every"] - TINY:
            return False
        return (self.now + TINY) % self.pause["every"] < self.pause["seconds"]

    def hand_over(self):
        """Finished splits of direct nodes, and those that have crossed, go to the trainer or wait for it."""
        ready = [(actor.since, 0, node, actor) for node in self.nodes if node.direct()
                 for actor in node.lines[-1].of(BLOCKED)]
        ready += [(entry[0], 1, node, entry) for node in self.nodes for entry in node.crossed]
        for _, crossed, node, what in sorted(ready, key=lambda each: each[:2]):
            number = what[1] if crossed else what.number
            if not self.ordered and len(self.prefetched) >= self.room and not self.wants(number):
                continue
            if crossed:
                node.crossed.remove(what)
            else:
                what.state = IDLE
            self.prefetched.append(number)
            self.train()
            return True
        return False

    def train(self):
        if self.training_until is not None or self.is_paused() or not self.prefetched:
            return False
        if self.ordered and self.next_number not in self.prefetched:
            return False
        if self.ordered:
            self.prefetched.remove(self.next_number)
            self.next_number += 1
        else:
            self.prefetched.pop(0)
        self.training_until = self.now + self.step
        return True

    def settle(self):
        while self.settle_once():
            pass

    def settle_once(self):
        if self.train() or self.hand_over():
            return True
        for node in self.nodes:
            if not node.present:
                continue
            for i in reversed(range(len(node.lines))):
                line = node.lines[i]
                for actor in line.of(STARTING):
                    if actor.ready_at <= self.now + TINY:
                        actor.state = IDLE
                        return True
                room = self.file["queue_splits"]
                blocked = sorted(line.of(BLOCKED), key=lambda actor: actor.since)
                if blocked and i + 1 < len(node.lines):
                    idle = bool(node.lines[i + 1].of(IDLE)) and not line.queue
                    if len(line.queue) < room or idle:
                        blocked[0].state = IDLE
                        line.queue.append(blocked[0].number)
                        return True
                elif blocked and not node.direct() and len(node.on_link) + len(node.crossed) < room:
                    blocked[0].state = IDLE
                    node.on_link.append([float(line.table["bytes_out"]), blocked[0].number])
                    return True
                if i > 0 and line.of(IDLE) and node.lines[i - 1].queue:
                    actor = line.of(IDLE)[0]
                    actor.state, actor.number, actor.since = SPACED, node.lines[i - 1].queue.pop(0), self.now
                    self.start(node, line)
                    return True
                if self.start(node, line):
                    return True
        return self.load()

    def account(self):
        for node in self.nodes:
            if not node.present:
                continue
            used = self.file["base_bytes"]
            for i, line in enumerate(node.lines):
                used += len(line.actors) * line.table["bytes_per_actor"]
                used += len(line.queue) * line.table["bytes_out"]
            out = node.lines[-1].table["bytes_out"]
            used += (len(node.on_link) + len(node.crossed)) * out
            if node is self.home:
                used += len(self.prefetched) * out
            node.peak = max(node.peak, used)
            in_force = [limit for at, limit in node.limits if at <= self.now + TINY]
            later = [limit for at, limit in node.limits if at > self.now + TINY]
            self.out_of_memory = self.out_of_memory or used > max(in_force[-1:] + later)

    # What changes from outside.
    def obey(self):
        while self.events and self.events[0]["at_seconds"] <= self.now + TINY:
            event = self.events.pop(0)
            over = event.get("over_seconds", 0)
            if "stage" in event:
                stage = next(each for each in self.stages if each["name"] == event["stage"])
                if "seconds_factor" in event:
                    self.turn(stage, "seconds", stage["file_seconds"] * event["seconds_factor"], over)
                if "max_rate" in event:
                    self.turn(stage, "max_rate", event["max_rate"], over)
            elif "resource" in event:
                for resource in self.resources:
                    if resource["name"] == event["resource"]:
                        self.turn(resource, "rate", event["rate"], over)
            else:
                for node in self.nodes:
                    if event.get("node", node.table["name"]) == node.table["name"]:
                        self.change_node(node, event, over)
                self.step = event.get("trainer_step_seconds", self.step)
        for key, (table, name, old, new, begin, end) in list(self.ramps.items()):
            share = min(1.0, (self.now - begin) / (end - begin))
            table[name] = old + (new - old) * share
            if share == 1:
                del self.ramps[key]
        for line in (line for node in self.nodes for line in node.lines):
            line.table = next(stage for stage in self.stages if stage["name"] == line.table["name"])

    def turn(self, table, name, value, over):
        self.ramps.pop((id(table), name), None)
        if over <= 0 or name not in table:
            table[name] = value
        else:
            self.ramps[(id(table), name)] = [table, name, table[name], value, self.now, self.now + over]

    def change_node(self, node, event, over):
        for key in ("cpus", "link_rate"):
            if key in event:
                self.turn(node.table, key, event[key], over)
        if "seconds_factor" in event:
            node.table.setdefault("seconds_factor", 1.0)
            self.turn(node.table, "seconds_factor", event["seconds_factor"], over)
        if "memory_bytes" in event:
            node.limits.append((self.now + 4, event["memory_bytes"]))
        present = event.get("present", node.present)
        if node.present and not present:
            held = [actor.number for line in node.lines for actor in line.actors
                    if actor.state in (SPACED, BUSY, BLOCKED)]
            held += [number for line in node.lines for number in line.queue]
            held += [number for _, number in node.on_link + node.crossed]
            self.lost += held if self.ordered else []
            for line in node.lines:
                line.actors, line.queue = [], []
            node.on_link, node.crossed = [], []
        if present and not node.present:
            self.populate(node)
        node.present = present

    def run(self, until):
        while self.now < until - TINY and not self.out_of_memory:
            self.obey()
            self.settle()
            self.account()
            speeds = self.speeds()
            then = max(self.now, min(self.moments(speeds, until)))
            self.pass_time(then, speeds)

    def moments(self, speeds, until):
        yield until
        for actor, (v, _) in speeds.items():
            yield self.now + actor.left / v
        for node in self.nodes:
            for left, _ in node.on_link[:1]:
                yield self.now + left * len(node.on_link) / node.table["link_rate"]
            for line in node.lines:
                yield from (actor.ready_at for actor in line.of(STARTING))
                if line.of(SPACED):
                    yield line.last_start + 1 / line.table["max_rate"]
            yield from (at for at, _ in node.limits if at > self.now + TINY)
        if self.training_until is not None:
            yield self.training_until
        if self.events:
            yield self.events[0]["at_seconds"]
        if self.ramps:
            yield self.now + 0.05
        if self.pause:
            every = self.pause["every"]
            start = math.floor((self.now + TINY) / every) * every
            yield from (at for at in (start + self.pause["seconds"], start + every) if at > self.now + TINY)

    def pass_time(self, then, speeds):
        passed = then - self.now
        for node in self.nodes:
            if node.on_link:
                share = passed * node.table["link_rate"] / len(node.on_link)
                for entry in node.on_link:
                    entry[0] -= share
        for actor, (v, c) in speeds.items():
            actor.left -= passed * v
            self.cpu_seconds += passed * v * c
        self.now = then
        for actor in speeds:
            if actor.left <= TINY * actor.total:
                actor.state, actor.since = BLOCKED, self.now
        for node in self.nodes:
            for entry in [entry for entry in node.on_link if entry[0] <= 1e-3]:
                node.on_link.remove(entry)
                node.crossed.append([self.now, entry[1]])
        if self.training_until is not None and self.training_until <= self.now + TINY:
            self.training_until = None
            self.trained += 1


def main():
    path, allocation, prefetch, seconds, seed = sys.argv[1:]
    with open(path, "rb") as file:
        table = tomllib.load(file)
    counts = {part.split("=")[0]: int(part.split("=")[1]) for part in allocation.split(",") if part}
    seconds = float(seconds)
    world = World(table, counts, int(prefetch), int(seed))
    world.run(seconds / 10)
    trained, used = world.trained, world.cpu_seconds
    world.run(seconds)
    length = max(world.now - seconds / 10, TINY)
    print(json.dumps({"splits_per_second": (world.trained - trained) / length,
                      "cpus_used": (world.cpu_seconds - used) / length,
                      "peak_memory_bytes": max(node.peak for node in world.nodes),
                      "out_of_memory": world.out_of_memory}))


if __name__ == "__main__":
    main()
