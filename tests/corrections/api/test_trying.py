"""Check, simulate and backtest over the API."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from corrections.models import Receipt
from memory.actions.record import record_experience
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document

PARIS = {"transform": "set_default", "field": "city", "default_value": "Paris"}


@pytest.mark.parametrize(
    ("body", "ok", "reads"),
    [
        pytest.param({"condition": "input.city == null"}, True, ["input.city"], id="condition"),
        pytest.param({"condition": ""}, True, [], id="always"),
        pytest.param({"condition": "input.city =="}, False, [], id="broken condition"),
        pytest.param({"document": weather_document()}, True, ["input.city"], id="document"),
        pytest.param({"document": weather_document(condition="(")}, False, [], id="broken document"),
    ],
)
def test_check__as_people_type__always_answers(
    agent_api: APIClient, body: dict[str, Any], ok: bool, reads: list[str]
) -> None:
    answer = agent_api.post("/api/v1/rules/check", body)
    assert answer.status_code == 200
    assert answer.json()["ok"] == ok
    assert answer.json()["reads"] == reads
    assert all(fault["field"] == "condition" for fault in answer.json()["errors"])


def test_check__document__says_what_it_does(agent_api: APIClient) -> None:
    answer = agent_api.post("/api/v1/rules/check", {"document": weather_document()}).json()
    assert answer["writes"] == ["input.city"]
    assert "city" in answer["description"]


@pytest.mark.parametrize(
    ("extra", "city"),
    [
        pytest.param({}, "Shanghai", id="the live rules"),
        pytest.param({"documents": []}, None, id="no rules"),
        pytest.param(
            {"documents": [weather_document(action_detail=PARIS)]},
            "Paris",
            id="a document instead",
        ),
    ],
)  # fmt: skip
def test_simulate__context__decides_without_a_receipt(
    cast: Cast, agent_api: APIClient, extra: dict[str, Any], city: str | None
) -> None:
    make_rule(cast.workspace)
    body = {"context": {"tool": "weather_api", "input": {"city": " "}}, **extra}
    answer = agent_api.post("/api/v1/rules/simulate", body).json()
    assert answer["input"].get("city").strip() == (city or "")
    assert "receipt" not in answer
    assert "near_misses" in answer
    assert not Receipt.objects.exists()


def test_simulate__document_of_a_live_rule__takes_its_place(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    changed = weather_document(condition="false", uuid=str(rule.uuid))
    body = {"context": {"tool": "weather_api", "input": {}}, "documents": [changed], "with_live": True}
    assert agent_api.post("/api/v1/rules/simulate", body).json()["applied"] == []


def record_calls(cast: Cast, cities: list[str | None]) -> str:
    calls = [{"tool": "weather_api", "input": {"city": city}, "status": "ok"} for city in cities]
    document = {"external_id": "t1", "calls": calls, "final": True}
    record_experience(workspace_id=cast.workspace.pk, documents=[document], by=SYSTEM)
    return str(cast.workspace.tasks.get().uuid)


def test_simulate__recorded_call__uses_its_context(
    cast: Cast, agent_api: APIClient, foreign_api: APIClient
) -> None:
    make_rule(cast.workspace)
    task = record_calls(cast, ["Paris", ""])
    answer = agent_api.post("/api/v1/rules/simulate", {"call": {"task": task, "seq": 1}}).json()
    assert answer["input"] == {"city": "Shanghai"}
    assert len(answer["context"]["history"]) == 1
    for api, seq in ((agent_api, 7), (foreign_api, 1)):
        assert api.post("/api/v1/rules/simulate", {"call": {"task": task, "seq": seq}}).status_code == 404


def test_backtest__recorded_calls__counts_and_says_n(cast: Cast, agent_api: APIClient) -> None:
    record_calls(cast, ["Paris", "", None, "Rome"])
    answer = agent_api.post("/api/v1/rules/backtest", {"document": weather_document()}).json()
    assert (answer["n"], answer["matched"], answer["complete"]) == (4, 2, True)
    assert [call["seq"] for call in answer["calls"]] == [2, 1]
    answer = agent_api.post("/api/v1/rules/backtest", {"document": weather_document(), "limit": 3}).json()
    assert (answer["n"], answer["complete"]) == (3, False)


@pytest.mark.parametrize(
    ("scope", "n"),
    [
        pytest.param("PLANNING:weather_api", 2, id="planning"),
        pytest.param("TOOL_CALL:weather*", 2, id="glob"),
    ],
)
def test_backtest__point_and_pattern__ask_the_calls_that_fit(
    cast: Cast, agent_api: APIClient, scope: str, n: int
) -> None:
    record_calls(cast, ["", "Rome"])
    other = {"external_id": "t2", "calls": [{"tool": "hotel_api", "input": {"city": ""}, "status": "ok"}]}
    record_experience(workspace_id=cast.workspace.pk, documents=[other], by=SYSTEM)
    hint = {"action_type": "PROMPT_ENHANCEMENT", "action_detail": {"text": "Name a city."}}

    answer = agent_api.post(
        "/api/v1/rules/backtest", {"document": weather_document(applies_to=scope, **hint)}
    ).json()

    assert (answer["n"], answer["matched"]) == (n, 1)
