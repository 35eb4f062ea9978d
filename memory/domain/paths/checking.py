"""Path documents that people and other systems write: read strictly, checked whole, errors named by field."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import MAXYEAR, datetime
from typing import Any

import msgspec

from memory.domain.intake import FieldError, field_error
from memory.domain.paths.document import PATH_LEVELS, EdgeDoc, NodeDoc, PathDoc, chain
from memory.domain.plain_json import MAX_DEPTH, is_too_deep, storable

MAX_NODES = 500
MAX_EDGES = 2_000
MAX_PARTS = 50
MAX_NODES_WITH_PARTS = 2_000
MAX_NAME = 120
MAX_CONTENT = 4_000
MAX_GOAL = 20_000
MAX_LABEL = 200
MAX_CONDITION = 2_000
MAX_VALUE_BYTES = 32 * 1024
MAX_TAGS = 50
MAX_TAG = 100
MAX_SHORT = 200
MAX_ERRORS = 50

_SHAPES: dict[str, type[msgspec.Struct]] = {"nodes": NodeDoc, "edges": EdgeDoc, "parts": PathDoc}
_encode = msgspec.json.Encoder().encode


class InvalidPathError(ValueError):
    """A document that is no path. ``errors`` name the fields."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        first = self.errors[0]
        super().__init__(f"{first.field}: {first.detail}" if first.field else first.detail)


def read_path_document(value: Any) -> PathDoc:
    """A decoded JSON document as a checked path. Without edges its nodes are walked in order.

    Raises :class:`InvalidPathError` for another shape, unknown fields and all that :func:`check_path` finds.
    """
    if not isinstance(value, Mapping):
        raise InvalidPathError([FieldError("", "A path is a JSON object.")])
    if is_too_deep([dict(value)]):
        raise InvalidPathError([FieldError("", f"Nested more than {MAX_DEPTH} levels deep.")])
    value = storable(value)
    unknown = list(_unknown_fields(value, PathDoc, ""))
    if unknown:
        raise InvalidPathError(unknown[:MAX_ERRORS])
    try:
        doc = msgspec.convert(value, PathDoc)
    except msgspec.ValidationError as error:
        raise InvalidPathError([field_error(error)]) from error
    doc = with_edges(doc)
    errors = check_path(doc)
    if errors:
        raise InvalidPathError(errors)
    return doc


def write_path_document(doc: PathDoc) -> dict[str, Any]:
    """The path as JSON values, defaults left out: what :func:`read_path_document` reads."""
    written: dict[str, Any] = msgspec.to_builtins(doc)
    return written


def with_edges(doc: PathDoc) -> PathDoc:
    """The document, or its nodes walked in order where it has no edges."""
    parts = tuple(with_edges(part) for part in doc.parts)
    edges = doc.edges or chain([node.name for node in doc.nodes])
    return msgspec.structs.replace(doc, edges=edges, parts=parts)


def check_path(doc: PathDoc) -> list[FieldError]:
    """Everything that is wrong with a document, up to ``MAX_ERRORS``; empty for a good one."""
    found: list[FieldError] = []
    for error in _path_errors(doc, "", None):
        found.append(error)
        if len(found) == MAX_ERRORS:
            break
    return found


def _unknown_fields(value: Mapping[str, Any], shape: type[msgspec.Struct], at: str) -> Iterator[FieldError]:
    known = set(shape.__struct_encode_fields__)
    for name, inner in value.items():
        if name not in known:
            yield FieldError(f"{at}{name}", "This field is not known.")
        elif shape is PathDoc and name in _SHAPES and isinstance(inner, list):
            for place, item in enumerate(inner):
                if isinstance(item, Mapping):
                    yield from _unknown_fields(item, _SHAPES[name], f"{at}{name}.{place}.")


def count_nodes(doc: PathDoc) -> int:
    """The nodes of a path and of all its parts: each is a row."""
    return len(doc.nodes) + sum(count_nodes(part) for part in doc.parts)


def _path_errors(doc: PathDoc, at: str, container: PathDoc | None) -> Iterator[FieldError]:
    if container is None and count_nodes(doc) > max(MAX_NODES_WITH_PARTS, len(doc.nodes)):
        yield FieldError(f"{at}parts", f"A path and its parts have at most {MAX_NODES_WITH_PARTS:,} nodes.")
        return
    yield from _head_errors(doc, at)
    yield from _node_errors(doc, at)
    yield from _edge_errors(doc, at)
    if container is None and doc.span is not None:
        yield FieldError(f"{at}span", "Only a part has a span.")
    if container is not None:
        yield from _part_errors(doc, at, container)
    if len(doc.parts) > MAX_PARTS:
        yield FieldError(f"{at}parts", f"A path has at most {MAX_PARTS} parts.")
        return
    for place, part in enumerate(doc.parts):
        yield from _path_errors(part, f"{at}parts.{place}.", doc)


