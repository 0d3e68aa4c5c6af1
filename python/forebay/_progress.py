"""How far a loop is: a bar of tqdm, or a line on stderr."""
from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Any, Iterator, Protocol

from ._errors import Error
from ._tables import share, size

if TYPE_CHECKING:
    from ._core import Batch
    from ._loader import Loader

# As the command line: between two lines on a terminal, and elsewhere.
LIVE_SECONDS, PLAIN_SECONDS = 0.2, 5.0


class Display(Protocol):
    """Shows a number of batches. `details` is a line with the figures of that moment."""

    is_live: bool  # what was shown is replaced by what is shown next

    def is_due(self) -> bool: ...
    def show(self, done: int, details: str) -> None: ...
    def close(self) -> None: ...


class LineDisplay:
    """One line on a terminal that is written again and again; elsewhere a line now and then."""

    def __init__(self, title: str, total: int, stream: Any):
        self._title, self._total, self._stream = title, total, stream
        self.is_live: bool = stream.isatty()
        self._shown_at = time.monotonic()
        self._has_line = False

    def is_due(self) -> bool:
        return time.monotonic() - self._shown_at >= (LIVE_SECONDS if self.is_live else PLAIN_SECONDS)

    def show(self, done: int, details: str) -> None:
        self._shown_at = time.monotonic()
        percent = f" ({share(done / self._total)})" if self._total else ""
        line = f"{self._title}: {done:,} of {self._total:,} batches{percent}, {details}"
        if self.is_live:
            line = line[:shutil.get_terminal_size().columns - 1]
            self._stream.write(f"\r{line}\033[K")
        else:
            self._stream.write(f"forebay: {line}\n")
        self._has_line = self.is_live
        self._stream.flush()

    def close(self) -> None:
        if self._has_line:
            self._stream.write("\n")
            self._stream.flush()
        self._has_line = False


class TqdmDisplay:
    """A bar of tqdm, in a terminal or a notebook."""

    is_live = True

    def __init__(self, bar: Any):
        self._bar = bar
        self._shown_at = time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self._shown_at >= LIVE_SECONDS

    def show(self, done: int, details: str) -> None:
        self._shown_at = time.monotonic()
        self._bar.set_postfix_str(details, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


def _display(title: str, done: int, total: int) -> Display:
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            pass
        else:
            return TqdmDisplay(tqdm(desc=title, total=total, initial=done, unit="batch"))
    return LineDisplay(title, total, sys.stderr)


class Shown(Iterator["Batch"]):
    """A pass over a loader that shows how far it is."""

    def __init__(self, batches: Iterator[Batch], loader: Loader):
        self._batches, self._loader = batches, loader
        self._display: Display | None = None
        self._closed = False
        self._done = 0

    def __next__(self) -> Batch:
        try:
            batch = next(self._batches)
        except BaseException:
            self._close()
            raise
        if self._display is None and not self._closed:
            self._begin(batch)
        self._done += 1
        if self._display is not None and self._display.is_due():
            self._show(self._display)
        return batch

    # Epochs have equally many batches, so that a number says where in its epoch a batch is.
    def _begin(self, batch: Batch) -> None:
        total, epoch = len(self._loader), self._loader.stats()["epochs"]
        if self._loader.exact_length and total:
            epoch, self._done = divmod(batch.index, total)
        self._display = _display(f"epoch {epoch + 1}", self._done, total)

    def _show(self, display: Display) -> None:
        stats = self._loader.stats()
        display.show(self._done, f"{stats['rows_per_second']:,.0f} rows/s, starved {share(stats['starved_ratio'])}, "
                                 f"{size(stats['memory'])} of {size(stats['memory_limit'])}")

    def _close(self) -> None:
        self._closed = True
        display, self._display = self._display, None
        if display is None:
            return
        try:
            if display.is_live:
                self._show(display)
        except Error:  # the loader is closed
            pass
        display.close()

    # The loop was left by a break.
    def __del__(self) -> None:
        try:
            self._close()
        except Exception:  # the interpreter ends, or stderr is closed
            pass
