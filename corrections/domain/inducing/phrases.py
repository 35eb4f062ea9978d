"""The pieces that conditions are made of: literals, fields and words as CEL."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from corrections.domain.inducing.features import Atom
from corrections.domain.suggesting import NAME, RESERVED

SURROUNDING_KINDS = frozenset(("env", "previous", "after_error", "called", "passed"))
_SPECIAL = re.compile(r"[^\w\s]")
_LAST = "history[history.size() - 1]"


def literal(value: Any) -> str:
    """A CEL literal of a scalar."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def field(owner: str, name: str) -> str:
    """``owner.name``, or ``owner["name"]`` where the name is no identifier."""
    plain = NAME.fullmatch(name) and name not in RESERVED
    return f"{owner}.{name}" if plain else f"{owner}[{literal(name)}]"


def path(place: Sequence[str | None], owner: str = "input") -> str:
    """A place without lists as CEL."""
    text = owner
    for name in place:
        text = field(text, str(name))
    return text


def word_pattern(words: Iterable[str]) -> str:
    """A regular expression for any of these words, dotted names or pairs of words, in any case."""
    texts = [r"\W+".join(_SPECIAL.sub(r"\\\g<0>", part) for part in word.split(" ")) for word in words]
    return rf"(?i)\b{texts[0]}\b" if len(texts) == 1 else rf"(?i)\b({'|'.join(texts)})\b"


def surrounding_clause(atom: Atom) -> str:
    """A fact about the environment, or about the calls before, as CEL."""
    if atom.kind == "env":
        return f"{path(atom.place, 'env')} == {literal(atom.value)}"
    if atom.kind == "previous":
        return f"history.size() > 0 && {_LAST}.tool == {literal(atom.value)}"
    if atom.kind == "after_error":
        return f'history.size() > 0 && {_LAST}.status == "error"'
    if atom.kind == "called":
        return f'history.exists(h, h.tool == {literal(atom.value)} && h.status != "error")'
    tool, name = atom.value
    same = f"{field('h.input', name)} == {path(atom.place)}"
    return f'history.exists(h, h.tool == {literal(tool)} && h.status != "error" && {same})'
