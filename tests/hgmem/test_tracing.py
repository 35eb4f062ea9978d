"""Guarded calls as spans, read with OpenTelemetry's own SDK."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import hgmem
from hgmem.receipts import read_receipt
from hgmem.runtime.offline import OfflineClient
from tests.hgmem.spans import tracing_to

export = pytest.importorskip("opentelemetry.sdk.trace.export")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")

CITY = {"transform": "set_default", "field": "city", "default_value": "Lima"}
DEFAULT_CITY = {
    "applies_to": "TOOL_CALL:weather", "action_type": "PARAMETER_TRANSFORM", "action_detail": CITY,
}  # fmt: skip
SECRET = "do not tell"


@pytest.fixture
def spans() -> Iterator[Any]:
    """The finished spans, as a function."""
    exporter = memory.InMemorySpanExporter()
    with tracing_to(export.SimpleSpanProcessor(exporter)):
        yield exporter.get_finished_spans


def guarded(tool: Any, *rules: dict[str, Any], **settings: Any) -> tuple[Any, OfflineClient]:
    client = OfflineClient(rules, agent="helper", **settings)
    return hgmem.guard(tool, name="weather", client=client), client


def weather(city: str = "") -> str:
    """The weather of a city."""
    return f"sunny in {city}"


async def aweather(city: str = "") -> str:
    return weather(city)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_span__guarded_call__says_what_was_decided(spans: Any, is_async: bool) -> None:
    tool, client = guarded(aweather if is_async else weather, DEFAULT_CITY)

    asyncio.run(tool()) if is_async else tool()

    (span,) = spans()
    (call,) = client.calls
    said = dict(span.attributes)
    assert (span.name, span.status.is_ok) == ("execute_tool weather", True)
    assert said.pop("hgmem.decision.ms") >= 0
    assert said == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.agent.name": "helper",
        "hgmem.task": client.documents[0]["external_id"],
        "hgmem.blocked": False,
        "hgmem.source": "local",
        "hgmem.ruleset.version": said["hgmem.ruleset.version"],
        "hgmem.rules.applied": ("rule-1",),
        "hgmem.receipt": read_receipt(call["receipt"].rpartition(".")[0], None).uuid,
        "hgmem.status": "ok",
        "hgmem.recorded": True,
    }


def test_span__tool_fails__has_its_type_and_no_content(spans: Any) -> None:
    def fails() -> None:
        raise ValueError(SECRET)

    tool, _ = guarded(fails)
    with pytest.raises(ValueError, match=SECRET):
        tool()

    (span,) = spans()
    assert (span.status.status_code.name, span.attributes["error.type"]) == ("ERROR", "ValueError")
    assert SECRET not in span.to_json()


def test_span__blocked_call__is_an_error_that_was_not_made(spans: Any) -> None:
    rule = {
        "applies_to": "TOOL_CALL:weather",
        "action_type": "PRE_CALL_VALIDATION",
        "action_detail": {"message": SECRET},
    }
    tool, _ = guarded(weather, rule)
    with pytest.raises(hgmem.Blocked):
        tool()

    (span,) = spans()
    assert span.attributes["hgmem.blocked"] is True
    assert (span.attributes["hgmem.status"], span.attributes["error.type"]) == ("rejected", "Blocked")


@pytest.mark.parametrize(
    ("wanted", "options", "expected"),
    [
        pytest.param("", {}, None, id="not-asked-for"),
        pytest.param("true", {}, {"city": "Rome"}, id="asked-for"),
        pytest.param("span_only", {}, {"city": "Rome"}, id="on-spans"),
        pytest.param("true", {"capture": False}, {}, id="kept-out-of-everything"),
    ],
)
def test_span__content__is_there_when_it_is_asked_for(
    spans: Any, monkeypatch: pytest.MonkeyPatch, wanted: str, options: dict[str, Any], expected: Any
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", wanted)
    tool, _ = guarded(weather, **options)

    tool("Rome")

    told = spans()[0].attributes.get("gen_ai.tool.call.arguments")
    assert (None if told is None else json.loads(told)) == expected


def test_span__spans_of_the_tool__are_inside(spans: Any) -> None:
    from opentelemetry import trace

    def asks() -> None:
        with trace.get_tracer("http").start_as_current_span("GET"):
            pass

    tool, _ = guarded(asks)
    tool()

    inner, outer = spans()
    assert (inner.parent.span_id, outer.parent) == (outer.context.span_id, None)


def test_span__tracer_that_fails__harms_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("opentelemetry.trace.get_tracer", fails)
    tool, client = guarded(weather)

    assert (tool("Rome"), len(client.calls)) == ("sunny in Rome", 1)


def test_tracing__process_without_opentelemetry__does_not_import_it() -> None:
    code = "import sys, hgmem.tracing as t; t.start_call('a', asked_tool='a', task='', agent='', "
    code += "is_blocked=False, verdict=None); print('opentelemetry.trace' in sys.modules)"

    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