def _head_errors(doc: PathDoc, at: str) -> Iterator[FieldError]:
    if not doc.goal.strip():
        yield FieldError(f"{at}goal", "Say what the path is for.")
    yield from _too_long(doc.goal, MAX_GOAL, f"{at}goal")
    yield from _too_long(doc.agent, MAX_SHORT, f"{at}agent")
    yield from _too_big(doc.env, f"{at}env")
    if not 0 <= doc.reward <= 1:
        yield FieldError(f"{at}reward", "A reward lies between 0 and 1.")
    elif doc.result == "template" and doc.reward:
        yield FieldError(f"{at}reward", "A template is worth 0: it is recalled only when nothing real is.")
    if len(doc.tags) > MAX_TAGS or len(set(doc.tags)) < len(doc.tags):
        yield FieldError(f"{at}tags", f"At most {MAX_TAGS} tags, each once.")
    for place, tag in enumerate(doc.tags):
        if not tag.strip() or len(tag) > MAX_TAG:
            yield FieldError(f"{at}tags.{place}", f"A tag has 1 to {MAX_TAG} characters.")


def _node_errors(doc: PathDoc, at: str) -> Iterator[FieldError]:
    if not 1 <= len(doc.nodes) <= MAX_NODES:
        yield FieldError(f"{at}nodes", f"A path has 1 to {MAX_NODES} nodes.")
    seen: set[str] = set()
    for place, node in enumerate(doc.nodes[:MAX_NODES]):
        here = f"{at}nodes.{place}."
        if not node.name.strip() or len(node.name) > MAX_NAME:
            yield FieldError(f"{here}name", f"A name has 1 to {MAX_NAME} characters.")
        elif node.name in seen:
            yield FieldError(f"{here}name", f"The name {node.name!r} is used twice.")
        seen.add(node.name)
        if node.kind == "action" and not (node.tool.strip() or node.content.strip()):
            yield FieldError(f"{here}tool", "An action needs a tool or a content.")
        if node.kind != "action" and not node.content.strip():
            yield FieldError(f"{here}content", f"Say what this {node.kind} is.")
        if node.kind != "action" and (node.tool or node.params):
            yield FieldError(f"{here}tool", "Only an action has a tool and params.")
        yield from _too_long(node.content, MAX_CONTENT, f"{here}content")
        yield from _too_long(node.tool, MAX_SHORT, f"{here}tool")
        yield from _bad_moment(node.occurred_at, f"{here}occurred_at")
        for name in ("params", "observation", "details"):
            yield from _too_big(getattr(node, name), f"{here}{name}")


def _edge_errors(doc: PathDoc, at: str) -> Iterator[FieldError]:
    if len(doc.edges) > MAX_EDGES:
        yield FieldError(f"{at}edges", f"A path has at most {MAX_EDGES} edges.")
        return
    names = {node.name for node in doc.nodes}
    seen: set[tuple[str, str, str]] = set()
    for place, edge in enumerate(doc.edges):
        here = f"{at}edges.{place}"
        for field, name in (("from", edge.source), ("to", edge.target)):
            if name not in names:
                yield FieldError(f"{here}.{field}", f"There is no node {name[:MAX_NAME]!r}.")
        if (edge.source, edge.target, edge.condition) in seen:
            yield FieldError(here, "The same edge with the same condition comes twice.")
        seen.add((edge.source, edge.target, edge.condition))
        yield from _too_long(edge.condition, MAX_CONDITION, f"{here}.condition")
        yield from _too_long(edge.label, MAX_LABEL, f"{here}.label")
    yield from _unreachable(doc, at)


def _unreachable(doc: PathDoc, at: str) -> Iterator[FieldError]:
    """Every node must be reachable from the first one."""
    following: dict[str, list[str]] = {}
    for edge in doc.edges:
        following.setdefault(edge.source, []).append(edge.target)
    reached = {doc.nodes[0].name} if doc.nodes else set()
    waiting = list(reached)
    while waiting:
        fresh = [name for name in following.get(waiting.pop(), []) if name not in reached]
        reached.update(fresh)
        waiting += fresh
    for place, node in enumerate(doc.nodes[:MAX_NODES]):
        if node.name not in reached:
            yield FieldError(f"{at}nodes.{place}", f"No edges lead from the first node to {node.name!r}.")


def _part_errors(part: PathDoc, at: str, container: PathDoc) -> Iterator[FieldError]:
    if PATH_LEVELS.index(part.level) <= PATH_LEVELS.index(container.level):
        yield FieldError(f"{at}level", f"A part of a {container.level} path is of a lower level.")
    if part.span is None:
        yield FieldError(f"{at}span", "Say which nodes of the path this part covers: [first, last], from 0.")
        return
    first, last = part.span
    if not 0 <= first <= last < len(container.nodes):
        yield FieldError(f"{at}span", f"The path has nodes 0 to {len(container.nodes) - 1}.")
        return
    if [node.name for node in part.nodes] != [node.name for node in container.nodes[first : last + 1]]:
        yield FieldError(f"{at}nodes", "A part has the nodes of its span, under the same names.")


def _too_long(text: str, size: int, at: str) -> Iterator[FieldError]:
    if len(text) > size:
        yield FieldError(at, f"At most {size:,} characters.")


def _bad_moment(value: datetime | None, at: str) -> Iterator[FieldError]:
    if value is not None and value.tzinfo is None:
        yield FieldError(at, "A time needs its time zone, such as Z.")
    elif value is not None and not 1 < value.year < MAXYEAR:  # in UTC it may lie outside of the calendar
        yield FieldError(at, f"Must lie between the years 2 and {MAXYEAR - 1}.")


def _too_big(value: Any, at: str) -> Iterator[FieldError]:
    if value and len(_encode(value)) > MAX_VALUE_BYTES:
        yield FieldError(at, f"At most {MAX_VALUE_BYTES:,} bytes as JSON.")
