#!/usr/bin/env python3
"""What `forebay simulate` says of every plain pipeline here, to the bit: record.py PATH/TO/forebay

Prints one line of JSON a run. FIGURES.jsonl holds these lines as the program printed them before files could
describe worlds; what such a file means must never change (simulate_same_test.py).
"""
import json
import pathlib
import subprocess
import sys

RUNS = (("oracle", 150, 3), ("", 60, 1))


def record(forebay):
    lines = []
    for path in sorted(pathlib.Path(__file__).parent.glob("*.toml")):
        for allocation, seconds, seed in RUNS:
            said = subprocess.run([forebay, "simulate", str(path), "--allocation", allocation, "--seconds",
                                   str(seconds), "--seed", str(seed), "--json"], check=True, capture_output=True,
                                  text=True).stdout.splitlines()[-1]
            json.loads(said)
            lines.append(said)
    return lines


if __name__ == "__main__":
    print("\n".join(record(sys.argv[1])))
