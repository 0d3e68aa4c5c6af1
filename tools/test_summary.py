#!/usr/bin/env python3
"""Sums up the last run of ctest in a build folder: "skipped: TEST: METHOD: WHY" for each skipped test, and, as the last
line, "N passed, N failed".

A test is skipped as a whole when it prints "skipped: WHY" and exits with its SKIP_RETURN_CODE. Methods of Python's
unittest, and parts of C++ tests (tests/support/skip_note.h), are skipped inside of a test that passes.

usage: test_summary.py [BUILD]    default: build/release
"""
import pathlib
import re
import sys

TEST = re.compile(r"\d+/\d+ Test: (.*)")
METHOD = re.compile(r"\s*(\w+) \([\w.]+\)")
SKIPPED_METHOD = re.compile(r"(?:.*\.\.\. )?skipped (['\"])(.*)\1$")
SKIPPED_TEST = re.compile(r"skipped: (.*)")
PASSED = ("Test Passed.", "Test Pass Reason:")


def summary(log):
    """Returns the skipped tests as (test, method or None, why), and how many tests passed and failed."""
    skipped, tests, passed, whole = {}, 0, 0, set()
    test = method = None
    for line in log.splitlines():
        if match := TEST.fullmatch(line):
            test, method, tests = match[1], None, tests + 1
        if match := METHOD.match(line):
            method = match[1]
        # A method is skipped once for each of its subtests, and named once.
        if match := SKIPPED_METHOD.fullmatch(line):
            skipped[test, method, match[2]] = None
        elif match := SKIPPED_TEST.fullmatch(line):
            skipped[test, None, match[1]] = None
            whole.add(test)
        passed += line in PASSED
    return list(skipped), passed - len(whole), tests - passed


def main():
    log = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release", "Testing/Temporary/LastTest.log")
    skipped, passed, failed = summary(log.read_text(errors="replace") if log.exists() else "")
    for each in skipped:
        print(": ".join(["skipped", *filter(None, each)]))
    print(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
