"""Which nodes may be the same thing said twice: for a person to look at, never merged by themselves."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

THRESHOLD = 0.8
ALMOST = 0.99
NEIGHBOURS = 4
SHORT = 3
"""Of so many words a parameter is a value that must be the same; above, a text that may differ a little."""
MAX_TEXT = 2_000
MAX_DEPTH = 8
_TOKEN = re.compile(r"[^\W_]+|[-+*/<>=!%&|^~]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class NodeFacts(NamedTuple):
    """What a node says it is. ``id`` is any number that names it."""

    id: int
    kind: str
    tool: str
    content: str
    params: dict[str, Any]


class Duplicates(NamedTuple):
    """Nodes that look the same; ``likeness`` (0 to 1) is that of the least alike neighbours in the group.

    It is 1 only where all say exactly the same: what differs by case alone is ``ALMOST``.
    """

    ids: tuple[int, ...]
    likeness: float


class _Words(NamedTuple):
    """Of a node: what the two must share exactly, and the words to compare."""

    exact: tuple[str, ...]
    words: frozenset[str]


def find_duplicates(nodes: Iterable[NodeFacts], *, threshold: float = THRESHOLD) -> list[Duplicates]:
    """Groups of nodes that are nearly the same, most alike first, larger first among equals.

    Two nodes are compared only when kind, tool, every short parameter and every word with a digit in it are
    the same, but for case, space and empty parameters: that is what makes two calls different. Of the text
    that is left (the content and long parameters), words and pairs of neighbouring words, without case and
    punctuation, are compared by the Jaccard coefficient. Each node is compared with its
    ``NEIGHBOURS`` next ones in two sort orders (sorted neighbourhood method, Hernández and Stolfo 1995), so
    the cost grows as n log n.
    """
    buckets: dict[tuple[str, str, tuple[str, ...]], list[tuple[int, frozenset[str]]]] = defaultdict(list)
    said: dict[int, tuple[Any, ...]] = {}
    for node in nodes:
        exact, words = _words(node)
        buckets[node.kind, node.tool, exact].append((node.id, words))
        said[node.id] = node[1:]
    found = [group for rows in buckets.values() if len(rows) > 1 for group in _groups(rows, threshold)]
    groups = [
        group if all(said[one] == said[group.ids[0]] for one in group.ids)
        else group._replace(likeness=min(group.likeness, ALMOST))
        for group in found
    ]  # fmt: skip
    return sorted(groups, key=lambda group: (-group.likeness, -len(group.ids), group.ids))


def _words(node: NodeFacts) -> _Words:
    exact: list[str] = []
    words: set[str] = set()
    for path, value in (("", node.content), *_scalars(node.params)):
        tokens = _tokens(value) if isinstance(value, str) else [_plain(value)]
        if path and (not isinstance(value, str) or len(tokens) <= SHORT):
            exact.append(f"{path}={''.join(str(_plain(value)).split()).casefold()}")
            continue
        exact += [f"{path}:{token}" for token in tokens if any(letter.isdigit() for letter in token)]
        words.update(f"{path}:{token}" for token in tokens)
        words.update(f"{path}:{one} {other}" for one, other in pairwise(tokens))
    return _Words(tuple(exact), frozenset(words))


def _scalars(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every scalar with the keys that lead to it, by key; what is empty is left out."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for key in sorted(value, key=str):
            yield from _scalars(value[key], f"{path}.{''.join(_tokens(str(key)))}", depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH:
        for inner in value:
            yield from _scalars(inner, f"{path}[]", depth + 1)
    elif value not in (None, "", [], {}):
        yield path, value


def _plain(value: Any) -> str:
    """A scalar as text: ``5.0`` reads as ``5``, what is nested too deep as itself."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _tokens(text: str) -> list[str]:
    """Words and operators without case; a Chinese, Japanese or Korean character is a word of its own."""
    found: list[str] = []
    for word in _TOKEN.findall(_CAMEL.sub(" ", text[:MAX_TEXT]).replace("_", " ")):
        found += list(word) if _CJK.search(word) else [word.casefold()]
    return found


def _groups(rows: list[tuple[int, frozenset[str]]], threshold: float) -> list[Duplicates]:
    """Connected groups of near neighbours among the nodes of one bucket."""
    leader = {row_id: row_id for row_id, _ in rows}
    least: dict[int, float] = {}
    for first, second, likeness in _near(rows, threshold):
        low, high = sorted((_find(leader, first), _find(leader, second)))
        leader[high] = low
        least[low] = min(likeness, least.get(low, 1.0), least.get(high, 1.0))
    members: dict[int, list[int]] = defaultdict(list)
    for row_id in sorted(leader):
        members[_find(leader, row_id)].append(row_id)
    return [Duplicates(tuple(ids), round(least[low], 4)) for low, ids in members.items() if len(ids) > 1]


def _near(rows: Sequence[tuple[int, frozenset[str]]], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Pairs of neighbours above the threshold, in both sort orders."""
    for key in (_forward, _backward):
        ordered = sorted(rows, key=key)
        for place, (first, words) in enumerate(ordered):
            for second, others in ordered[place + 1 : place + 1 + NEIGHBOURS]:
                likeness = _jaccard(words, others)
                if likeness >= threshold:
                    yield first, second, likeness


def _forward(row: tuple[int, frozenset[str]]) -> tuple[Any, ...]:
    return tuple(sorted(row[1])), row[0]


def _backward(row: tuple[int, frozenset[str]]) -> tuple[Any, ...]:
    return tuple(sorted((word[::-1] for word in row[1]), reverse=True)), row[0]


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    if not first and not second:
        return 1.0
    return len(first & second) / len(first | second)


def _find(leader: dict[int, int], row_id: int) -> int:
    while leader[row_id] != row_id:
        leader[row_id] = leader[leader[row_id]]
        row_id = leader[row_id]
    return row_id
