"""The pass that marks rules, and the person who says that one is still right."""

from datetime import timedelta

import pytest
from django.utils import timezone

from corrections.actions.rules import disable_rule
from corrections.actions.staleness import review_rule, set_stale_policy
from corrections.background.staleness import mark_stale_rules
from corrections.domain.staleness import InvalidStalePolicyError
from corrections.models import Rule
from corrections.queries.staleness import count_stale, list_stale
from memory.domain.access import NotPermitted
from memory.models import AuditEvent
from memory.permissions import SYSTEM
from tests.builders import make_tool
from tests.conftest import Cast
from tests.corrections.builders import make_rule

LATER = timedelta(days=70)


def make_old_rule(cast: Cast, **changes: str) -> Rule:
    """A rule that has not matched since it was made; its tool is called all the time."""
    rule = make_rule(cast.workspace, **changes)
    make_tool(cast.workspace, "weather_api", last_seen_at=timezone.now() + timedelta(days=69))
    return rule


def test_pass__a_rule_that_does_not_fire__is_marked_once(cast: Cast) -> None:
    make_old_rule(cast)
    now = timezone.now() + LATER
    assert mark_stale_rules(timezone.now()) == 0
    assert mark_stale_rules(now) == 1
    (rule,) = list_stale(cast.workspace.pk)
    assert (rule.stale_since, rule.stale_reasons) == (now, [{"kind": "unmatched", "days": 70}])
    mark_stale_rules(now + timedelta(days=1))
    rule.refresh_from_db()
    assert (rule.stale_since, rule.stale_reasons[0]["days"]) == (now, 71)
    assert mark_stale_rules(now + timedelta(days=1)) == 0


def test_pass__a_rule_that_is_not_served__has_no_mark(cast: Cast) -> None:
    rule = make_old_rule(cast)
    now = timezone.now() + LATER
    mark_stale_rules(now)
    disable_rule(rule=rule, by=SYSTEM)
    mark_stale_rules(now)
    assert count_stale(cast.workspace.pk) == 0


def test_review__a_marked_rule__clears_and_says_who(cast: Cast) -> None:
    rule = make_old_rule(cast)
    Rule.objects.filter(pk=rule.pk).update(error_count=3, last_matched_at=timezone.now())
    mark_stale_rules(timezone.now())
    rule = review_rule(rule=rule, by=cast.actor("reviewer"), note="still right")
    assert (rule.stale_since, rule.stale_reasons, rule.reviewed_error_count) == (None, [], 3)
    assert mark_stale_rules(timezone.now()) == 0
    event = AuditEvent.objects.first()
    assert event is not None
    assert (event.verb, event.old, event.reason) == ("review_rule", {"reasons": ["errors"]}, "still right")


def test_review__a_viewer__may_not(cast: Cast) -> None:
    rule = make_old_rule(cast)
    with pytest.raises(NotPermitted):
        review_rule(rule=rule, by=cast.actor("viewer"))


def test_policy__changed__holds_for_the_next_pass(cast: Cast) -> None:
    make_old_rule(cast)
    policy = set_stale_policy(
        workspace_id=cast.workspace.pk, changes={"unmatched_days": 80}, by=cast.actor("owner")
    )
    assert (policy.unmatched_days, policy.expiry_notice_days) == (80, 7)
    assert mark_stale_rules(timezone.now() + LATER) == 0
    with pytest.raises(InvalidStalePolicyError):
        set_stale_policy(workspace_id=cast.workspace.pk, changes={"unmatched_days": -1}, by=SYSTEM)
    with pytest.raises(NotPermitted):
        set_stale_policy(workspace_id=cast.workspace.pk, changes={}, by=cast.actor("maintainer"))


def test_pass__many_rules__the_same_number_of_queries(
    cast: Cast, django_assert_max_num_queries: object
) -> None:
    make_old_rule(cast)
    for number in range(20):
        make_rule(cast.workspace, name=f"rule {number}")
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        assert mark_stale_rules(timezone.now() + LATER) == 21
