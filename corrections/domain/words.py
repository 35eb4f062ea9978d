"""The difference between two texts word by word, for conditions and long sentences."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
MAX_TOKENS = 2_000


@dataclass(frozen=True)
class Piece:
    """A run of text that both have (``same``), only the old (``gone``) or only the new one (``new``)."""

    kind: Literal["same", "gone", "new"]
    text: str


def diff_words(old: str, new: str) -> list[Piece]:
    """The pieces in reading order: all but the ``new`` make the old text, all but the ``gone`` the new one.

    Texts of more than ``MAX_TOKENS`` words are shown whole.
    """
    before, after = TOKEN.findall(old), TOKEN.findall(new)
    if max(len(before), len(after)) > MAX_TOKENS:
        return [piece for piece in (Piece("gone", old), Piece("new", new)) if piece.text]
    pieces: list[Piece] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(before[i1:i2])))
            continue
        if i2 > i1:
            pieces.append(Piece("gone", "".join(before[i1:i2])))
        if j2 > j1:
            pieces.append(Piece("new", "".join(after[j1:j2])))
    return pieces
