"""Repeats: counted as they happen, corrected when a later look changes what is a repeat, on page and API."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from corrections.models import ChangeRequest, Rule
from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.background.insights.counting import count_backlog
from memory.domain.insights.failure_hours import hour_of
from memory.models import ErrorPattern, Failure, PatternHour, RepeatCell, Task, ToolHour
from memory.permissions import SYSTEM
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule
from tests.pages import extra_queries

URL = "/api/v1/insights/repeats"
ERROR = "Parameter city must not be empty"


def document(name: str, agent: str = "a") -> dict[str, Any]:
    """A finished task of one failing and one good call."""
    return {
        "external_id": name, "final": True, "agent": agent,
        "calls": [
            {"tool": "weather_api", "input": {}, "status": "error", "error": ERROR},
            {"tool": "weather_api", "input": {"city": "Rome"}, "output": {"t": 21}},
        ],
        "outcome": {"result": "failure", "by": "environment"},
    }  # fmt: skip


def record(cast: Cast, *names: str, agent: str = "a") -> None:
    """Such tasks, analysed and counted."""
    documents = [document(name, agent) for name in names]
    record_experience(workspace_id=cast.workspace.pk, documents=documents, by=SYSTEM)
    settle()


def settle() -> None:
    while analyse_backlog():
        pass
    while count_backlog():
        pass


def totals(cast: Cast) -> tuple[int, int, int]:
    rows = RepeatCell.objects.filter(workspace=cast.workspace, pattern=0)
    return sum(r.calls for r in rows), sum(r.failures for r in rows), sum(r.repeats for r in rows)


def test_repeats__same_error_in_three_tasks__first_is_none(cast: Cast, agent_api: Any) -> None:
    record(cast, "t1", "t2", agent="one")
    record(cast, "t3", agent="two")

    found = agent_api.get(URL).json()

    assert totals(cast) == (6, 3, 2)
    assert [(row["name"], row["repeats"]) for row in found["agents"]] == [("one", 1), ("two", 1)]
    assert found["patterns"][0]["repeats"] == 2
    assert found["total"]["repeat_rate"] is None  # six calls are not enough data


def test_repeats__first_task_turns_out_to_be_another__counts_it_as_a_repeat(cast: Cast) -> None:
    documents = [document("t1"), document("t2")]
    record_experience(workspace_id=cast.workspace.pk, documents=documents, by=SYSTEM)
    Task.objects.filter(external_id="t1").update(analysed_at="2026-01-01T00:00:00Z")
    settle()
    assert totals(cast)[2] == 0

    Task.objects.filter(external_id="t1").update(analysed_at=None)
    settle()

    assert dict(Failure.objects.values_list("task__external_id", "repeat")) == {"t1": False, "t2": True}
    assert totals(cast)[2] == 1


def test_rule_repeats__no_calls_on_either_side__says_not_enough_data(cast: Cast, agent_api: Any) -> None:
    record(cast, "t1", "t2")
    make_rule(cast.workspace).patterns.add(ErrorPattern.objects.get(workspace=cast.workspace))

    rows = agent_api.get(f"{URL}/rules").json()["rules"]

    assert all(not row["enough_data"] and row["before"]["rate"] is None for row in rows)


@pytest.mark.parametrize("table", ["days", "tools", "agents", "patterns", "rules"])
def test_page__every_table__downloads_as_csv(cast: Cast, table: str) -> None:
    record(cast, "t1", "t2")
    client: Client = page_client(cast.viewer)
    where = f"/w/{cast.workspace.slug}/insights/repeats/"

    page = client.get(where)
    answer = client.get(f"{where}?format=csv&table={table}")

    assert "weather_api" in page.content.decode()
    assert answer["Content-Type"].startswith("text/csv")
    assert b"".join(answer.streaming_content).startswith((b"name,", b"rule,", b"\xef\xbb\xbf"))


def test_page__narrowed_to_agent_and_pattern__links_keep_both(cast: Cast) -> None:
    record(cast, "t1", "t2", agent="one")
    record(cast, "t3", agent="another")
    asked = f"agent=one&amp;pattern={ErrorPattern.objects.get(workspace=cast.workspace).uuid}"
    client: Client = page_client(cast.viewer)
    url = f"/w/{cast.workspace.slug}/insights/repeats/?{asked.replace('&amp;', '&')}"

    text = client.get(url).content.decode()
    table = b"".join(client.get(f"{url}&format=csv&table=agents").streaming_content).decode()

    assert [row.split(",")[0] for row in table.splitlines()] == ["name", "one"]
    for days in (7, 90):
        assert f'href="?days={days}&amp;{asked}"' in text
    for name in ("days", "tools", "agents", "patterns", "rules"):
        assert f"{asked}&amp;format=csv&amp;table={name}" in text


def make_served(cast: Cast, name: str, served_at: datetime) -> Rule:
    """A rule for the pattern, first served then."""
    rule = make_rule(cast.workspace, name=name)
    rule.patterns.add(ErrorPattern.objects.get(workspace=cast.workspace))
    ChangeRequest.objects.filter(rule=rule).delete()
    ChangeRequest.objects.create(
        workspace=cast.workspace, rule=rule, kind="create", status="published", title=name,
        requested_by="owner", requested_by_kind="user", requested_at=served_at, updated_at=served_at,
        published_at=served_at,
    )  # fmt: skip
    return rule


def make_hour(cast: Cast, at: datetime, *, calls: int, failures: int) -> None:
    """An hour in which the tool was called and failed so often."""
    hour, pattern = hour_of(at), ErrorPattern.objects.get(workspace=cast.workspace)
    ToolHour.objects.update_or_create(
        workspace=cast.workspace, tool="weather_api", hour=hour, defaults={"calls": calls}
    )
    PatternHour.objects.update_or_create(
        workspace=cast.workspace, pattern=pattern, hour=hour, defaults={"failures": failures}
    )


def test_rule_repeats__failures_fall__says_the_rates_of_both_sides(cast: Cast, agent_api: Any) -> None:
    record(cast, "t1")
    served_at = timezone.now() - timedelta(days=2)
    make_served(cast, "No city", served_at)
    make_hour(cast, served_at - timedelta(days=31), calls=500, failures=500)  # too long ago
    make_hour(cast, served_at - timedelta(days=1), calls=100, failures=40)
    make_hour(cast, served_at, calls=70, failures=70)  # the hour itself counts for neither
    make_hour(cast, served_at + timedelta(days=1), calls=100, failures=2)

    row = agent_api.get(f"{URL}/rules").json()["rules"][0]

    assert (row["before"]["calls"], row["before"]["rate"]) == (100, 0.4)
    assert (row["after"]["failures"], row["after"]["calls"]) == (3, 102)
    assert row["enough_data"]


def test_page__more_rules_and_patterns__cost_no_more_queries(cast: Cast) -> None:
    record(cast, "t1", "t2")
    url = f"/w/{cast.workspace.slug}/insights/repeats/"
    make_served(cast, "one", timezone.now())

    def more() -> str:
        for number in range(4):
            make_served(cast, f"more {number}", timezone.now() - timedelta(hours=number))
        record(cast, "t3", "t4", agent="another")
        return url

    assert extra_queries(page_client(cast.viewer), url, more) == []


def test_api__key_of_another_workspace__sees_its_own(cast: Cast, foreign_api: Any) -> None:
    record(cast, "t1", "t2")

    found = foreign_api.get(URL).json()

    assert (found["total"]["calls"], found["patterns"], found["tools"]) == (0, [], [])


@pytest.mark.parametrize("query", ["days=0", "days=1000000", "days=x"])
def test_api__days_out_of_range__is_refused(agent_api: Any, query: str) -> None:
    assert agent_api.get(f"{URL}?{query}").status_code == 422


def test_api__unknown_pattern__has_no_failures(cast: Cast, agent_api: Any) -> None:
    record(cast, "t1", "t2")

    found = agent_api.get(f"{URL}?pattern=never").json()

    assert (found["total"]["calls"], found["total"]["failures"]) == (4, 0)
