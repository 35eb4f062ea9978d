"""Plain tool loops, with dictionaries and with the openai library's own objects."""

import asyncio
from typing import Any

import pytest

from hgmem import guard, task
from hgmem.integrations.openai_tools import (
    arun_function_calls,
    arun_tool_calls,
    arun_tool_uses,
    run_function_calls,
    run_tool_calls,
    run_tool_uses,
)
from tests.integrations import standing
from tests.integrations.standing import offline, summary

TOOLS = [standing.weather, standing.forecast, standing.login]


def as_dict(arguments: str, name: str = "weather") -> Any:
    return {"id": "c0", "type": "function", "function": {"name": name, "arguments": arguments}}


def as_object(arguments: str, name: str = "weather") -> Any:
    chat = pytest.importorskip("openai.types.chat", reason="openai is not installed here")
    return chat.ChatCompletionMessageToolCall.model_validate(as_dict(arguments, name))


def told(client: Any, call: Any, *, is_async: bool = False, **options: Any) -> str:
    if is_async:
        messages = asyncio.run(arun_tool_calls([call], TOOLS, client=client, **options))
    else:
        messages = run_tool_calls([call], TOOLS, client=client, **options)
    (message,) = messages
    assert (message["role"], message["tool_call_id"]) == ("tool", "c0")
    return str(message["content"])


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def is_async(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("form", [as_dict, as_object])
def test_loop__rule_mends_the_input__first_call_works(form: Any, is_async: bool) -> None:
    client = offline(standing.MEND_CITY)
    assert told(client, form('{"city": ""}'), is_async=is_async) == "sunny in Lima"
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]


def test_loop__no_rule__the_failure_is_told_and_recorded(is_async: bool) -> None:
    client = offline()
    assert told(client, as_dict("{}"), is_async=is_async) == "ValueError: city must not be empty"
    assert summary(client) == [("weather", "error", {})]


def test_loop__blocked__model_reads_why(is_async: bool) -> None:
    client = offline(standing.BLOCK)
    assert told(client, as_dict('{"city": "Rome"}'), is_async=is_async) == (
        "The call was not made: Ask for the city first."
    )


def test_loop__hint_switch_and_step__act(is_async: bool) -> None:
    client = offline(standing.HINT, standing.SWITCH, standing.LOGIN_FIRST)
    text = told(client, as_dict('{"city": "Rome"}'), is_async=is_async)
    assert text.startswith("forecast for Rome\n\n[hint] Degrees are Celsius")
    assert [made[0] for made in summary(client)] == ["login", "forecast"]


@pytest.mark.parametrize(
    ("arguments", "name", "said"),
    [
        ("{", "weather", "The arguments are no JSON"),
        ("[1]", "weather", "The arguments are no JSON object."),
        ("{}", "wether", "There is no tool wether."),
    ],
)
def test_loop__call_makes_no_sense__is_told_and_recorded(arguments: str, name: str, said: str) -> None:
    client = offline()
    assert told(client, as_dict(arguments, name)).startswith(said)
    assert client.calls[0]["status"] == "error"


def test_loop__approval__is_asked_for() -> None:
    rule = {**standing.BLOCK, "action_detail": {"message": "Sure?", "on_failure": "ask"}}
    call = as_dict('{"city": "Rome"}')
    assert told(offline(rule), call, approve=lambda _call: True) == "sunny in Rome"
    assert "approval of a person" in told(offline(rule), call)


def test_loop__guarded_functions__are_guarded_once() -> None:
    client = offline(standing.HINT)
    tools = [guard(standing.weather, client=client, hints="append")]
    (message,) = run_tool_calls([as_dict('{"city": "Rome"}')], tools, client=client)
    assert message["content"] == "sunny in Rome\n\n[hint] Degrees are Celsius"
    assert len(client.calls) == 1


def test_loop__nothing_to_call__is_no_message() -> None:
    assert run_tool_calls(None, TOOLS, client=offline()) == []


def test_uses__anthropic_style__results_and_errors(is_async: bool) -> None:
    client = offline()
    content = [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "u0", "name": "weather", "input": {"city": "Rome"}},
        {"type": "tool_use", "id": "u1", "name": "weather", "input": {}},
    ]
    with task(id="mine", client=client):
        if is_async:
            blocks = asyncio.run(arun_tool_uses(content, TOOLS, client=client))
        else:
            blocks = run_tool_uses(content, TOOLS, client=client)
    assert blocks == [
        {"type": "tool_result", "tool_use_id": "u0", "content": "sunny in Rome"},
        {
            "type": "tool_result", "tool_use_id": "u1", "content": "ValueError: city must not be empty",
            "is_error": True,
        },
    ]  # fmt: skip
    assert {document["external_id"] for document in client.documents} == {"mine"}


def test_loop__unknown_tool_that_a_rule_knows__is_switched() -> None:
    rule = {**standing.SWITCH, "applies_to": "TOOL_CALL:wether"}
    client = offline(rule)
    assert told(client, as_dict('{"city": "Rome"}', "wether")) == "forecast for Rome"
    assert summary(client) == [("forecast", "ok", {"place": "Rome"})]


def test_loop__async_tool_in_a_sync_loop__is_an_error_of_the_caller() -> None:
    async def weather() -> str:
        return "sunny"

    with pytest.raises(TypeError, match="weather: async tools need"):
        run_tool_calls([as_dict("{}")], [weather], client=offline())


def test_loop__custom_tool__gets_the_text_as_its_input() -> None:
    call = {"id": "c0", "type": "custom", "custom": {"name": "shout", "input": "hello"}}
    (message,) = run_tool_calls([call], {"shout": lambda input: input.upper()}, client=offline())
    assert message["content"] == "HELLO"


def test_function_calls__responses_style__items_of_output(is_async: bool) -> None:
    client = offline(standing.MEND_CITY)
    output = [
        {"type": "message", "content": []},
        {"type": "function_call", "call_id": "c0", "name": "weather", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c1", "name": "shout", "input": "hello"},
    ]
    tools = {"weather": standing.weather, "shout": lambda input: input.upper()}
    if is_async:
        items = asyncio.run(arun_function_calls(output, tools, client=client))
    else:
        items = run_function_calls(output, tools, client=client)
    assert items == [
        {"type": "function_call_output", "call_id": "c0", "output": "sunny in Lima"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "HELLO"},
    ]
