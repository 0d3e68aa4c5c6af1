"""A loader's figures: a dict, which a terminal and a notebook show as tables."""
from __future__ import annotations

from typing import Any, Callable

from ._tables import pairs_text, plural, share, size, table_html, table_text

_STAGES = ("stage", "actors", "splits", "busy actors")


def _speed(stats: dict[str, Any]) -> str:
    return (f"{stats['rows_per_second']:,.0f} rows/s over {stats['seconds']:.1f} s; "
            f"the program waited for data {share(stats['starved_ratio'])} of the time")


# The lines in their order; a key that is missing or None has no line.
_LINES: tuple[tuple[str, str, Callable[[dict[str, Any]], str]], ...] = (
    ("rows", "read", lambda stats: f"{plural(stats['rows'], 'row', 'rows')} in {plural(stats['batches'], 'batch', 'batches')}"),
    ("rows_per_second", "speed", _speed),
    ("bytes_read", "from files", lambda stats: size(stats["bytes_read"])),
    ("memory", "memory", lambda stats: f"{size(stats['memory'])} of {size(stats['memory_limit'])}"),
    ("epochs", "completed", lambda stats: f"{plural(stats['epochs'], 'epoch', 'epochs')} since the start of the job"),
    ("bad_rows", "left out", lambda stats: plural(stats["bad_rows"], "damaged row", "damaged rows") if stats["bad_rows"] else ""),
    ("order_digest", "order digest", lambda stats: str(stats["order_digest"])),
    ("rank_digest", "rank digest", lambda stats: str(stats["rank_digest"])),
    ("decisions", "tuner", lambda stats: plural(stats["decisions"], "decision", "decisions")),
)


class Stats(dict[str, Any]):
    """What `Loader.stats` returns: a plain dict by its keys and in JSON, a table when it is shown."""

    def _pairs(self) -> list[tuple[str, str]]:
        pairs = [(name, line(self)) for key, name, line in _LINES if self.get(key) is not None]
        return [(name, text) for name, text in pairs if text]

    def _rows(self) -> list[list[str]]:
        seconds = self.get("seconds") or 1
        return [[stage["name"], f"{stage['actors']:,}", f"{stage['splits']:,}", f"{stage['busy_seconds'] / seconds:.2f}"]
                for stage in self.get("stages", [])]

    def __str__(self) -> str:
        rows = self._rows()
        return "\n".join([*pairs_text(self._pairs()), *(table_text(_STAGES, rows) if rows else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = self._rows()
        return table_html(("", ""), self._pairs()) + (table_html(_STAGES, rows) if rows else "")
