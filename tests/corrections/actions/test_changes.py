"""Change requests: asking, approving, rejecting, opening again, rebasing, and the policy."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corrections.actions.changes import (
    StaleChange,
    Wanted,
    approve_batch,
    approve_change,
    comment_on_change,
    rebase_change,
    reject_change,
    reopen_change,
    request_change,
    request_changes,
    set_change_policy,
    withdraw_change,
)
from corrections.actions.rules import draft_rule, edit_rule, take_step
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.models import ChangeApproval, ChangeRequest, Rule
from memory.actions.accounts import create_key
from memory.domain.access import Actor, NotPermitted, Scope
from memory.domain.lifecycle import TransitionError
from memory.models import Alert, AuditEvent, Workspace
from memory.permissions import SYSTEM, key_actor
from tests.conftest import Cast
from tests.corrections.builders import allow_self_approval, make_change, make_rule, weather_document


def set_policy(workspace: Workspace, **policy: Any) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(settings={"changes": policy})


def key_of(cast: Cast) -> Actor:
    return key_actor(create_key(workspace=cast.workspace, name="k", scopes=list(Scope), by=SYSTEM)[0])


def test_draft__first_version__opens_a_create_request(cast: Cast) -> None:
    by = cast.actor("reviewer")
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=by, note="why")
    change = ChangeRequest.objects.get(rule=rule)
    assert (change.kind, change.status, change.revision, change.base_status) == ("create", "open", 1, "draft")
    assert (change.version, change.authors, change.description) == (rule.latest_version, [by.uuid], "why")


def test_edit__twice__is_one_request_with_both_authors(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("reviewer"))
    rule = Rule.objects.get(pk=change.rule_id)
    edit_rule(rule=rule, document=weather_document(priority=6), base_version=2, by=cast.actor("maintainer"))
    change.refresh_from_db()
    assert (change.revision, change.version.number, change.base_version) == (2, 3, 1)
    assert change.authors == [cast.actor("reviewer").uuid, cast.actor("maintainer").uuid]


def test_approve__somebody_else__publishes_and_says_so(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    change = approve_change(change=change, revision=1, by=cast.actor("reviewer"), note="fine")
    rule = Rule.objects.get(pk=change.rule_id)
    assert (change.status, rule.live_version.number) == ("published", 2)
    assert (change.decided_by, change.decision_reason) == ("reviewer", "fine")
    assert AuditEvent.objects.filter(verb="approve_change", actor_name="reviewer").count() == 1


def test_approve__edited_meanwhile__is_stale_and_nothing_is_served(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    rule = Rule.objects.get(pk=change.rule_id)
    edit_rule(rule=rule, document=weather_document(priority=7), base_version=2, by=cast.actor("maintainer"))
    with pytest.raises(StaleChange, match="revision 2"):
        approve_change(change=change, revision=1, by=cast.actor("reviewer"))
    rule.refresh_from_db()
    assert rule.live_version.number == 1
    assert not ChangeApproval.objects.filter(actor_name="reviewer").exists()


@pytest.mark.parametrize(
    ("policy", "who", "counts"),
    [
        pytest.param({}, "maintainer", False, id="author"),
        pytest.param({}, "reviewer", True, id="somebody else"),
        pytest.param({"self_approval": True}, "maintainer", True, id="author where allowed"),
        pytest.param({}, "key", False, id="key"),
        pytest.param({"key_approval": True}, "key", True, id="key where allowed"),
        pytest.param({"required_approvals": 0}, "maintainer", False, id="a broken policy is the strict one"),
    ],
)
def test_approve__policy__decides_whose_counts(
    cast: Cast, policy: dict[str, Any], who: str, counts: bool
) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    set_policy(cast.workspace, **policy)
    by = key_of(cast) if who == "key" else cast.actor(who)
    if counts:
        assert approve_change(change=change, revision=1, by=by).status == "published"
    else:
        with pytest.raises(Refused):
            approve_change(change=change, revision=1, by=by)


def test_approve__two_needed__the_second_publishes_and_an_edit_starts_over(cast: Cast) -> None:
    set_policy(cast.workspace, required_approvals=2)
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    assert approve_change(change=change, revision=1, by=cast.actor("reviewer")).status == "open"
    with pytest.raises(Refused, match="already"):
        approve_change(change=change, revision=1, by=cast.actor("reviewer"))
    rule = Rule.objects.get(pk=change.rule_id)
    edit_rule(rule=rule, document=weather_document(priority=8), base_version=2, by=cast.actor("maintainer"))
    assert approve_change(change=change, revision=2, by=cast.actor("owner")).status == "open"
    assert approve_change(change=change, revision=2, by=cast.actor("reviewer")).status == "published"


def test_self_approval__author_who_may_not_publish__does_not_count(cast: Cast) -> None:
    allow_self_approval(cast.workspace)
    change = make_change(cast.workspace, by=cast.actor("reviewer"))
    with pytest.raises(Refused, match="You wrote this"):
        approve_change(change=change, revision=1, by=cast.actor("reviewer"))


def test_step__own_wish_and_somebody_elses__waits_then_is_taken(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    asked = take_step(rule=rule, step="disable", by=cast.actor("maintainer"), reason="wrong")
    assert asked.status == "open"
    taken = take_step(rule=rule, step="disable", by=cast.actor("owner"))
    assert (taken.pk, taken.status, taken.rule.status) == (asked.pk, "published", "disabled")


def test_disable__urgent_policy__happens_at_once_and_raises_an_alert(cast: Cast) -> None:
    set_policy(cast.workspace, urgent_disable=True)
    rule = make_rule(cast.workspace)
    taken = take_step(rule=rule, step="disable", by=cast.actor("maintainer"), reason="it burns")
    assert (taken.status, taken.is_urgent, taken.rule.status) == ("published", True, "disabled")
    assert Alert.objects.get(kind="urgent_disable").detail["change"] == str(taken.uuid)
    assert take_step(rule=rule, step="activate", by=cast.actor("maintainer")).status == "open"


def test_delete__disabled_rule__leaves_history_and_closes_its_other_wishes(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    take_step(rule=rule, step="disable", by=SYSTEM)
    waiting = request_change(rule=rule, kind="enable", by=cast.actor("maintainer"))
    done = take_step(rule=rule, step="delete", by=SYSTEM)
    waiting.refresh_from_db()
    assert (done.rule.status, waiting.status, rule.versions.count()) == ("deleted", "withdrawn", 1)


def test_reject__then_reopen__is_a_new_revision(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    with pytest.raises(ReasonMissing):
        reject_change(change=change, by=cast.actor("reviewer"), reason=" ")
    assert reject_change(change=change, by=cast.actor("reviewer"), reason="no").status == "rejected"
    with pytest.raises(TransitionError):
        approve_change(change=change, revision=1, by=cast.actor("owner"))
    change = reopen_change(change=change, by=cast.actor("maintainer"))
    assert (change.status, change.revision, change.decided_by) == ("open", 2, "")


def test_reopen__another_wish_meanwhile__is_refused(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    withdraw_change(change=change, by=cast.actor("maintainer"))
    rule = Rule.objects.get(pk=change.rule_id)
    edit_rule(rule=rule, document=weather_document(priority=9), base_version=2, by=cast.actor("owner"))
    with pytest.raises(Refused, match="Another request"):
        reopen_change(change=change, by=cast.actor("maintainer"))


def test_rebase__served_version_moved__keeps_mine_and_takes_theirs(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"), priority=5)
    withdraw_change(change=change, by=cast.actor("maintainer"))
    rule = Rule.objects.get(pk=change.rule_id)
    theirs = weather_document(description="Now in other words.")
    rule = edit_rule(rule=rule, document=theirs, base_version=2, by=cast.actor("owner"))
    take_step(rule=rule, step="activate", by=SYSTEM)
    change = reopen_change(change=change, by=cast.actor("maintainer"))
    with pytest.raises(StaleChange, match="has changed since"):
        approve_change(change=change, revision=2, by=cast.actor("reviewer"))
    change = rebase_change(change=change, revision=2, by=cast.actor("maintainer"))
    body = change.version.body
    assert (body["priority"], body["description"]) == (5, "Now in other words.")
    assert (change.base_version, change.revision, change.version.number) == (3, 3, 4)
    assert approve_change(change=change, revision=3, by=cast.actor("reviewer")).status == "published"


def test_comment__reviewer_and_viewer__one_may(cast: Cast) -> None:
    change = make_change(cast.workspace)
    assert comment_on_change(change=change, text=" well ", by=cast.actor("reviewer")).text == "well"
    with pytest.raises(NotPermitted):
        comment_on_change(change=change, text="well", by=cast.actor("viewer"))


def test_batch__many_rules__asks_no_more_queries(cast: Cast) -> None:
    def run(number: int) -> int:
        rules = [make_rule(cast.workspace, name=f"{number} {index}") for index in range(number)]
        batch = uuid4()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            wanted = [Wanted(rule, "disable") for rule in rules]
            request_changes(wanted=wanted, by=cast.actor("maintainer"), reason="tool gone", batch=batch)
            done = approve_batch(batch=batch, by=cast.actor("owner"))
        assert {change.status for change in done} == {"published"}
        assert {rule.status for rule in Rule.objects.filter(pk__in=[rule.pk for rule in rules])} == {
            "disabled"
        }
        return len(queries)

    assert run(2) == run(7)


def test_batch__one_is_stale__none_is_published(cast: Cast) -> None:
    rules = [make_rule(cast.workspace, name=str(index)) for index in range(3)]
    batch = uuid4()
    wanted = [Wanted(rule, "disable") for rule in rules]
    request_changes(wanted=wanted, by=cast.actor("maintainer"), reason="x", batch=batch)
    take_step(rule=rules[1], step="retire", by=SYSTEM)
    ChangeRequest.objects.filter(rule=rules[1], kind="disable").update(status="open")
    with pytest.raises(Refused):
        approve_batch(batch=batch, by=cast.actor("owner"))
    assert Rule.objects.filter(status="active").count() == 2


def test_policy__key_loosens_it__is_refused(cast: Cast) -> None:
    by = key_of(cast)
    with pytest.raises(Refused, match="stricter"):
        set_change_policy(workspace_id=cast.workspace.pk, changes={"key_approval": True}, by=by)
    stricter = set_change_policy(workspace_id=cast.workspace.pk, changes={"required_approvals": 2}, by=by)
    assert stricter.required_approvals == 2
    owner = cast.actor("owner")
    set_change_policy(workspace_id=cast.workspace.pk, changes={"self_approval": True}, by=owner)
    event = AuditEvent.objects.filter(verb="set_change_policy").first()
    assert (event.new["self_approval"], event.new["required_approvals"]) == (True, 2)
