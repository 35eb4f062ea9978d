"""The OpenAI Agents SDK, the real one, with its scripted model."""

import asyncio
from typing import Any

import pytest

from tests.integrations.conftest import need

need("agents", extra="openai-agents")

from agents import (  # noqa: E402
    Agent,
    Runner,
    ToolOutputImage,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.mcp import MCPServer  # noqa: E402
from agents.testing.model import ScriptedModel, assistant_message, function_call  # noqa: E402
from mcp import types as mcp_types  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.openai_agents import (  # noqa: E402
    HGMemHooks,
    guard_agent,
    guardrail,
    run,
    run_streamed,
)
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402

set_tracing_disabled(True)


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return standing.weather(city)


@function_tool
async def forecast(place: str) -> str:
    """The forecast for a place."""
    return standing.forecast(place)


@function_tool
def login(user: str) -> str:
    """Open a session."""
    return standing.login(user)


def scripted(*cities: str) -> ScriptedModel:
    calls = [function_call("weather", {"city": city}, call_id=f"c{at}") for at, city in enumerate(cities)]
    return ScriptedModel([calls, [assistant_message("done")]])


def agent_with(model: ScriptedModel, **more: Any) -> Agent[Any]:
    return Agent(name="guide", model=model, tools=[weather, forecast, login], **more)


def play(client: Any, *cities: str, **more: Any) -> tuple[list[str], ScriptedModel]:
    """What the model read of its calls."""
    model = scripted(*cities)
    asyncio.run(run(agent_with(model, **more), "How is the weather?", client=client))
    return outputs(model), model


def outputs(model: ScriptedModel) -> list[str]:
    told = model.calls[-1].input
    return [item["output"] for item in told if item.get("type") == "function_call_output"]


def test_run__rule_mends_the_input__first_call_works() -> None:
    client = offline(standing.MEND_CITY)
    assert play(client, "")[0] == ["sunny in Lima"]
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    first, *_, last = client.documents
    assert (first["framework"], first["agent"], first["goal"]) == (
        "openai-agents", "guide", "How is the weather?",
    )  # fmt: skip
    assert last["final"] is True


def test_run__no_rule__the_failure_is_recorded_and_told() -> None:
    client = offline()
    (told,), _ = play(client, "")
    assert "An error occurred while running the tool" in told  # the SDK's own text
    assert summary(client) == [("weather", "error", {"city": ""})]
    assert client.calls[0]["error"]["type"] == "ValueError"


def test_run__blocked__model_reads_why_and_goes_on() -> None:
    client = offline(standing.BLOCK)
    assert play(client, "Rome")[0] == ["The call was not made: Ask for the city first."]
    assert summary(client)[0][1] == "rejected"


@pytest.mark.parametrize("own", ["Be brief.", None, lambda context, agent: "Be brief."])
def test_run__hints__are_in_the_instructions_and_below_the_result(own: Any) -> None:
    told, model = play(offline(standing.HINT, standing.PLAN), "Rome", instructions=own)
    assert told == ["sunny in Rome\n\n[hint] Degrees are Celsius"]
    instructions = "Be brief.\n\nName a city in every call" if own else "Name a city in every call"
    assert model.calls[0].system_instructions == instructions


def test_run__switch_and_inserted_step__run_its_own_tools() -> None:
    client = offline(standing.SWITCH, standing.LOGIN_FIRST)
    (told,), _ = play(client, "Rome")
    assert told.startswith("forecast for Rome\n\n[hint] login was called first")
    assert [made[0] for made in summary(client)] == ["login", "forecast"]


def test_run__parallel_calls__are_one_task() -> None:
    client = offline(standing.MEND_CITY)
    assert play(client, "", "Rome")[0] == ["sunny in Lima", "sunny in Rome"]
    assert sorted(made["seq"] for made in client.calls) == [0, 1]


def test_run__handoff__the_other_agent_is_guarded_in_the_same_task() -> None:
    client = offline(standing.MEND_CITY)
    expert = agent_with(scripted(""))
    expert.name = "expert"
    hands_off = ScriptedModel([[function_call("transfer_to_expert", {}, call_id="h")]])
    asyncio.run(run(Agent(name="desk", model=hands_off, handoffs=[expert]), "weather", client=client))
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    assert len({document["external_id"] for document in client.documents}) == 1


def test_run__fails__the_task_is_a_failure() -> None:
    client = offline()
    model = ScriptedModel([RuntimeError("the model is away")])
    with pytest.raises(RuntimeError):
        asyncio.run(run(agent_with(model), "weather", client=client))
    assert client.documents[-1]["outcome"]["result"] == "failure"


def test_guard_agent__in_a_task_of_ones_own__belongs_to_it() -> None:
    client = offline(standing.MEND_CITY)
    model = scripted("")
    with hgmem.task(id="mine", client=client):
        asyncio.run(Runner.run(guard_agent(agent_with(model), client=client), "weather"))
    assert outputs(model) == ["sunny in Lima"]
    assert client.documents[0]["external_id"] == "mine"


def test_guardrail__blocked__the_model_reads_why() -> None:
    client = offline(standing.BLOCK)
    model = scripted("Rome")

    @function_tool(name_override="weather", tool_input_guardrails=[guardrail(client)])
    def checked(city: str) -> str:
        """The weather of a city."""
        return standing.weather(city)

    asyncio.run(Runner.run(Agent(name="guide", model=model, tools=[checked]), "weather"))
    assert outputs(model) == ["The call was not made: Ask for the city first."]


def test_hooks__only__record_what_happened() -> None:
    client = offline(standing.MEND_CITY)
    model = scripted("Rome")
    asyncio.run(Runner.run(agent_with(model), "weather", hooks=HGMemHooks(client)))
    assert outputs(model) == ["sunny in Rome"]
    assert summary(client) == [("weather", "ok", {"city": "Rome"})]


def test_hooks__sdk_tells_a_failure__is_recorded_as_one() -> None:
    client = offline()
    asyncio.run(Runner.run(agent_with(scripted("")), "weather", hooks=HGMemHooks(client)))
    assert summary(client) == [("weather", "error", {"city": ""})]


def test_run__of_a_guarded_agent__guards_once() -> None:
    client = offline(standing.HINT, standing.PLAN)
    model = scripted("Rome")
    asyncio.run(run(guard_agent(agent_with(model), client=client), "weather", client=client))
    assert outputs(model) == ["sunny in Rome\n\n[hint] Degrees are Celsius"]
    assert model.calls[0].system_instructions == "Name a city in every call"
    assert len(client.calls) == 1


def test_run__streamed__is_a_task_of_guarded_calls() -> None:
    client = offline(standing.MEND_CITY)
    model = scripted("")

    async def stream() -> None:
        result = run_streamed(agent_with(model), "weather", client=client)
        async for _event in result.stream_events():
            pass

    asyncio.run(stream())
    assert outputs(model) == ["sunny in Lima"]
    assert client.documents[-1]["final"] is True
    assert client.documents[0]["goal"] == "weather"


def test_run__handoff_object__the_other_agent_is_guarded() -> None:
    client = offline(standing.MEND_CITY)
    expert = agent_with(scripted(""))
    expert.name = "expert"
    hands_off = ScriptedModel([[function_call("transfer_to_expert", {}, call_id="h")]])
    asyncio.run(run(Agent(name="desk", model=hands_off, handoffs=[handoff(expert)]), "w", client=client))
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]


