"""LlamaIndex, the real one, with a scripted model."""

import asyncio
from typing import Any

import pytest

from tests.integrations.conftest import need

need("llama_index.core", extra="llamaindex")

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult  # noqa: E402
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock  # noqa: E402
from llama_index.core.llms.mock import MockFunctionCallingLLM  # noqa: E402
from llama_index.core.tools import FunctionTool  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.llamaindex import HGMemFunctionAgent, guard_tools  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402

TOOLS = [FunctionTool.from_defaults(tool) for tool in (standing.weather, standing.forecast, standing.login)]


def run(
    client: Any, city: str, *, agent: Any = HGMemFunctionAgent, tools: Any = TOOLS
) -> tuple[Any, list[Any]]:
    """One tool call, then an answer. The result of the call, and all that the model was told."""
    told: list[Any] = []

    def say(messages: Any, **more: Any) -> ChatMessage:
        told.append(list(messages))
        if messages[-1].role == "tool":
            return ChatMessage(role="assistant", blocks=[TextBlock(text="done")])
        block = ToolCallBlock(tool_call_id="c0", tool_name="weather", tool_kwargs={"city": city})
        return ChatMessage(role="assistant", blocks=[block])

    async def play() -> Any:
        made = agent(tools=tools, llm=MockFunctionCallingLLM(response_generator=say), streaming=False)
        handler = (made.with_client(client) if hasattr(made, "with_client") else made).run(
            "How is the weather?"
        )
        results = [event async for event in handler.stream_events() if type(event) is ToolCallResult]
        await handler
        return results[0].tool_output

    return asyncio.run(play()), told


def test_agent__rule_mends_the_input__first_call_works() -> None:
    client = offline(standing.MEND_CITY)
    output, _ = run(client, "")
    assert (output.content, output.is_error) == ("sunny in Lima", False)
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    first, *_, last = client.documents
    assert (first["framework"], first["goal"]) == ("llamaindex", "How is the weather?")
    assert last["final"] is True
    assert last["external_id"] == first["external_id"]


def test_agent__no_rule__the_failure_is_recorded_and_told() -> None:
    client = offline()
    output, told = run(client, "")
    assert (output.content, output.is_error) == ("city must not be empty", True)
    assert told[-1][-1].content == "city must not be empty"
    assert summary(client) == [("weather", "error", {"city": ""})]


def test_agent__blocked__model_reads_why_and_goes_on() -> None:
    client = offline(standing.BLOCK)
    _, told = run(client, "Rome")
    assert told[-1][-1].content == "The call was not made: Ask for the city first."
    assert summary(client)[0][1] == "rejected"


def test_agent__hints__are_told_while_planning_and_below_the_result() -> None:
    output, told = run(offline(standing.HINT, standing.PLAN), "Rome")
    assert output.content == "sunny in Rome\n\n[hint] Degrees are Celsius"
    assert told[0][0].content == "Name a city in every call"


def test_agent__switch_and_inserted_step__run_its_own_tools() -> None:
    client = offline(standing.SWITCH, standing.LOGIN_FIRST)
    output, _ = run(client, "Rome")
    assert output.content.startswith("forecast for Rome\n\n[hint] login was called first")
    assert [made[0] for made in summary(client)] == ["login", "forecast"]


def test_agent__task_around_it__is_its_task() -> None:
    client = offline()
    with hgmem.task(id="mine", client=client):
        run(client, "Rome")
    assert {document["external_id"] for document in client.documents} == {"mine"}


def test_guarded_tools__in_an_agent_of_another_kind__are_guarded() -> None:
    client = offline(standing.MEND_CITY)
    output, _ = run(client, "", agent=FunctionAgent, tools=guard_tools(TOOLS, client=client))
    assert output.content == "sunny in Lima"


@pytest.mark.parametrize("is_async", [False, True])
def test_guarded_tool__called_by_hand__is_guarded(is_async: bool) -> None:
    client = offline(standing.MEND_CITY, standing.SWITCH)
    tool = guard_tools(TOOLS, client=client)[0]
    output = asyncio.run(tool.acall(city="")) if is_async else tool.call(city="")
    assert output.content == "forecast for Lima"
    assert summary(client) == [("forecast", "ok", {"place": "Lima"})]
