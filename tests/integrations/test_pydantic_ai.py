"""Pydantic AI, the real one, with its function model."""

import asyncio
from datetime import date
from typing import Any

import pytest

from tests.integrations.conftest import need

need("pydantic_ai", extra="pydantic-ai")

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, Tool  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.pydantic_ai import HGMemCapability  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402

TOOLS = [standing.weather, standing.forecast, standing.login]


def strict_weather(city: str) -> str:
    """The weather of a city."""
    return standing.weather(city)


def scripted(*inputs: dict[str, Any], name: str = "weather") -> tuple[FunctionModel, list[Any], list[str]]:
    """A model that makes these calls at once, and ends; what it reads, and its instructions."""
    told: list[Any] = []
    instructions: list[str] = []
    left = [list(inputs)]

    def say(messages: list[Any], info: AgentInfo) -> ModelResponse:
        instructions.append(info.instructions or "")
        last = messages[-1]
        if isinstance(last, ModelRequest):
            told.extend(part for part in last.parts if isinstance(part, ToolReturnPart | RetryPromptPart))
        given = left.pop() if left else []
        if given:
            return ModelResponse(parts=[ToolCallPart(name, args) for args in given])
        return ModelResponse(parts=[TextPart("done")])

    return FunctionModel(say), told, instructions


def play(
    client: Any, *inputs: dict[str, Any], tools: Any = TOOLS, name: str = "weather"
) -> tuple[list[Any], list[str]]:
    """What the model read of its calls, and its instructions."""
    model, told, instructions = scripted(*inputs, name=name)
    agent = Agent(model, tools=tools, capabilities=[HGMemCapability(client)], name="guide")
    asyncio.run(agent.run("How is the weather?"))
    return told, instructions


def test_agent__rule_mends_the_input__first_call_works() -> None:
    client = offline(standing.MEND_CITY)
    (told,), _ = play(client, {"city": ""})
    assert told.content == "sunny in Lima"
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    first, *_, last = client.documents
    assert (first["framework"], first["agent"], first["goal"]) == (
        "pydantic-ai",
        "guide",
        "How is the weather?",
    )
    assert last["final"] is True


def test_agent__argument_is_missing__rule_mends_it_before_the_model_has_to() -> None:
    rule = {**standing.MEND_CITY, "applies_to": "TOOL_CALL:strict_weather"}
    client = offline(rule)
    (told,), _ = play(client, {}, tools=[strict_weather], name="strict_weather")
    assert told.content == "sunny in Lima"
    assert summary(client) == [("strict_weather", "ok", {"city": "Lima"})]
    assert client.calls[0]["receipt"]


def test_agent__argument_is_missing_and_no_rule__is_recorded_and_told() -> None:
    client = offline()
    (told,), _ = play(client, {}, tools=[strict_weather], name="strict_weather")
    assert "Field required" in str(told.content)
    assert summary(client) == [("strict_weather", "error", {})]


def test_agent__no_rule__the_failure_is_recorded_and_ends_the_run() -> None:
    client = offline()
    with pytest.raises(ValueError, match="must not be empty"):
        play(client, {"city": ""})
    assert summary(client) == [("weather", "error", {"city": ""})]
    assert client.documents[-1]["outcome"]["result"] == "failure"


def test_agent__blocked__model_reads_why_and_goes_on() -> None:
    client = offline(standing.BLOCK)
    (told,), _ = play(client, {"city": "Rome"})
    assert (told.content, told.outcome) == ("The call was not made: Ask for the city first.", "failed")
    assert summary(client)[0][1] == "rejected"


def test_agent__hints__are_in_the_instructions_and_below_the_result() -> None:
    (told,), instructions = play(offline(standing.HINT, standing.PLAN), {"city": "Rome"})
    assert told.content == "sunny in Rome\n\n[hint] Degrees are Celsius"
    assert instructions[0] == "Name a city in every call"


def test_agent__switch_and_inserted_step__run_its_own_tools() -> None:
    client = offline(standing.SWITCH, standing.LOGIN_FIRST)
    (told,), _ = play(client, {"city": "Rome"})
    assert told.content.startswith("forecast for Rome\n\n[hint] login was called first")
    assert [made[0] for made in summary(client)] == ["login", "forecast"]


