"""Deciding on rewrites: who may, what it does, and that it happens once."""

from typing import Any

import pytest
from django.utils import timezone

from memory.actions.alerts import close_alert, pause_rewriting, resume_rewriting
from memory.actions.rewrites import (
    NotRewritableError,
    ReasonMissingError,
    StaleRewriteError,
    approve_rewrite,
    edit_rewrite,
    reject_rewrite,
    request_rewrite,
    retry_rewrite,
    set_rewrite_policy,
)
from memory.background.drafting import draft_backlog
from memory.domain.access import Actor, NotPermitted, Scope
from memory.domain.lifecycle import TransitionError
from memory.domain.rewriting.policy import InvalidPolicyError
from memory.models import Alert, AuditEvent, Path, RewardChange
from memory.queries.path_documents import read_path
from memory.writer.paths import NewPath, add_version
from tests.builders import make_doc, make_path
from tests.conftest import Cast
from tests.memory.rewrites import (
    NO_FUEL,
    better,
    make_failed_path,
    make_proposal,
    make_success,
)

pytestmark = pytest.mark.django_db


def key(cast: Cast, *scopes: Scope) -> Actor:
    return Actor(kind="key", name="agent", workspace_id=cast.workspace.pk, scopes=frozenset(scopes))


def test_approve__proposal__makes_the_next_version_and_lowers_the_old_ones_reward(cast: Cast) -> None:
    path = make_failed_path(cast.workspace, reward=0.3)
    proposal = make_proposal(path)

    new = approve_rewrite(
        proposal=proposal, revision=proposal.revision, by=cast.actor("reviewer"), reason="Yes."
    )

    path.refresh_from_db()
    proposal.refresh_from_db()
    path.lineage.refresh_from_db()
    assert (new.version, new.parent, new.status, new.origin) == (2, path, "active", "rewrite")
    assert (new.result, new.reward, new.rewrite_count, new.goal) == ("pending", 0.1, 1, path.goal)
    assert [node.tool for node in read_path(new).nodes] == ["refuel", "lock_doors", "start_engine"]
    assert (path.status, path.reward, path.result) == ("historical", 0.0, "failure")
    change = RewardChange.objects.get(path=path)
    assert (change.old, change.new, change.cause) == (0.3, 0.0, "penalty")
    assert (proposal.status, proposal.new_path, proposal.decided_by) == ("approved", new, "reviewer")
    assert path.lineage.fruitless_rewrites == 1
    event = AuditEvent.objects.get(verb="approve_rewrite")
    assert (event.actor_name, event.reason, event.old["version"], event.new["version"]) == (
        "reviewer",
        "Yes.",
        1,
        2,
    )


def test_approve__old_version_is_not_worth_keeping__is_retired(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    proposal = make_proposal(path, proposal=better(path, keep_old=False))

    approve_rewrite(proposal=proposal, by=cast.actor("reviewer"))

    path.refresh_from_db()
    assert path.status == "retired"


def test_approve__other_proposals_of_the_lineage__are_superseded(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    proposal, other, given_up = make_proposal(path), make_proposal(path), make_proposal(path, "given_up")
    done = make_proposal(path, "rejected")

    approve_rewrite(proposal=proposal, by=cast.actor("reviewer"))

    for row in (other, given_up, done):
        row.refresh_from_db()
    assert (other.status, given_up.status, done.status) == ("superseded", "superseded", "rejected")
    assert "version 2" in other.decision_reason


def test_approve__twice__is_refused_with_the_status(cast: Cast) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace))
    approve_rewrite(proposal=proposal, by=cast.actor("reviewer"))

    with pytest.raises(TransitionError, match="this is approved"):
        approve_rewrite(proposal=proposal, by=cast.actor("reviewer"))
    with pytest.raises(StaleRewriteError, match="approved, decided by reviewer"):
        approve_rewrite(proposal=proposal, revision=proposal.revision, by=cast.actor("owner"))
    assert Path.objects.exclude(origin="template").count() == 2


def test_approve__base_version_changed_meanwhile__says_what_is_active(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    proposal = make_proposal(path)
    new = NewPath(doc=make_doc("by hand"), origin="hand")
    add_version(lineage=path.lineage, new=new, now=timezone.now(), base=path)

    with pytest.raises(StaleRewriteError, match=r"version 2 is the active one now.*about path:made"):
        approve_rewrite(proposal=proposal, by=cast.actor("reviewer"))
    proposal.refresh_from_db()
    assert proposal.status == "proposed"


@pytest.mark.parametrize("status", ["queued", "needs_human", "given_up", "rejected", "superseded"])
def test_approve__nothing_proposed__is_refused(cast: Cast, status: str) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace), status)

    with pytest.raises(TransitionError, match=f"this is {status}"):
        approve_rewrite(proposal=proposal, by=cast.actor("reviewer"))


def test_reject__without_a_reason__is_refused(cast: Cast) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace))

    with pytest.raises(ReasonMissingError, match="Say why"):
        reject_rewrite(proposal=proposal, reason="  ", by=cast.actor("reviewer"))
    rejected = reject_rewrite(proposal=proposal, reason="Doors are fine.", by=cast.actor("reviewer"))

    assert (rejected.status, rejected.decision_reason, rejected.decided_by) == (
        "rejected", "Doors are fine.", "reviewer",
    )  # fmt: skip
    with pytest.raises(TransitionError):
        reject_rewrite(proposal=proposal, reason="Again.", by=cast.actor("reviewer"))


