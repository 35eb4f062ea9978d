"""Spans become tasks: in any order, in any number of requests, once."""

import itertools
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memory.actions.traces import Received, drop_old_traces, receive_spans, write_traces
from memory.domain.access import Actor, NotPermitted, Scope
from memory.models import Task, ToolCall, Trace, TraceSpan, Workspace
from memory.permissions import SYSTEM
from tests.memory.builders import make_document, record
from tests.memory.spans import TRACE, make_export, make_root, make_span, make_tool_span

pytestmark = pytest.mark.django_db


def send(workspace: Workspace, *spans: dict[str, Any]) -> Received:
    return receive_spans(workspace_id=workspace.pk, export=make_export(*spans), by=SYSTEM)


def pass_time(seconds: float) -> None:
    """As if everything had come so much earlier."""
    for trace in Trace.objects.all():
        trace.news_at -= timedelta(seconds=seconds)
        trace.waiting_since = trace.waiting_since and trace.waiting_since - timedelta(seconds=seconds)
        trace.closed_at = trace.closed_at and trace.closed_at - timedelta(seconds=seconds)
        trace.save()
    write_traces()


def calls() -> list[tuple[int, str, dict[str, Any]]]:
    return list(ToolCall.objects.order_by("seq").values_list("seq", "tool", "input"))


SPANS = (make_root(), make_tool_span(2, "search"), make_tool_span(3, "book"))
BOTH = [(0, "search", {"n": 2}), (1, "book", {"n": 3})]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_receive_spans__any_order_one_by_one_and_twice__is_the_same_task(
    workspace: Workspace, order: Sequence[int]
) -> None:
    for place in [*order, *order]:
        assert send(workspace, SPANS[place]).rejected == 0

    pass_time(11)
    again = send(workspace, *SPANS)  # a retry that comes late
    pass_time(11)

    task = Task.objects.get()
    assert (again.rejected, task.external_id, task.final, task.outcome) == (0, TRACE, True, "unknown")
    assert (task.goal, task.agent, task.root_task, task.framework) == (
        "Find a flight", "helper", "conv-7", "agents",
    )  # fmt: skip
    assert calls() == BOTH


def test_write_traces__before_the_root__calls_are_there_and_keep_their_places(workspace: Workspace) -> None:
    send(workspace, SPANS[2])
    pass_time(6)
    assert (calls(), Task.objects.get().final) == ([(0, "book", {"n": 3})], False)

    send(workspace, SPANS[1], SPANS[0])
    pass_time(11)

    assert calls() == [(0, "book", {"n": 3}), (1, "search", {"n": 2})]
    assert Task.objects.get().final


@pytest.mark.parametrize(
    ("spans", "seconds", "final"),
    [
        pytest.param(SPANS, 1, None, id="nothing-settled"),
        pytest.param(SPANS, 6, False, id="root-but-not-quiet"),
        pytest.param(SPANS, 11, True, id="root-and-quiet"),
        pytest.param(SPANS[1:], 11, False, id="no-root"),
        pytest.param(SPANS[1:], 901, True, id="no-root-and-idle"),
        pytest.param(SPANS[:1], 11, True, id="agent-without-tools"),
        pytest.param((make_span(1, "GET /"),), 11, None, id="no-agent-at-all"),
        pytest.param((make_span(2, "SELECT"),), 901, None, id="a-database"),
    ],
)
def test_write_traces__as_time_passes__tasks_begin_and_end(
    workspace: Workspace, spans: Sequence[dict[str, Any]], seconds: float, final: bool | None
) -> None:
    send(workspace, *spans)

    pass_time(seconds)

    task = Task.objects.first()
    assert (task and task.final) == final


@pytest.mark.parametrize(
    ("root", "outcome", "by"),
    [
        pytest.param(
            make_root(status={"code": 2, "message": "gave up"}), "failure", "environment", id="error"
        ),
        pytest.param(make_root(), "unknown", "", id="silent"),
        pytest.param(make_span(1, "run", {"hgmem.outcome": "success"}), "success", "agent", id="attribute"),
        pytest.param(make_span(1, "run", {"hgmem.outcome": "great"}), "unknown", "", id="unknown-word"),
    ],
)
def test_write_traces__root_span__says_how_it_ended(
    workspace: Workspace, root: dict[str, Any], outcome: str, by: str
) -> None:
    send(workspace, root, SPANS[1])

    pass_time(11)

    task = Task.objects.get()
    assert (task.outcome, task.outcome_by) == (outcome, by)


INSIDE_2 = {"parentSpanId": f"{2:016x}"}
MCP_CALL = make_span(3, "tools/call search", {"mcp.method.name": "tools/call"}, **INSIDE_2)
GUARDED = {"hgmem.recorded": True}


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        pytest.param([make_tool_span(2, named=GUARDED)], [], id="recorded-by-the-guard"),
        pytest.param(
            [make_tool_span(2), make_tool_span(3, named=GUARDED, **INSIDE_2)], [], id="around-a-recorded-call"
        ),
        pytest.param(
            [
                make_tool_span(2, "ask"),
                make_tool_span(3, "other", named=GUARDED | {"hgmem.asked_tool": "ask"}, **INSIDE_2),
            ],
            [],
            id="around-a-call-that-a-rule-sent-elsewhere",
        ),
        pytest.param(
            [make_tool_span(2, "agent"), make_tool_span(3, "search", named=GUARDED, **INSIDE_2)],
            ["agent"],
            id="another-tool-around-a-recorded-call",
        ),
        pytest.param(
            [make_tool_span(2), MCP_CALL], ["search"], id="the-mcp-client-inside"
        ),
        pytest.param(
            [make_tool_span(2), make_tool_span(3, **INSIDE_2)], ["search", "search"], id="it-calls-itself"
        ),
    ],
)  # fmt: skip
def test_write_traces__a_call_seen_twice__counts_once(
    workspace: Workspace, spans: list[dict[str, Any]], expected: list[str]
) -> None:
    send(workspace, *spans[::-1], make_root())

    pass_time(11)

    assert [tool for _, tool, _ in calls()] == expected


