"""Finds the elements of a JSON array (or a spread-out object) in a stream, without decoding them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.domain.importers.lines import BrokenArchiveError, too_long
from memory.domain.importers.records import LineError, excerpt

OUTSIDE_STRING = re.compile(rb'["\[\]{},\n]')
INSIDE_STRING = re.compile(rb'["\\\n]')


@dataclass(frozen=True, slots=True)
class Element:
    """The bytes of one element, its first line (1-based), indent, and array (None outside arrays)."""

    line: int
    raw: bytes
    indent: int
    array: int | None


def scan_elements(pieces: Iterable[bytes], *, in_array: bool, cap: int) -> Iterator[Element | LineError]:
    """Elements in order. Arrays may follow each other (one a line); what is longer than `cap` is reported."""
    scanner = _Scanner(in_array, cap)
    try:
        for piece in pieces:
            yield from scanner.feed(piece)
    except BrokenArchiveError as broken:
        yield from scanner.end()
        yield LineError(scanner.line, str(broken))
        return
    yield from scanner.end()


class _Scanner:
    def __init__(self, in_array: bool, cap: int) -> None:
        self.line = 1
        self._base = 1 if in_array else 0
        self._cap = cap
        self._depth = 0
        self._array = 0
        self._in_string = False
        self._escaped = False
        self._pending = bytearray()
        self._pending_line = 1
        self._overlong = False

    def feed(self, piece: bytes) -> Iterator[Element | LineError]:
        position = mark = 0
        while position < len(piece):
            if self._escaped:
                self._escaped = False
                position += 1
                continue
            found = (INSIDE_STRING if self._in_string else OUTSIDE_STRING).search(piece, position)
            if found is None:
                break
            position = found.end()
            if self._in_string or found[0] in b'"\n':
                self._step_text(found[0])
            elif self._step_bracket(found[0]):
                ends = position if self._base == 0 else found.start()
                self._keep(piece[mark:ends])
                yield from self._close()
                mark = position
        self._keep(piece[mark:])

    def end(self) -> Iterator[Element | LineError]:
        """What is left at the end of the file: an unclosed element, an unclosed array, stray text."""
        swallowed_end = self._pending.rstrip().endswith(b"]")
        unclosed = self._base == self._depth == 1 and not swallowed_end
        yield from self._close()
        if unclosed:
            yield LineError(self.line, "the file ends inside the array (truncated)")

    def _step_text(self, byte: bytes) -> None:
        if byte == b"\\":
            self._escaped = True
            return
        if byte == b"\n":  # a string cannot hold a raw newline: a lost quote ends here
            self.line += 1
            self._in_string = False
        else:
            self._in_string = not self._in_string

    def _step_bracket(self, byte: bytes) -> bool:
        """Follow the nesting. True when an element (or the gap before the first) ends here."""
        if byte in b"[{":
            self._depth += 1
            return self._depth == 1 == self._base
        if byte in b"]}":
            self._depth = max(self._depth - 1, 0)
            return self._depth == 0
        return self._depth == self._base == 1

    def _keep(self, part: bytes) -> None:
        self._pending += part
        if len(self._pending) > self._cap:
            self._overlong = True
            del self._pending[self._cap :]

    def _close(self) -> Iterator[Element | LineError]:
        raw, line, overlong = bytes(self._pending), self._pending_line, self._overlong
        self._pending.clear()
        self._pending_line, self._overlong = self.line, False
        stripped = raw.strip()
        line += raw[: len(raw) - len(raw.lstrip())].count(b"\n")
        if overlong:
            yield LineError(line, too_long(self._cap), excerpt(stripped))
        elif stripped:
            before = raw[: len(raw) - len(raw.lstrip())]
            indent = len(before) - before.rfind(b"\n") - 1 if b"\n" in before else 0
            yield Element(line, stripped, indent, self._array if self._base else None)
        if self._base and self._depth == 0:
            self._array += 1
