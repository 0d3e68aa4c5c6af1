"""The loader: a job's batches, epoch by epoch."""
from __future__ import annotations

import atexit
import json
import operator
import os
import sys
import weakref
from types import TracebackType
from typing import Any, Iterator, Mapping, NamedTuple, Sequence, Union

from ._core import Batch, Reader
from ._errors import ConfigError, Error
from ._progress import Shown
from ._stats import Stats
from ._transforms import PythonTransform

# The interpreter of a job's functions in Python that name none.
if sys.executable:
    os.environ.setdefault("FOREBAY_PYTHON", sys.executable)

_MOST_RANKS = 2**32 - 1

Job = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Schema(NamedTuple):
    """The names of a batch's columns, in order."""

    dense: list[str]
    sparse: list[str]
    extra: list[str]
    weight: bool


def _toml(key: str, value: Any) -> str:
    """A value as TOML, which is JSON for the types that keys have."""
    try:
        return json.dumps(_plain(value), ensure_ascii=False)
    except TypeError as error:
        raise ConfigError(f"{key}: a value is a bool, int, float, str or a list of them ({error})", key) from None


def _flat(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as one, with dotted keys; `order.` stands for a table without any."""
    values: dict[str, Any] = {prefix: True} if prefix and not tables else {}
    for key, value in tables.items():
        if not isinstance(key, str):
            raise ConfigError(f"{prefix}{key!r}: the key of a job is text")
        if isinstance(value, Mapping):
            values.update(_flat(value, f"{prefix}{key}."))
        else:
            values[prefix + key] = _plain(value)
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    is_numpy_scalar = getattr(value, "shape", None) == () and hasattr(value, "item")
    return value.item() if is_numpy_scalar else value


def _state_text(state: Mapping[str, Any]) -> str:
    if not isinstance(state, Mapping):
        raise ConfigError(f"load_state_dict: a {type(state).__name__} is no state; give what state_dict() returned")
    try:
        return json.dumps({key: _plain(value) for key, value in state.items()})
    except (TypeError, ValueError) as error:
        raise ConfigError(f"load_state_dict: this is not what state_dict() returned: {error}") from None


def _table_of(transform: Any) -> dict[str, Any]:
    """A transform as the table of a job's [[transform]]."""
    if isinstance(transform, PythonTransform):
        return transform.table()
    if isinstance(transform, Mapping):
        return _flat(transform)
    raise ConfigError(f"transforms: {transform!r} is no transform; give what forebay.python returns, or a dict with the "
                      "keys of [[transform]]")


class _Epoch(Iterator[Batch]):
    """One pass over a loader."""

    def __init__(self, loader: Loader):
        self._loader = loader
        self._first = self._position()
        self._ended = False
        self._left = False

    def _position(self) -> tuple[int, int]:
        state = json.loads(self._loader._reader.state())
        return state["epoch"], state["batches"]

    def has_ended(self) -> bool:
        """Whether the epoch's last batch was given out, though nobody asked for more: some trainers count to `len`."""
        epoch, batches = self._position()
        length, is_exact = self._loader._reader.epoch()
        at_length = is_exact and batches > self._first[1] and batches % length == 0
        self._ended = self._ended or at_length or epoch > self._first[0]
        return self._ended

    def is_over(self) -> bool:
        """Whether another pass may begin. An exception leaves a loop, though its traceback keeps this object."""
        return self._left or self.has_ended()

    def end(self) -> None:
        self._ended = True

    def __next__(self) -> Batch:
        if self._ended:
            raise StopIteration
        try:
            batch = self._loader._reader.next()
        except BaseException:
            self._left = True
            raise
        self._left = False
        self._loader._set_costs()
        if batch is None:
            self._ended = True
            raise StopIteration
        return batch


class Loader:
    """Reads a job's batches, made by pools of actors in this process and by the workers of the job's cluster.

    `job` is the path of a job file or a dict with its keys (paths are relative to the file, or to the current
    folder); `set` overrides keys by their dotted names. Each pass of a `for` loop is one epoch. The order, the
    digest and the states are those of `forebay ingest`. `pipeline.memory` bounds what this loader accounts for,
    batches that Python holds included; its default is a quarter of what is available. `progress` shows how far each
    loop is: by tqdm, if that is installed, else by a line on stderr.

    With `world_size` > 1 the loader is one of as many, and its batches are rows [rank * n / world_size,
    (rank + 1) * n / world_size) of the job's batches, n = `order.batch_size`; it reads about as large a part of the
    data. One state serves all ranks, and any number of them.

    One thread reads; `stats`, `state_dict`, `set` and `close` may be called on any.
    """

    def __init__(self, job: Job, *, set: Mapping[str, Any] | None = None, rank: int = 0, world_size: int = 1,
                 transforms: Sequence[Any] = (), progress: bool = False):
        rank, world_size = operator.index(rank), operator.index(world_size)
        if not 0 <= rank < world_size:
            raise ConfigError(f"rank {rank}: must be from 0 to world_size - 1, and world_size is {world_size}")
        if world_size > _MOST_RANKS:
            raise ConfigError(f"world_size {world_size}: must be at most {_MOST_RANKS}")
        if set is not None and not isinstance(set, Mapping):
            raise ConfigError(f"set: {set!r} is no dict from the dotted names of keys to values")
        self._job = job if isinstance(job, Mapping) else os.fsdecode(job)
        self._folder = "."  # of a dict's paths
        self._transforms = [_table_of(transform) for transform in transforms]
        self._set = [f"{key}={_toml(key, value)}" for key, value in (set or {}).items()]
        self._rank, self._world_size = rank, world_size
        self._costs: dict[str, str] = {}  # set() while the job ran: not the job's own, which states name
        self._costs_due: dict[str, str] = {}  # the same, after a reopening, until the job runs again
        self._pass: weakref.ref[_Epoch] | None = None
        self._progress = progress
        self._reader = self._open("")
        # Opened again for a state, the files are the same, whatever the current folder is by then.
        self._folder = os.getcwd()
        if not isinstance(self._job, Mapping):
            self._job = os.path.abspath(self._job)
        self.schema = Schema(*self._reader.schema)
        _open_loaders.add(self)

    def _open(self, state: str) -> Reader:
        self._costs_due = dict(self._costs)
        if not isinstance(self._job, Mapping):
            return Reader(self._job, self._transforms, self._set, state, self._rank, self._world_size)
        tables = dict(self._job)
        own = tables.pop("transform", [])
        if isinstance(own, Mapping):
            raise ConfigError("transform: give a list of tables, one for each operator", "transform")
        transforms = [_flat(transform) for transform in own] + self._transforms
        return Reader(_flat(tables), transforms, self._folder, self._set, state, self._rank, self._world_size)

    def __iter__(self) -> Iterator[Batch]:
        """Begins a pass: the rest of the epoch after a `break`, else the next epoch."""
        running = self._pass() if self._pass else None
        if running is not None:
            if not running.is_over():
                raise Error("this loader is being iterated already; end that loop first, or open another loader")
            running.end()
        self._reader.begin_epoch()
        epoch = _Epoch(self)
        self._pass = weakref.ref(epoch)
        return Shown(epoch, self) if self._progress else epoch

    def __len__(self) -> int:
        """The number of batches of an epoch, or an upper bound (`exact_length`)."""
        return self._reader.epoch()[0]

    @property
    def exact_length(self) -> bool:
        """Whether `len` is exact: no rows are left out, or an epoch has been read to its end."""
        return self._reader.epoch()[1]

    def state_dict(self) -> dict[str, Any]:
        """The position after the batches handed out so far: a flat dict of ints and strings, below 1 KB."""
        state: dict[str, Any] = json.loads(self._reader.state())
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state, of this job, whatever wrote it. ConfigError: it is another job's; nothing changed."""
        text = _state_text(state)
        if not self._reader.has_begun:
            self._reader.resume(text)
            return
        before = self._reader.state()
        self._reader.close()
        try:
            self._reader = self._open(text)
        except BaseException as error:
            self._go_back(before, error)
            raise

    def _go_back(self, state: str, why: BaseException) -> None:
        """Opens the job again where it was before `why`, if its file is still what it was."""
        try:
            self._reader = self._open(state)
        except Error as error:
            raise Error("the loader is closed: its job can no longer be opened where it was; "
                        f"open another loader when this is mended: {error}") from why

    def stats(self) -> Stats:
        """Rows, speed, waiting, memory and stages of this loader; the counts and digest of the job so far."""
        return Stats(self._reader.stats())

    def set(self, **keys: Any) -> None:
        """Changes a running job as `forebay set` does: `loader.set(**{"pipeline.cpus": 1})`."""
        for key, value in keys.items():
            if self._reader.has_begun:
                self._set_running(key, value)
                continue
            before, self._set = self._set, [*self._set, f"{key}={_toml(key, value)}"]
            state = self._reader.state()
            self._reader.close()
            try:
                self._reader = self._open(state)
            except BaseException as error:
                self._set = before
                self._go_back(state, error)
                raise

    def _set_running(self, key: str, value: Any) -> None:
        text = value if isinstance(value, str) else _toml(key, value)
        self._reader.set(key, text)
        if key.startswith("transform."):
            self._costs.pop(key, None)  # the last to be set comes last: an operator's cost has two names
            self._costs[key] = text
        else:
            self._set.append(f"{key}={_toml(key, value)}")

    def _set_costs(self) -> None:
        """Gives a job that runs again the costs that it had before it was opened again."""
        due, self._costs_due = self._costs_due, {}
        for key, text in due.items():
            self._reader.set(key, text)

    def close(self) -> None:
        """Ends the loader's threads. Batches that are held stay valid."""
        self._reader.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        name = "a dict" if isinstance(self._job, Mapping) else self._job
        return f"<forebay.Loader of {name}{', closed' if self._reader.is_closed else ''}>"


_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


def _close_all() -> None:
    for loader in list(_open_loaders):
        loader.close()


# A loader's threads end before the interpreter does.
atexit.register(_close_all)