def test_run__agent_as_a_tool__belongs_to_the_same_task() -> None:
    client = offline(standing.MEND_CITY)
    inner = guard_agent(agent_with(scripted("")), client=client)
    model = ScriptedModel(
        [[function_call("ask", {"input": "weather"}, call_id="a")], [assistant_message("done")]]
    )
    outer = Agent(name="desk", model=model, tools=[inner.as_tool("ask", "asks")])
    asyncio.run(run(outer, "weather", client=client))
    assert [made[0] for made in summary(client)] == ["weather", "ask"]
    assert len({document["external_id"] for document in client.documents}) == 1


class Weather(MCPServer):
    """A server in this process."""

    name = "weather"

    async def connect(self) -> None:
        pass

    cleanup = connect

    async def list_tools(self, *_asked: Any) -> list[Any]:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        return [mcp_types.Tool(name="weather", input_schema=schema)]

    async def call_tool(self, _name: str, arguments: Any, meta: Any = None) -> Any:
        text = standing.weather(**arguments)
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=text)])

    async def list_prompts(self) -> Any:
        raise NotImplementedError

    async def get_prompt(self, *_asked: Any) -> Any:
        raise NotImplementedError


def test_run__tools_of_an_mcp_server__are_guarded() -> None:
    client = offline(standing.MEND_CITY)
    model = scripted("")
    asyncio.run(run(Agent(name="guide", model=model, mcp_servers=[Weather()]), "weather", client=client))
    assert "sunny in Lima" in str(outputs(model))
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]


def test_run__switch_to_a_tool_that_needs_approval__is_told_to_the_model() -> None:
    model = scripted("Rome")
    gated = function_tool(standing.forecast, needs_approval=True)
    agent = Agent(name="guide", model=model, tools=[weather, gated])
    asyncio.run(run(agent, "weather", client=offline(standing.SWITCH)))
    assert outputs(model)[0].startswith("The call was not made: call forecast instead")


def test_run__rule_wants_approval__the_run_waits_for_it_and_goes_on() -> None:
    client = offline({**standing.BLOCK, "action_detail": {"message": "Sure?", "on_failure": "ask"}})
    model = scripted("Rome")
    agent = agent_with(model)
    waiting = asyncio.run(run(agent, "weather", client=client, defer_approvals=True))
    assert client.calls == []
    state = waiting.to_state()
    state.approve(waiting.interruptions[0])
    asyncio.run(run(agent, state, client=client, defer_approvals=True))
    assert outputs(model) == ["sunny in Rome"]
    assert summary(client) == [("weather", "ok", {"city": "Rome"})]


def test_run__hint_on_an_image__stands_beside_it() -> None:
    @function_tool(name_override="weather")
    def picture(city: str) -> ToolOutputImage:
        """A picture of the weather."""
        return ToolOutputImage(image_url=f"https://example.org/{city}.png")

    model = scripted("Rome")
    agent = Agent(name="guide", model=model, tools=[picture])
    asyncio.run(run(agent, "weather", client=offline(standing.HINT)))
    (parts,) = outputs(model)
    assert [part["type"] for part in parts] == ["input_image", "input_text"]
