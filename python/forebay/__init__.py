"""Forebay: batches of click logs for any trainer, in an order that resumes exactly.

    loader = forebay.Loader("job.toml")
    for epoch in range(2):
        for batch in loader:
            train(torch.from_dlpack(batch.labels), torch.from_dlpack(batch.dense), batch["C1"])

The package needs neither NumPy nor PyTorch, and works with both. `python -m forebay` is the command line.
"""
from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

if _TYPE_CHECKING:
    from ._command import Report, inspect, synth
    from ._core import Array, Batch
    from ._errors import ConfigError, DataError, Error, StallError
    from ._loader import Loader, Schema
    from ._stats import Stats
    from ._transforms import PythonTransform, python

    __version__: str

# Where each name lives. It is loaded when it is first used: the processes that run a job's functions import this
# package too, and need none of it.
_HOMES = {
    "Array": "_core", "Batch": "_core",
    "ConfigError": "_errors", "DataError": "_errors", "Error": "_errors", "StallError": "_errors",
    "Loader": "_loader", "Schema": "_loader", "Stats": "_stats",
    "Report": "_command", "inspect": "_command", "synth": "_command",
    "PythonTransform": "_transforms", "python": "_transforms",
}


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version
        try:
            value: _Any = version("forebay")
        except PackageNotFoundError:  # a build tree that is not installed
            value = "unknown"
    elif name in _HOMES:
        value = getattr(_importlib.import_module(f".{_HOMES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "__version__"})


__all__ = ["Array", "Batch", "ConfigError", "DataError", "Error", "Loader", "PythonTransform", "Report", "Schema",
           "StallError", "Stats", "inspect", "python", "synth"]
