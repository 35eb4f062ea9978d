"""Ages of rules from receipts and recorded calls."""

from datetime import timedelta
from uuid import uuid4

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from corrections.background.settle import count_backlog
from corrections.models import Receipt, Rule, RuleDay
from corrections.queries.ageing import ageing_of
from memory.models import DailyCount
from tests.builders import make_tool
from tests.conftest import Cast
from tests.corrections.builders import make_rule


def called(cast: Cast, tool: str, calls: int, *, days_ago: int = 0) -> None:
    day = timezone.now().date() - timedelta(days=days_ago)
    DailyCount.objects.create(workspace=cast.workspace, day=day, tool=tool, calls=calls)


def receipt(rule: Rule) -> None:
    Receipt.objects.create(
        uuid=uuid4(), workspace=rule.workspace, issued_at=timezone.now(), tool="weather_api",
        ruleset_version="1", body={"rules": [[str(rule.uuid), 1, "applied", "all"]]},
    )  # fmt: skip


def test_ageing__receipts__count_once_however_often_the_pass_runs(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    called(cast, "weather_api", 50)
    for _ in range(2):
        receipt(rule)
    count_backlog()
    receipt(rule)
    count_backlog(), count_backlog()

    age = ageing_of([Rule.objects.get(pk=rule.pk)], now=timezone.now())[rule.pk]

    assert RuleDay.objects.get(rule=rule).matches == 3
    assert (age.has_matched, age.matches_lately, age.calls_lately, age.per_100) == (True, 3, 50, 6.0)


def test_ageing__glob__counts_all_tools_that_it_fits(cast: Cast) -> None:
    rule = make_rule(cast.workspace, applies_to={"point": "before", "tool": "weather_*"})
    Rule.objects.filter(pk=rule.pk).update(last_matched_at=timezone.now() - timedelta(days=9))
    for tool in ("weather_api", "weather_map", "mail"):
        make_tool(cast.workspace, tool)
        called(cast, tool, 10, days_ago=2)

    age = ageing_of([Rule.objects.get(pk=rule.pk)], now=timezone.now())[rule.pk]

    assert (age.days, age.calls_since, age.is_unused) == (9, 20, True)


def test_ageing__many_rules__no_more_queries(cast: Cast) -> None:
    first = make_rule(cast.workspace)
    rest = [make_rule(cast.workspace, name=f"Rule {n}") for n in range(4)]
    draft = make_rule(cast.workspace, active=False)
    counts = []
    for rules in ([first], [first, *rest, draft]):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            found = ageing_of(rules, now=timezone.now())
        counts.append(len(captured))

    assert counts[0] == counts[1] <= 3
    assert set(found) == {first.pk, *(rule.pk for rule in rest)}
    assert draft.pk not in found
