"""What the tests of the Python package share: the wheel that tools/python.sh has built, the interpreters that see it, jobs.

The tests run in an environment that has the wheel and nothing else; `python_with` finds one that has a package beside."""
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("FOREBAY_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "tests/e2e"))

PLACE = pathlib.Path(os.environ.get("FOREBAY_PYTHON_PLACE", SOURCE / "build/python"))
BARE = PLACE / "env/bin/python"
TOOLS = PLACE / "tools/bin"
SKIPPED = 77


def packages_of(python):
    """The folder of packages of an interpreter."""
    return subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                          capture_output=True, text=True).stdout.strip()


def environment():
    """An environment in which another interpreter of this version sees the wheel."""
    return {**os.environ, "PYTHONPATH": packages_of(BARE), "PYTHONDONTWRITEBYTECODE": "1"}


def python_with(package, *candidates):
    """The first interpreter of this version that has `package` and sees the wheel, or None."""
    for candidate in candidates:
        try:
            done = subprocess.run([candidate, "-c", f"import {package}, forebay"], env=environment(), check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError:
            continue
        if done.returncode == 0:
            return str(candidate)
    return None


def run_again_with(package, *candidates):
    """Runs the calling test program with an interpreter that has `package`; skips it, by name, where there is none."""
    if os.environ.get("FOREBAY_RUN_WITH") == package:
        return
    python = python_with(package, *candidates)
    if python is None:
        print(f"skipped: {package} is not installed for Python {sys.version_info[0]}.{sys.version_info[1]}")
        sys.exit(SKIPPED)
    os.execve(python, [python, *sys.argv], {**environment(), "FOREBAY_RUN_WITH": package})


def rows_of(batch, schema):
    """The batch's rows as `--dump` writes them."""
    def numbers(array):
        return ["%.9g" % value for value in array.tolist()]

    dense = [numbers(batch[name]) for name in schema.dense]
    sparse = []
    for name in schema.sparse:
        values, lengths = (array.tolist() for array in batch[name])
        ids = iter(values)
        sparse.append([",".join(str(next(ids)) for _ in range(length)) for length in lengths])
    return [(batch.index, *row) for row in zip(numbers(batch.labels), *dense, *sparse)]


def run_python(text, *arguments, python=BARE, **options):
    """Runs a program of Python's, to its end."""
    return subprocess.run([python, "-c", text, *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=60, **options)


def digest_of_ingest(job, *options):
    finished = job.run("ingest", "--json", *options)
    assert finished.status == 0, finished
    return json.loads(finished.out.splitlines()[-1])["order_digest"]
