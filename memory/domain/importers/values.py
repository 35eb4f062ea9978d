"""From a file to its JSON values: one a line, the elements of one array, or one spread-out object."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from memory.domain.importers.arrays import Element, scan_elements
from memory.domain.importers.lines import (
    MAX_LINE_BYTES,
    BrokenArchiveError,
    plain_pieces,
    split_lines,
)
from memory.domain.importers.records import LineError, Source, excerpt
from memory.domain.plain_json import is_too_deep, storable

SNIFF_BYTES = 64 * 1024
MAX_DEPTH = 100
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep; not read"
SPREAD_ENDS = (b"{", b"[", b",", b":")


@dataclass(frozen=True, slots=True)
class Value:
    """A decoded value, the line it began on, for array elements which array, and its bytes in the file."""

    line: int
    data: Any
    array: int | None = None
    size: int = 0


def json_values(source: Source, *, cap: int = MAX_LINE_BYTES) -> Iterator[Value | LineError]:
    """The file's values in order. A value that is broken or longer than `cap` bytes is reported."""
    pieces = plain_pieces(source)
    head = b""
    broken: LineError | None = None
    try:
        for piece in pieces:
            head += piece
            if len(head) >= SNIFF_BYTES or b"\n" in head.lstrip():
                break
    except BrokenArchiveError as error:
        broken, pieces = LineError(1, str(error)), iter(())
    whole = chain([head], pieces)
    first_line = head.lstrip().split(b"\n", 1)[0].strip()
    spread = first_line.startswith(b"{") and first_line.endswith(SPREAD_ENDS)
    if first_line.startswith(b"[") or spread:
        yield from _spread_values(whole, in_array=first_line.startswith(b"["), cap=cap)
    else:
        yield from _line_values(whole, cap)
    if broken:
        yield broken


def decode_json(raw: bytes | str) -> Any:
    """One JSON value. Raises ValueError with a sentence that says what is wrong and where."""
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
        if text.count("[") + text.count("{") > MAX_DEPTH and is_too_deep([value], MAX_DEPTH):
            raise ValueError(TOO_DEEP)
        return storable(value) if "\\ud" in text.lower() or "\\u0000" in text else value
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise ValueError("the JSON ends early (truncated)") from error
        raise ValueError(f"not JSON: {error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def parsed(value: Any) -> Any:
    """`value`, or what its text holds when that is a JSON object or array."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return decode_json(value)
        except ValueError:
            return value
    return value


def text_or_empty(value: Any) -> str:
    """A text, or nothing where a value is something else."""
    return value if isinstance(value, str) else ""


def _line_values(pieces: Iterator[bytes], cap: int) -> Iterator[Value | LineError]:
    for line in split_lines(pieces, cap=cap):
        if isinstance(line, LineError):
            yield line
            continue
        if not line.raw.strip():
            continue
        try:
            yield Value(line.number, decode_json(line.raw), size=len(line.raw))
        except ValueError as error:
            yield LineError(line.number, str(error), excerpt(line.raw))


def _spread_values(pieces: Iterator[bytes], *, in_array: bool, cap: int) -> Iterator[Value | LineError]:
    for element in scan_elements(pieces, in_array=in_array, cap=cap):
        if isinstance(element, LineError):
            yield element
            continue
        try:
            yield Value(element.line, decode_json(element.raw), element.array, len(element.raw))
        except ValueError as error:
            yield from _salvage(element, error)


def _salvage(element: Element, error: ValueError) -> Iterator[Value | LineError]:
    """An unclosed element swallows its successors: cut it where a new one begins at its indent."""
    first, *rest = element.raw.split(b"\n" + b" " * element.indent + b"{")
    line = element.line
    for raw in [first, *(b"{" + part for part in rest)]:
        try:
            yield Value(line, decode_json(raw.strip().rstrip(b",]").strip()), element.array)
        except ValueError as broken:
            yield LineError(line, str(broken if rest else error), excerpt(raw))
        line += raw.count(b"\n") + 1


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"not JSON: {digits[:40]} is beyond the range of a number")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"not JSON: {name} is not a number")
