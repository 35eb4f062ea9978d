"""Files that were handed in: kept under names of our own, read in pieces, never larger than allowed."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from memory.domain.importers import HEAD_BYTES
from memory.domain.importers.lines import plain_pieces

PIECE_BYTES = 1024 * 1024
UNPACKED_FACTOR = 100
UNPACKED_ANYWAY = 64 * 1024 * 1024
"""A file may unpack to ``UNPACKED_FACTOR`` times its size (or to ``UNPACKED_ANYWAY``), not to a byte more."""
MAX_LINES = 5_000_000


class UploadTooLarge(ValueError):
    """More than this server takes. ``str()`` is the sentence to show."""


def keep_upload(file: BinaryIO) -> tuple[str, int]:
    """Copy ``file`` into the upload folder. Returns its name there and its size in bytes.

    The name is random: nothing of what the sender called it reaches the file system. Raises UploadTooLarge.
    """
    name = uuid.uuid4().hex
    path = upload_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    try:
        with path.open("xb") as copy:
            while piece := file.read(PIECE_BYTES):
                size += len(piece)
                if size > settings.MAX_UPLOAD_BYTES:
                    raise UploadTooLarge(f"The file is larger than {settings.MAX_UPLOAD_BYTES:,} bytes.")
                copy.write(piece)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return name, size


def upload_path(name: str) -> Path:
    """Where a kept upload is."""
    return Path(settings.UPLOAD_DIR, name)


def drop_upload(name: str) -> None:
    """Remove a kept upload; one that is gone already is fine."""
    upload_path(name).unlink(missing_ok=True)


def upload_head(name: str) -> bytes:
    """The beginning of a kept upload, for telling its format."""
    with upload_path(name).open("rb") as file:
        return file.read(HEAD_BYTES)


def upload_pieces(name: str) -> Iterator[bytes]:
    """The unpacked content in pieces.

    Raises UploadTooLarge where an archive would unpack without end, and for more than ``MAX_LINES`` lines.
    """
    room, lines = max(upload_path(name).stat().st_size * UNPACKED_FACTOR, UNPACKED_ANYWAY), MAX_LINES
    with upload_path(name).open("rb") as file:
        for piece in plain_pieces(iter(lambda: file.read(PIECE_BYTES), b"")):
            room -= len(piece)
            if room < 0:
                raise UploadTooLarge("The archive unpacks to more than this server reads.")
            lines -= piece.count(b"\n")
            if lines < 0:
                raise UploadTooLarge(f"The file has more than {MAX_LINES:,} lines: hand it in in parts.")
            yield piece
