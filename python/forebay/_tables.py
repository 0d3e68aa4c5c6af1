"""Results as text for a terminal and as HTML for a notebook."""
from __future__ import annotations

import html
from typing import Any, Iterable, Mapping, Sequence

MOST_ROWS = 60  # of a table that is printed; the dict has all
WIDTH = 160  # of a table; wider records are printed one below the other


def size(number: float) -> str:
    """Bytes as the command line writes them: `312 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            break
        number /= 1024
    else:
        unit = "TiB"
    return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"


def share(number: float) -> str:
    return f"{number * 100:.0f} %"


def plural(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def pairs_text(pairs: Iterable[tuple[str, str]], indent: str = "") -> list[str]:
    """Names and values in two columns."""
    rows = list(pairs)
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{indent}{name:<{width}}  {value}".rstrip() for name, value in rows]


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> list[str]:
    """A table; columns of numbers stand right."""
    every = [header, *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(header))]
    is_number = [all(row[column][:1] in "0123456789-" for row in rows) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = (cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, is_number))
        return (indent + "  ".join(cells)).rstrip()

    return [line(row) for row in every]


def table_html(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same as HTML; a header without words is left out."""
    def line(cells: Sequence[str], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"

    head = f"<thead>{line(header, 'th')}</thead>" if any(header) else ""
    return f"<table>{head}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_large(value: Any) -> bool:
    """Whether a value has lines of its own."""
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(item, (Mapping, list, str)) for item in value))


def _sections(values: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, Any]]]:
    return ([(name, _cell(value)) for name, value in values.items() if not _is_large(value)],
            [(name, value) for name, value in values.items() if _is_large(value)])


def _table(records: Sequence[Any]) -> tuple[list[str], list[list[str]]] | None:
    """Records as a table, if they are small enough."""
    if not all(isinstance(record, Mapping) and not any(map(_is_large, record.values())) for record in records):
        return None
    names = list(dict.fromkeys(name for record in records for name in record))
    rows = [[_cell(record.get(name, "")) for name in names] for record in records]
    is_narrow = all(sum(map(len, row)) + 2 * len(row) <= WIDTH for row in [names, *rows])
    return (names, rows) if is_narrow else None


def _list_text(items: Sequence[Any], indent: str) -> list[str]:
    shown = items[:MOST_ROWS]
    lines: list[str] = []
    if table := _table(shown):
        lines = table_text(*table, indent)
    else:
        for item in shown:
            lines += nested_text(item, indent) + [""] if isinstance(item, Mapping) else [indent + _cell(item)]
    if len(items) > len(shown):
        lines.append(f"{indent}and {len(items) - len(shown):,} more")
    return lines


def nested_text(values: Mapping[str, Any], indent: str = "") -> list[str]:
    """A result of any form: names and values, tables of lists of records, tables in tables further right."""
    plain, large = _sections(values)
    lines = pairs_text(plain, indent)
    for name, value in large:
        lines.append(f"{indent}{name}:")
        deeper = indent + "  "
        lines += nested_text(value, deeper) if isinstance(value, Mapping) else _list_text(value, deeper)
    return lines


def _list_html(items: Sequence[Any]) -> str:
    if table := _table(items):
        return table_html(*table)
    return "".join(nested_html(item) if isinstance(item, Mapping) else f"<div>{html.escape(_cell(item))}</div>" for item in items)


def nested_html(values: Mapping[str, Any]) -> str:
    """The same as HTML."""
    plain, large = _sections(values)
    parts = [table_html(("", ""), plain)] if plain else []
    for name, value in large:
        parts.append(f"<p><b>{html.escape(name)}</b></p>")
        parts.append(nested_html(value) if isinstance(value, Mapping) else _list_html(value))
    return "".join(parts)
