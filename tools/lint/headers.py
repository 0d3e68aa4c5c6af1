#!/usr/bin/env python3
"""Checks that each header compiles on its own: whoever includes it needs no other before it.

What most headers include from elsewhere is precompiled, which saves two thirds of the time. Whether a
header includes what it uses of the standard library itself is what includes.py looks at.

usage: headers.py [--build DIR] [--part N/OF | FILE...]    without a part or files: all
DIR needs compile_commands.json. The OF parts are all headers together.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from tidy import files_of, flags_of

TOPS = ("core", "actors", "scheduler", "tuner", "trainer", "engine", "tools", "include")
OFTEN = 10  # headers that include a file, or are read with the same flags, for it to be precompiled


def flags_by_folder(build):
    """The compiler's options for the sources of each folder."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        for path in files_of(entry):
            found.setdefault(pathlib.Path(os.path.relpath(path)).parent, (*flags_of(entry["command"]), "-Iinclude", "-fsyntax-only"))
    return found


def flags_for(header, known):
    """Those of the header's folder, else of the nearest one below, else of the nearest one around it."""
    for folder in header.parents:
        near = [each for each in known if each.is_relative_to(folder)]
        if near:
            return known[min(near, key=lambda each: (len(each.parts), each))]
    raise LookupError(header)


def often_included(headers):
    """What many of the headers include that is not this project's."""
    names = collections.Counter(name for header in headers for name in re.findall(r"^#include <(.+)>", header.read_text(), re.MULTILINE))
    return sorted(name for name, times in names.items() if times >= OFTEN and not name.startswith("forebay/"))


def precompiled(folder, flags, names):
    """Options that read `names` from a file precompiled with `flags`."""
    header = folder / (hashlib.sha256(repr((flags, names)).encode()).hexdigest() + ".h")
    header.write_text("".join(f"#include <{name}>\n" for name in names))
    subprocess.run(["c++", *(each for each in flags if each != "-fsyntax-only"), "-x", "c++-header", header, "-o", f"{header}.gch"],
                   check=True)
    return ("-include", str(header))


def complaints(header, flags):
    """What the compiler says when the header is all that it reads."""
    done = subprocess.run(["c++", *flags, "-x", "c++", "-"], input=f'#include "{header}"\n', capture_output=True, text=True)
    return f"{header} does not compile on its own:\n{done.stderr}" if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    every = sorted(path for top in TOPS for path in pathlib.Path(top).rglob("*.h"))
    number, parts = map(int, options.part.split("/"))
    headers = options.files or every[number - 1::parts]
    known = flags_by_folder(options.build)
    flags = {header: flags_for(header, known) for header in headers}
    folder = options.build / "headers"
    folder.mkdir(exist_ok=True)
    names = often_included(every)
    often = [each for each, times in collections.Counter(flags.values()).items() if times >= OFTEN]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        begin = dict(zip(often, pool.map(lambda each: precompiled(folder, each, names), often)))
        found = [text for text in pool.map(lambda each: complaints(each, (*begin.get(flags[each], ()), *flags[each])), headers) if text]
    print("\n".join(found) or f"headers: ok ({len(headers)} headers)")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
