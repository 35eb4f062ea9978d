"""Another document for a rewrite: kept beside the original, checked, and only from what was seen."""

from typing import Any

import pytest

from memory.actions.rewrites import (
    StaleRewriteError,
    approve_rewrite,
    edit_rewrite,
)
from memory.domain.lifecycle import TransitionError
from memory.domain.rewriting.proposal import InvalidRewriteError
from memory.models import AuditEvent
from memory.queries.path_documents import read_path
from tests.conftest import Cast
from tests.memory.rewrites import (
    NO_FUEL,
    make_failed_path,
    make_proposal,
)

pytestmark = pytest.mark.django_db


def test_edit__other_document__is_kept_beside_the_original_and_is_what_is_approved(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    proposal = make_proposal(path)
    proposal.refresh_from_db()
    original = proposal.proposal

    edited = edit_rewrite(
        proposal=proposal, document=NO_FUEL, revision=proposal.revision, by=cast.actor("reviewer")
    )
    new = approve_rewrite(proposal=edited, revision=edited.revision, by=cast.actor("reviewer"))

    assert (edited.proposal, edited.edited["reason"]) == (original, "There is fuel.")
    assert [node.tool for node in read_path(new).nodes] == ["start_engine"]
    assert AuditEvent.objects.get(verb="edit_rewrite").old["document"] == original


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"new_nodes": []}, "new_nodes", id="no nodes"),
        pytest.param({"new_nodes": ["moon"]}, "new_nodes.0", id="an unknown node"),
        pytest.param(
            {"new_edges": [{"from": "start", "to": "moon"}]}, "new_edges.0.to", id="an edge to nowhere"
        ),
        pytest.param({"reason": ""}, "reason", id="no reason"),
        pytest.param({"action": "delete_everything"}, "action", id="another action"),
        pytest.param({"surprise": 1}, "surprise", id="an unknown field"),
    ],
)
def test_edit__document_that_cannot_be_applied__is_refused_with_the_field(
    cast: Cast, change: dict[str, Any], field: str
) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace))

    with pytest.raises(InvalidRewriteError) as refused:
        edit_rewrite(
            proposal=proposal, document={**NO_FUEL, **change}, revision=proposal.revision,
            by=cast.actor("reviewer"),
        )  # fmt: skip
    assert field in refused.value.problems


def test_edit__stale_revision__is_refused(cast: Cast) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace))
    seen = proposal.revision
    edit_rewrite(proposal=proposal, document=NO_FUEL, revision=seen, by=cast.actor("reviewer"))

    with pytest.raises(StaleRewriteError, match=f"you have seen {seen}"):
        edit_rewrite(proposal=proposal, document=NO_FUEL, revision=seen, by=cast.actor("owner"))
    with pytest.raises(StaleRewriteError):
        approve_rewrite(proposal=proposal, revision=seen, by=cast.actor("owner"))


def test_edit__still_queued__waits(cast: Cast) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace), "queued")

    with pytest.raises(TransitionError, match="being drafted"):
        edit_rewrite(proposal=proposal, document=NO_FUEL, revision=1, by=cast.actor("reviewer"))
