"""Builders of experience documents."""

from typing import Any

from memory.actions.record import ItemResult, record_experience
from memory.domain.paths.document import NodeDoc, node_key
from memory.models import Node, Workspace
from memory.permissions import SYSTEM
from tests.builders import NOW


def make_document(external_id: str = "t1", **fields: Any) -> dict[str, Any]:
    """A task with one good and one failed call."""
    calls = [
        {"tool": "search", "input": {"q": "flights"}, "output": [1, 2], "status": "ok", "duration_ms": 12.5},
        {"tool": "book", "input": {"id": 7}, "status": "error", "error": {"message": "No seat", "type": "E"}},
    ]
    return {"external_id": external_id, "goal": "Book a flight", "calls": calls, **fields}


def record(workspace: Workspace, *documents: dict[str, Any]) -> list[ItemResult]:
    """Record the documents as the system."""
    return record_experience(workspace_id=workspace.pk, documents=documents, by=SYSTEM)


def make_node(workspace: Workspace, content: str = "Check the order", **fields: Any) -> Node:
    """A node that stands alone."""
    given = {"kind": "action", "tool": "", "params": {}, **fields}
    key = node_key(NodeDoc(name="n", content=content, **{n: given[n] for n in ("kind", "tool", "params")}))
    return Node.objects.create(workspace=workspace, key=key, content=content, created_at=NOW, **given)
