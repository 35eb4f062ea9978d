"""Texts that fit into a box of a drawing: widths are estimated, East Asian characters count twice."""

import unicodedata
from collections.abc import Iterator

ELLIPSIS = "…"


def width(text: str) -> int:
    """How many narrow characters the text is wide. Combining marks and controls take no room."""
    return len(text) if text.isascii() and text.isprintable() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cc", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def plain(text: str, *, at_most: int = 400) -> str:
    """One line: runs of white space become one space, controls and marks that turn the direction go."""
    start = text[:at_most]
    if start.isprintable() and start.isascii():
        return " ".join(start.split())
    kept = "".join(
        " " if character.isspace() else character
        for character in start
        if character.isspace() or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
    )
    return " ".join(kept.split())


def shorten(text: str, cells: int) -> str:
    """At most so wide, cut with an ellipsis."""
    if width(text) <= cells:
        return text
    if text.isascii() and text.isprintable():
        return text[: cells - 1].rstrip() + ELLIPSIS
    room, kept = cells - 1, ""
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        kept += character
    return kept.rstrip() + ELLIPSIS


def wrap(text: str, cells: int, lines: int) -> tuple[str, ...]:
    """Up to ``lines`` lines of at most ``cells``, broken at spaces where there are any."""
    found = list(_lines(plain(text), cells, lines))
    return tuple(found)


def _lines(text: str, cells: int, lines: int) -> Iterator[str]:
    rest = text
    for left in range(lines, 0, -1):
        if not rest:
            return
        if width(rest) <= cells or left == 1:
            yield shorten(rest, cells)
            return
        head = shorten(rest, cells + 1).removesuffix(ELLIPSIS)
        space = head.rfind(" ")
        if space > len(head) // 2 and not rest[len(head) : len(head) + 1].isspace():
            head = head[:space]
        yield head.rstrip()
        rest = rest[len(head) :].lstrip()
