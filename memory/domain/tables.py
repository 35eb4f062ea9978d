"""Tables as CSV that no spreadsheet takes for formulas. Pure."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: Any) -> str:
    """A cell's text. One that a spreadsheet would run as a formula gets an apostrophe; numbers stay.

    See https://owasp.org/www-community/attacks/CSV_Injection.
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value)
    if isinstance(value, (int, float)) or not text.startswith(FORMULA_STARTS):
        return text
    return text if _is_number(text) else f"'{text}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The table line by line (RFC 4180, ends with CRLF), so that it can be streamed."""
    writer = csv.writer(_Echo())
    yield writer.writerow(header)
    for row in rows:
        yield writer.writerow([safe_cell(value) for value in row])


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, line: str) -> str:
        return line
