"""A job on made-up Criteo rows that runs until it is stopped: what the benchmarks of a running tuner share."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys

STAGES = ("load", "decode", "shuffle", "transform")


def exit_on_sigterm():
    """A script that is stopped ends as by Ctrl-C: its jobs and its data go, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def make_data(forebay, folder, rows):
    subprocess.run([forebay, "synth", "criteo", "--rows", str(rows), "--files", "4", "--out", "data"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


def job_text(operators="", pipeline="", tuner=""):
    """The usual operators and others behind them; each part is lines of TOML, and further tables may follow those of
    the last one."""
    return f"""
[dataset]
paths = ["data/*.tsv"]
[order]
epochs = 100000
batch_size = 8192
[[transform]]
op = "log1p"
columns = ["I*"]
[[transform]]
op = "sigrid_hash"
columns = ["C*"]
max_value = 1000000
{operators}
[pipeline]
{pipeline}
[tuner]
{tuner}
"""


def build_function(folder, name, source):
    """Compiles a user's function to lib`name`.so in the folder. Raises what the compiler says."""
    path = folder / f"{name}.cpp"
    path.write_text(source)
    include = pathlib.Path(__file__).resolve().parents[2] / "include"
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{include}", path, "-o",
                    folder / f"lib{name}.so"], check=True)


def run_until(words, folder, during):
    """Runs a job in a session of its own for as long as during(process) takes, then stops it in order. Returns its result
    and the CPU seconds that it took; raises what the job said if it ended in another way."""
    before = cpu_seconds_of_children()
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        during(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    except BaseException:  # What ends this script must not leave a job beside whatever is measured next.
        process.kill()
        process.wait()
        raise
    if process.returncode != 128 + signal.SIGINT or not out.strip():
        raise RuntimeError(f"the job said {err.strip().splitlines()[-1:]}")
    return json.loads(out.splitlines()[-1]), cpu_seconds_of_children() - before


def cpu_seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def decisions_in(folder):
    """Rows of a split, and what each decision of the last run saw, by its log."""
    lines = (folder / ".forebay/decisions.jsonl").read_text().splitlines()
    return json.loads(lines[0])["layout"]["rows_per_split"], [json.loads(line)["seen"] for line in lines[1:]]


def rate_of(rows_per_split, seen):
    """Rows/s over some decisions."""
    seconds = sum(each["seconds"] for each in seen)
    splits = sum(each["trainer_steps"] * each["splits_per_item"] for each in seen)
    return rows_per_split * splits / seconds if seconds else float("nan")
