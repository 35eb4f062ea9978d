"""What no client should send: every endpoint answers with a 4xx of the one error shape, never with a 5xx."""

import base64
import json
from unittest.mock import patch

import pytest
from django.db import OperationalError
from rest_framework.test import APIClient

from corrections.models import Rule
from memory.models import Task
from memory.models.accounts import Workspace
from tests.architecture.routes import API
from tests.conftest import Cast, page_client

pytestmark = pytest.mark.django_db
HALF_PAIR = "\\ud800"
LISTS = [route for route in API if "GET" in route.view_class.actions and not route.parts]
WRITES = [
    (route, method)
    for route in API
    for method in route.view_class.actions
    if method in {"POST", "PATCH"} and not route.parts and "import" not in route.name
]
BODIES = [
    pytest.param(b"[" * 100_000 + b"]" * 100_000, id="bottomless list"),
    pytest.param(b'{"document":' * 50_000 + b"1" + b"}" * 50_000, id="bottomless object"),
    pytest.param(b'{"document":' + b"[" * 70 + b"]" * 70 + b"}", id="too deep"),
    pytest.param(b'{"context": NaN}', id="NaN"),
    pytest.param(b'{"limit": 1e400}', id="infinite"),
    pytest.param(b'{"base_version": ' + b"9" * 5_000 + b"}", id="huge number"),
    pytest.param(b'{"name": "\xff\xfe"}', id="not UTF-8"),
]
QUERIES = [
    "q=%00", "tool=%00", "status=%00", "scope=%00", "since=0001-01-01T00:00:00%2B14:00",
    "until=9999-12-31T23:59:59-14:00", "page_size=99999999999999999999", "after_seq=%D9%A3",
]  # fmt: skip


def position(text: str) -> str:
    """A cursor that nobody made here."""
    return base64.b64encode(f"p={text}".encode()).decode()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("route", "method"), WRITES, ids=lambda part: getattr(part, "name", part))
def test_api__unreadable_body__answers_4xx(admin_api: APIClient, route, method: str, body: bytes) -> None:
    answer = admin_api.generic(method, route.url({}, ""), body, content_type="application/json")

    assert 400 <= answer.status_code < 500
    assert {"code", "detail"} <= answer.json().keys()


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("route", LISTS, ids=lambda route: route.name)
def test_list__hostile_filter__answers_below_500(admin_api: APIClient, route, query: str) -> None:
    assert admin_api.get(f"{route.url({}, '')}?{query}").status_code in {200, 404, 422}


@pytest.mark.parametrize("text", ["%00", "x", "-1", "9" * 30])
@pytest.mark.parametrize("route", LISTS, ids=lambda route: route.name)
def test_list__forged_cursor__answers_below_500(admin_api: APIClient, route, text: str) -> None:
    answer = admin_api.get(route.url({}, ""), {"cursor": position(text)})

    assert answer.status_code in {200, 404, 422}


def test_draft__nul_and_half_pair__are_replaced(admin_api: APIClient) -> None:
    document = {"applies_to": "TOOL_CALL:a", "condition": "true", "action_type": "PROMPT_ENHANCEMENT"}
    document |= {"action_detail": {"text": "a\0bX"}, "name": "a\0bX", "applies_to": {"point": "planning"}}
    body = json.dumps({"document": document, "note": "X"}).replace("X", HALF_PAIR)

    answer = admin_api.generic("POST", "/api/v1/rules", body, content_type="application/json")

    assert answer.status_code == 201, answer.json()
    assert Rule.objects.get().name == "a\ufffdb\ufffd"


ENDS = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59Z"]


@pytest.mark.parametrize("moment", ENDS)
def test_api__moment_at_the_ends_of_the_calendar__is_refused(admin_api: APIClient, moment: str) -> None:
    rule = {"applies_to": {"point": "before", "tool": "a"}, "action_type": "PRE_CALL_VALIDATION"}
    rule |= {"name": "a", "condition": "true", "action_detail": {"check": "false", "message": "m"}}
    calls = [{"tool": "a", "started_at": moment}]
    answers = [
        admin_api.post("/api/v1/experiences", {"external_id": "a", "started_at": moment}),
        admin_api.post("/api/v1/experiences", {"external_id": "b", "finished_at": moment}),
        admin_api.post("/api/v1/experiences", {"external_id": "c", "calls": calls}),
        admin_api.post("/api/v1/rules", {"document": rule | {"valid_from": moment}}),
        admin_api.post("/api/v1/rules", {"document": rule | {"valid_until": moment}}),
        admin_api.post("/api/v1/keys", {"name": "a", "scopes": ["rules:read"], "expires_at": moment}),
    ]

    assert [answer.status_code for answer in answers] == [422] * len(answers)
    assert admin_api.get("/api/v1/rules").status_code == 200


def test_simulate__half_pair_in_the_context__is_answered(admin_api: APIClient) -> None:
    body = json.dumps({"context": {"tool": "a", "input": {"a": "X"}}}).replace("X", HALF_PAIR)

    answer = admin_api.generic("POST", "/api/v1/rules/simulate", body, content_type="application/json")

    assert (answer.status_code, answer.json()["input"]) == (200, {"a": "\ufffd"})


@pytest.mark.parametrize(("frame", "status"), [("%s", 201), ("[%s]", 207), ('{"experiences": [%s]}', 207)])
def test_record__half_pair__is_recorded(agent_api: APIClient, frame: str, status: int) -> None:
    document = '{"external_id": "run-\\ud800", "calls": [{"tool": "a", "output": "cut \\ud83d"}]}'

    answer = agent_api.generic("POST", "/api/v1/experiences", frame % document, "application/json")

    assert answer.status_code == status
    assert Task.objects.get().external_id == "run-\ufffd"


def test_api__database_is_away__answers_503(admin_api: APIClient) -> None:
    with patch.object(Workspace.objects, "get", side_effect=OperationalError("gone")):
        answer = admin_api.get("/api/v1/me")

    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "unavailable", "1")


def test_page__database_is_away__answers_503_with_a_sentence(cast: Cast) -> None:
    client = page_client(cast.owner)
    client.raise_request_exception = False

    with patch("memory.web.tools.list_tools", side_effect=OperationalError("gone")):
        answer = client.get("/w/acme/tools/")

    assert answer.status_code == 503
    assert "The database does not answer" in answer.content.decode()


def test_api__our_own_fault__answers_500_as_json_without_the_reason(admin_api: APIClient) -> None:
    admin_api.raise_request_exception = False

    with patch("memory.api.keys.get_workspace", side_effect=ZeroDivisionError("secret")):
        answer = admin_api.get("/api/v1/me")

    assert (answer.status_code, answer.json()["code"]) == (500, "error")
    assert "secret" not in answer.content.decode()
