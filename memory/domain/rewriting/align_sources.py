"""Where an argument's value may come from, seen from one place in a path.

A source has a key that means the same in every path ("the argument `file` of the next call", "`price` in what
`get_stock_info` last returned"), so that what was right in one path can be tried in another.
"""

import re
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from memory.domain.paths.document import NodeDoc

Source = tuple[str, ...]

MAX_LEAVES = 200
MAX_DEPTH = 6
MAX_TEXT = 2_000
_SAID = re.compile(
    r"'([^'\n]{1,300})'|\"([^\"\n]{1,300})\"|`([^`\n]{1,300})`|(?<![\w.])(-?[0-9]+(?:\.[0-9]+)?)(?!\w)"
)
_LISTED = re.compile(r": ?([^:.;]{2,300})$")


class Moment(NamedTuple):
    """A place in a path: what was done ``before`` it, what comes ``after``, and what was said went wrong."""

    goal: str
    before: Sequence[NodeDoc]
    after: Sequence[NodeDoc]
    message: str = ""


def sources(moment: Moment) -> dict[Source, Any]:
    """Every source that has a value at this moment, with its value."""
    found: dict[Source, Any] = {}
    for key, value in _all_sources(moment):
        found.setdefault(key, value)
    return found


def canonical(value: Any) -> Hashable:
    """The value so that equal JSON values are equal and hashable: 700 is 700.0, true is not 1."""
    if isinstance(value, bool) or value is None:
        return ("bool", value)
    if isinstance(value, int | float):
        return ("number", float(value))
    if isinstance(value, list | tuple):
        return ("list", *(canonical(item) for item in value))
    if isinstance(value, dict):
        return ("object", *sorted((str(name), canonical(item)) for name, item in value.items()))
    return str(value)


def texts(value: Any) -> Iterator[str]:
    """Every text and number of a JSON value, as text."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)[:MAX_TEXT]


def _all_sources(moment: Moment) -> Iterator[tuple[Source, Any]]:
    if moment.after:
        for name, value in moment.after[0].params.items():
            yield from _with_pieces(("next", name), value)
    if moment.before:
        for name, value in moment.before[-1].params.items():
            yield from _with_pieces(("previous", name), value)
    for where, nodes in (("later", moment.after), ("earlier", tuple(reversed(moment.before)))):
        for node in nodes:
            for name, value in node.params.items():
                yield (where, name), value
                yield from _with_pieces((where, node.tool, name), value)
    for node in reversed(moment.before):
        for at, value in _leaves(node.observation, ()):
            yield from _with_pieces(("returned", node.tool, *at), value)
    yield from _said(moment.message)


def _with_pieces(key: Source, value: Any) -> Iterator[tuple[Source, Any]]:
    yield key, value
    if isinstance(value, str) and "/" in value.strip("/") and len(value) <= MAX_TEXT:
        pieces = [piece for piece in value.split("/") if piece and piece != "."]
        if pieces:
            yield (*key, "first piece"), pieces[0]
            yield (*key, "last piece"), pieces[-1]
        if len(pieces) > 1:
            yield (*key, "piece before last"), pieces[-2]
            yield (*key, "all but last"), value.rpartition("/")[0]


def _leaves(value: Any, at: Source) -> Iterator[tuple[Source, Any]]:
    left = MAX_LEAVES
    waiting: deque[tuple[Source, Any]] = deque([(at, value)])
    while waiting and left:
        at, value = waiting.popleft()
        left -= 1
        if isinstance(value, dict) and len(at) < MAX_DEPTH:
            waiting += [((*at, str(name)), item) for name, item in islice(value.items(), left)]
        elif isinstance(value, list):
            yield at, value
            if value and len(at) < MAX_DEPTH:
                waiting += [((*at, "first"), value[0]), ((*at, "last"), value[-1])]
        elif value is not None:
            yield at, value


def _said(message: str) -> Iterator[tuple[Source, Any]]:
    said = " ".join(message[:MAX_TEXT].split())
    for place, match in enumerate(_SAID.finditer(said)):
        text = next(group for group in match.groups() if group is not None)
        yield (
            ("said", str(place)),
            float(text) if match[4] and "." in text else int(text) if match[4] else text,
        )
    listed = _LISTED.search(said)
    if listed and "," in listed[1]:
        yield ("said", "list"), [item.strip() for item in listed[1].split(",")]
