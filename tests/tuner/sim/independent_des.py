#!/usr/bin/env python3
"""Modelled pipelines once more, written apart from the simulator and meant to be obvious, not fast.

Every actor is an object. At every event all rates are worked out anew from who is busy, and all work in
progress is moved on by hand. Usage: independent_des.py PIPELINE.toml STAGE=N,... PREFETCH SECONDS SEED
prints {"splits_per_second", "peak_memory_bytes", "out_of_memory"} of a run whose first tenth is left out of
the rate. Events of the file are obeyed; actors never leave, since the allocation is fixed.
"""
import json
import math
import random
import sys

try:
    import tomllib
except ImportError:
    tomllib = None

IDLE, SPACED, BUSY, BLOCKED = range(4)


def read_toml(path):
    """The file as dicts; by hand where Python has no tomllib (before 3.11)."""
    if tomllib:
        with open(path, "rb") as file:
            return tomllib.load(file)
    top = {}
    at = top
    for line in open(path, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if line.startswith("[["):
            at = {}
            top.setdefault(line[2:-2], []).append(at)
        elif line.startswith("["):
            at = top.setdefault(line[1:-1], {})
        elif line:
            key, value = (part.strip() for part in line.split("=", 1))
            at[key] = value[1:-1] if value[0] == '"' else float(value) if set(value) & set(".eE") else int(value)
    return top


class Actor:
    def __init__(self):
        self.state = IDLE
        self.left = 0.0  # Seconds of work left, with CPUs for all.


class Stage:
    def __init__(self, table, actors):
        self.seconds = table["seconds"]
        self.cpu = table.get("cpu", 1.0)
        self.alpha = table.get("alpha", 0.0)
        self.beta = table.get("beta", 0.0)
        self.noise = table.get("noise", 0.0)
        self.max_rate = table.get("max_rate", 0.0)
        self.bytes_per_actor = table["bytes_per_actor"]
        self.bytes_out = table["bytes_out"]
        self.file_seconds = self.seconds
        self.name = table["name"]
        self.actors = [Actor() for _ in range(actors)]
        self.queue = 0  # Splits after this stage.
        self.room = 0
        self.last_start = -math.inf

    def drawn(self, rng):
        n = len(self.actors)
        slow = 1 + self.alpha * (n - 1) + self.beta * n * (n - 1)
        if self.noise == 0:
            return self.seconds * slow
        sigma = math.sqrt(math.log(1 + self.noise ** 2))
        return self.seconds * slow * rng.lognormvariate(-sigma * sigma / 2, sigma)

    def busy(self):
        return [actor for actor in self.actors if actor.state == BUSY]

    def first(self, state):
        return next((actor for actor in self.actors if actor.state == state), None)


class Pipeline:
    def __init__(self, file, actors, prefetch, seed):
        self.rng = random.Random(seed)
        self.cpus = file["cpus"]
        self.memory_limit = file["memory_bytes"]
        self.base = file["base_bytes"]
        self.step = file["trainer"]["step_seconds"]
        self.stages = [Stage(table, actors[table["name"]]) for table in file["stage"]]
        for stage in self.stages:
            stage.room = file["queue_splits"]
        self.stages[-1].room = prefetch
        self.events = sorted(file.get("event", []), key=lambda event: event["at_seconds"])
        self.now = 0.0
        self.training_until = None
        self.trained = 0
        self.peak = 0
        self.cuts = []  # (when in force, limit)
        self.out_of_memory = False

    def stretch(self):
        """The smallest f >= 1 that keeps the CPUs in use within `cpus`, by bisection."""
        def used(f):
            return sum(len(s.busy()) * s.cpu / (1 - s.cpu + s.cpu * f) for s in self.stages)
        if used(1) <= self.cpus * (1 + 1e-12):
            return 1.0
        low, high = 1.0, 2.0
        while used(high) > self.cpus:
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if used(middle) > self.cpus else (low, middle)
        return high

    def settle(self):
        """Everything that can happen at this moment without time passing."""
        moved = True
        while moved:
            moved = False
            for i, stage in reversed(list(enumerate(self.stages))):
                if i == len(self.stages) - 1 and self.training_until is None and stage.queue > 0:
                    stage.queue -= 1
                    self.training_until = self.now + self.step
                    moved = True
                done = stage.first(BLOCKED)
                if done and (stage.queue < stage.room or self.waits_for(i)):
                    done.state = IDLE
                    stage.queue += 1
                    moved = True
                    continue
                idle = stage.first(IDLE)
                if idle and (i == 0 or self.stages[i - 1].queue > 0):
                    if i > 0:
                        self.stages[i - 1].queue -= 1
                    idle.state = SPACED
                    moved = True
                while stage.first(SPACED) and self.may_start(stage):
                    actor = stage.first(SPACED)
                    actor.state = BUSY
                    actor.left = stage.drawn(self.rng)
                    stage.last_start = self.now
                    moved = True

    def waits_for(self, i):
        if i == len(self.stages) - 1:
            return self.training_until is None and self.stages[i].queue == 0
        return self.stages[i + 1].first(IDLE) is not None and self.stages[i].queue == 0

    def may_start(self, stage):
        return stage.max_rate <= 0 or self.now >= stage.last_start + 1 / stage.max_rate - 1e-12

    def account(self):
        used = self.base + sum(len(s.actors) * s.bytes_per_actor + s.queue * s.bytes_out for s in self.stages)
        self.peak = max(self.peak, used)
        self.out_of_memory = self.out_of_memory or used > self.memory_limit

    def obey(self):
        while self.events and self.events[0]["at_seconds"] <= self.now:
            event = self.events.pop(0)
            for stage in self.stages:
                if stage.name == event.get("stage"):
                    stage.seconds = stage.file_seconds * event.get("seconds_factor", stage.seconds / stage.file_seconds)
                    stage.max_rate = event.get("max_rate", stage.max_rate)
            self.cpus = event.get("cpus", self.cpus)
            self.step = event.get("trainer_step_seconds", self.step)
            limit = event.get("memory_bytes", self.memory_limit)
            if limit >= self.memory_limit:
                self.memory_limit = limit
            else:
                self.cuts.append((self.now + 4, limit))
        while self.cuts and self.cuts[0][0] <= self.now:
            self.memory_limit = self.cuts.pop(0)[1]

    def run(self, until):
        while self.now < until and not self.out_of_memory:
            self.obey()
            self.settle()
            self.account()
            f = self.stretch()
            moments = [until]
            for stage in self.stages:
                slowness = 1 - stage.cpu + stage.cpu * f
                moments += [self.now + actor.left * slowness for actor in stage.busy()]
                if stage.first(SPACED):
                    moments.append(stage.last_start + 1 / stage.max_rate)
            if self.training_until is not None:
                moments.append(self.training_until)
            if self.events:
                moments.append(self.events[0]["at_seconds"])
            moments += [when for when, _ in self.cuts]
            then = max(self.now, min(moments))
            for stage in self.stages:
                for actor in stage.busy():
                    actor.left -= (then - self.now) / (1 - stage.cpu + stage.cpu * f)
                    if actor.left <= 1e-12:
                        actor.state = BLOCKED
            self.now = then
            if self.training_until is not None and self.training_until <= self.now:
                self.training_until = None
                self.trained += 1


def main():
    path, allocation, prefetch, seconds, seed = sys.argv[1:]
    file = read_toml(path)
    actors = {stage["name"]: 1 for stage in file["stage"]}
    actors.update((part.split("=")[0], int(part.split("=")[1])) for part in allocation.split(","))
    seconds = float(seconds)
    pipeline = Pipeline(file, actors, int(prefetch), int(seed))
    pipeline.run(seconds / 10)
    before = pipeline.trained
    pipeline.run(seconds)
    print(json.dumps({"splits_per_second": (pipeline.trained - before) / (0.9 * seconds),
                      "peak_memory_bytes": pipeline.peak, "out_of_memory": pipeline.out_of_memory}))


if __name__ == "__main__":
    main()
