"""OTLP JSON traces with GenAI, OpenInference and OpenLLMetry attributes."""

import base64
import json

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers import Imported, LineError, read
from memory.domain.importers.otlp_spans import decode_value

TRACE = "5b8efff798038103d269b633813fc60c"
START = 1_779_278_400_000_000_000


def attributes(**named):
    return [{"key": name, "value": any_value(value)} for name, value in named.items()]


def any_value(value):
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(**value)}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def span(number, name, at_ms, named, **fields):
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if number == 1 else f"{1:016x}",
        "name": name,
        "startTimeUnixNano": str(START + at_ms * 1_000_000),
        "endTimeUnixNano": str(START + (at_ms + 250) * 1_000_000),
        "attributes": attributes(**named),
        "status": {},
        **fields,
    }


def export(*spans):
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes(**{"service.name": "shop"})},
                "scopeSpans": [{"scope": {"name": "agents"}, "spans": list(spans)}],
            }
        ]
    }


MESSAGES = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "weather in Oslo?"}]}])
ROOT = span(
    1,
    "invoke_agent helper",
    0,
    {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "helper",
        "gen_ai.conversation.id": "conv-7",
        "gen_ai.input.messages": MESSAGES,
    },
)
GOOD = span(
    2,
    "execute_tool weather",
    100,
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.arguments": '{"city": "Oslo"}',
        "gen_ai.tool.call.result": '{"t": 3}',
    },
)
FAILED = span(
    3,
    "execute_tool mail",
    400,
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": {"to": "a", "copies": 2},
        "error.type": "HTTPError",
        "http.response.status_code": 503,
    },
    status={"code": 2, "message": "status message"},
    events=[
        {
            "name": "exception",
            "attributes": attributes(**{"exception.type": "Timeout", "exception.message": "no answer"}),
        }
    ],
)


def documents(text):
    items = list(read("otlp", text.encode(), source="f"))
    assert not [item for item in items if isinstance(item, LineError)]
    return [msgspec.convert(item.document, ExperienceDoc) for item in items]


def in_base64(one):
    ids = {
        name: base64.b64encode(bytes.fromhex(one[name])).decode()
        for name in ("traceId", "spanId", "parentSpanId")
    }
    return one | ids


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(export(ROOT, GOOD, FAILED)), id="one_export"),
        pytest.param(json.dumps(export(ROOT, GOOD, FAILED), indent=2), id="spread"),
        pytest.param(
            "\n".join(json.dumps(export(one)) for one in (FAILED, GOOD, ROOT)), id="an_export_a_line"
        ),
        pytest.param(json.dumps(export(*map(in_base64, (ROOT, GOOD, FAILED)))), id="base64_ids"),
    ],
)
def test_read__genai_trace__is_the_same_task_in_every_layout(text):
    (document,) = documents(text)

    assert (document.external_id, document.root_task, document.agent) == (TRACE, "conv-7", "helper")
    assert (document.goal, document.framework) == ("weather in Oslo?", "agents")
    good, failed = document.calls
    assert (good.tool, good.input, good.output) == ("weather", {"city": "Oslo"}, {"t": 3})
    assert (good.status, good.duration_ms) == ("ok", 250.0)
    assert good.started_at.isoformat() == "2026-05-20T12:00:00.100000+00:00"
    assert (failed.tool, failed.input, failed.status) == ("mail", {"to": "a", "copies": 2}, "error")
    assert (failed.error.type, failed.error.message, failed.error.http_status) == (
        "Timeout",
        "no answer",
        503,
    )


@pytest.mark.parametrize(
    "named",
    [
        pytest.param(
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "find",
                "input.value": '{"id": 1}',
                "output.value": "x",
            },
            id="openinference",
        ),
        pytest.param(
            {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "find",
                "traceloop.entity.input": '{"id": 1}',
                "traceloop.entity.output": "x",
            },
            id="openllmetry",
        ),
    ],
)
def test_read__other_conventions__are_calls_too(named):
    (document,) = documents(json.dumps(export(span(2, "span name", 0, named))))

    (call,) = document.calls
    assert (call.tool, call.input, call.output, call.status) == ("find", {"id": 1}, "x", "ok")
    assert document.agent == "shop"


@pytest.mark.parametrize(
    ("status", "named", "message"),
    [
        pytest.param({"code": 2, "message": "bad"}, {}, "bad", id="status_number"),
        pytest.param({"code": "STATUS_CODE_ERROR", "message": "bad"}, {}, "bad", id="status_name"),
        pytest.param({"code": 1}, {"error.type": "KeyError"}, "KeyError", id="error_type_only"),
    ],
)
def test_read__failed_without_exception_event__says_what_is_known(status, named, message):
    one = span(2, "execute_tool f", 0, {"gen_ai.operation.name": "execute_tool", **named}, status=status)

    (document,) = documents(json.dumps(export(one)))

    assert (document.calls[0].status, document.calls[0].error.message) == ("error", message)


def test_read__failed_root__is_a_failed_task():
    root = ROOT | {"status": {"code": 2, "message": "gave up"}}

    (document,) = documents(json.dumps(export(root, GOOD)))

    assert (document.outcome.result, document.outcome.note) == ("failure", "gave up")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"stringValue": "x"}, "x", id="string"),
        pytest.param({"boolValue": False}, False, id="bool"),
        pytest.param({"intValue": "9007199254740993"}, 9007199254740993, id="int_text"),
        pytest.param({"doubleValue": 0.5}, 0.5, id="double"),
        pytest.param({"arrayValue": {"values": [{"intValue": 1}, {}]}}, [1, None], id="array"),
        pytest.param({"arrayValue": {}}, [], id="empty_array"),
        pytest.param({"bytesValue": "AQI="}, "AQI=", id="bytes"),
        pytest.param({"string_value": "x"}, "x", id="snake_case"),
        pytest.param({"intValue": "many"}, None, id="bad_int"),
        pytest.param({"newValue": 1}, None, id="unknown_kind"),
        pytest.param("x", None, id="no_object"),
        pytest.param(None, None, id="none"),
    ],
)
def test_decode_value__any_value__is_json(value, expected):
    assert decode_value(value) == expected


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param("{}", "expected an object with resourceSpans", id="no_traces"),
        pytest.param('{"resourceLogs": []}', "expected an object with resourceSpans", id="logs"),
        pytest.param(json.dumps(export({"name": "x"})), "traceId: expected", id="no_trace_id"),
        pytest.param(json.dumps(export(7)), "traceId: expected", id="span_is_a_number"),
        pytest.param('{"resourceSpans": [', "truncated", id="truncated"),
    ],
)
def test_read__bad_export__is_reported_and_the_rest_read(bad, reason):
    items = list(read("otlp", [json.dumps(export(GOOD)), bad, json.dumps(export(FAILED))], source="f"))

    (error,) = [item for item in items if isinstance(item, LineError)]
    (task,) = [item for item in items if isinstance(item, Imported)]
    assert (error.line, len(task.document["calls"])) == (2, 2)
    assert reason in error.reason


def test_read__one_bad_span_in_an_export__keeps_the_others():
    items = list(read("otlp", [json.dumps(export(ROOT, 7, GOOD, {"traceId": "?"}))], source="f"))

    assert [item.reason for item in items if isinstance(item, LineError)] == [
        "traceId: expected hexadecimal or base64 text"
    ] * 2
    (task,) = [item for item in items if isinstance(item, Imported)]
    assert len(task.document["calls"]) == 1
