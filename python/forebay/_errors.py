"""The exceptions of the package. Their text is that of the command line: what is wrong, where, what to do."""
from __future__ import annotations


class Error(Exception):
    """A loader failed. `key` is the job file's key that the failure is about, or ""."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key

    def __reduce__(self) -> tuple[type[Error], tuple[str, ...]]:
        return type(self), (*self.args, self.key)


class ConfigError(Error, ValueError):
    """The job, a key, a state or a call is wrong; nothing was started."""


class DataError(Error):
    """A file is damaged, has changed, or cannot be read."""


class StallError(Error):
    """No progress for `run.stall_fail`."""