def test_write_traces__mcp_span_before_the_one_around_it__waits_for_it(workspace: Workspace) -> None:
    send(workspace, MCP_CALL)
    pass_time(6)
    assert calls() == []

    send(workspace, make_tool_span(2), make_root())
    pass_time(11)

    assert calls() == [(0, "search", {"n": 2})]


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        pytest.param(make_tool_span(2, traceId="0" * 32), "traceId: expected 32", id="zero-trace"),
        pytest.param(make_tool_span(2, spanId="12"), "spanId: expected 16", id="short-span"),
        pytest.param(make_tool_span(2, startTimeUnixNano=str(2**70)), "begin: expected", id="far-future"),
        pytest.param(
            make_tool_span(2, named={"gen_ai.tool.call.arguments": '{"a":' * 70 + "1" + "}" * 70}),
            "deep", id="endless-nesting",
        ),
        pytest.param(7, "traceId: expected", id="no-span"),
    ],
)  # fmt: skip
def test_receive_spans__bad_span__is_counted_and_the_rest_taken(
    workspace: Workspace, span: Any, reason: str
) -> None:
    received = send(workspace, make_root(), span, make_tool_span(3))

    assert (received.rejected, Trace.objects.get().span_count) == (1, 2)
    assert reason in received.reasons[0]


def test_receive_spans__hostile_texts__are_stored_within_the_limits(workspace: Workspace) -> None:
    named = {
        "gen_ai.tool.call.arguments": json.dumps({"n": 10**30, "nul": "\0", "half": "\ud800"}),
        "gen_ai.agent.name": "a" * 5_000,
        "deployment.environment": "e" * 70_000,
    }
    failed = {"status": {"code": 2, "message": "m" * 50_000}}

    received = send(
        workspace, make_tool_span(2, "t" * 5_000, named=named, **failed), make_root() | {"name": "\0"}
    )
    pass_time(11)

    assert (received.reasons, Trace.objects.get().problem) == ([], "")
    call = ToolCall.objects.get()
    assert (len(call.tool), call.status, len(call.error["message"])) == (200, "error", 20_000)
    assert call.input["nul"] == "\ufffd"


def test_receive_spans__secrets__are_never_stored(workspace: Workspace) -> None:
    arguments = json.dumps({"password": "hunter2-hunter2", "to": "ann@example.org"})
    send(workspace, make_tool_span(2, named={"gen_ai.tool.call.arguments": arguments}), make_root())

    waiting = json.dumps(list(TraceSpan.objects.values_list("row", flat=True)))
    pass_time(11)

    for text in (waiting, json.dumps(ToolCall.objects.get().input)):
        assert "hunter2" not in text
        assert "ann@" not in text


def test_receive_spans__after_the_end__new_spans_are_refused(workspace: Workspace) -> None:
    send(workspace, *SPANS)
    pass_time(11)

    late = send(workspace, make_tool_span(9), SPANS[1])

    assert (late.rejected, late.reasons) == (1, ["the trace is over; its task is final"])
    assert not any(TraceSpan.objects.values_list("row", flat=True))


def test_write_traces__contradiction_of_what_is_recorded__is_told_to_the_sender(workspace: Workspace) -> None:
    record(workspace, make_document(TRACE))
    send(workspace, SPANS[1])

    pass_time(6)

    assert "already recorded" in send(workspace, SPANS[2]).reasons[0]


def test_write_traces__over_500_calls__are_all_written(workspace: Workspace) -> None:
    send(workspace, make_root(), *(make_tool_span(number) for number in range(2, 603)))

    pass_time(11)

    assert [seq for seq, _, _ in calls()] == list(range(601))


def test_receive_spans__endless_trace__is_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.actions.traces.MAX_SPANS", 2)
    send(workspace, make_root(), make_tool_span(2))

    assert send(workspace, make_tool_span(3)).reasons == [
        "a trace may have up to 2 spans of agents and tools"
    ]


def test_receive_spans__without_the_scope__is_refused(workspace: Workspace) -> None:
    reader = Actor("key", "k", workspace.pk, scopes=frozenset({Scope.EXPERIENCE_READ}))

    with pytest.raises(NotPermitted):
        receive_spans(workspace_id=workspace.pk, export=make_export(*SPANS), by=reader)


def test_receive_spans__same_trace_in_two_workspaces__are_two_tasks(cast: Any) -> None:
    for one in (cast.workspace, cast.elsewhere):
        send(one, *SPANS)

    pass_time(11)

    assert sorted(Task.objects.values_list("workspace__slug", "call_count")) == [("acme", 2), ("other", 2)]


def test_drop_old_traces__a_week_later__nothing_is_left(workspace: Workspace) -> None:
    send(workspace, *SPANS)
    pass_time(11)
    pass_time(8 * 86_400)

    drop_old_traces()

    assert (Trace.objects.count(), TraceSpan.objects.count(), Task.objects.count()) == (0, 0, 1)
