"""The entry of a path: everything the ranking wants to know of it, made once when the path is written."""

import hashlib
import json
from collections.abc import Sequence

import msgspec
import numpy as np

from memory.domain.locating.grams import bucket_weights
from memory.domain.paths.document import NodeDoc, PathDoc

FORMAT = 1
"""Goes up when entries of an older HGMem must be made again (``manage.py reindex``)."""

DECAY = 0.5
"""The last thing a path did counts fully, the one before half, and so on: agents look first and act last."""

MAX_ACTIONS = 6  # beyond, DECAY leaves less than 2 %
MAX_STEPS = 200
MAX_EDGES = 400
MAX_TEXT = 4000
FAILED = "failed"  # the label of the edge behind a call that failed, in a path from a run
SCALE = 32  # of weights stored as bytes: steps of 1/32, up to 7.97


class Bag(msgspec.Struct, frozen=True, array_like=True):
    """Weights by gram bucket: ``buckets`` little-endian uint16, ``weights`` bytes in steps of 1/SCALE."""

    buckets: bytes = b""
    weights: bytes = b""


class PathEntry(msgspec.Struct, frozen=True, array_like=True):
    """What a path is ranked by.

    ``goal_key`` is the same for the same goal, however it is spaced or capitalised. ``goal`` holds the
    grams of the goal, ``actions`` those of what was done (:func:`action_texts`). ``steps`` are the names
    under which each node may be asked for, in order, ``edges`` pairs of positions among them.
    """

    goal_key: bytes
    goal: Bag
    actions: Bag
    steps: tuple[tuple[str, ...], ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    format: int = FORMAT


class EntryError(ValueError):
    """A stored entry is not of this format; the path must be indexed again."""


def entry_of(doc: PathDoc) -> PathEntry:
    """The entry of a path."""
    nodes = doc.nodes[:MAX_STEPS]
    places = {node.name: place for place, node in enumerate(nodes)}
    edges = [
        (places[edge.source], places[edge.target])
        for edge in doc.edges[:MAX_EDGES]
        if edge.source in places and edge.target in places
    ]
    return PathEntry(
        goal_key=goal_key(doc.goal),
        goal=bag_of(doc.goal),
        actions=_bag(_decayed(action_texts(doc))),
        steps=tuple(step_names(node) for node in nodes),
        edges=tuple(edges or ((place, place + 1) for place in range(len(nodes) - 1))),
    )


def bag_of(text: str) -> Bag:
    """The grams of one text."""
    return _bag(bucket_weights(text))


def encode_entry(entry: PathEntry) -> bytes:
    """As the index row holds it."""
    return _encode(entry)


def decode_entry(data: bytes | memoryview) -> PathEntry:
    """The reverse of :func:`encode_entry`. Raises :class:`EntryError`."""
    try:
        entry = _decode(data)
    except msgspec.DecodeError as error:
        raise EntryError("The index entry cannot be read; reindex the path.") from error
    if entry.format != FORMAT:
        raise EntryError(f"The index entry has format {entry.format}, not {FORMAT}; reindex the path.")
    return entry


def goal_key(goal: str) -> bytes:
    """Eight bytes that are the same for the same goal, whatever its spaces and capitals."""
    return hashlib.blake2b(" ".join(goal.casefold().split()).encode(), digest_size=8).digest()


def goal_text(doc: PathDoc) -> str:
    """What an embedder is given for the goal of a path."""
    return doc.goal[:MAX_TEXT]


def actions_text(doc: PathDoc) -> str:
    """What an embedder is given for what a path did: its last action first, as many as fit."""
    return " ; ".join(action_texts(doc))[:MAX_TEXT]


def action_texts(doc: PathDoc) -> list[str]:
    """What the path did, the last thing first, each once: tool and parameters, or the sentence of a node
    without tool.

    Calls that failed on the way to a success are left out. Of a path without any action, its other nodes tell
    what it is about.
    """
    actions = [node for node in doc.nodes if node.kind == "action"]
    failed = {edge.source for edge in doc.edges if edge.label == FAILED and doc.result != "failure"}
    nodes = [node for node in actions if node.name not in failed] or actions or list(doc.nodes)
    texts = (node_text(node) for node in reversed(nodes))
    return list(dict.fromkeys(text for text in texts if text))[:MAX_ACTIONS]


def node_text(node: NodeDoc) -> str:
    """Tool and parameter values of an action, the content of another node."""
    if not node.tool:
        return node.content[:MAX_TEXT]
    return " ".join([node.tool, *_leaves(node.params)])[:MAX_TEXT]


def step_names(node: NodeDoc) -> tuple[str, ...]:
    """The names a caller may use for a node: its name, its tool, its content; in lower case, each once."""
    names = (name.strip().casefold() for name in (node.name, node.tool, node.content[:120]))
    return tuple(dict.fromkeys(name for name in names if name))


def _leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in (str(key), *_leaves(inner))]
    if isinstance(value, list | tuple):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value if isinstance(value, str) else json.dumps(value, default=str)]


def _decayed(texts: Sequence[str]) -> dict[int, float]:
    weights: dict[int, float] = {}
    for place, text in enumerate(texts):
        for bucket, weight in bucket_weights(text).items():
            weights[bucket] = max(weights.get(bucket, 0.0), weight * DECAY**place)
    return weights


def _bag(weights: dict[int, float]) -> Bag:
    buckets = np.fromiter(weights, dtype="<u2", count=len(weights))
    scaled = np.fromiter(weights.values(), dtype=np.float64, count=len(weights)) * SCALE
    return Bag(buckets.tobytes(), np.clip(np.rint(scaled), 1, 255).astype(np.uint8).tobytes())


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PathEntry).decode
