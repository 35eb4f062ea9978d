"""The rewrite document: what every rewriter answers, how it is checked, what it makes of the old path."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from memory.domain.intake import field_error
from memory.domain.paths.checking import MAX_LABEL
from memory.domain.paths.checking import MAX_NAME as MAX_NODE_NAME
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain

MAX_NODES = 500
MAX_EDGES = 2_000
MAX_TAGS = 50
MAX_NAME = 200
MAX_TEXT = 20_000
PENDING_REWARD = 0.1


class InvalidRewriteError(ValueError):
    """A rewrite that cannot be applied. ``problems`` maps field paths
    (``new_nodes.3.name``) to sentences."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.problems = dict(problems)
        super().__init__("; ".join(f"{field}: {said}" for field, said in self.problems.items()))


class Rewrite(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposed next version of a path.

    A bare name in ``new_nodes`` is the old path's node of that name; a document under an old name takes that
    node's place. Without ``new_edges`` the nodes are walked in order; empty ``new_tags`` keep the old tags.
    """

    new_nodes: tuple[str | NodeDoc, ...]
    reason: str
    new_edges: tuple[EdgeDoc, ...] = ()
    new_tags: tuple[str, ...] = ()
    keep_old: bool = True
    action: Literal["create_rewrite"] = "create_rewrite"


def read_rewrite(document: Mapping[str, Any]) -> Rewrite:
    """The rewrite that a JSON document says.

    Raises InvalidRewriteError for a document of another shape.
    """
    try:
        return msgspec.convert(document, Rewrite)
    except msgspec.ValidationError as error:
        fault = field_error(error)
        raise InvalidRewriteError({fault.field or "rewrite": fault.detail}) from error


def write_rewrite(rewrite: Rewrite) -> dict[str, Any]:
    """The rewrite as JSON values: all six fields of the document, ``action`` first."""
    fields: dict[str, Any] = msgspec.to_builtins(rewrite)
    order = ("action", "new_nodes", "new_edges", "new_tags", "reason", "keep_old")
    return {name: fields[name] for name in order}


def validate(old: PathDoc, rewrite: Rewrite) -> None:
    """Check that ``rewrite`` can be applied to ``old``.

    Raises InvalidRewriteError that names every field that is wrong.
    """
    problems: dict[str, str] = {}
    for field, said in _problems(old, rewrite):
        problems.setdefault(field, said)
    if problems:
        raise InvalidRewriteError(problems)


def apply(old: PathDoc, rewrite: Rewrite) -> PathDoc:
    """The path that ``rewrite`` makes of ``old``: same goal, result pending, reward 0.1, no sub-paths.

    Raises InvalidRewriteError.
    """
    validate(old, rewrite)
    known = {node.name: node for node in old.nodes}
    nodes = tuple(known[node] if isinstance(node, str) else node for node in rewrite.new_nodes)
    return PathDoc(
        goal=old.goal,
        nodes=nodes,
        edges=rewrite.new_edges or chain([node.name for node in nodes]),
        tags=rewrite.new_tags or old.tags,
        result="pending",
        reward=PENDING_REWARD,
        level=old.level,
        agent=old.agent,
        env=old.env,
    )


def _problems(old: PathDoc, rewrite: Rewrite) -> Iterator[tuple[str, str]]:
    if not rewrite.new_nodes:
        yield "new_nodes", "A path needs at least one node."
    if len(rewrite.new_nodes) > MAX_NODES:
        yield "new_nodes", f"A path has at most {MAX_NODES} nodes."
    if not rewrite.reason.strip():
        yield "reason", "Say why the path should change."
    if len(rewrite.reason) > MAX_TEXT:
        yield "reason", f"At most {MAX_TEXT:,} characters."
    if len(rewrite.new_tags) > MAX_TAGS or any(
        not tag.strip() or len(tag) > MAX_NAME for tag in rewrite.new_tags
    ):
        yield "new_tags", f"At most {MAX_TAGS} tags of 1 to {MAX_NAME} characters."
    yield from _node_problems(old, rewrite.new_nodes)
    yield from _edge_problems(rewrite)


def _node_problems(old: PathDoc, nodes: Sequence[str | NodeDoc]) -> Iterator[tuple[str, str]]:
    known = {node.name for node in old.nodes}
    seen: set[str] = set()
    for place, node in enumerate(nodes):
        name = _name(node)
        if isinstance(node, str) and name not in known:
            said = f"The old path has no node {name[:MAX_NAME]!r}; describe the new one."
            yield f"new_nodes.{place}", said
        elif not name.strip() or len(name) > MAX_NODE_NAME:
            yield f"new_nodes.{place}.name", f"A name has 1 to {MAX_NODE_NAME} characters."
        elif name in seen:
            yield f"new_nodes.{place}.name", f"The name {name!r} is used twice."
        if isinstance(node, NodeDoc):
            yield from _text_problems(place, node)
        seen.add(name)


def _text_problems(place: int, node: NodeDoc) -> Iterator[tuple[str, str]]:
    if not (node.content.strip() or node.tool.strip()):
        yield f"new_nodes.{place}.content", "A node needs a content or a tool."
    if len(node.content) > MAX_TEXT:
        yield f"new_nodes.{place}.content", f"At most {MAX_TEXT:,} characters."
    if len(node.tool) > MAX_NAME:
        yield f"new_nodes.{place}.tool", f"At most {MAX_NAME} characters."


def _edge_problems(rewrite: Rewrite) -> Iterator[tuple[str, str]]:
    names = {_name(node) for node in rewrite.new_nodes}
    seen: set[tuple[str, str, str]] = set()
    if len(rewrite.new_edges) > MAX_EDGES:
        yield "new_edges", f"A path has at most {MAX_EDGES:,} edges."
    for place, edge in enumerate(rewrite.new_edges[:MAX_EDGES]):
        for end, name in (("from", edge.source), ("to", edge.target)):
            if name not in names:
                yield f"new_edges.{place}.{end}", f"There is no new node {name[:MAX_NAME]!r}."
        if len(edge.label) > MAX_LABEL:
            yield f"new_edges.{place}.label", f"At most {MAX_LABEL} characters."
        said = (edge.source, edge.target, edge.condition)
        if said in seen:
            yield f"new_edges.{place}", "The same edge is given twice."
        seen.add(said)
    if rewrite.new_edges and len(names) > 1:
        joined = {name for edge in rewrite.new_edges for name in (edge.source, edge.target)}
        for place, node in enumerate(rewrite.new_nodes):
            if _name(node) not in joined:
                yield f"new_nodes.{place}", f"No edge leads to or from {_name(node)[:MAX_NAME]!r}."


def _name(node: str | NodeDoc) -> str:
    return node if isinstance(node, str) else node.name
