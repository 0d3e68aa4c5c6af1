#!/usr/bin/env python3
"""Runs clang-tidy on our .cpp files, skipping those found clean as they stand.

Neighbouring files are looked at together, as one unit that includes them: most of the time goes into
the headers that they share. Where they do not compile together (two hidden names are alike) those that
clang complains about are looked at apart from the others.

usage: tidy.py [--build DIR] [--part N/OF | FILE...]    without a part or files: all but trainer/torch, whose headers
are slow. The OF parts are all of these together.
"""
import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

LEFT_OUT = ("trainer/torch/", "tests/", "build/")
MOST_TOGETHER = 24


def flags_of(command):
    """The compiler's options without its own precompiled headers, which clang cannot read."""
    words = shlex.split(command)
    if "-include" in words:
        at = words.index("-include")
        del words[at:at + 2]
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    return tuple(word for word in words[first:words.index("-o")] if word != "-Winvalid-pch")


def files_of(entry):
    """The files that an entry of the build compiles; a unity file includes several."""
    path = pathlib.Path(entry["file"])
    if path.parent.name == "Unity":
        return re.findall(r'#include "(.+)"', path.read_text())
    return [entry["file"]]


def sources(build, chosen):
    """The files to look at, relative to the repository, each with its flags."""
    entries = json.loads((build / "compile_commands.json").read_text())
    flags = {os.path.relpath(path): flags_of(entry["command"]) for entry in entries for path in files_of(entry)}
    if chosen:
        return {path: flags[path] for path in sorted(flags.keys() & set(chosen))}
    return {path: flags[path] for path in sorted(flags) if not path.startswith(LEFT_OUT + ("..",))}


def groups(flags):
    """Files of the same flags, neighbours together, in lists of MOST_TOGETHER at most, the longest first."""
    found = []
    for _, paths in itertools.groupby(sorted(flags, key=lambda path: (flags[path], path)), flags.get):
        paths = list(paths)
        found += [paths[at:at + MOST_TOGETHER] for at in range(0, len(paths), MOST_TOGETHER)]
    return sorted(found, key=len, reverse=True)


def parted(paths, errors):
    """Two parts of `paths`: those without and those with errors; two halves where one of these is empty."""
    wrong = {os.path.relpath(path) for path in re.findall(r"^(/[^:\n]+):\d+:\d+: (?:fatal )?error: ", errors, re.MULTILINE)}
    parts = [path for path in paths if path not in wrong], [path for path in paths if path in wrong]
    middle = len(paths) // 2
    return parts if all(parts) else (paths[:middle], paths[middle:])


def headers_digest():
    digest = hashlib.sha256(pathlib.Path(".clang-tidy").read_bytes())
    for top in ("core", "actors", "scheduler", "tuner", "trainer", "engine", "tools"):
        for path in sorted(pathlib.Path(top).rglob("*.h")):
            digest.update(path.read_bytes())
    return digest


class Tidy:
    def __init__(self, build, flags):
        self.tidy = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
        self.clang = shutil.which("clang++-14") or shutil.which("clang++")
        if not self.tidy or not self.clang:
            sys.exit("clang-tidy 14 and clang are missing (Debian: clang-tidy-14, clang-14)")
        self.flags = flags
        self.folder = build / "tidy"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.headers = headers_digest()

    def mark(self, path):
        """The file whose being there says that `path` is clean as it stands."""
        digest = self.headers.copy()
        digest.update(path.encode() + pathlib.Path(path).read_bytes())
        return self.folder / digest.hexdigest()

    def unit(self, paths):
        """A file that stands for `paths`."""
        if len(paths) == 1:
            return pathlib.Path(paths[0])
        unit = self.folder / (hashlib.sha256("\n".join(paths).encode()).hexdigest() + ".cpp")
        unit.write_text("".join(f'#include "{os.path.abspath(path)}"\n' for path in paths))
        return unit

    def complaints(self, paths):
        """What clang-tidy says of `paths`, which have the same flags; empty when it is content."""
        # Compiler warnings are left to GCC in the build; clang's set of warnings differs.
        flags = [*self.flags[paths[0]], "-w"]
        unit = self.unit(paths)
        if len(paths) > 1:
            done = subprocess.run([self.clang, *flags, "-fsyntax-only", "-ferror-limit=0", unit], capture_output=True, text=True)
            if done.returncode:
                return "".join(self.complaints(part) for part in parted(paths, done.stderr))
        checks = ["--checks=-bugprone-suspicious-include"] if len(paths) > 1 else []
        done = subprocess.run([self.tidy, "--quiet", "--config-file=.clang-tidy", *checks, unit, "--", *flags],
                              capture_output=True, text=True)
        if done.returncode:
            return done.stdout + done.stderr
        for path in paths:
            self.mark(path).touch()
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    number, parts = map(int, options.part.split("/"))
    flags = sources(options.build, options.files)
    chosen = itertools.chain.from_iterable(groups(flags)[number - 1::parts])
    flags = {path: flags[path] for path in chosen}
    tidy = Tidy(options.build, flags)
    wanted = groups({path: flags[path] for path in flags if not tidy.mark(path).exists()})
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = [text for text in pool.map(tidy.complaints, wanted) if text]
    print("\n".join(found) or f"tidy: ok ({len(flags)} files)")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
