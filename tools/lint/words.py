#!/usr/bin/env python3
"""Fails on names, words and calls that this project does without; warns about files that grow."""
import pathlib
import re
import subprocess
import sys

CODE = {".h", ".cpp"}
# (message, pattern for a line without its strings and comments, paths in which it is allowed)
IN_CODE = [
    ("a name that says nothing (Manager, Util, Helper, Common, Impl)",
     r"\b(?:class|struct|namespace|using|concept|enum class)\s+\w*?(?:Manager|Utils?|Helpers?|Common|Impl)\b", ()),
    ("a name that begins with Base", r"\b(?:class|struct)\s+Base[A-Z]\w*\s*(?:final\s*)?[:{]", ()),
    ("a thread, mutex or condition outside core",
     r"\bstd::(?:mutex|shared_mutex|thread|jthread|condition_variable\w*|async)\b", ("core/", "tests/", "actors/input/store/",  # a thread of its own waits for all requests
      "tools/bench/",  # a benchmark's plain loop has threads of its own
      "examples/loader/",  # a program of its own
      "include/forebay/future",  # threads wait there for answers
      "python/src/reader",  # Python's signals arrive while the loader opens
      "trainer/state/copy_before_change", "trainer/saving/block_file", "trainer/torch/device/transfer", "trainer/torch/ranked_tables",
      "engine/ranks/rank_meeting")),  # who trains, who writes and the disk meet there
    ("a stream, a signal handler or an end of the process outside the program",
     r"\b(?:stderr|stdout|_exit|_Exit|quick_exit|sigaction)\b|\bstd::(?:cerr|cout|exit|signal)\b",
     ("tools/", "tests/", "examples/", "core/base/check", "include/forebay/udf")),  # the library is somebody's guest
    ("a file of a dataset that is not read through actors/input",
     r"(?<![\w>.])::(?:open|stat|lstat|fstat|access|pread|preadv2|glob)\(|\bopen_file\(|\bstd::i?fstream\b|\bfopen\(|<glob\.h>",
     ("core/", "scheduler/", "tuner/", "trainer/", "engine/", "tools/", "tests/", "include/", "examples/", "actors/input/",
      "actors/source/index/partial_file", "actors/quarantine", "actors/transform/user_function", "actors/python/child_process")),  # files of our own, libraries, children
    ("a sleep", r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b",
     ("core/base/", "engine/process/memory_use")),  # no event tells that memory went back to the kernel
    # `std::unique_ptr<T>(new T(...))` is allowed: open() reaches a private constructor this way.
    ("new or delete", r"(?:=|return|,|\{|(?<!>)\()\s*new\s+\w|\bdelete\s+\w|\bdelete\[\]", ()),
    ("a singleton", r"\b(?:get_)?instance\(\)", ()),
    ("random_device", r"\brandom_device\b", ("core/base/",)),
    ("using namespace", r"^\s*using namespace (?!std::(?:chrono_)?literals)", ("tests/",)),
    ("a definition of CHECK or LOG", r"^\s*#\s*define\s+(?:CHECK|LOG)\b", ()),
    ("const_cast", r"\bconst_cast<", ("core/net/zmq/zmq_socket", "trainer/torch/c10d_collective", "engine/ranks/batch_slice", "python/src/array")),  # what is only read
]
TEXT = [
    ("an unfinished thought", re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")),
    ("a path of somebody's machine", re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")),
    ("a conflict marker", re.compile(r"^(?:<<<<<<<|>>>>>>>) ")),
]
TEST_NAME = re.compile(r'TEST_CASE\w*\(\s*(?:\w+,\s*)?"([^"]*)"\s*,?\s*"?([^")]*)')
NAMELESS = re.compile(r"(?:util|utils|helper|helpers|common|manager|impl|misc)(?:_|\.|$)"
                      r"|(?:^|_)(?:new|old)(?:_|\.|$)")
DEAD_CODE = re.compile(r"^\s*//(?!/)\s*(?:[\w:<>*&,\s]+\s+)?[\w.\->:\[\]]+(?:\(.*\)|\s*[-+*/|&]?=\s.*);\s*$"
                       r"|^\s*//\s*(?:if|for|while|switch)\s*\(.*\)\s*\{?\s*$|^\s*//\s*#\s*include|^\s*#if 0\b")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"' r"|'(?:[^'\\]|\\.)'")
LOOK_AGAIN = {"test": 500, ".cpp": 400, ".h": 200}
# Words of the page for newcomers, of a folder's README, of the map of the design; characters of a page's line.
README_WORDS, FOLDER_WORDS, DESIGN_WORDS, PAGE_WIDTH = 1800, 700, 2200, 120
FOLDER_FILES = 25  # of code, in a folder without folders


