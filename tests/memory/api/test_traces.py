"""``POST /api/v1/traces``: OTLP/HTTP as exporters speak it. What becomes of the spans is tested below it."""

import gzip
import json
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError
from rest_framework.test import APIClient

from memory.api.throttles import BUCKETS
from memory.domain.access import Scope
from memory.models import TraceSpan
from tests.conftest import Cast, api_client, make_key
from tests.memory.spans import make_export, make_root, make_tool_span

pytestmark = pytest.mark.django_db
URL = "/api/v1/traces"
PROTOBUF = "application/x-protobuf"
BODY = json.dumps(make_export(make_root(), make_tool_span(2)))
BAD_SPAN = json.dumps(make_export(make_tool_span(2, spanId="")))


@pytest.fixture(autouse=True)
def full_buckets() -> None:
    BUCKETS.clear()


def post(api: APIClient, body: str | bytes, kind: str = "application/json", **headers: str) -> Any:
    return api.generic("POST", URL, body, content_type=kind, **headers)


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8"])
def test_post__json__answers_an_empty_response(agent_api: APIClient, kind: str) -> None:
    answer = post(agent_api, BODY, kind)

    assert (answer.status_code, answer.json(), TraceSpan.objects.count()) == (200, {}, 2)


def test_post__unusable_span__answers_partial_success(agent_api: APIClient) -> None:
    partial = post(agent_api, BAD_SPAN).json()["partialSuccess"]

    assert partial["rejectedSpans"] == "1"
    assert "spanId" in partial["errorMessage"]


@pytest.mark.parametrize(
    ("body", "kind", "headers", "status"),
    [
        pytest.param("{", "application/json", {}, 400, id="truncated"),
        pytest.param("[]", "application/json", {}, 400, id="a-list"),
        pytest.param('{"resourceLogs": []}', "application/json", {}, 400, id="logs"),
        pytest.param('{"a":' * 200 + "1" + "}" * 200, "application/json", {}, 400, id="endless-nesting"),
        pytest.param(b"\xff\xff", PROTOBUF, {}, 400, id="no-protobuf"),
        pytest.param(BODY, "text/plain", {}, 415, id="text"),
        pytest.param(BODY, "application/json", {"HTTP_CONTENT_ENCODING": "br"}, 415, id="brotli"),
        pytest.param(BODY, "application/json", {"HTTP_CONTENT_ENCODING": "gzip"}, 400, id="not-packed"),
        pytest.param(
            gzip.compress(BODY.encode())[:-9], "application/json", {"HTTP_CONTENT_ENCODING": "gzip"}, 400,
            id="packed-and-cut",
        ),
        pytest.param(
            gzip.compress(b" " * 100_000), "application/json", {"HTTP_CONTENT_ENCODING": "gzip"}, 413,
            id="a-bomb",
        ),
        pytest.param(b" " * 30_000, "application/json", {}, 413, id="too-large"),
    ],
)  # fmt: skip
def test_post__what_cannot_be_read__is_refused(
    agent_api: APIClient, settings: Any, body: str | bytes, kind: str, headers: dict[str, str], status: int
) -> None:
    settings.MAX_BODY_BYTES = 20_000

    answer = post(agent_api, body, kind, **headers)

    assert answer.status_code == status
    assert TraceSpan.objects.count() == 0
    assert answer.headers["Content-Type"] == (PROTOBUF if kind == PROTOBUF else "application/json")


def test_post__packed__is_read(agent_api: APIClient) -> None:
    answer = post(agent_api, gzip.compress(BODY.encode()), HTTP_CONTENT_ENCODING="gzip")

    assert (answer.status_code, TraceSpan.objects.count()) == (200, 2)


def test_post__without_the_scope__is_refused(cast: Cast) -> None:
    reader = api_client(make_key(cast.workspace, Scope.EXPERIENCE_READ))

    assert (post(reader, BODY).status_code, post(APIClient(), BODY).status_code) == (403, 401)


def test_post__busy__says_when_to_come_back(agent_api: APIClient, settings: Any) -> None:
    with patch("memory.actions.traces.Trace.objects.bulk_create", side_effect=OperationalError("locked")):
        busy = post(agent_api, BODY)
    settings.API_RATE = "1/min"
    BUCKETS.clear()
    throttled = [post(agent_api, BODY) for _ in range(2)][1]

    assert (busy.status_code, busy["Retry-After"]) == (503, "1")
    assert throttled.status_code == 429
    assert int(throttled["Retry-After"]) > 0
