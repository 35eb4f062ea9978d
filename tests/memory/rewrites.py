"""Builders of rewrites: a path that failed, what is known of such failures, and proposals in every status."""

from typing import Any

from memory.background.rewriting import Wish, want_rewrite
from memory.domain.paths.document import EdgeDoc, NodeDoc, chain
from memory.domain.rewriting.proposal import Rewrite, write_rewrite
from memory.models import Path, RewriteProposal, Workspace
from memory.queries.path_documents import read_path
from tests.builders import make_path

GOAL = "Start the car"
OPEN = "the door is open"
LOCK = NodeDoc(name="lock", tool="lock_doors", params={"unlock": False})
START = NodeDoc(name="start", tool="start_engine", params={"mode": "START"})
DRIVE = NodeDoc(name="drive", tool="drive", params={"to": "home"})
REFUEL = NodeDoc(name="refuel", tool="refuel", params={"litres": 20})
NO_FUEL = {"action": "create_rewrite", "new_nodes": ["start"], "reason": "There is fuel.", "new_edges": [],
           "new_tags": [], "keep_old": True}  # fmt: skip


def failed_nodes(*before: NodeDoc) -> tuple[NodeDoc, ...]:
    """The steps, a start that failed, its event, and the agent's decision to stop."""
    event = NodeDoc(
        name="error", kind="event", content=f"start_engine failed: {OPEN}", observation=OPEN,
        details={"error_type": "DoorError"},
    )  # fmt: skip
    return (*before, START, event, NodeDoc(name="stop", kind="decision", content="Stop"))


def failed_edges(nodes: tuple[NodeDoc, ...]) -> tuple[EdgeDoc, ...]:
    """In order; the edge to the event says under which condition."""
    return tuple(
        EdgeDoc(source=edge.source, target=edge.target, condition=f"error: {OPEN}", label="failed")
        if edge.target == "error"
        else edge
        for edge in chain([node.name for node in nodes])
    )


def make_failed_path(workspace: Workspace, *before: NodeDoc, goal: str = GOAL, **fields: Any) -> Path:
    """A whole active path that ended with a failing start."""
    nodes = failed_nodes(*(before or (REFUEL,)))
    given = {"result": "failure", "reward": 0.0, **fields}
    return make_path(workspace, goal, nodes, edges=failed_edges(nodes), **given)


def make_success(workspace: Workspace, goal: str = GOAL, **fields: Any) -> Path:
    """A path on which the doors were locked first."""
    return make_path(workspace, goal, (REFUEL, LOCK, START, DRIVE), **fields)


def better(path: Path, **fields: Any) -> dict[str, Any]:
    """A rewrite of a failed path: the doors are locked first."""
    names = [node.name for node in read_path(path).nodes if node.name not in ("error", "stop", "start")]
    given = {"new_nodes": (*names, LOCK, "start"), "reason": "Lock the doors first.", **fields}
    return write_rewrite(Rewrite(**given))


def make_proposal(path: Path, status: str = "proposed", **fields: Any) -> RewriteProposal:
    """A proposal of that status; one that is proposed locks the doors first."""
    wish = Wish(reason="It failed.", cause=f"made-{RewriteProposal.objects.count()}")
    proposal = want_rewrite(path, trigger="api", wish=wish)
    assert proposal is not None
    if status not in ("queued", "needs_human", "given_up"):
        fields = {"proposal": better(path), "rewriter": "align", **fields}
    for name, value in {"status": status, **fields}.items():
        setattr(proposal, name, value)
    proposal.save()
    return proposal
