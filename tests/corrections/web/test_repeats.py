"""Repeats: counted as they happen, corrected when a later look changes what is a repeat, on page and API."""

from typing import Any

import pytest
from django.test import Client

from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.background.insights.counting import count_backlog
from memory.models import ErrorPattern, Failure, RepeatCell, Task
from memory.permissions import SYSTEM
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule

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
