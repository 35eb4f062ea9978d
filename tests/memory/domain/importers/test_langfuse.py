"""Langfuse observation exports."""

import csv
import io
import json

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers import Imported, LineError, read
from memory.domain.importers.grouping import Groups, LateRowError


def observation(identity, kind, second, **fields):
    return {
        "id": identity,
        "traceId": "tr1",
        "type": kind,
        "startTime": f"2026-05-20T12:00:{second:02d}.000Z",
        "endTime": f"2026-05-20T12:00:{second + 1:02d}.500Z",
        "parentObservationId": None if identity == "root" else "root",
        "level": "DEFAULT",
        **fields,
    }


ROWS = [
    observation("root", "SPAN", 0, name="agent-run", input="book a seat", sessionId="s9", environment="prod"),
    observation("g1", "GENERATION", 1, name="llm", output={"role": "assistant", "content": "I look"}),
    observation("t1", "TOOL", 2, name="find", input={"id": 1}, output='{"seats": 2}'),
    observation("t2", "TOOL", 4, name="pay", input='{"sum": 2}', level="ERROR", statusMessage="too little"),
    observation("e1", "EVENT", 5, name="note"),
]


def documents(text):
    items = list(read("langfuse", text.encode(), source="f"))
    assert not [item for item in items if isinstance(item, LineError)]
    return [msgspec.convert(item.document, ExperienceDoc) for item in items]


def snake(row):
    names = {
        "traceId": "trace_id",
        "startTime": "start_time",
        "endTime": "end_time",
        "parentObservationId": "parent_observation_id",
        "statusMessage": "status_message",
        "sessionId": "session_id",
    }
    return {names.get(name, name): value for name, value in row.items()}


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, sorted({name for row in rows for name in row}), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(
        {name: json.dumps(value) if isinstance(value, dict) else value for name, value in row.items()}
        for row in rows
    )
    return out.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(ROWS), id="array"),
        pytest.param("\n".join(json.dumps(row) for row in reversed(ROWS)), id="lines_newest_first"),
        pytest.param(json.dumps([snake(row) for row in ROWS], indent=2), id="snake_case"),
        pytest.param(json.dumps({"data": ROWS, "meta": {}}), id="api_page"),
        pytest.param(
            json.dumps({"trace": {"id": "tr1"}, "observations": ROWS}, indent=2), id="trace_download"
        ),
        pytest.param(as_csv(ROWS), id="csv"),
        pytest.param(as_csv([snake(row) for row in ROWS]), id="csv_snake_case"),
    ],
)
def test_read__one_trace__is_the_same_task_in_every_layout(text):
    (document,) = documents(text)

    assert (document.external_id, document.goal, document.root_task) == ("tr1", "book a seat", "s9")
    assert (document.agent, document.env) == ("agent-run", {"environment": "prod"})
    find, pay = document.calls
    assert (find.tool, find.input, find.output, find.status) == ("find", {"id": 1}, {"seats": 2}, "ok")
    assert (find.duration_ms, find.reasoning) == (1500.0, "I look")
    assert (pay.input, pay.status, pay.error.message) == ({"sum": 2}, "error", "too little")


@pytest.mark.parametrize(
    ("fields", "tool"),
    [
        pytest.param({"name": "x", "metadata": {"tool_name": "find"}}, "find", id="metadata_name"),
        pytest.param({"name": "find", "metadata": '{"kind": "tool"}'}, "find", id="metadata_kind_text"),
        pytest.param(
            {"name": "find", "metadata": {"attributes": {"openinference.span.kind": "TOOL"}}},
            "find",
            id="otel",
        ),
        pytest.param({"name": "tool:find"}, "find", id="name_prefix"),
        pytest.param({"name": "execute_tool find"}, "find", id="genai_name"),
        pytest.param({"name": "find"}, None, id="plain_span"),
        pytest.param({"name": None, "metadata": 7}, None, id="no_name"),
    ],
)
def test_read__span__is_a_call_only_when_it_says_so(fields, tool):
    (document,) = documents(json.dumps([ROWS[0], observation("s", "SPAN", 1, **fields)]))

    assert [call.tool for call in document.calls] == ([tool] if tool else [])


