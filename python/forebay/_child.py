"""The process of one actor of a stage with `op = "python"`: `python -m forebay._child PARENT`.

Forebay starts it (actors/python). File 3 is the channel: messages of a header (kind, bytes, number) and a payload, one
answer to each request (actors/python/child_answer.h has the kinds). File 4 is the memory that both map, in which the
columns and the results of a call lie. File 5 becomes stdout and stderr once the function is imported."""
from __future__ import annotations

import base64
import ctypes
import importlib
import json
import mmap
import os
import pickle
import signal
import socket
import struct
import sys
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

CHANNEL, MEMORY, STDERR = 3, 4, 5
CONFIGURE, CALL = 1, 2
READY, DONE, RAISED, REFUSED, UNUSABLE = 1, 2, 3, 4, 5
HEADER = struct.Struct("=IIQ")
MOST_TEXT = 16 << 10
PR_SET_PDEATHSIG = 1


class WrongResult(Exception):
    """A function returned something else than it should."""


class Unusable(Exception):
    """The function cannot be imported; the message says what to do."""


def end_with_parent(parent: int) -> None:
    """The kernel kills this process when the parent's thread ends; a parent that has ended already is seen here."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def where(error: BaseException) -> str:
    """The user's line that raised, after the frames of this file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename != __file__ and not frame.filename.startswith("<frozen")]
    return f" ({frames[-1].filename}:{frames[-1].lineno}, in {frames[-1].name})" if frames else ""


