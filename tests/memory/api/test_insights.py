"""Insights over the API: what a planner and a dashboard get."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from tests.conftest import Cast
from tests.memory.insight_scenes import build_insights, count_tasks, insight_call

URL = "/api/v1/insights"


def get(api: APIClient, path: str) -> Any:
    answer = api.get(f"{URL}/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_speed__tools__most_called_first_with_intervals(cast: Cast, agent_api: APIClient) -> None:
    build_insights(cast.workspace)

    tools = get(agent_api, "speed")["tools"]

    assert [(tool["name"], tool["calls"], tool["failed"]) for tool in tools] == [
        ("book", 40, 10), ("find", 30, 0),
    ]  # fmt: skip
    assert tools[0]["failure_rate"] == 0.25
    assert tools[0]["p95"] is None  # 40 calls are too few for one
    assert tools[0]["p50"]["low_ms"] <= tools[0]["p50"]["ms"] <= tools[0]["p50"]["high_ms"]


def test_speed__one_tool__by_shape_and_day(cast: Cast, agent_api: APIClient) -> None:
    build_insights(cast.workspace)

    body = get(agent_api, "speed?tool=book&days=7")

    assert [(line["name"], line["calls"]) for line in body["shapes"]] == [
        ("(id: 1-10)", 20), ("(id: 11-100)", 19), ("(id: 0)", 1),
    ]  # fmt: skip
    assert sum(day["calls"] for day in body["by_day"]) == 40
    assert get(agent_api, "speed?tool=never")["tools"] == []


def test_fastest__two_ways__ranks_by_time_to_a_success(cast: Cast, agent_api: APIClient) -> None:
    slow = [insight_call("find"), insight_call("book", 400.0, id=1)]
    flaky = [insight_call("find"), insight_call("book", 300.0, ok=False, id=5000)]
    first = [insight_call("find"), insight_call("check", 50.0), insight_call("book", 100.0, id=1)]
    count_tasks(
        cast.workspace, *[slow, first, flaky, [*flaky[:1], insight_call("book", 300.0, id=5000)]] * 12
    )

    body = get(agent_api, "fastest?tool=book&after=find")

    assert [(way["way"], way["expected_ms"], way["success_rate"]) for way in body["ways"]] == [
        ("check > book", 150.0, 1.0), ("book(id: 1-10)", 400.0, 1.0), ("book(id: 1001-10000)", 600.0, 0.5),
    ]  # fmt: skip
    assert body["ways"][0]["steps"] == ["check", "book"]
    assert (body["enough_data"], body["widened"]) == (True, [])
    assert body["ways"][2]["expected_low_ms"] < 600 < body["ways"][2]["expected_high_ms"]


def test_fastest__unknown_situation__is_widened_or_honest(cast: Cast, agent_api: APIClient) -> None:
    build_insights(cast.workspace, 90)

    wider = get(agent_api, "fastest?tool=book&tags=never&domain=airline&after=find")
    nothing = get(agent_api, "fastest?tool=never&after=find")

    assert (wider["widened"], wider["used"]["domain"], wider["enough_data"]) == (["tags"], "airline", True)
    assert (nothing["enough_data"], nothing["ways"]) == (False, [])


def test_retries__totals_tools_patterns_and_days__agree(cast: Cast, agent_api: APIClient) -> None:
    build_insights(cast.workspace)

    body = get(agent_api, "retries")

    assert body["total"] | {"name": ""} == {
        "name": "", "failures": 10, "retries": 10, "retry_ms": 1135.0, "share_of_calls": 0.142857,
        "share_of_time": 0.21537, "recovered": 10, "given_up": 0,
    }  # fmt: skip
    assert [tool["name"] for tool in body["tools"]] == ["book"]
    assert (body["patterns"][0]["retries"], body["patterns"][0]["tool"]) == (10, "book")
    assert sum(day["retries"] for day in body["by_day"]) == 10


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("speed?days=0", "days"), ("retries?days=1e9", "days"), ("fastest", "tool"),
        ("speed?tool=%00", "tool"), ("fastest?tool=x&tags=%00", "tags"),
    ],
)  # fmt: skip
def test_insights__bad_parameter__is_named(agent_api: APIClient, path: str, field: str) -> None:
    answer = agent_api.get(f"{URL}/{path}")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("path", ["speed", "speed?tool=book", "fastest?tool=book&tags=a", "retries"])
def test_insights__more_tasks__cost_no_more_queries(cast: Cast, agent_api: APIClient, path: str) -> None:
    counts = []
    for size, prefix in ((3, "a"), (30, "b")):
        build_insights(cast.workspace, size, prefix=prefix)
        build_insights(cast.workspace, size, prefix=f"{prefix}2", tool=f"book-{prefix}")
        with CaptureQueriesContext(connection) as queries:
            get(agent_api, path)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_insights__another_workspace__sees_nothing(cast: Cast, foreign_api: APIClient) -> None:
    build_insights(cast.workspace)

    assert get(foreign_api, "speed")["tools"] == []
    assert get(foreign_api, "retries")["total"]["retries"] == 0
    assert get(foreign_api, "fastest?tool=book")["ways"] == []
