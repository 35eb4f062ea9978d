"""Faults of a condition, where they are: the compiler's messages in words, with the place in the text."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from django.utils.translation import gettext as _

PLACE = re.compile(r"line (\d+), column (\d+): (.*?)(?=; line \d+, column \d+: |$)", re.S)
UNKNOWN = re.compile(r"undeclared reference to '([A-Za-z_]\w*)")
VARIABLES = ("input", "tool", "task", "env", "history", "now", "output", "error", "duration_ms")


@dataclass(frozen=True)
class Mark:
    """A fault of the condition: its sentence, and the line with the place where it was found."""

    detail: str
    line: int = 0
    column: int = 0
    before: str = ""
    at: str = ""
    after: str = ""


def marks_of(source: str, detail: str) -> list[Mark]:
    """The compiler's message as one mark for each place it names (columns count from 1)."""
    lines = source.strip().splitlines() or [""]
    marks = []
    for line, column, text in PLACE.findall(detail):
        row, at = int(line), max(int(column) - 1, 0)
        shown = lines[row - 1] if row <= len(lines) else ""
        at, end = _extent(shown, at, text)
        marks.append(Mark(_in_words(text), row, at + 1, shown[:at], shown[at:end] or " ", shown[end:]))
    return marks or [Mark(detail)]


def in_words(detail: str) -> str:
    """The compiler's message as sentences, with the places behind them. Other messages stay as they are."""
    if PLACE.match(detail) is None:
        return detail
    places = [(_in_words(text), line, column) for line, column, text in PLACE.findall(detail)]
    place = _("(line %(line)s, column %(column)s)")
    return "; ".join(f"{text} {place % {'line': line, 'column': column}}" for text, line, column in places)


def _extent(line: str, at: int, text: str) -> tuple[int, int]:
    """Where the mark begins and ends: an unknown name as a whole, one character otherwise."""
    unknown = UNKNOWN.search(text)
    found = re.search(rf"\b{unknown[1]}\b", line) if unknown else None
    return (found.start(), found.end()) if found else (at, at + 1)


def _in_words(text: str) -> str:
    """The compiler's sentence, with the word that was probably meant."""
    unknown = UNKNOWN.search(text)
    if "'<EOF>'" in text:
        return _("The condition ends too early: something must follow.")
    if unknown is None:
        return text.removeprefix("Syntax error: ").partition(" expecting ")[0]
    near = get_close_matches(unknown[1], VARIABLES, n=1)
    known = _("There is no variable %(name)s.") % {"name": unknown[1]}
    meant = _("Did you mean %(name)s?") % {"name": near[0]} if near else _("There are %(names)s.") % {
        "names": ", ".join(VARIABLES)
    }  # fmt: skip
    return f"{known} {meant}"
