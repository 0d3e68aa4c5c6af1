"""What the benches of the Python package share: the wheel's interpreter, made-up rows, a job on them, results as JSON."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/python"))
from package import BARE, environment, packages_of, python_with  # noqa: E402,F401

FOREBAY = pathlib.Path(packages_of(BARE)) / "forebay/bin/forebay" if BARE.exists() else None
DEBIAN = "/usr/bin/python3"
JOB = """[dataset]
format = "{format}"
paths = ["{paths}"]
[columns]
label = "label"
dense = ["I*"]
sparse = ["C*"]
[order]
batch_size = {batch}
[[transform]]
op = "log1p"
columns = ["I*"]
[[transform]]
op = "sigrid_hash"
columns = ["C*"]
max_value = 1000000
[pipeline]
memory = "{memory}"
"""


def require_wheel():
    if FOREBAY is None or not FOREBAY.exists():
        sys.exit("the wheel is not built; run tools/python.sh")


def folder():
    """A folder that goes with the program."""
    return tempfile.TemporaryDirectory(prefix="forebay-bench-")


def command(*words, cwd=None):
    """Runs a command of the wheel's program; returns its JSON."""
    done = subprocess.run([FOREBAY, *map(str, words), "--json"], cwd=cwd, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def put_job(at, rows, files=4, batch=8192, memory="1GiB"):
    """Makes rows in Criteo's layout and a job file; returns the file's path."""
    at = pathlib.Path(at)
    command("synth", "criteo", "--rows", rows, "--files", files, "--out", at / "data")
    path = at / "job.toml"
    text = JOB.format(format="criteo_tsv", paths="data/*.tsv", batch=batch, memory=memory)
    path.write_text(text.replace('[columns]\nlabel = "label"\ndense = ["I*"]\nsparse = ["C*"]\n', ""))
    command("index", path)
    return path


def child(python, program, *arguments, **changes):
    """Runs a program that prints one line of JSON, with an interpreter that sees the wheel."""
    done = subprocess.run([str(python), str(program), *map(str, arguments)], env={**environment(), **changes}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{python} {program}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def result(name, value, unit, limit=None, ratio=None):
    """One figure, in the form of `forebay bench --json`."""
    each = {"name": name, "value": value, "unit": unit, "limit": limit, "ratio": ratio}
    shown = "" if ratio is None else f"   ratio {ratio:.3f}"
    against = "" if limit is None else f"   against {limit:,.6g}"
    print(f"{name:32} {value:>14,.6g} {unit}{against}{shown}", file=sys.stderr, flush=True)
    return each


def finish(results):
    print(json.dumps({"results": results}))


median = statistics.median


def seconds_of_cpu(pid=None):
    """The CPU time of this process so far."""
    times = os.times()
    return times.user + times.system
