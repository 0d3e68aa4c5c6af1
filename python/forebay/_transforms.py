"""Transforms written in Python: what a loader's `transforms` takes."""
from __future__ import annotations

import base64
import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from ._errors import ConfigError

Function = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Names = Union[str, Sequence[str]]


@dataclass(frozen=True)
class PythonTransform:
    """A function as a step of a job; `forebay.python` makes it."""

    function: str  # "package.module:name"
    pickled: str  # the function by value, in base64; "": it is imported by its name
    columns: list[str]
    adds: list[str]
    adds_sparse: list[str]
    max_ids: Optional[int]
    version: Optional[Union[str, int]]
    stage: Optional[str]

    def table(self) -> dict[str, Any]:
        """The table of the job's [[transform]]."""
        table: dict[str, Any] = {"op": "python", "function": self.function, "columns": self.columns}
        for key in ("pickled", "adds", "adds_sparse", "max_ids", "version", "stage"):
            value = getattr(self, key)
            if value not in (None, "", []):
                table[key] = value
        table["path"] = [os.path.abspath(folder) for folder in sys.path]
        if sys.executable:
            table["interpreter"] = sys.executable
        return table


def python(function: Function, *, columns: Names, adds: Names = (), adds_sparse: Names = (),
           version: Optional[Union[str, int]] = None, max_ids: Optional[int] = None,
           stage: Optional[str] = None) -> PythonTransform:
    """A transform that runs `function` in processes of its own.

    The function gets a dict of the `columns` (globs are allowed): for a dense name a float32 array with NaN for a
    missing value, for a sparse one (values, lengths). It returns a dict with one array for each name of `adds`, and
    (values, lengths) for each name of `adds_sparse`, of `max_ids` ids a row on average at most (1). The arrays that
    it gets are valid until it returns. It has to be a pure function of its rows: splits are called in any order, with
    any number of rows.

    A function of a module is imported there by its name; one of the main script, or inside another function, goes by
    value, with cloudpickle. `version` belongs to the identity of a loader's state: change it when the function changes.
    """
    if not callable(function):
        raise ConfigError(f"forebay.python: {function!r} is no function")
    name = _name_of(function)
    pickled = "" if _is_importable(function, name) else _pickled(function, name)
    return PythonTransform(name, pickled, _list(columns), _list(adds), _list(adds_sparse), max_ids, version, stage)


def _list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _name_of(function: Any) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', None) or '__main__'}:{named.__qualname__}"


def _is_importable(function: Any, name: str) -> bool:
    module, _, names = name.partition(":")
    found: Any = sys.modules.get(module)
    if module == "__main__" or found is None:
        return False
    for part in names.split("."):
        found = getattr(found, part, None)
    return found is function


def _pickled(function: Any, name: str) -> str:
    try:
        import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ConfigError(f"forebay.python: {name} cannot be imported by its name, and goes to its processes by value "
                          "with cloudpickle, which is not installed; pip install cloudpickle, or move the function into "
                          "a module") from None
    try:
        return base64.b64encode(cloudpickle.dumps(function)).decode()
    except Exception as error:
        raise ConfigError(f"forebay.python: {name} cannot be pickled ({error}); move it into a module") from error
