"""Outcomes of changed calls, the effectiveness served from them, and rules that are doubted."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from corrections.actions.judging import doubt_rules, judge_rules
from corrections.background.settle import count_backlog, settle_backlog, store_backlog
from corrections.live.receipts import RECEIPTS
from corrections.live.rulesets import RULESETS
from corrections.models import ChangeRequest, Rule
from corrections.queries.effects import effect_of
from corrections.queries.rulesets import read_stamp
from memory.actions.record import record_experience
from memory.domain.access import NotPermitted
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule

URL = "/api/v1/corrections/query"
ASKS: dict[str, Any] = {
    "action_type": "PRE_CALL_VALIDATION",
    "action_detail": {"on_failure": "ask", "message": "?"},
}


def call(cast: Cast, api: Any, statuses: list[str]) -> None:
    """Calls that follow what they were told, one task each, and the worker after them."""
    for number, status in enumerate(statuses):
        name = f"{cast.workspace.pk}-{status}-{number}-{timezone.now().timestamp()}"
        answer = api.post(URL, {"tool": "weather_api", "input": {}, "task": {"id": name}}).json()
        RECEIPTS.flush()
        made = {
            "tool": "weather_api",
            "input": answer["input"],
            "receipt": answer["receipt"],
            "status": status,
        }
        document = {"external_id": name, "calls": [made | ({"error": "no"} if status == "error" else {})]}
        record_experience(workspace_id=cast.workspace.pk, documents=[document], by=SYSTEM)
    store_backlog(), settle_backlog(), count_backlog()


def fresh(rule: Rule) -> Rule:
    return Rule.objects.select_related("live_version", "workspace").get(pk=rule.pk)


def test_outcomes__changed_calls__are_counted_once(cast: Cast, agent_api: Any) -> None:
    rule = make_rule(cast.workspace)

    call(cast, agent_api, ["ok", "ok", "error"])
    settle_backlog()

    assert (fresh(rule).helped_count, fresh(rule).failed_count) == (2, 1)


def test_outcomes__rule_that_only_asks__counts_none(cast: Cast, agent_api: Any) -> None:
    rule = make_rule(cast.workspace, **ASKS)

    call(cast, agent_api, ["ok", "error"])

    assert (fresh(rule).helped_count, fresh(rule).failed_count) == (0, 0)


def test_judge__too_few_outcomes__are_not_enough_data(cast: Cast, agent_api: Any) -> None:
    rule = make_rule(cast.workspace)
    call(cast, agent_api, ["ok", "ok"])

    assert judge_rules(now=timezone.now(), by=SYSTEM) == 0
    assert fresh(rule).effectiveness is None
    assert not effect_of(fresh(rule)).is_known


def test_judge__enough_outcomes__are_served_with_one_stamp(cast: Cast, agent_api: Any) -> None:
    rule = make_rule(cast.workspace)
    call(cast, agent_api, ["ok"] * 4)
    stamp = read_stamp(cast.workspace.pk)

    assert judge_rules(now=timezone.now(), by=SYSTEM) == 1

    value = fresh(rule).effectiveness
    assert 0.5 < (value or 0) < 1
    assert read_stamp(cast.workspace.pk) == stamp + 1
    (served,) = RULESETS.get(cast.workspace.pk).parsed.values()
    assert served.effectiveness == value


def test_judge__within_the_minute__waits(cast: Cast, agent_api: Any) -> None:
    make_rule(cast.workspace)
    now = timezone.now()
    call(cast, agent_api, ["ok"] * 3)
    judge_rules(now=now, by=SYSTEM)
    call(cast, agent_api, ["error"])

    assert judge_rules(now=now + timedelta(seconds=59), by=SYSTEM) == 0
    assert judge_rules(now=now + timedelta(seconds=61), by=SYSTEM) == 1


def test_doubt__rule_that_does_no_good__is_put_to_people_once(cast: Cast, agent_api: Any) -> None:
    rule = make_rule(cast.workspace)
    call(cast, agent_api, ["error"] * 4)
    judge_rules(now=timezone.now(), by=SYSTEM)

    (change,) = doubt_rules(now=timezone.now(), by=SYSTEM)

    assert (change.kind, change.status, fresh(rule).status) == ("disable", "open", "active")
    assert "4 of 4 calls" in change.description
    assert doubt_rules(now=timezone.now(), by=SYSTEM) == []
    assert ChangeRequest.objects.filter(rule=rule, kind="disable").count() == 1


def test_doubt__rule_that_helps__is_left_alone(cast: Cast, agent_api: Any) -> None:
    make_rule(cast.workspace)
    call(cast, agent_api, ["ok", "ok", "error", "ok"])
    judge_rules(now=timezone.now(), by=SYSTEM)

    assert doubt_rules(now=timezone.now(), by=SYSTEM) == []


def test_judge__person__may_not(cast: Cast) -> None:
    with pytest.raises(NotPermitted):
        judge_rules(now=timezone.now(), by=cast.actor("viewer"))
