"""Nodes: what paths share. Found or made by key, many at once."""

from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from memory.domain.paths.document import NodeDoc, node_key
from memory.models import Node
from memory.writer.prepare import as_json
from memory.writer.tables import Table, identifier, moment

NODES = Table(
    Node,
    ("uuid", "workspace", "key", "kind", "content", "tool", "params", "observation", "occurred_at",
     "merged_into", "created_at"),
)  # fmt: skip
BATCH = 300


def node_ids(workspace_id: int, nodes: Iterable[NodeDoc], now: datetime) -> dict[int, int]:
    """``id(node)`` -> the id of its row. Missing rows are made, in one order for every writer."""
    kept = list(nodes)
    keys = {id(node): node_key(node) for node in kept}
    first: dict[str, NodeDoc] = {}
    for node in kept:
        first.setdefault(keys[id(node)], node)
    wanted = sorted(first)
    rows: dict[str, int] = {}
    for start in range(0, len(wanted), BATCH):
        some = wanted[start : start + BATCH]
        there = dict(Node.objects.filter(workspace=workspace_id, key__in=some).values_list("key", "pk"))
        missing = [key for key in some if key not in there]
        there |= _make(workspace_id, {key: first[key] for key in missing}, now)
        rows |= there
    return {place: rows[key] for place, key in keys.items()}


def _make(workspace_id: int, nodes: dict[str, NodeDoc], now: datetime) -> dict[str, int]:
    """The new rows, and those that another writer made meanwhile."""
    rows = [
        (
            identifier(uuid4()), workspace_id, key, node.kind, node.content, node.tool, as_json(node.params),
            None if node.observation is None else as_json(node.observation), moment(node.occurred_at), None,
            moment(now),
        )
        for key, node in nodes.items()
    ]  # fmt: skip
    made = NODES.append_returning(rows, unique="workspace_id, key", key="key") if rows else {}
    late = [key for key in nodes if key not in made]
    if late:
        made |= dict(Node.objects.filter(workspace=workspace_id, key__in=late).values_list("key", "pk"))
    return made