def test_agent__parallel_calls__are_one_task() -> None:
    client = offline(standing.MEND_CITY)
    told, _ = play(client, {"city": ""}, {"city": "Rome"})
    assert [part.content for part in told] == ["sunny in Lima", "sunny in Rome"]
    assert sorted(made["seq"] for made in client.calls) == [0, 1]


def test_agent__task_around_it__is_its_task() -> None:
    client = offline()
    with hgmem.task(id="mine", client=client):
        play(client, {"city": "Rome"})
    assert {document["external_id"] for document in client.documents} == {"mine"}


def test_agent__rule_changes_a_typed_input__the_tool_gets_its_types() -> None:
    def weather(city: str, day: date) -> str:
        return f"{standing.weather(city)} on {day:%d.%m.}"

    client = offline(standing.MEND_CITY)
    (told,), _ = play(client, {"city": "", "day": "2026-12-01"}, tools=[weather])
    assert told.content == "sunny in Lima on 01.12."


def test_agent__switch_to_a_tool_that_needs_approval__is_told_to_the_model() -> None:
    tools = [standing.weather, Tool(standing.forecast, requires_approval=True)]
    (told,), _ = play(offline(standing.SWITCH), {"city": "Rome"}, tools=tools)
    assert told.content.startswith("The call was not made: call forecast instead")


def test_agent__tool_asks_for_a_retry__the_model_reads_hints_too() -> None:
    def weather(city: str) -> str:
        raise ModelRetry("which Rome?")

    client = offline(standing.HINT)
    (told,), _ = play(client, {"city": "Rome"}, tools=[weather])
    assert told.content == "which Rome?\n\n[hint] Degrees are Celsius"
    assert summary(client) == [("weather", "error", {"city": "Rome"})]


def test_agent__hint_on_an_output_that_is_no_text__stands_beside_it() -> None:
    def weather(city: str) -> dict[str, str]:
        return {"city": city}

    model, told, _ = scripted({"city": "Rome"})
    agent = Agent(model, tools=[weather], capabilities=[HGMemCapability(offline(standing.HINT))])
    result = asyncio.run(agent.run("weather"))
    assert told[0].content == {"city": "Rome"}
    assert "[hint] Degrees are Celsius" in str(result.all_messages())


def test_agent__rule_wants_approval__the_run_waits_for_it_and_goes_on() -> None:
    rule = {**standing.BLOCK, "action_detail": {"message": "Sure?", "on_failure": "ask"}}
    client = offline(rule)
    model, told, _ = scripted({"city": "Rome"})
    guard = HGMemCapability(client, defer_approvals=True)
    agent = Agent(
        model, tools=TOOLS, capabilities=[guard], output_type=[str, DeferredToolRequests]
    )  # fmt: skip
    waiting = asyncio.run(agent.run("weather"))
    assert isinstance(waiting.output, DeferredToolRequests)
    (asked,) = waiting.output.approvals
    assert client.calls == []
    granted = DeferredToolResults(approvals={asked.tool_call_id: True})
    asyncio.run(agent.run(message_history=waiting.all_messages(), deferred_tool_results=granted))
    assert told[-1].content == "sunny in Rome"
    assert summary(client) == [("weather", "ok", {"city": "Rome"})]


def test_agent__tool_runs_another_agent__both_keep_the_root() -> None:
    client = offline()
    inner_model, _, _ = scripted({"city": "Rome"})
    inner = Agent(inner_model, tools=TOOLS, capabilities=[HGMemCapability(client)], name="expert")

    async def expert(city: str) -> str:
        return (await inner.run(city)).output

    play(client, {"city": "Rome"}, tools=[expert], name="expert")
    parts = {document["external_id"]: document for document in client.documents}
    (root,) = (name for name, document in parts.items() if document.get("agent") == "guide")
    assert [document.get("root_task") for name, document in parts.items() if name != root] == [root]


def test_agent__streamed__calls_belong_to_the_task_of_the_run() -> None:
    client = offline(standing.MEND_CITY)

    async def stream() -> None:
        agent = Agent("test", tools=[standing.login], capabilities=[HGMemCapability(client)])
        async with agent.run_stream("Log in") as run:
            await run.get_output()

    asyncio.run(stream())
    assert [document.get("goal") for document in client.documents] == ["Log in"] * 2
    assert client.documents[-1]["final"] is True
