"""What the scenarios share: data sets with known rows, job folders, and runs of the real binary."""
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import unittest

FOREBAY = os.path.abspath(os.environ.get("FOREBAY_BIN", "build/release/tools/forebay"))
DENSE = [f"I{i}" for i in range(1, 14)]
SPARSE = [f"C{i}" for i in range(1, 27)]
MIB = 1 << 20


def float32_text(value):
    """`value` rounded to float32, as --dump writes it."""
    return "%.9g" % struct.unpack("f", struct.pack("f", float(value)))[0]


def criteo_lines(rows, seed, start=0):
    """Rows in the Criteo layout, LF ended. C1 is unique: the row's number, from `start`."""
    draw = random.Random(seed)
    lines = []
    for i in range(rows):
        dense = ["" if draw.random() < 0.2 else str(int(draw.lognormvariate(2, 2)) - 2) for _ in DENSE]
        sparse = ["%08x" % (start + i)]
        sparse += ["" if draw.random() < 0.1 else "%08x" % int(draw.paretovariate(0.5) % 2**32)
                   for _ in SPARSE[1:]]
        lines.append("\t".join([str(int(draw.random() < 0.1)), *dense, *sparse]) + "\n")
    return lines


def dumped(line):
    """The fields after `batch` that --dump gives for a Criteo line without any transform."""
    label, *fields = line.rstrip("\r\n").split("\t")
    dense = [float32_text(field or 0) for field in fields[:13]]
    sparse = [str(int(field, 16)) if field else "" for field in fields[13:]]
    return (float32_text(label), *dense, *sparse)


def toml_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(str(value))


def toml_text(tables):
    """A job file: {"order": {"seed": 1}, "transform": [{...}, ...], ...}."""
    parts = []
    for name, table in tables.items():
        for each in table if isinstance(table, list) else [table]:
            parts.append(f"[[{name}]]" if isinstance(table, list) else f"[{name}]")
            parts += [f"{key} = {toml_value(value)}" for key, value in each.items()]
    return "\n".join(parts) + "\n"


class Finished:
    """How a run ended: its status, what it wrote, the time and CPU it took and the memory it had at most."""

    def __init__(self, arguments, status, out, err, seconds, usage):
        self.arguments, self.status, self.out, self.err = arguments, status, out, err
        self.seconds = seconds
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.peak_bytes = usage.ru_maxrss * 1024

    @property
    def json(self):
        return json.loads(self.out.splitlines()[-1])

    def __str__(self):
        return (f"{' '.join(self.arguments)}\nstatus {self.status}, {self.seconds:.1f} s\n"
                f"stdout: {self.out[-1500:]}\nstderr: {self.err[-3000:]}")


