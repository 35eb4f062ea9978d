"""From pieces of a file to numbered lines: gzip, byte order mark, line ends, a cap on length."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from memory.domain.importers.records import LineError, Source, excerpt

MAX_LINE_BYTES = 32 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line end; `number` is 1-based."""

    number: int
    raw: bytes


class BrokenArchiveError(ValueError):
    """The gzip stream ends early or is damaged; what came before it was delivered."""


def plain_pieces(source: Source) -> Iterator[bytes]:
    """The file's bytes in pieces of at most 1 MiB each, unpacked, without a byte order mark.

    Raises BrokenArchiveError after the last good piece of a damaged gzip stream.
    """
    pieces = _pieces(source)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= len(BYTE_ORDER_MARK):
            break
    whole = chain([head], pieces)
    if head.startswith(GZIP_MAGIC):
        yield from _without_mark(_gunzip(whole))
    else:
        yield from _without_mark(whole)


def split_lines(pieces: Iterable[bytes], *, cap: int = MAX_LINE_BYTES) -> Iterator[Line | LineError]:
    """Numbered lines as they are, blank ones too. A line longer than `cap` bytes is reported, not kept."""
    number, pending, overlong = 1, bytearray(), False
    try:
        for piece in pieces:
            *ended, rest = piece.split(b"\n")
            for part in ended:
                pending += part
                yield from _close_line(number, bytes(pending), cap, overlong)
                number, overlong = number + 1, False
                pending.clear()
            pending += rest
            if len(pending) > cap:
                overlong = True
                del pending[cap:]
    except BrokenArchiveError as broken:
        yield from _close_line(number, bytes(pending), cap, overlong)
        yield LineError(number, str(broken))
        return
    if pending:
        yield from _close_line(number, bytes(pending), cap, overlong)


def too_long(cap: int) -> str:
    """The sentence for a line or value of more than `cap` bytes."""
    return f"longer than {cap:,} bytes; not read"


def _close_line(number: int, raw: bytes, cap: int, overlong: bool) -> Iterator[Line | LineError]:
    if overlong or len(raw) > cap:
        yield LineError(number, too_long(cap), excerpt(raw))
    else:
        yield Line(number, raw.removesuffix(b"\r"))


def _pieces(source: Source) -> Iterator[bytes]:
    for item in [source] if isinstance(source, bytes) else source:
        raw = _line_bytes(item) if isinstance(item, str) else item
        for start in range(0, len(raw), PIECE_BYTES):
            yield raw[start : start + PIECE_BYTES]


def _line_bytes(line: str) -> bytes:
    return (line if line.endswith("\n") else line + "\n").encode("utf-8", "replace")


def _without_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield next(pieces, b"").removeprefix(BYTE_ORDER_MARK)
    yield from pieces


def _gunzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack a gzip stream of one or more members, never more than one piece ahead of the reader."""
    unpacker = zlib.decompressobj(wbits=31)
    for piece in pieces:
        rest = piece
        while rest:
            if unpacker.eof:
                unpacker = zlib.decompressobj(wbits=31)
            try:
                unpacked = unpacker.decompress(rest, PIECE_BYTES)
            except zlib.error as error:
                raise BrokenArchiveError(f"the gzip stream is damaged: {error}") from error
            if unpacked:
                yield unpacked
            rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
    while not unpacker.eof:
        unpacked = unpacker.decompress(unpacker.unconsumed_tail, PIECE_BYTES)
        if not unpacked:
            raise BrokenArchiveError("the gzip stream ends early")
        yield unpacked