def tracked():
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True,
                             capture_output=True, text=True).stdout
    return [path for path in sorted(set(listing.split("\n"))) if path and pathlib.Path(path).is_file()]


def strange_friends(path, lines):
    """Two classes of one header may share what is private; across files they may not."""
    for number, line in enumerate(lines, 1):
        if (match := re.match(r"\s*friend\s+(?:class|struct)\s+(\w+);", line)) \
                and not any(re.match(rf"\s*(?:class|struct) {match[1]}\b.*[{{:]", other) for other in lines):
            yield f"{path}:{number}: a friend from another file"


def check_code(path, lines):
    for number, line in enumerate(lines, 1):
        if DEAD_CODE.search(line):
            yield f"{path}:{number}: looks like code in a comment"
        bare = STRING.sub('""', line).split("//")[0]
        for what, pattern, homes in IN_CODE:
            if re.search(pattern, bare) and not path.startswith(homes or "\0"):
                yield f"{path}:{number}: {what}"


def check_tests(path, text):
    for match in TEST_NAME.finditer(text):
        name, tags = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if re.search(r"\bshould\b|\bworks\b|\btests?\b", name):
            yield f'{path}:{line}: the name of a test is a plain sentence about its subject: "{name}"'
        # CMake does not split a list between [ and the next ], so the tests after it would not run.
        if re.search(r"[;\[\]]", name) or name.startswith("-"):
            yield f'{path}:{line}: CTest would not find a test of this name: "{name}"'
        if re.search(r"\[!|\[\.(?!bench\])", tags):
            yield f"{path}:{line}: a hidden or excused test"


def check_text(path, lines, text):
    for number, line in enumerate(lines, 1):
        for what, pattern in TEXT:
            if pattern.search(line):
                yield f"{path}:{number}: {what}"
        if line != line.rstrip():
            yield f"{path}:{number}: white space at the end of the line"
    if text and not text.endswith("\n"):
        yield f"{path}: no newline at the end"
    if "\r" in text:
        yield f"{path}: carriage returns"


def check_pages(paths):
    folders = {str(pathlib.Path(path).parent) for path in paths
               if pathlib.Path(path).suffix in CODE and not path.startswith("tests/")}
    for folder in sorted(folders):
        if f"{folder}/README.md" not in paths:
            yield f"{folder}: has no README.md"
    for folder in sorted(folders):
        names = list(pathlib.Path(folder).iterdir())
        files = sum(name.suffix in CODE for name in names)
        if files > FOLDER_FILES and not any(name.is_dir() for name in names):
            yield f"{folder}: {files} files; what in it is a folder of its own? (over {FOLDER_FILES})"
    for path in paths:
        if path.endswith(".md"):
            yield from check_page(path, pathlib.Path(path).read_text())


def check_page(path, text):
    by_name = {"README.md": FOLDER_WORDS, "DESIGN.md": DESIGN_WORDS}
    limit = README_WORDS if path == "README.md" else by_name.get(pathlib.Path(path).name)
    if limit and not path.startswith(("examples/", "tests/bench/")) and len(text.split()) > limit:
        yield f"{path}: longer than {limit} words"
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside ^= line.lstrip().startswith("```")
        if len(line) > PAGE_WIDTH and not inside and not line.lstrip().startswith("|"):
            yield f"{path}:{number}: longer than {PAGE_WIDTH} characters"


def sizes(path, lines):
    kind = "test" if path.startswith("tests/") else pathlib.Path(path).suffix
    limit = LOOK_AGAIN.get(kind)
    if limit and len(lines) > limit:
        yield f"{path}: {len(lines)} lines; look for the second idea in it (over {limit})"


def main():
    found, warnings = [], []
    paths = tracked()
    for path in paths:
        if path.startswith("tools/lint/words") or path.endswith((".csv", ".gz", ".zst", ".bin", ".weights", ".parquet", ".encrypted")) \
                or path.startswith("tests/fuzz/corpus/") or pathlib.Path(path).name == "LICENSE":
            continue
        text = pathlib.Path(path).read_text(errors="surrogateescape")
        lines = text.split("\n")
        found += check_text(path, lines, text)
        if pathlib.Path(path).suffix in CODE:
            found += check_code(path, lines)
            found += strange_friends(path, lines)
            warnings += sizes(path, lines)
            if NAMELESS.search(pathlib.Path(path).stem):
                found.append(f"{path}: a file is named after the concept in it")
            if path.startswith("tests/"):
                found += check_tests(path, text)
        if pathlib.Path(path).name in {"CMakeLists.txt", "Targets.cmake"} and "file(GLOB" in text:
            found.append(f"{path}: sources are listed by hand")
    found += check_pages(paths)
    for line in warnings:
        print(f"note: {line}")
    print("\n".join(found) or "words: ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
