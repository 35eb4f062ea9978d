"""Readers of other systems' recordings: lines in, experience documents and line errors out.

Each reader streams (one run in memory at a time; interleaved traces are bounded), never stops at a broken
line, and never drops anything silently: what could not be read is a `LineError`, what had to be cut a note.
"""

from collections.abc import Callable, Iterator

from memory.domain.importers import chat, claude_code, langfuse, otlp, runs
from memory.domain.importers.detection import FORMATS, HEAD_BYTES, detect_format
from memory.domain.importers.plan import ImportPlan, ToolCount, summarise
from memory.domain.importers.records import Imported, Item, LineError, Source

__all__ = [
    "FORMATS",
    "HEAD_BYTES",
    "ImportPlan",
    "Imported",
    "Item",
    "LineError",
    "Source",
    "ToolCount",
    "UnknownFormatError",
    "detect_format",
    "read",
    "summarise",
]

Reader = Callable[..., Iterator[Item]]

READERS: dict[str, Reader] = {
    "runs": runs.read,
    "chat": chat.read,
    "claude_code": claude_code.read,
    "langfuse": langfuse.read,
    "otlp": otlp.read,
}


class UnknownFormatError(ValueError):
    """The name of a format there is no reader for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown format {name!r}; known are {', '.join(FORMATS)}.")


def read(format_name: str, lines: Source, *, source: str) -> Iterator[Item]:
    """Read `lines` as `format_name`.

    `source` names the recording (a file's name without its ending); it starts the external ids of runs that
    do not name themselves, so that two files do not claim each other's. Raises UnknownFormatError.
    """
    if format_name not in READERS:
        raise UnknownFormatError(format_name)
    return READERS[format_name](lines, source=source)
