#!/usr/bin/env python3
"""Runs clang-tidy on our .cpp files, two at a time, skipping those found clean as they stand.

usage: tidy.py [--build DIR] [FILE...]    without files: all but trainer/torch, whose headers are slow
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

LEFT_OUT = ("trainer/torch/", "tests/", "build/")


def sources(build, chosen):
    """The files to look at, relative to the repository, each with a command to compile it."""
    entries = json.loads((build / "compile_commands.json").read_text())
    paths = {os.path.relpath(entry["file"]) for entry in entries}
    if chosen:
        return sorted(paths & set(chosen))
    return sorted(path for path in paths if not path.startswith(LEFT_OUT + ("..",)))


def headers_digest():
    digest = hashlib.sha256(pathlib.Path(".clang-tidy").read_bytes())
    for top in ("core", "actors", "scheduler", "tuner", "trainer", "tools"):
        for path in sorted(pathlib.Path(top).rglob("*.h")):
            digest.update(path.read_bytes())
    return digest


def complaints(tidy, build, path):
    """What clang-tidy says of `path`; empty when it is content."""
    # Compiler warnings are the compiler's: GCC has spoken, and clang's own set is another one.
    done = subprocess.run([tidy, "-p", str(build), "--quiet", "--extra-arg=-w", path], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    tidy = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tidy:
        sys.exit("clang-tidy 14 is missing (Debian: clang-tidy-14)")
    clean_dir = options.build / "tidy"
    clean_dir.mkdir(parents=True, exist_ok=True)
    headers = headers_digest()

    def check(path):
        digest = headers.copy()
        digest.update(path.encode() + pathlib.Path(path).read_bytes())
        mark = clean_dir / digest.hexdigest()
        if mark.exists():
            return ""
        found = complaints(tidy, options.build, path)
        if not found:
            mark.touch()
        return found

    paths = sources(options.build, options.files)
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = [text for text in pool.map(check, paths) if text]
    print("\n".join(found) or f"tidy: ok ({len(paths)} files)")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
