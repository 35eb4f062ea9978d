"""Several people and workers at the same change at the same moment."""

from datetime import timedelta

import pytest
from django.utils import timezone

from corrections.actions.changes import approve_change, publish_due_changes, schedule_change
from corrections.actions.rules import edit_rule
from corrections.models import ChangeApproval, ChangeRequest, Rule, RulesetStamp
from memory.models import AuditEvent
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_change, weather_document
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_approve__two_at_once__one_publishes(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    people = [cast.actor("reviewer"), cast.actor("owner")]
    results = at_once(*(lambda by=by: approve_change(change=change, revision=1, by=by) for by in people))
    assert sum(isinstance(result, ChangeRequest) for result in results) == 1, results
    assert ChangeApproval.objects.filter(change=change).count() == 1
    assert RulesetStamp.objects.get(workspace=cast.workspace).version == 2


def test_approve__racing_an_edit__serves_what_was_looked_at_or_nothing(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    rule = Rule.objects.get(pk=change.rule_id)
    document, reviewer, writer = weather_document(priority=9), cast.actor("reviewer"), cast.actor("owner")
    at_once(
        lambda: approve_change(change=change, revision=1, by=reviewer),
        lambda: edit_rule(rule=rule, document=document, base_version=2, by=writer),
    )
    rule.refresh_from_db()
    assert rule.live_version.number in (1, 2)
    assert rule.latest_version.number == 3
    assert ChangeRequest.objects.get(rule=rule, status="open").version == rule.latest_version


def test_clock__many_workers__publish_once(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    moment = timezone.now() + timedelta(hours=1)
    change = schedule_change(change=change, publish_at=moment, by=cast.actor("maintainer"))
    approve_change(change=change, revision=change.revision, by=cast.actor("reviewer"))
    later = moment + timedelta(seconds=1)
    results = at_once(*[lambda: publish_due_changes(now=later, by=SYSTEM)] * 3)
    assert sorted(results) == [0, 0, 1]
    assert AuditEvent.objects.filter(verb="publish_change").count() == 1