def test_retry__handed_over__is_drafted_although_the_guard_refused(cast: Cast) -> None:
    make_success(cast.workspace)
    path = make_failed_path(cast.workspace, reward=0.9)
    proposal = make_proposal(path, "queued")
    draft_backlog()
    proposal.refresh_from_db()
    assert proposal.status == "needs_human"

    retry_rewrite(proposal=proposal, by=cast.actor("reviewer"))
    draft_backlog()

    proposal.refresh_from_db()
    assert (proposal.status, proposal.request["overruled_by"]) == ("proposed", "reviewer")
    assert proposal.guard["said"].startswith("reviewer asked for it although")


def test_request__member_and_key__are_told_apart(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)

    asked = request_rewrite(path=path, reason="Do it.", by=cast.actor("reviewer"), rewriter="align")
    other = request_rewrite(path=path, reason="Do it.", by=key(cast, Scope.EXPERIENCE_WRITE), new_goal="Fly")

    assert (asked.trigger, asked.request["overruled_by"], asked.requested_by) == (
        "person",
        "reviewer",
        "reviewer",
    )
    assert (other.trigger, other.request["overruled_by"], other.request["new_goal"]) == ("api", "", "Fly")
    assert AuditEvent.objects.filter(verb="request_rewrite").count() == 2


def test_request__nothing_to_rewrite__says_why(cast: Cast) -> None:
    path = make_failed_path(cast.workspace)
    by = cast.actor("reviewer")
    with pytest.raises(ReasonMissingError):
        request_rewrite(path=path, reason="", by=by)
    with pytest.raises(ValueError, match="no rewriter 'gpt'"):
        request_rewrite(path=path, reason="x", rewriter="gpt", by=by)
    with pytest.raises(NotRewritableError, match="template"):
        request_rewrite(path=make_path(cast.workspace, result="template"), reason="x", by=by)
    approve_rewrite(proposal=make_proposal(path), by=by)
    path.refresh_from_db()
    with pytest.raises(NotRewritableError, match="version 1, which is historical"):
        request_rewrite(path=path, reason="x", by=by)


def calls(cast: Cast, by: Actor) -> dict[str, Any]:
    """Every action on one proposal, by name."""
    path = make_failed_path(cast.workspace)
    proposal = make_proposal(path)
    alert = Alert.objects.create(
        workspace=cast.workspace, kind="rewrite_storm", dedupe="x", title="x", raised_at=timezone.now(),
        lineage=path.lineage,
    )  # fmt: skip
    return {
        "request": lambda: request_rewrite(path=path, reason="x", by=by),
        "approve": lambda: approve_rewrite(proposal=proposal, by=by),
        "reject": lambda: reject_rewrite(proposal=proposal, reason="x", by=by),
        "edit": lambda: edit_rewrite(proposal=proposal, document=NO_FUEL, revision=1, by=by),
        "retry": lambda: retry_rewrite(proposal=proposal, by=by),
        "policy": lambda: set_rewrite_policy(workspace=cast.workspace, changes={}, by=by),
        "close": lambda: close_alert(alert=alert, by=by),
        "pause": lambda: pause_rewriting(lineage=path.lineage, reason="x", by=by),
        "resume": lambda: resume_rewriting(lineage=path.lineage, by=by),
    }


@pytest.mark.parametrize(
    "name", ["request", "approve", "reject", "edit", "retry", "policy", "close", "pause", "resume"]
)
@pytest.mark.parametrize("who", ["viewer", "outsider", "agent"])
def test_action__somebody_who_may_not__is_refused(cast: Cast, name: str, who: str) -> None:
    everything = frozenset(Scope)
    by = {
        "viewer": cast.actor("viewer"),
        "outsider": Actor(kind="key", name="x", workspace_id=cast.elsewhere.pk, scopes=everything),
        "agent": key(cast, Scope.EXPERIENCE_READ),
    }[who]
    call = calls(cast, by)[name]
    events = AuditEvent.objects.count()

    with pytest.raises(NotPermitted):
        call()
    assert AuditEvent.objects.count() == events


def test_policy__changed__is_kept_with_the_audit_and_refused_where_it_makes_no_sense(cast: Cast) -> None:
    owner = cast.actor("owner")
    cast.workspace.settings = {"paths": {"weights": {"tag": 1}}, "redaction": {}}
    cast.workspace.save()

    policy = set_rewrite_policy(workspace=cast.workspace, changes={"auto_approve": True}, by=owner)

    assert policy.auto_approve
    cast.workspace.refresh_from_db()
    assert cast.workspace.settings["paths"] == {"weights": {"tag": 1}, "auto_approve": True}
    assert AuditEvent.objects.get(verb="set_rewrite_policy").old == {"auto_approve": None}
    for wrong in ({"auto_approve": "yes"}, {"weights": 1}, {"rewriters": ["gpt"]}):
        with pytest.raises(InvalidPolicyError):
            set_rewrite_policy(workspace=cast.workspace, changes=wrong, by=owner)
    cast.workspace.refresh_from_db()
    assert cast.workspace.settings["paths"] == {"weights": {"tag": 1}, "auto_approve": True}
