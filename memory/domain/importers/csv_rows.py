"""CSV (RFC 4180) as numbered rows; cells may hold line ends and pass the standard reader's limit."""

import re
from collections.abc import Iterator

from memory.domain.importers.lines import MAX_LINE_BYTES, Line, plain_pieces, split_lines, too_long
from memory.domain.importers.records import LineError, Source, excerpt

CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|\Z)')


def csv_rows(
    source: Source, *, cap: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, dict[str, str]] | LineError]:
    """(line of the row, header -> cell). A row that does not fit the header is reported."""
    header: list[str] | None = None
    for row in _logical_rows(source, cap):
        if isinstance(row, LineError):
            yield row
            continue
        try:
            cells = _cells(row.raw.decode("utf-8"))
            if header is None:
                header = cells
            elif len(cells) != len(header):
                raise ValueError(f"{len(cells)} cells where the header has {len(header)}")
            else:
                yield row.number, dict(zip(header, cells, strict=True))
        except UnicodeDecodeError as error:
            yield LineError(row.number, f"not UTF-8 text (byte {error.start})", excerpt(row.raw))
        except ValueError as error:
            yield LineError(row.number, str(error), excerpt(row.raw))


def _logical_rows(source: Source, cap: int) -> Iterator[Line | LineError]:
    """Joins physical lines while a quoted cell is open."""
    waiting: list[bytes] = []
    first = size = quotes = 0
    for line in split_lines(plain_pieces(source), cap=cap):
        if isinstance(line, LineError):
            yield line
            continue
        if not waiting and not line.raw.strip():
            continue
        first = first if waiting else line.number
        waiting.append(line.raw)
        size += len(line.raw) + 1
        quotes += line.raw.count(b'"')
        if quotes % 2 and size <= cap:
            continue
        whole = Line(first, b"\n".join(waiting))
        yield whole if size <= cap else LineError(first, too_long(cap), excerpt(whole.raw))
        waiting, size, quotes = [], 0, 0
    if waiting:
        yield LineError(first, "a quoted cell is never closed (truncated)", excerpt(waiting[0]))


def _cells(text: str) -> list[str]:
    cells: list[str] = []
    position = 0
    while True:
        found = CELL.match(text, position)
        if found is None:
            raise ValueError(f"not CSV (column {position + 1})")
        quoted = found[1]
        cells.append(found[2] if quoted is None else quoted.replace('""', '"'))
        position = found.end()
        if not found[3]:
            return cells
