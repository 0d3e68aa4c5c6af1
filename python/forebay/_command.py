"""What the command line does, for Python: files are inspected and made by the program that the package brings along."""
from __future__ import annotations

import json
import logging
import os
import pathlib
import signal
import subprocess
import tempfile
from typing import Any, Union

from ._errors import ConfigError, DataError, Error
from ._tables import nested_html, nested_text

Path = Union[str, "os.PathLike[str]"]
PREFIX = "forebay: "
REFUSED = 2  # exit status: wrong usage, nothing was started


def program() -> pathlib.Path:
    """The program `forebay` of this package."""
    return pathlib.Path(__file__).parent / "bin" / "forebay"


class Report(dict[str, Any]):
    """A command's JSON: a plain dict by its keys, a table when it is shown.

    A report on one file has that file's keys, too: `report["rows"]` is `report["files"][0]["rows"]`."""

    def __missing__(self, key: str) -> Any:
        files = self.get("files")
        if isinstance(files, list) and len(files) == 1 and key in files[0]:
            return files[0][key]
        raise KeyError(key)

    def __str__(self) -> str:
        files = self.get("files")
        if not isinstance(files, list):
            return "\n".join(nested_text(self))
        lines: list[str] = []
        for file in files:
            lines += [f"{file['path']}:", *nested_text({key: value for key, value in file.items() if key != "path"}, "  ")]
        return "\n".join(lines + nested_text({key: value for key, value in self.items() if key != "files"}))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return nested_html(self)


def _said(child: subprocess.Popen[str]) -> list[str]:
    """Passes on the lines of a child's stderr; returns its last ones."""
    log = logging.getLogger("forebay")
    last: list[str] = []
    assert child.stderr is not None
    for line in child.stderr:
        line = line.rstrip("\n")
        last = [*last, line][-10:]
        log.info("%s", line[len(PREFIX):] if line.startswith(PREFIX) else line)
    return last


def _error(status: int, last: list[str]) -> Error:
    lines = [line[len(PREFIX):] for line in last if line.startswith(PREFIX)]
    text = "\n".join(lines[-2:]) or f"the program ended with status {status}; {' '.join(last[-1:])}"
    return ConfigError(text) if status == REFUSED else DataError(text)


def _stop(child: subprocess.Popen[str]) -> None:
    """Stops a child as Ctrl-C does. A terminal has sent its Ctrl-C to the child, too, and a second signal would not let it
    remove what it has begun."""
    try:
        child.wait(timeout=0.3)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)


def run(arguments: list[str]) -> Report:
    """Runs a command to its end and returns its JSON.

    ConfigError: it was refused and has done nothing; DataError: it failed. An exception that arrives meanwhile, such as
    KeyboardInterrupt, stops it as Ctrl-C does."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        try:
            child = subprocess.Popen([program(), *arguments, "--json"], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")
        except OSError as error:
            raise Error(f"{program()}: {error.strerror}; install the package again") from None
        with child:
            try:
                last = _said(child)
                status = child.wait()
            except BaseException:
                _stop(child)
                raise
        if status != 0:
            raise _error(status, last)
        out.seek(0)
        last_line = out.read().rstrip("\n").rsplit("\n", 1)[-1]
    return Report(json.loads(last_line))


def _path(path: Path) -> str:
    name = os.fspath(path)
    return f"./{name}" if name.startswith("-") else name


def inspect(*paths: Path, ops: bool = False) -> Report:
    """What files hold, as `forebay inspect --json`: data, checkpoints, states, indexes, jobs.

    `ops` adds the transforms that a job may use. ConfigError: a file is none that Forebay knows, or is not there;
    DataError: it is damaged, or its store does not answer."""
    return run(["inspect", *map(_path, paths), *(["--ops"] if ops else [])])


def synth(layout: str = "criteo", *, out: Path, rows: int | None = None, files: int | None = None, seed: int | None = None,
          count: int | None = None, events: bool = False, force: bool = False) -> Report:
    """Writes made-up data, as `forebay synth`: same seed, same bytes.

    "criteo": `rows` in `files` of Criteo's layout (day_0.tsv, ...) with a label that can be learned. "pipelines": `count`
    modelled pipelines, with disturbances if `events`. `force` writes over files that are there."""
    numbers = {"--rows": rows, "--files": files, "--seed": seed, "--count": count}
    flags = {"--events": events, "--force": force}
    return run(["synth", layout, "--out", _path(out),
                *(word for name, number in numbers.items() if number is not None for word in (name, str(number))),
                *(name for name, is_set in flags.items() if is_set)])
