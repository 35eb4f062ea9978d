"""Tables to take home: CSV, streamed."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import StreamingHttpResponse

from memory.domain.tables import csv_lines


def csv_answer(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> StreamingHttpResponse:
    """A download ``name`` (ASCII, ends with ``.csv``). ``rows`` are read while they are sent."""
    answer = StreamingHttpResponse(csv_lines(header, rows), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
