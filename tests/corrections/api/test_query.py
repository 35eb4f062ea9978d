"""``corrections/query``: what an agent gets, what is refused, and that it asks no database."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from corrections.actions.rules import disable_rule
from corrections.live.receipts import RECEIPTS
from corrections.live.rulesets import RULESETS
from corrections.live.signing import receipt_key
from hgmem.receipts import read_receipt
from memory.api.keyring import KEYRING
from memory.domain.access import Scope
from memory.permissions import SYSTEM
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import make_rule

URL = "/api/v1/corrections/query"


@pytest.mark.parametrize(
    ("given", "effective"),
    [
        pytest.param({}, {"city": "Shanghai"}, id="missing"),
        pytest.param({"city": None}, {"city": "Shanghai"}, id="null"),
        pytest.param({"city": " "}, {"city": "Shanghai"}, id="blank"),
        pytest.param({"city": "Paris"}, {"city": "Paris"}, id="good"),
    ],
)
def test_query__article_rule__corrects_the_input(
    cast: Cast, agent_api: APIClient, given: dict[str, Any], effective: dict[str, Any]
) -> None:
    rule = make_rule(cast.workspace)
    answer = agent_api.post(URL, {"tool": "weather_api", "input": given, "task": {"id": "t1"}})
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["input"] == effective
    assert [entry["rule"] for entry in body["applied"]] == ([] if given == effective else [str(rule.uuid)])
    assert body["ruleset_version"] == "1"
    receipt = read_receipt(body["receipt"], receipt_key(cast.workspace.pk))
    assert (receipt.task_id, receipt.tool, receipt.ruleset_version) == ("t1", "weather_api", "1")


def test_query__integer_beyond_64_bits__comes_back_whole(cast: Cast, agent_api: APIClient) -> None:
    make_rule(cast.workspace)

    answer = agent_api.post(URL, {"tool": "weather_api", "input": {"id": 10**30}})

    assert answer.json()["input"] == {"id": 10**30, "city": "Shanghai"}


def test_query__explain__says_what_nearly_matched(cast: Cast, agent_api: APIClient) -> None:
    make_rule(cast.workspace)
    context = {"tool": "weather_api", "input": {"city": "Paris"}}
    assert "near_misses" not in agent_api.post(URL, context).json()
    explained = agent_api.post(URL, {**context, "explain": True}).json()
    assert explained["near_misses"][0]["name"] == "Default city"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        pytest.param(b"{", 400, None, id="no JSON"),
        pytest.param(b"[]", 422, None, id="a list"),
        pytest.param(b'{"tool": 7}', 422, "tool", id="tool of a wrong type"),
        pytest.param(b'{"input": []}', 422, "input", id="input of a wrong type"),
        pytest.param(b'{"point": "never"}', 422, "point", id="unknown point"),
        pytest.param(b'{"explain": "yes"}', 422, "explain", id="explain of a wrong type"),
        pytest.param(b"[" * 100_000, 400, None, id="hostile nesting"),
        pytest.param(b'{"input": ' + b'{"a":' * 600 + b"1" + b"}" * 600 + b"}", 422, None, id="deep input"),
        pytest.param(b'"' + b"x" * 1_100_000 + b'"', 413, None, id="too large"),
        pytest.param(b'{"tool": "\\ud800"}', 400, None, id="lone surrogate"),
    ],
)
def test_query__bad_body__is_refused_in_the_one_shape(
    agent_api: APIClient, body: bytes, status: int, field: str | None
) -> None:
    answer = agent_api.generic("POST", URL, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    assert {"code", "detail"} <= answer.json().keys()
    if field is not None:
        assert answer.json()["field"] == field


@pytest.mark.parametrize(
    ("header", "status"),
    [
        pytest.param({}, 401, id="no key"),
        pytest.param({"HTTP_AUTHORIZATION": "Bearer hgm_wrong"}, 401, id="wrong key"),
    ],
)
def test_query__without_a_good_key__answers_401(
    client: Any, db: None, header: dict[str, str], status: int
) -> None:
    answer = client.post(URL, "{}", content_type="application/json", **header)
    assert answer.status_code == status
    assert answer["WWW-Authenticate"] == "Bearer"


def test_query__key_without_the_scope__answers_403(cast: Cast) -> None:
    writer = api_client(make_key(cast.workspace, Scope.EXPERIENCE_WRITE))
    assert writer.post(URL, {}).status_code == 403


def test_query__get__answers_405(agent_api: APIClient) -> None:
    assert agent_api.get(URL).status_code == 405


def test_query__too_many__answers_429_with_retry_after(
    cast: Cast, agent_api: APIClient, settings: Any
) -> None:
    settings.QUERY_RATE = "2/min"
    answers = [agent_api.post(URL, {}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2]["Retry-After"]) >= 1


def test_query__rules_of_another_workspace__are_not_served(
    cast: Cast, agent_api: APIClient, foreign_api: APIClient
) -> None:
    make_rule(cast.workspace)
    context = {"tool": "weather_api", "input": {}}
    assert agent_api.post(URL, context).json()["input"] == {"city": "Shanghai"}
    assert foreign_api.post(URL, context).json()["input"] == {}


def test_query__rule_disabled__is_gone_at_once(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    context = {"tool": "weather_api", "input": {}}
    assert agent_api.post(URL, context).json()["applied"]
    disable_rule(rule=rule, by=SYSTEM)
    answer = agent_api.post(URL, context).json()
    assert (answer["applied"], answer["ruleset_version"]) == ([], "2")


def test_query__window_not_begun__is_not_served_yet(cast: Cast, agent_api: APIClient) -> None:
    make_rule(cast.workspace, valid_from=(timezone.now() + timedelta(hours=1)).isoformat())
    assert agent_api.post(URL, {"tool": "weather_api", "input": {}}).json()["applied"] == []


def test_query__steady_state__asks_no_database(
    cast: Cast, agent_api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(cast.workspace)
    context = {"tool": "weather_api", "input": {}}
    agent_api.post(URL, context)
    for poller in (RULESETS.poller, KEYRING.poller):  # as in a server, where the threads run
        monkeypatch.setattr(type(poller), "running", property(lambda _: True))
    agent_api.post(URL, context)
    with CaptureQueriesContext(connections["default"]) as queries:
        assert agent_api.post(URL, context).json()["applied"]
    assert [query["sql"] for query in queries] == []


def test_query__nothing_matched__keeps_no_row_but_gives_a_receipt(cast: Cast, agent_api: APIClient) -> None:
    make_rule(cast.workspace)
    assert agent_api.post(URL, {"tool": "mail", "input": {}}).json()["receipt"]
    assert len(RECEIPTS) == 0
    agent_api.post(URL, {"tool": "weather_api", "input": {}})
    assert len(RECEIPTS) == 1


def test_query__condition_cannot_be_evaluated__is_listed(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    answer = agent_api.post(URL, {"tool": "weather_api", "input": {"city": 7}}).json()
    assert answer["applied"] == []
    assert [fault["rule"] for fault in answer["errors"]] == [str(rule.uuid)]
    assert len(RECEIPTS) == 1


def test_query__extreme_values__come_back_as_they_went(cast: Cast, agent_api: APIClient) -> None:
    given = {"big": 2**63 - 1, "text": "漢字 🙂", "nested": [1.5, None, {"a": True}]}
    answer = agent_api.generic("POST", URL, json.dumps({"tool": "x", "input": given}))
    assert answer.json()["input"] == given


def test_query__head_and_options__are_refused_in_the_one_shape(agent_api: APIClient) -> None:
    answer = agent_api.options(URL)
    assert answer.status_code == 405
    assert answer.json()["code"] == "method_not_allowed"
