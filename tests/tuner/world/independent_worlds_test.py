#!/usr/bin/env python3
"""The simulator against independent_worlds.py and known answers: independent_worlds_test.py PATH/TO/forebay

Throughput and CPUs in use agree within 2 %, peak memory within 4 %: the mean of seeds in the simulator against one
run, or the mean of two, of the other.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SMALL = HERE.parent / "pipelines" / "worlds"
SEEDS = 6
TOP = """name = "{name}"
cpus = {cpus}
memory_bytes = 68719476736
base_bytes = 1073741824
rows_per_split = 1000
queue_splits = 4
[trainer]
step_seconds = {step}
prefetch_splits = 12
{more}
"""
STAGE = """[[stage]]
name = "{name}"
seconds = {seconds}
cpu = {cpu}
noise = {noise}
bytes_per_actor = 20000000
bytes_out = 10000000
{more}
"""


def top(name, cpus, step=0.002, more=""):
    return TOP.format(name=name, cpus=cpus, step=step, more=more)


def stage(name, seconds, cpu=1.0, noise=0.2, more=""):
    return STAGE.format(name=name, seconds=seconds, cpu=cpu, noise=noise, more=more)


def node(name, cpus, more=""):
    return f'[[node]]\nname = "{name}"\ncpus = {cpus}\nmemory_bytes = 68719476736\n{more}\n'


def event(at, more, over=0):
    ramp = f"over_seconds = {over}.0\n" if over else ""
    return f"[[event]]\nat_seconds = {at}.0\n{ramp}{more}\n"


# name: (file, allocation, seconds, runs of the independent program)
WORLDS = {
    "stalls, a disk and too few CPUs": (
        top("shared", 5) + stage("load", 0.03, 0.2, more="uses = { disk = 3.0 }")
        + stage("decode", 0.08, more="uses = { dram = 2.0 }\nalpha = 0.01")
        + stage("udf", 0.05, 0.6, more="uses = { dram = 1.0, lock = 1.0 }")
        + '[[resource]]\nname = "disk"\nrate = 150.0\n[[resource]]\nname = "dram"\nrate = 90.0\n'
        + '[[resource]]\nname = "lock"\nrate = 60.0\n', "load=3,decode=5,udf=4", 30, 1),
    "unequal nodes, links, one file server, a lost node, a ramp": (
        top("nodes", 1) + stage("load", 0.04, 0.1, more="uses = { nfs = 1.0 }") + stage("decode", 0.1)
        + '[[resource]]\nname = "nfs"\nrate = 95.0\n'
        + '[[node]]\nname = "n1"\ncpus = 4\nmemory_bytes = 68719476736\ntrainer = true\n'
        + '[[node]]\nname = "n2"\ncpus = 3\nmemory_bytes = 68719476736\nseconds_factor = 1.5\nlink_rate = 1.5e8\n'
        + '[[node]]\nname = "n3"\ncpus = 8\nmemory_bytes = 68719476736\nlink_rate = 1.0e9\n'
        + '[[event]]\nat_seconds = 8.0\nnode = "n3"\npresent = false\n'
        + '[[event]]\nat_seconds = 14.0\nnode = "n3"\npresent = true\n'
        + '[[event]]\nat_seconds = 16.0\nover_seconds = 8.0\nresource = "nfs"\nrate = 30.0\n',
        "load=3,n1.decode=5,n2.decode=3,n3.decode=8", 30, 1),
    "order over two nodes, start-up, pauses, a rate limit, a tail": (
        top("ordered", 1, 0.004, "pause = { every = 5.0, seconds = 1.0 }")
        + stage("load", 0.02, 0.3, more="max_rate = 70.0\nstart_seconds = 1.0")
        + stage("decode", 0.1, more="tail = { share = 0.05, shape = 3.0 }\nordered = true\nstart_seconds = 0.5")
        + '[[node]]\nname = "n1"\ncpus = 6\nmemory_bytes = 68719476736\ntrainer = true\n'
        + '[[node]]\nname = "n2"\ncpus = 4\nmemory_bytes = 68719476736\nlink_rate = 3.0e8\n'
        + '[[event]]\nat_seconds = 12.0\nnode = "n2"\npresent = false\n'
        + '[[event]]\nat_seconds = 18.0\nnode = "n2"\npresent = true\n'
        + '[[event]]\nat_seconds = 20.0\nover_seconds = 5.0\nstage = "decode"\nseconds_factor = 2.0\n',
        "load=3,n1.decode=6,n2.decode=4", 31, 2),
    "memory of one node, tails, a thin link": (
        top("tails", 1) + stage("load", 0.03, 0.3, more="tail = { share = 0.05, shape = 2.5 }")
        + stage("decode", 0.12, more="uses = { dram = 1.5 }")
        + '[[resource]]\nname = "dram"\nrate = 30.0\nnode = "n2"\n'
        + node("n1", 6, "trainer = true") + node("n2", 8) + node("n3", 5, "link_rate = 8.0e7"),
        "load=2,n1.decode=7,n2.decode=9,n3.decode=5", 60, 1),
    "CPUs, speeds and links that change": (
        top("changes", 1) + stage("load", 0.02, 0.5) + stage("decode", 0.1, 0.9)
        + node("n1", 4, "trainer = true") + node("n2", 6, "link_rate = 1.0e9")
        + event(8, 'node = "n2"\nlink_rate = 1.5e8', over=6) + event(16, 'node = "n1"\ncpus = 2.0', over=4)
        + event(24, 'node = "n2"\nseconds_factor = 1.8') + event(32, "trainer_step_seconds = 0.02"),
        "load=2,n1.decode=6,n2.decode=8", 50, 1),
    "eight unequal nodes, one server": (
        top("eight", 1) + stage("load", 0.05, 0.1, more="uses = { nfs = 1.0 }") + stage("decode", 0.15)
        + '[[resource]]\nname = "nfs"\nrate = 85.0\n'
        + "".join(node(f"n{k}", 1 + k % 3, "trainer = true" if k == 1 else f"seconds_factor = {1 + 0.1 * k:.1f}\n"
                       f"link_rate = {4 + 3 * k}.0e7") for k in range(1, 9)),
        "load=2,decode=3", 40, 1),
    "crowded stages, spaced starts, pauses, over three nodes": (
        top("crowded", 1, 0.006, "pause = { every = 6.0, seconds = 1.5 }")
        + stage("load", 0.03, 0.4, more="max_rate = 45.0\nalpha = 0.05")
        + stage("udf", 0.06, 0.7, more="alpha = 0.04\nbeta = 0.01\nstart_seconds = 1.5")
        + stage("batch", 0.02, 1.0, more="uses = { lock = 1.0 }")
        + '[[resource]]\nname = "lock"\nrate = 95.0\n'
        + node("n1", 3, "trainer = true") + node("n2", 5) + node("n3", 2, "link_rate = 3.0e8"),
        "load=3,udf=5,batch=2", 48, 1),
}
# file: (allocation, splits/s, CPUs used), over 600 s
ANSWERS = {
    "two-stages-one-server": ("a=16,b=8", 10.0, 1.1),
    "memory-bandwidth": ("a=8", 25.0, 8.0),
    "thin-link": ("a=4,b=2", 60.0, 7.2),
    "slow-node": ("a=8", 120.0, 16.0),
    "paused-trainer": ("a=8", 16.0, 1.6),
}


def said(*words):
    return json.loads(subprocess.run([str(word) for word in words], check=True, capture_output=True,
                                     text=True).stdout.splitlines()[-1])


def mean(runs):
    return {key: sum(run[key] for run in runs) / len(runs)
            for key in ("splits_per_second", "cpus_used", "peak_memory_bytes")}


def agrees(forebay, path, allocation, seconds, runs):
    ours = mean([said(forebay, "simulate", path, "--allocation", allocation, "--prefetch", 12, "--seconds", seconds,
                      "--seed", seed, "--json") for seed in range(1, SEEDS + 1)])
    theirs = mean([said(sys.executable, HERE / "independent_worlds.py", path, allocation, 12, seconds, seed)
                   for seed in range(1, runs + 1)])
    off = {key: ours[key] / theirs[key] - 1 for key in ours}
    print(f"{path.stem}: " + ", ".join(f"{key} {theirs[key]:.5g} {100 * value:+.2f} %" for key, value in off.items()))
    return abs(off["splits_per_second"]) <= 0.02 and abs(off["cpus_used"]) <= 0.02 and \
        abs(off["peak_memory_bytes"]) <= 0.04


def answers(forebay, path):
    allocation, rate, cpus = ANSWERS[path.stem]
    ours = said(forebay, "simulate", path, "--allocation", allocation, "--seconds", 600, "--json")
    print(f"{path.stem}: {ours['splits_per_second']:.3f} splits/s, {ours['cpus_used']:.3f} CPUs")
    return abs(ours["splits_per_second"] / rate - 1) < 0.002 and abs(ours["cpus_used"] / cpus - 1) < 0.002


def main():
    forebay = sys.argv[1]
    good = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ANSWERS:
            path = pathlib.Path(folder) / f"{name}.toml"
            path.write_text((SMALL / path.name).read_text(encoding="utf-8"), encoding="utf-8")
            good.append(answers(forebay, path))
        for name, (text, allocation, seconds, runs) in WORLDS.items():
            path = pathlib.Path(folder) / f"{name}.toml"
            path.write_text(text, encoding="utf-8")
            good.append(agrees(forebay, path, allocation, seconds, runs))
    return 0 if all(good) and len(good) == len(ANSWERS) + len(WORLDS) else 1


if __name__ == "__main__":
    sys.exit(main())
