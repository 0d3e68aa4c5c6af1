#!/usr/bin/env python3
"""Plain pipelines mean what they meant before there were worlds: simulate_same_test.py PATH/TO/forebay

The figures of every run are those recorded in FIGURES.jsonl, to the bit.
"""
import pathlib
import sys

from record import record


def main():
    before = (pathlib.Path(__file__).parent / "FIGURES.jsonl").read_text(encoding="utf-8").splitlines()
    now = record(sys.argv[1])
    differ = [(a, b) for a, b in zip(before, now) if a != b]
    for a, b in differ:
        print(f"before {a}\nnow    {b}")
    return 0 if before and not differ and len(before) == len(now) else 1


if __name__ == "__main__":
    sys.exit(main())
