"""What an importer yields: a document ready for the intake, or a line it could not read."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Text items are one line each; bytes are consecutive pieces of the file, cut anywhere, gzip or not.
Source = Iterable[str] | Iterable[bytes] | bytes

EXCERPT_CHARS = 120


@dataclass(frozen=True, slots=True)
class Imported:
    """An experience document (JSON values in the shape of ``ExperienceDoc``) and where it began.

    `line` is 1-based. `notes` say what had to be cut or renamed to fit the document's limits.
    """

    line: int
    document: dict[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineError:
    """A line (1-based), why it was left out, and the beginning of it, printable."""

    line: int
    reason: str
    excerpt: str = ""


Item = Imported | LineError


class BadRecordError(ValueError):
    """A record that is JSON but not what its format says; the message names the field."""


def excerpt(raw: bytes | str) -> str:
    """The first characters of `raw` with everything unprintable replaced."""
    text = raw[: EXCERPT_CHARS * 4].decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text.strip())
    return shown if len(shown) <= EXCERPT_CHARS else shown[: EXCERPT_CHARS - 1] + "\N{HORIZONTAL ELLIPSIS}"