class Running:
    """A run that has been started; wait() reaps it. Output goes to files, so it never blocks on a pipe."""

    def __init__(self, arguments, cwd, prefix=(), program=FOREBAY):
        self.arguments = [str(argument) for argument in arguments]
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.begin = time.monotonic()
        self.process = subprocess.Popen([*prefix, program, *self.arguments], cwd=cwd, stdin=subprocess.DEVNULL,
                                        stdout=self.out, stderr=self.err, start_new_session=True)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def stderr_now(self):
        return os.pread(self.err.fileno(), 1 << 20, 0).decode(errors="replace")

    def alive(self):
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def wait(self, timeout=120):
        """Ends it after `timeout` seconds, then with status -9."""
        watchdog = threading.Timer(timeout, self.signal, [signal.SIGKILL])
        watchdog.start()
        _, status, usage = os.wait4(self.process.pid, 0)
        watchdog.cancel()
        seconds = time.monotonic() - self.begin
        self.process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (self.out, self.err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
            stream.close()
        return Finished(self.arguments, self.process.returncode, *texts, seconds, usage)


class Job:
    """A folder with data files and a job file that names them."""

    def __init__(self, folder, **tables):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tables = {"dataset": {"format": "criteo_tsv", "paths": ["data/*.tsv"]},
                       "order": {"batch_size": 1000}}
        self.change(**tables)

    def change(self, **tables):
        for name, table in tables.items():
            if isinstance(table, dict):
                self.tables.setdefault(name, {}).update(table)
            else:
                self.tables[name] = table
        (self.folder / "job.toml").write_text(toml_text(self.tables))

    def put(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def put_criteo(self, rows, files=1, seed=1):
        """Writes `rows` rows into day_0.tsv, …; returns their lines, in file order."""
        lines = criteo_lines(rows, seed)
        for i in range(files):
            self.put(f"data/day_{i}.tsv", "".join(lines[rows * i // files:rows * (i + 1) // files]))
        return lines

    def start(self, command, *options):
        return Running([command, "job.toml", *options], self.folder)

    def run(self, command, *options, timeout=120):
        return self.start(command, *options).wait(timeout)

    def dump(self, *options, command="ingest", name="dump.tsv"):
        """Runs with --json --dump: (how it ended, [(batch, fields...), ...])."""
        finished = self.run(command, "--json", "--dump", name, *options)
        path = self.folder / name
        return finished, read_dump(path) if path.exists() else []

    def run_dir_files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


def read_dump(path):
    lines = pathlib.Path(path).read_text().split("\n")
    assert lines[0].startswith("batch\tlabel"), lines[0][:200]
    assert lines[-1] == "", "the dump ends inside a line"
    rows = [line.split("\t") for line in lines[1:-1]]
    return [(int(row[0]), *row[1:]) for row in rows]


def change_in_place(path, at, text):
    """Writes `text` into a file at byte `at` and puts its times back, as a failing disk or a copying program leaves it."""
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def allocation(load, decode, shuffle, transform):
    """--set options for an allocation."""
    counts = {"load": load, "decode": decode, "shuffle": shuffle, "transform": transform}
    return [word for stage, count in counts.items()
            for word in ("--set", f"pipeline.allocation.{stage}={count}")]


class Scenario(unittest.TestCase):
    """A test case with a folder of its own and the words the scenarios are written in."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="forebay-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def job(self, name="job", **tables):
        return Job(self.folder / name, **tables)

    def assert_done(self, finished):
        self.assertEqual(finished.status, 0, finished)
        return finished.json

    def assert_refused(self, finished, status, *words, seconds=10):
        """Ended with `status`, in one or two lines for a user that hold every one of `words`."""
        self.assertEqual(finished.status, status, finished)
        self.assertLess(finished.seconds, seconds, finished)
        self.assertEqual(finished.out, "", finished)
        lines = [line for line in finished.err.splitlines() if line.startswith("forebay: ")]
        self.assertTrue(1 <= len(lines) <= 2, finished)
        self.assertTrue(finished.err.splitlines()[-1].startswith("forebay: "), finished)
        text = "\n".join(lines)
        for word in words:
            self.assertIn(word, text, finished)
        for leak in ("std::", "forebay::", "basic_string", "terminate", "what()"):
            self.assertNotIn(leak, finished.err, finished)

    def assert_same_rows(self, rows, lines, epochs=1):
        """`rows` of a dump are the Criteo `lines`, each once per epoch."""
        want = collections.Counter(map(dumped, lines))
        got = collections.Counter(row[1:] for row in rows)
        missing, extra = want - got, got - want
        if epochs > 1:
            want = collections.Counter({row: count * epochs for row, count in want.items()})
            missing, extra = want - got, got - want
        self.assertFalse(missing or extra, f"{sum(missing.values())} rows missing, {sum(extra.values())} too "
                         f"many, e.g. missing {list(missing)[:1]} extra {list(extra)[:1]}")

    def wait_until(self, ready, seconds=30):
        """Polls `ready` of another process."""
        end = time.monotonic() + seconds
        while not ready():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.02)


def main():
    unittest.main(verbosity=2)