def described(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as other:  # whatever the class of the user's exception does
        text = f"its message cannot be shown, because that raised {type(other).__name__}"
    return type(error).__name__ + (f": {text}" if text else "") + where(error)


def imported(name: str) -> Callable[..., Any]:
    """The function called "package.module:name"."""
    module, _, names = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except BaseException as error:  # whatever the module does as it is imported
        missing = isinstance(error, ModuleNotFoundError) and (error.name or "") == module.split(".")[0]
        advice = "; its folder must be on Python's path: path = [\"DIR\"] in the job, forebay worker --python-path DIR"
        raise Unusable(f"{module} cannot be imported: {described(error)}{advice if missing else ''}") from error
    for part in names.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Unusable(f"the module {module} has no function {names}") from None
    if not callable(found):
        raise Unusable(f"{names} of the module {module} is no function")
    return found  # type: ignore[no-any-return]


def unpickled(name: str, text: str) -> Callable[..., Any]:
    try:
        return pickle.loads(base64.b64decode(text))  # type: ignore[no-any-return]
    except BaseException as error:
        raise Unusable(f"the function cannot be unpickled: {described(error)}; put it into a module of its own") from error


class Function:
    """A user's function and the columns that it gets and gives."""

    def __init__(self, job: Dict[str, Any]):
        self.name: str = job["function"]
        self.dense: List[str] = job["dense"]
        self.sparse: List[str] = job["sparse"]
        self.adds: List[str] = job["adds"]
        self.adds_sparse: List[str] = job["adds_sparse"]
        sys.path[:0] = [folder for folder in job["path"] if folder not in sys.path]
        try:
            import numpy
        except ImportError as error:
            raise Unusable(f"{sys.executable} has no numpy ({error}); install it: pip install numpy") from error
        self.numpy = numpy
        self.call = unpickled(self.name, job["pickled"]) if job["pickled"] else imported(self.name)
        self.memory: Optional[mmap.mmap] = None

    def array(self, dtype: Any, count: int, at: int) -> Any:
        return self.numpy.frombuffer(self.memory, dtype, count, at)

    def run(self, request: Tuple[int, ...]) -> bytes:
        """One call; the numbers say where the columns lie. Gives the ids of each new sparse column."""
        rows, size = request[:2]
        if self.memory is None or len(self.memory) < size:
            self.memory = mmap.mmap(MEMORY, size)
        places = iter(request[2:])
        columns = self.columns(rows, places)
        result = self.call(columns)
        self.check_names(result)
        for name in self.adds:
            self.put_dense(name, result[name], self.array("f4", rows, next(places)))
        ids = [self.put_lists(name, result[name], rows, places) for name in self.adds_sparse]
        return struct.pack(f"={len(ids)}Q", *ids)

    def columns(self, rows: int, places: Iterator[int]) -> Dict[str, Any]:
        columns: Dict[str, Any] = {}
        for name in self.dense:
            columns[name] = self.array("f4", rows, next(places))
        for name in self.sparse:
            at, count = next(places), next(places)
            columns[name] = (self.array("i8", count, at), self.array("i4", rows, next(places)))
        return columns

    def check_names(self, result: Any) -> None:
        wanted = [*self.adds, *self.adds_sparse]
        if not isinstance(result, dict):
            raise WrongResult(f"it returned {kind_of(result)}; return a dict with the columns {', '.join(wanted)}")
        for name in wanted:
            if name not in result:
                raise WrongResult(f"it returned no column {name}, which the job adds")
        for name in result:
            if name not in wanted:
                raise WrongResult(f"it returned a column {name!r}, which the job does not add; name it in adds")

    def put_dense(self, name: str, value: Any, to: Any) -> None:
        numpy = self.numpy
        array = numpy.asarray(value)
        if array.dtype.kind not in "biuf":
            raise WrongResult(f"{name} is {kind_of(value)} of {array.dtype}; return numbers")
        if array.shape != to.shape:
            raise WrongResult(f"{name} has the shape {array.shape}, and must be ({len(to)},), one value a row")
        with numpy.errstate(all="ignore"):
            numpy.copyto(to, array, casting="unsafe")

    def put_lists(self, name: str, value: Any, rows: int, places: Iterator[int]) -> int:
        numpy = self.numpy
        at, room, lengths_at = next(places), next(places), next(places)
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise WrongResult(f"{name} is {kind_of(value)}; a sparse column is (values, lengths)")
        values, lengths = numpy.asarray(value[0]), numpy.asarray(value[1])
        for part, array in (("values", values), ("lengths", lengths)):
            if array.ndim != 1 or (array.size and array.dtype.kind not in "biu"):
                raise WrongResult(f"{part} of {name} are {array.dtype} of the shape {array.shape}; return a list of "
                                  "whole numbers")
        if len(lengths) != rows:
            raise WrongResult(f"{name} has {len(lengths)} lengths for {rows} rows")
        if rows and (lengths.min() < 0 or int(lengths.sum(dtype="i8")) != len(values) or lengths.max() > len(values)):
            raise WrongResult(f"lengths of {name} must be 0 or more and add up to its {len(values)} values")
        if len(values) > room:
            raise WrongResult(f"{name} has {len(values)} ids for {rows} rows, and {room} fit; raise max_ids")
        numpy.copyto(self.array("i8", len(values), at), values, casting="unsafe")
        numpy.copyto(self.array("i4", rows, lengths_at), lengths, casting="unsafe")
        return len(values)


def kind_of(value: Any) -> str:
    return f"a {type(value).__name__}" if value is not None else "None"


class Channel:
    """Requests and answers; ends the process when the parent closes it."""

    def __init__(self) -> None:
        self.socket = socket.socket(fileno=CHANNEL)

    def receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(min(size - len(data), 1 << 20))
            if not part:
                sys.exit(0)
            data += part
        return bytes(data)

    def request(self) -> Tuple[int, int, bytes]:
        kind, size, number = HEADER.unpack(self.receive(HEADER.size))
        return kind, number, self.receive(size)

    def answer(self, kind: int, number: int, payload: bytes = b"") -> None:
        try:
            self.socket.sendall(HEADER.pack(kind, len(payload), number) + payload)
        except OSError:
            sys.exit(0)

    def say(self, kind: int, number: int, text: str) -> None:
        self.answer(kind, number, text.encode("utf-8", "replace")[:MOST_TEXT])


def take_over_streams() -> None:
    """Prints go to the parent's stderr from now on."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(STDERR, 1)
    os.dup2(STDERR, 2)
    os.close(STDERR)


def serve(channel: Channel, function: Function) -> None:
    while True:
        _, number, payload = channel.request()
        try:
            ids = function.run(struct.unpack(f"={len(payload) // 8}Q", payload))
        except WrongResult as error:
            channel.say(REFUSED, number, str(error))
        except BaseException as error:  # SystemExit too
            channel.say(RAISED, number, described(error))
        else:
            channel.answer(DONE, number, ids)


def main() -> None:
    end_with_parent(int(sys.argv[1]))
    channel = Channel()
    _, number, payload = channel.request()
    try:
        function = Function(json.loads(payload))
    except Unusable as error:
        channel.say(UNUSABLE, number, str(error))
        return
    take_over_streams()
    channel.answer(READY, number)
    serve(channel, function)


if __name__ == "__main__":
    main()
