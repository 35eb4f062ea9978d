"""From recorded runs to a proposed rewrite, with nothing but the product's own steps."""

from typing import Any

import pytest

from memory.background.analyse import analyse_backlog
from memory.background.drafting import draft_backlog
from memory.background.paths import build_backlog
from memory.background.rewriting import Wish, want_rewrite
from memory.domain.rewriting.proposal import apply, read_rewrite
from memory.models import Failure, Path
from memory.queries.path_documents import read_path
from tests.conftest import Cast
from tests.memory.builders import make_document, record

pytestmark = pytest.mark.django_db
DOOR = {"type": "DoorError", "message": "door of car 17 is open"}


def run(name: str, *tools: str, result: str, car: int, goal: str = "") -> dict[str, Any]:
    """A run; a tool with a bang fails."""
    calls = [
        {"tool": tool.rstrip("!"), "input": {"car": car}}
        | ({"status": "error", "error": DOOR} if tool.endswith("!") else {"status": "ok", "output": "done"})
        for tool in tools
    ]
    return make_document(
        name, goal=goal or f"Drive car {car} home", calls=calls, outcome={"result": result}, final=True
    )


def test_rewrite__what_helped_in_other_runs__is_proposed_for_the_one_that_failed(cast: Cast) -> None:
    detours = [
        run(f"good-{car}", "refuel", "start!", "lock", "start", "drive", result="success", car=car)
        for car in range(1, 5)
    ]
    record(cast.workspace, *detours, run("bad", "refuel", "start!", result="failure", car=9))
    analyse_backlog()
    build_backlog()
    path = Path.objects.get(lineage__key="task:bad")
    failure = Failure.objects.filter(task__external_id="bad", call__isnull=False).get()

    proposal = want_rewrite(path, trigger="reuse", wish=Wish(reason="It failed."), failure=failure)
    draft_backlog()

    assert proposal is not None
    proposal.refresh_from_db()
    assert proposal.status == "proposed", proposal.last_error
    new = apply(read_path(path), read_rewrite(proposal.proposal))
    assert [(node.tool, node.params) for node in new.nodes] == [
        ("refuel", {"car": 9}), ("lock", {"car": 9}), ("start", {"car": 9}),
    ]  # fmt: skip


def test_rewrite__nothing_like_it_was_ever_seen__is_given_up(cast: Cast) -> None:
    record(cast.workspace, run("bad", "refuel", "start!", result="failure", car=9))
    analyse_backlog()
    build_backlog()
    path = Path.objects.get(lineage__key="task:bad")
    cast.workspace.settings = {"paths": {"rewriters": ["align"]}}
    cast.workspace.save()

    proposal = want_rewrite(path, trigger="reuse", wish=Wish(reason="It failed."))
    draft_backlog()

    assert proposal is not None
    proposal.refresh_from_db()
    assert (proposal.status, proposal.last_error) == (
        "given_up", "align: nothing that is known would help.",
    )  # fmt: skip


def test_rewrite__failure_of_a_known_kind__gets_the_standard_repair(cast: Cast) -> None:
    slow = {"tool": "search", "input": {"q": 1}, "status": "error", "error": {"message": "Request timed out"}}
    record(cast.workspace, make_document("slow", calls=[slow], outcome={"result": "failure"}, final=True))
    analyse_backlog()
    build_backlog()
    path = Path.objects.get(lineage__key="task:slow")

    proposal = want_rewrite(path, trigger="located", wish=Wish(reason="It failed."))
    draft_backlog()

    assert proposal is not None
    proposal.refresh_from_db()
    assert (proposal.status, proposal.rewriter) == ("proposed", "template"), proposal.last_error
    new = apply(read_path(path), read_rewrite(proposal.proposal))
    assert [node.tool for node in new.nodes if node.tool] == ["search", "search"]
