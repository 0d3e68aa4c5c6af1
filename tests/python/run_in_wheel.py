"""Runs a test in the environment of the wheel; skips it where the wheel could not be built.

usage: run_in_wheel.py NAME"""
import os
import pathlib
import sys

from package import BARE, SKIPPED

if not BARE.exists():
    print("skipped: the wheel was not built")
    sys.exit(SKIPPED)
os.execv(BARE, [str(BARE), "-B", str(pathlib.Path(__file__).with_name(sys.argv[1] + ".py"))])
