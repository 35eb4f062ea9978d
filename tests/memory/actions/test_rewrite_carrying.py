"""Approving a rewrite of nodes that other paths, or parts, have too."""

from uuid import uuid4

import pytest

from memory.actions.paths import roll_back_path
from memory.actions.rewrites import (
    UnknownCarryError,
    approve_rewrite,
    edit_rewrite,
)
from memory.domain.paths.document import node_key
from memory.models import AuditEvent, Node, Path
from memory.queries.path_documents import read_path
from tests.builders import make_doc, make_path
from tests.conftest import Cast
from tests.memory.rewrites import DRIVE, LOCK, NO_FUEL, REFUEL, make_failed_path, make_proposal

pytestmark = pytest.mark.django_db


def test_carry__chosen_paths__get_the_same_change_and_the_others_stay(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    chosen = make_path(cast.workspace, "Go shopping", (REFUEL, DRIVE), reward=0.9)
    left = make_path(cast.workspace, "Go home", (REFUEL, DRIVE))
    proposal = make_proposal(path, "needs_human")
    proposal = edit_rewrite(
        proposal=proposal, document=NO_FUEL, revision=proposal.revision, by=cast.actor("reviewer")
    )
    assert {row["uuid"] for row in proposal.touched[0]["paths"]} == {str(chosen.uuid), str(left.uuid)}

    approve_rewrite(proposal=proposal, carry=[chosen.uuid], by=cast.actor("reviewer"))

    carried = chosen.lineage.versions.get(status="active")
    assert [node.tool for node in read_path(carried).nodes] == ["drive"]
    assert (carried.version, carried.parent, carried.result, carried.origin) == (
        2,
        chosen,
        "pending",
        "rewrite",
    )
    chosen.refresh_from_db()
    left.refresh_from_db()
    assert (chosen.status, chosen.reward) == ("historical", 0.9)
    assert left.status == "active"
    assert AuditEvent.objects.get(verb="approve_rewrite").new["carried"] == [carried.key]


def test_carry__node_that_people_merged__counts_as_the_same(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    other = make_path(cast.workspace, "Go shopping", ("tank_up", "drive"))
    home = Node.objects.get(workspace=cast.workspace, key=node_key(REFUEL))
    Node.objects.filter(tool="tank_up").update(merged_into=home)
    proposal = make_proposal(path, "needs_human")
    proposal = edit_rewrite(
        proposal=proposal, document=NO_FUEL, revision=proposal.revision, by=cast.actor("reviewer")
    )

    approve_rewrite(proposal=proposal, carry=[other.uuid], by=cast.actor("reviewer"))

    carried = other.lineage.versions.get(status="active")
    assert [node.tool for node in read_path(carried).nodes] == ["drive"]


@pytest.mark.parametrize("case", ["unknown", "untouched", "changed"])
def test_carry__path_that_is_not_touched__is_refused_and_nothing_happens(cast: Cast, case: str) -> None:
    path = make_failed_path(cast.workspace)
    touched = make_path(cast.workspace, "Go shopping", (REFUEL, DRIVE))
    untouched = make_path(cast.workspace, "Go home", (DRIVE,))
    proposal = make_proposal(path, "needs_human")
    proposal = edit_rewrite(
        proposal=proposal, document=NO_FUEL, revision=proposal.revision, by=cast.actor("reviewer")
    )
    if case == "changed":
        Path.objects.filter(pk=touched.pk).update(status="retired")
    uuid = {"unknown": uuid4(), "untouched": untouched.uuid, "changed": touched.uuid}[case]

    with pytest.raises(UnknownCarryError, match=str(uuid)):
        approve_rewrite(proposal=proposal, carry=[uuid], by=cast.actor("reviewer"))
    path.refresh_from_db()
    assert path.status == "active"


def test_approve__path_with_parts__keeps_those_that_stay_whole(cast: Cast) -> None:
    part = make_doc("Prepare", (REFUEL, DRIVE), level="subtask", span=(0, 1))
    path = make_path(cast.workspace, "Go", (REFUEL, DRIVE, LOCK), result="failure", reward=0.0, parts=(part,))
    document = {"new_nodes": ["refuel", "drive"], "reason": "No lock."}
    proposal = make_proposal(path, "needs_human")
    proposal = edit_rewrite(proposal=proposal, document=document, revision=1, by=cast.actor("reviewer"))

    new = approve_rewrite(proposal=proposal, by=cast.actor("reviewer"))

    piece = new.parts.get()
    assert (piece.goal, piece.status, piece.version) == ("Prepare", "active", 2)
    assert path.parts.get().status == "historical"
    roll_back_path(path=path, by=cast.actor("maintainer"))
    assert (path.parts.get().status, new.parts.get().status) == ("active", "historical")
