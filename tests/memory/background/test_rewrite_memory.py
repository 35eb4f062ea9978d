"""What a rewriter is shown of other paths."""

from typing import Any

import pytest

from memory.domain.paths.document import NodeDoc
from memory.domain.rewriting.proposal import apply, read_rewrite
from memory.models import Path, Workspace
from memory.queries import rewrite_memory
from memory.queries.path_documents import read_path
from memory.queries.rewrite_memory import load_memory
from tests.builders import make_path
from tests.memory.background.drafts import LOCKED, Scripted, drafted, wanted
from tests.memory.rewrites import DRIVE, REFUEL, START, make_failed_path, make_success

pytestmark = pytest.mark.django_db


def test_draft__success_of_the_same_goal__is_aligned_with(workspace: Workspace) -> None:
    make_success(workspace)
    path = make_failed_path(workspace)

    proposal = drafted(wanted(path))

    assert (proposal.status, proposal.rewriter) == ("proposed", "align"), proposal.last_error
    assert proposal.proposal["action"] == "create_rewrite"
    new = apply(read_path(path), read_rewrite(proposal.proposal))
    assert [node.tool for node in new.nodes] == ["refuel", "lock_doors", "start_engine"]
    assert "lock_doors" in proposal.proposal["reason"]
    assert proposal.guard["passed"] is True


def test_draft__repairs_of_other_goals__are_learnt_from(workspace: Workspace) -> None:
    for number in range(3):
        make_failed_path(workspace, goal=f"Drive to town {number}", key=f"task:run-{number}")
        make_success(workspace, goal=f"Drive to town {number}", key=f"success:run-{number}")

    proposal = drafted(wanted(make_failed_path(workspace, goal="Go shopping")))

    assert proposal.status == "proposed", proposal.last_error
    assert "lock_doors" in str(proposal.proposal["new_nodes"])


def test_draft__other_environments__teach_nothing_where_the_own_one_does(workspace: Workspace) -> None:
    make_success(workspace, "Elsewhere", env={"domain": "boats"})
    make_success(workspace, "Here", env={"domain": "cars"})
    path = make_failed_path(workspace, env={"domain": "cars"})
    stranger = make_failed_path(workspace, env={"domain": "planes"})

    def goals(of: Path) -> list[str]:
        return sorted(row.goal for row in load_memory(of, "start_engine").successes)

    assert goals(path) == ["Here"]
    assert goals(stranger) == ["Elsewhere", "Here"]


def test_memory__more_successes_of_a_failed_goal_than_are_read__the_best_one_is_the_repair(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewrite_memory, "WALKS", 1)
    for reward in (0.9, 0.1, 0.2, 0.3, 0.4):
        nodes = (REFUEL, NodeDoc(name="first", tool=f"worth_{reward}"), START, DRIVE)
        make_path(workspace, "Wake the car", nodes, reward=reward)
    make_failed_path(workspace, goal="Wake the car")

    memory = load_memory(make_failed_path(workspace), "start_engine")

    assert [[node.tool for node in repair.fixed.nodes][1] for repair in memory.repairs] == ["worth_0.9"]


def test_draft__nearby_goals__are_shown_before_what_only_calls_the_same_tool(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    rewriter = Scripted(LOCKED)
    rewriters.append(("align", rewriter))
    make_path(workspace, "Start the car in the morning", (DRIVE,))
    make_success(workspace, "Bake bread")

    drafted(wanted(make_failed_path(workspace)))

    assert [path.goal for path in rewriter.asked[0].memory.successes] == [
        "Start the car in the morning",
        "Bake bread",
    ]
