"""Builders of experience documents."""

from itertools import count
from typing import Any

from memory.actions.record import ItemResult, record_experience
from memory.domain.paths.document import NodeDoc, node_key
from memory.models import Alert, Node, Path, RewriteProposal, Workspace
from memory.permissions import SYSTEM
from tests.builders import NOW, make_path


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


_numbers = count(1)


def make_rewrite(workspace: Workspace, path: Path | None = None, **fields: Any) -> RewriteProposal:
    """A proposal to check before the second step, ready to be decided."""
    base = path or make_path(workspace, nodes=["find", "book"], result="failure", reward=0.0)
    names = [step.name for step in base.steps.order_by("position")]
    check = {"name": "check", "kind": "action", "tool": "check", "content": "Check the price first"}
    document = {
        "action": "create_rewrite", "new_nodes": [names[0], check, *names[1:]], "new_edges": [],
        "new_tags": [], "reason": "The price was never checked.", "keep_old": True,
    }  # fmt: skip
    given = {
        "trigger": "person", "status": "proposed", "proposal": document, "rewriter": "align",
        "request": {"reason": "It failed again."}, "requested_by": "reviewer", "requested_at": NOW, **fields,
    }  # fmt: skip
    return RewriteProposal.objects.create(
        workspace=workspace, lineage=base.lineage, path=base, dedupe=f"made-{next(_numbers)}", **given
    )


def make_alert(workspace: Workspace, path: Path | None = None, **fields: Any) -> Alert:
    """An open storm alert of a paused lineage."""
    lineage = (path or make_path(workspace)).lineage
    lineage.automatic_paused_at, lineage.pause_reason = NOW, "3 new versions in 24 hours."
    lineage.save()
    signals = [
        {"name": "versions", "value": 3.0, "limit": 3.0, "is_storm": True, "said": "3 new versions."},
        {"name": "nodes", "value": 1.0, "limit": 10.0, "is_storm": False, "said": "1 node more."},
    ]
    given = {
        "kind": "rewrite_storm", "title": f"Rewrites of {lineage.key} do not get anywhere",
        "detail": {"is_storm": True, "said": "3 new versions.", "signals": signals}, "lineage": lineage,
        "raised_at": NOW, **fields,
    }  # fmt: skip
    return Alert.objects.create(workspace=workspace, dedupe=f"made-{next(_numbers)}", **given)
