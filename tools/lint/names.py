#!/usr/bin/env python3
"""Fails when two files of the programs define a type of the same name in the same namespace.

No compiler sees it where no file includes both, and the linker keeps either one's destructor for both."""
import collections
import pathlib
import re
import subprocess
import sys

OPENS = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? \{")
TYPE = re.compile(r"(?:struct|class|enum class|union) (\w+)(?: final)?(?: :[^:].*)? \{")


def types_in(lines):
    """The full names of the types defined outside anonymous namespaces, as this tree is formatted."""
    within = []
    for line in lines:
        if opened := OPENS.match(line):
            within.append(opened.group(1))
        elif line.startswith("}  // namespace"):
            within.pop()
        elif (found := TYPE.match(line)) and None not in within:
            yield "::".join([*within, found.group(1)])


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    listed = subprocess.run(["git", "ls-files", "*.h", "*.cpp", ":!tests"], cwd=root, check=True, text=True,
                            capture_output=True).stdout.split()
    where = collections.defaultdict(list)
    for name in listed:
        if (root / name).exists():
            for found in types_in((root / name).read_text().splitlines()):
                where[found].append(name)
    twice = {name: files for name, files in where.items() if len(files) > 1}
    for name, files in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(files)}: rename one")
    if not twice:
        print("names: ok")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
