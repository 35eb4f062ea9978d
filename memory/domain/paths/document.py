"""The path document: one shape for the database, the API, an export, a rewrite and a drawing."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal, get_args

import msgspec

NodeKind = Literal["entity", "action", "decision", "event"]
PathResult = Literal["success", "failure", "retry", "pending", "template"]
PathStatus = Literal["active", "historical", "retired"]
PathLevel = Literal["task", "subtask", "tool"]
PathOrigin = Literal["run", "hand", "import", "rewrite", "template"]

NODE_KINDS: tuple[str, ...] = get_args(NodeKind)
PATH_RESULTS: tuple[str, ...] = get_args(PathResult)
PATH_STATUSES: tuple[str, ...] = get_args(PathStatus)
PATH_LEVELS: tuple[str, ...] = get_args(PathLevel)
PATH_ORIGINS: tuple[str, ...] = get_args(PathOrigin)

KEY_BYTES = 16


class NodeDoc(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One decision point of a path.

    ``name`` is what the edges call it, unique within the path. ``tool`` and ``params`` are set for an action;
    ``content`` is the sentence a person reads. ``observation`` is what came back (any JSON, capped),
    ``details`` what was folded into the node: attempts, errors, durations in ms, the ``seq`` of its calls.
    """

    name: str
    kind: NodeKind = "action"
    content: str = ""
    tool: str = ""
    params: dict[str, Any] = {}
    observation: Any = None
    occurred_at: datetime | None = None
    details: dict[str, Any] = {}


class EdgeDoc(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"source": "from", "target": "to"}
):
    """From one node of the path to another, by name. ``condition`` is when it is taken ("" for always)."""

    source: str
    target: str
    condition: str = ""
    label: str = ""


class PathDoc(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole path. The order of ``nodes`` and of ``edges`` means something and is kept.

    ``parts`` are the sub-paths of the next level down, in the order in which they were walked; ``span`` is
    the first and the last position of the containing path's nodes that this part covers. ``reward`` lies
    between 0 and 1. ``agent`` and ``tools`` are there to filter by; ``env`` says where it was walked.
    """

    goal: str
    nodes: tuple[NodeDoc, ...]
    edges: tuple[EdgeDoc, ...] = ()
    tags: tuple[str, ...] = ()
    result: PathResult = "pending"
    reward: float = 0.0
    level: PathLevel = "task"
    agent: str = ""
    env: dict[str, Any] = {}
    span: tuple[int, int] | None = None
    parts: tuple["PathDoc", ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of the path's actions, each once, in order of first use."""
        return tuple(dict.fromkeys(node.tool for node in self.nodes if node.tool))


_encode = msgspec.json.Encoder(order="deterministic").encode


def node_key(node: NodeDoc) -> str:
    """32 hex digits that name what the node *is*: kind, content, tool and params, not what was observed.

    Two paths that do the same thing share the node of this key.
    """
    encoded = _encode((node.kind, node.content, node.tool, node.params))
    return hashlib.blake2b(encoded, digest_size=KEY_BYTES).hexdigest()


def path_digest(doc: PathDoc) -> str:
    """32 hex digits that name what was done: goal, tags, level, nodes, edges and parts.

    Not what was observed, nor how it ended: two walks of the same way have the same digest.
    """
    return hashlib.blake2b(_encode(_done(doc)), digest_size=KEY_BYTES).hexdigest()


def _done(doc: PathDoc) -> list[Any]:
    nodes = [(node.name, node_key(node)) for node in doc.nodes]
    return [doc.goal, doc.tags, doc.level, doc.span, nodes, doc.edges, [_done(part) for part in doc.parts]]


def chain(names: Sequence[str]) -> tuple[EdgeDoc, ...]:
    """Edges that lead from each name to the next, always."""
    return tuple(EdgeDoc(source=one, target=other) for one, other in pairwise(names))
