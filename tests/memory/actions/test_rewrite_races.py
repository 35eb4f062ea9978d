"""Two people, or a person and a policy, at the same moment."""

import pytest

from memory.actions.rewrites import StaleRewriteError, approve_rewrite, edit_rewrite, reject_rewrite
from memory.background.drafting import draft_backlog
from memory.background.rewriting import Wish, want_rewrite
from memory.domain.lifecycle import TransitionError
from memory.models import Path, RewardChange, RewriteProposal
from memory.permissions import SYSTEM
from tests.builders import make_path
from tests.conftest import Cast
from tests.memory.rewrites import DRIVE, REFUEL, make_failed_path, make_proposal, make_success
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_approve__many_at_once__make_one_version(cast: Cast) -> None:
    path = make_failed_path(cast.workspace, reward=0.4)
    proposal = make_proposal(path)

    results = at_once(*[lambda: approve_rewrite(proposal=proposal, revision=1, by=SYSTEM)] * 4)

    assert sum(isinstance(result, Path) for result in results) == 1, results
    assert sum(isinstance(result, StaleRewriteError) for result in results) == 3, results
    assert sorted(path.lineage.versions.values_list("version", "status")) == [
        (1, "historical"),
        (2, "active"),
    ]
    assert RewardChange.objects.filter(path=path, cause="penalty").count() == 1


def test_approve__two_proposals_of_one_path_at_once__make_one_version(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    proposals = [make_proposal(path) for _ in range(3)]

    results = at_once(
        *(lambda row=row: approve_rewrite(proposal=row, by=SYSTEM) for row in proposals)  # type: ignore[misc]
    )

    assert sum(isinstance(result, Path) for result in results) == 1, results
    assert sum(isinstance(result, TransitionError) for result in results) == 2, results
    assert sorted(RewriteProposal.objects.values_list("status", flat=True)) == [
        "approved", "superseded", "superseded",
    ]  # fmt: skip


def test_approve__while_it_is_rejected_and_edited__one_decision_stands(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    proposal = make_proposal(path)
    document = {"new_nodes": ["start"], "reason": "x"}

    results = at_once(
        lambda: approve_rewrite(proposal=proposal, revision=1, by=SYSTEM),
        lambda: reject_rewrite(proposal=proposal, revision=1, reason="x", by=SYSTEM),
        lambda: edit_rewrite(proposal=proposal, revision=1, document=document, by=SYSTEM),
    )

    assert sum(isinstance(result, StaleRewriteError) for result in results) == 2, results
    proposal.refresh_from_db()
    assert proposal.revision == 2


def test_approve__two_that_carry_each_others_path__do_not_wait_for_each_other(cast: Cast) -> None:
    one = make_path(cast.workspace, "One", (REFUEL, DRIVE), result="failure", reward=0.0)
    other = make_path(cast.workspace, "Other", (REFUEL, DRIVE), result="failure", reward=0.0)
    document = {"new_nodes": ["drive"], "reason": "There is fuel."}
    proposals = []
    for path in (one, other):
        row = make_proposal(path, "needs_human")
        proposals.append(edit_rewrite(proposal=row, document=document, revision=row.revision, by=SYSTEM))

    results = at_once(
        lambda: approve_rewrite(proposal=proposals[0], carry=[other.uuid], by=SYSTEM),
        lambda: approve_rewrite(proposal=proposals[1], carry=[one.uuid], by=SYSTEM),
    )

    assert sum(isinstance(result, Path) for result in results) == 1, results
    assert {path.lineage.versions.filter(status="active").count() for path in (one, other)} == {1}
    assert {path.lineage.versions.get(status="active").version for path in (one, other)} == {2}


def test_want__the_same_wish_from_many_workers__is_one_row(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    wish = Wish(reason="It failed.", cause="task-1")

    results = at_once(*[lambda: want_rewrite(path, trigger="api", wish=wish)] * 4)

    assert len({result.pk for result in results}) == 1, results
    assert RewriteProposal.objects.count() == 1


def test_draft__many_workers__draft_each_row_once(cast: Cast) -> None:
    make_success(cast.workspace)
    for number in range(8):
        path = make_failed_path(cast.workspace, key=f"path:{number}")
        want_rewrite(path, trigger="reuse", wish=Wish(reason="It failed."))

    results = at_once(*[draft_backlog] * 3)

    assert sum(results) == 8, results
    assert set(RewriteProposal.objects.values_list("status", "attempt", "revision")) == {("proposed", 1, 2)}
