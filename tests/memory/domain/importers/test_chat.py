"""Chat transcripts in the OpenAI shapes."""

import json

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers import LineError, read


def tool_call(identity, name, arguments):
    return {
        "id": identity,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


MESSAGES = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "book it"},
    {"role": "assistant", "content": "first I look", "tool_calls": [tool_call("c1", "find", {"id": 1})]},
    {"role": "tool", "tool_call_id": "c1", "name": "find", "content": '{"seats": 2}'},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [tool_call("c2", "book", {"sum": 3}), tool_call("c3", "mail", {})],
    },
    {"role": "tool", "tool_call_id": "c3", "content": "sent"},
    {"role": "tool", "tool_call_id": "c2", "content": "Error: too little"},
    {"role": "assistant", "content": "done"},
]
TAU = {
    "task_id": 4,
    "trial": 1,
    "reward": 0.0,
    "info": {"task": {"instruction": "You want a seat"}},
    "traj": MESSAGES,
}


def documents(text, source="file"):
    items = list(read("chat", text.encode(), source=source))
    assert not [item for item in items if isinstance(item, LineError)]
    return [msgspec.convert(item.document, ExperienceDoc) for item in items]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps([TAU]), id="array"),
        pytest.param(json.dumps([TAU], indent=2), id="spread_array"),
        pytest.param(json.dumps(TAU) + "\n", id="line"),
        pytest.param(json.dumps(TAU, indent=4), id="spread_object"),
    ],
)
def test_read__tau_bench_result__is_the_same_in_every_layout(text):
    (document,) = documents(text)

    assert (document.external_id, document.goal) == ("file:4:1", "You want a seat")
    assert (document.outcome.result, document.outcome.by) == ("failure", "evaluator")
    assert [(call.tool, call.input, call.output) for call in document.calls] == [
        ("find", {"id": 1}, {"seats": 2}),
        ("book", {"sum": 3}, "Error: too little"),
        ("mail", {}, "sent"),
    ]
    assert [call.step for call in document.calls] == [0, 1, 1]
    assert [call.reasoning for call in document.calls] == ["first I look", "", ""]
    assert {call.status for call in document.calls} == {"unknown"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps({"messages": MESSAGES}), id="messages"),
        pytest.param(json.dumps(MESSAGES), id="bare_list"),
        pytest.param(json.dumps(MESSAGES, indent=1), id="spread_bare_list"),
        pytest.param(
            json.dumps({"messages": MESSAGES[:-1], "choices": [{"message": MESSAGES[-1]}]}), id="with_choice"
        ),
    ],
)
def test_read__nameless_conversation__gets_its_goal_and_an_id_from_its_content(text):
    (document,) = documents(text)

    assert document.goal == "book it"
    assert [call.tool for call in document.calls] == ["find", "book", "mail"]
    assert document.external_id == documents(text)[0].external_id
    assert document.external_id != documents(text.replace("book it", "sell it"))[0].external_id


def test_read__a_list_a_line__is_a_conversation_a_line():
    text = json.dumps(MESSAGES) + "\n" + json.dumps(MESSAGES[1:]) + "\n"

    assert len(documents(text)) == 2


def test_read__responses_items__match_by_call_id():
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "weather?"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "look it up"}]},
        {"type": "function_call", "call_id": "f1", "name": "weather", "arguments": '{"city": "Oslo"}'},
        {"type": "function_call_output", "call_id": "f1", "output": '{"t": 3}'},
    ]

    (document,) = documents(json.dumps({"id": "resp_1", "input": items[:1], "output": items[1:]}))

    (call,) = document.calls
    assert (document.external_id, document.goal) == ("file:resp_1", "weather?")
    assert (call.tool, call.input, call.output) == ("weather", {"city": "Oslo"}, {"t": 3})
    assert call.reasoning == "look it up"


def test_read__responses_with_text_input__takes_it_as_the_goal():
    output = [{"type": "function_call", "call_id": "f", "name": "t", "arguments": "{}"}]

    (document,) = documents(json.dumps({"id": "r", "input": "do it", "output": output}))

    assert (document.goal, [call.tool for call in document.calls]) == ("do it", ["t"])


def test_read__legacy_function_call__matches_in_order():
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "one"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "two"},
    ]

    (document,) = documents(json.dumps({"messages": messages}))

    assert [call.output for call in document.calls] == ["one", "two"]


def test_read__same_identifier_twice__matches_in_order():
    messages = [
        MESSAGES[1],
        {"role": "assistant", "tool_calls": [tool_call("c", "f", {"n": 1}), tool_call("c", "f", {"n": 2})]},
        {"role": "tool", "tool_call_id": "c", "content": "one"},
        {"role": "tool", "tool_call_id": "c", "content": "two"},
    ]

    (document,) = documents(json.dumps({"messages": messages}))

    assert [(call.input["n"], call.output) for call in document.calls] == [(1, "one"), (2, "two")]


@pytest.mark.parametrize(
    ("after", "status"),
    [
        pytest.param([], "unknown", id="end_of_transcript"),
        pytest.param([{"role": "user", "content": "stop"}], "cancelled", id="user_speaks"),
        pytest.param(
            [{"role": "tool", "tool_call_id": "c1", "status": "error", "content": "no"}],
            "error",
            id="error_flag",
        ),
    ],
)
def test_read__call_without_plain_result__has_the_status_of_what_follows(after, status):
    (document,) = documents(json.dumps({"messages": [*MESSAGES[:3], *after]}))

    assert [call.status for call in document.calls] == [status]


def test_read__result_without_its_call__is_a_note():
    stray = {"role": "tool", "tool_call_id": "nobody", "content": "x"}

    (item,) = read("chat", json.dumps({"messages": [*MESSAGES, stray]}).encode(), source="f")

    assert item.notes == ("messages[8]: a result without its call, left out",)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param({"task_id": 1}, "expected messages", id="no_messages"),
        pytest.param({"messages": "hello"}, "expected messages", id="text"),
        pytest.param(
            {"messages": [1, {"role": "user"}]}, "messages[0]: expected an object", id="number_in_it"
        ),
        pytest.param({"messages": []}, "no chat messages", id="empty"),
        pytest.param({**TAU, "reward": "1"}, "reward: expected a number", id="reward_text"),
        pytest.param(7, "no chat messages", id="number"),
    ],
)
def test_read__no_conversation__is_reported_and_the_next_one_read(value, reason):
    bad, good = read("chat", [json.dumps(value), json.dumps(TAU)], source="f")

    assert (bad.line, good.line) == (1, 2)
    assert reason in bad.reason
