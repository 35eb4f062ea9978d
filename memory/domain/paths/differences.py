"""In what nodes differ that look the same: place by place, with every value that stands there."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from memory.domain.paths.duplicates import NodeFacts

Way = Literal["case", "spacing", "case_and_spacing", "value"]

MAX_VALUES = 4
MAX_VALUE = 300
_SPACING = re.compile(r"[\s\W_]+")
_MISSING = object()
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Difference(NamedTuple):
    """``where``: "" for the content, else the parameter. ``values``: up to ``MAX_VALUES`` of those there are,
    each once and cut; None where a node has nothing there. ``way`` is the least that tells them apart;
    spacing takes in punctuation and underscores.
    """

    where: str
    way: Way
    values: tuple[str | None, ...]


def find_differences(nodes: Sequence[NodeFacts]) -> list[Difference]:
    """The content first, then parameters by name; only what is not the same in all the nodes."""
    return [
        Difference(where, _way(values), tuple(_cut(value) for value in values[:MAX_VALUES]))
        for where, values in _places(nodes)
        if len(values) > 1
    ]


def _places(nodes: Sequence[NodeFacts]) -> Iterator[tuple[str, list[Any]]]:
    yield "", _each_once([node.content for node in nodes])
    for name in sorted({name for node in nodes for name in node.params}):
        yield name, _each_once([node.params.get(name, _MISSING) for node in nodes])


def _each_once(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _way(values: Sequence[Any]) -> Way:
    if any(value is _MISSING for value in values):
        return "value"
    texts = [_text(value) for value in values]
    if len({text.casefold() for text in texts}) == 1:
        return "case"
    if len({_SPACING.sub("", text) for text in texts}) == 1:
        return "spacing"
    return "case_and_spacing" if len({_SPACING.sub("", text).casefold() for text in texts}) == 1 else "value"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _encode(value).decode()


def _cut(value: Any) -> str | None:
    if value is _MISSING:
        return None
    text = _text(value)
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"