def test_read__calls_only_in_generations__take_results_from_the_next_one():
    wanted = {"id": "c1", "function": {"name": "find", "arguments": '{"id": 1}'}}
    asked = {"role": "assistant", "content": "look", "tool_calls": [wanted]}
    back = [
        {"role": "user", "content": "seat?"},
        asked,
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]
    rows = [
        observation("g1", "GENERATION", 1, input=back[:1], output=asked),
        observation("g2", "GENERATION", 3, input={"messages": back}, output={"role": "assistant"}),
    ]

    (document,) = documents(json.dumps(rows))

    (call,) = document.calls
    assert (document.goal, call.tool, call.input, call.output) == ("seat?", "find", {"id": 1}, "2")
    assert (call.status, call.reasoning) == ("unknown", "look")


def test_read__generation_and_tool_observation_of_one_call__count_once():
    wanted = {"id": "c1", "function": {"name": "find", "arguments": "{}"}}
    rows = [*ROWS, observation("g", "GENERATION", 2, output={"role": "assistant", "tool_calls": [wanted]})]

    assert [call.tool for call in documents(json.dumps(rows))[0].calls] == ["find", "pay"]


def test_read__observe_decorator_input__is_the_keyword_arguments():
    call_input = {"args": [], "kwargs": {"id": 1}}

    (document,) = documents(json.dumps([observation("t", "TOOL", 1, name="f", input=call_input)]))

    assert document.calls[0].input == {"id": 1}


def test_read__root_with_level_error__is_a_failed_task():
    root = ROWS[0] | {"level": "ERROR", "statusMessage": "crashed"}

    (document,) = documents(json.dumps([root, *ROWS[1:]]))

    assert (document.outcome.result, document.outcome.by, document.outcome.note) == (
        "failure",
        "environment",
        "crashed",
    )


def test_read__interleaved_traces__are_a_task_each():
    other = [row | {"traceId": "tr2"} for row in ROWS]
    mixed = [row for pair in zip(ROWS, other, strict=True) for row in pair]

    assert [document.external_id for document in documents(json.dumps(mixed))] == ["tr1", "tr2"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param({"id": "x", "type": "SPAN"}, "traceId: expected text", id="no_trace"),
        pytest.param({"id": "x", "traceId": 5, "type": "SPAN"}, "traceId: expected text", id="number_trace"),
        pytest.param({"id": "x", "traceId": "t"}, "type: expected", id="no_type"),
        pytest.param([1], "expected an observation object", id="list"),
    ],
)
def test_read__bad_observation__is_reported_and_the_rest_read(bad, reason):
    lines = [json.dumps(row) for row in [ROWS[0], bad, *ROWS[1:]]]

    items = list(read("langfuse", lines, source="f"))

    (error,) = [item for item in items if isinstance(item, LineError)]
    (task,) = [item for item in items if isinstance(item, Imported)]
    assert (error.line, len(task.document["calls"])) == (2, 2)
    assert reason in error.reason


def test_read__csv_with_long_and_quoted_cells__keeps_them_whole():
    value = 'a "quoted", cell\n\n  with lines\n' + "x" * 200_000
    row = observation("t", "TOOL", 1, name="f", output=value)

    (document,) = documents(as_csv([row]))

    assert document.calls[0].output == value


def test_read__csv_row_that_does_not_fit__is_reported():
    good = "id,traceId,type,name\nt,tr1,TOOL,f\n"

    items = list(read("langfuse", (good + "only,two\n" + 'open,"quote\n').encode(), source="f"))

    assert [(item.line, item.reason) for item in items if isinstance(item, LineError)] == [
        (3, "2 cells where the header has 4"),
        (4, "a quoted cell is never closed (truncated)"),
    ]
    assert len([item for item in items if isinstance(item, Imported)]) == 1


def test_groups__more_bytes_than_allowed__closes_the_one_untouched_longest():
    groups = Groups(max_bytes=25)
    for key in ("a", "b"):
        assert list(groups.add(key, 1, {}, 10)) == []

    closed = list(groups.add("b", 2, {}, 10))

    assert [group.key for group in closed] == ["a"]
    with pytest.raises(LateRowError, match="trace a"):
        list(groups.add("a", 3, {}, 10))
    assert [len(group.rows) for group in groups.rest()] == [2]
