"""CrewAI, the real one, with a scripted model."""

import asyncio
import json
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.integrations.conftest import need

need("crewai", extra="crewai")

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"  # before it is imported, and only where it is
os.environ["OTEL_SDK_DISABLED"] = "true"

with warnings.catch_warnings():  # crewai warns about its own modules while it is imported
    warnings.simplefilter("ignore")
    from crewai import Agent, Crew, Task
    from crewai.hooks import register_before_tool_call_hook, unregister_before_tool_call_hook
    from crewai.llms.base_llm import BaseLLM
    from crewai.tools import tool
    from crewai.tools.tool_failure import ToolFailure

import hgmem  # noqa: E402
from hgmem.integrations.crewai import HGMemHooks, arun_crew, run_crew  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402


@tool("weather")
def weather(city: str = "") -> str:
    """The weather of a city."""
    return standing.weather(city)


@tool("limits")
def limits(city: str = "") -> Any:
    """A tool that tells its failure."""
    return ToolFailure(message="quota is used up")


class Scripted(BaseLLM):
    """Calls the tool once, then answers; keeps what it was told."""

    city: str = ""
    tool_name: str = "weather"
    seen: list[Any] = []  # noqa: RUF012 - a pydantic model copies it

    def call(self, messages: Any, tools: Any = None, *more: Any, **other: Any) -> Any:
        self.seen.append([dict(message) for message in messages])
        if any(message["role"] == "tool" for message in messages):
            return "done"
        arguments = json.dumps({"city": self.city})
        function = {"name": self.tool_name, "arguments": arguments}
        return [{"id": "c0", "type": "function", "function": function}]

    def supports_function_calling(self) -> bool:
        return True


def make_crew(city: str, tool_name: str = "weather") -> tuple[Crew, Scripted]:
    model = Scripted(model="scripted", city=city, tool_name=tool_name)
    tools = [weather, limits]
    agent = Agent(role="guide", goal="help", backstory="none", llm=model, tools=tools, max_retry_limit=0)
    task = Task(description="How is {what}?", expected_output="text", agent=agent)
    return Crew(agents=[agent], tasks=[task]), model


def answer(model: Scripted) -> str:
    """What the model read of its call."""
    return str([message["content"] for message in model.seen[-1] if message["role"] == "tool"][-1])


def play(client: Any, city: str, tool_name: str = "weather") -> tuple[str, Scripted]:
    crew, model = make_crew(city, tool_name)
    run_crew(crew, {"what": "it"}, client=client)
    return answer(model), model


def test_crew__rule_mends_the_input__first_call_works() -> None:
    client = offline(standing.MEND_CITY)
    assert play(client, "")[0] == "sunny in Lima"
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    first, *_, last = client.documents
    assert (first["framework"], first["goal"], last["final"]) == ("crewai", "How is it?", True)


def test_crew__no_rule__the_failure_is_recorded_and_told() -> None:
    client = offline()
    assert "city must not be empty" in play(client, "")[0]
    assert summary(client)[0] == ("weather", "error", {"city": ""})
    assert client.calls[0]["error"]["message"] == "city must not be empty"


def test_crew__blocked__model_reads_why_and_goes_on() -> None:
    client = offline(standing.BLOCK)
    assert play(client, "Rome")[0] == "The call was not made: Ask for the city first."
    assert summary(client)[0][1] == "rejected"


def test_crew__hints__are_told_before_and_below_the_result() -> None:
    told, model = play(offline(standing.HINT, standing.PLAN), "Rome")
    assert told == "sunny in Rome\n\n[hint] Degrees are Celsius"
    hint = {"role": "system", "content": "[hint] Name a city in every call"}
    assert model.seen[0].count(hint) == 1


def test_crew__task_around_it__is_its_task() -> None:
    client = offline()
    with hgmem.task(id="mine", client=client):
        play(client, "Rome")
    assert {document["external_id"] for document in client.documents} == {"mine"}


def test_crew__async__is_guarded() -> None:
    client = offline(standing.MEND_CITY)
    crew, model = make_crew("")
    asyncio.run(arun_crew(crew, {"what": "it"}, client=client))
    assert answer(model) == "sunny in Lima"
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]


def test_crews__at_the_same_time__each_has_its_own_guard() -> None:
    clients = [offline(standing.MEND_CITY) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda client: play(client, "")[0], clients)) == ["sunny in Lima"] * 2
    assert [len(client.calls) for client in clients] == [1, 1]


def test_hooks__registered__guard_every_crew_and_leave_a_run_alone() -> None:
    everywhere, own = offline(standing.MEND_CITY), offline()
    crew, model = make_crew("")
    with HGMemHooks(everywhere):
        crew.kickoff(inputs={"what": "it"})
        play(own, "Rome")
    assert answer(model) == "sunny in Lima"
    assert (summary(everywhere), summary(own)) == (
        [("weather", "ok", {"city": "Lima"})],
        [("weather", "ok", {"city": "Rome"})],
    )


def test_crew__tool_tells_a_failure__is_recorded_as_one() -> None:
    client = offline()
    play(client, "Rome", "limits")
    assert client.calls[0]["status"] == "error"
    assert client.calls[0]["error"]["message"] == "quota is used up"


def refuse(_context: Any) -> bool:
    return False


def test_hooks__another_one_refuses_later__the_call_is_rejected() -> None:
    client, (crew, model) = offline(), make_crew("Rome")
    with HGMemHooks(client):
        register_before_tool_call_hook(refuse)
        try:
            crew.kickoff(inputs={"what": "it"})
        finally:
            unregister_before_tool_call_hook(refuse)
    assert answer(model).startswith("Tool execution blocked by hook")
    assert client.calls[0]["status"] == "rejected"


def test_hooks__registered__guard_a_single_agent() -> None:
    client, model = offline(standing.MEND_CITY), Scripted(model="scripted")
    agent = Agent(role="guide", goal="help", backstory="none", llm=model, tools=[weather])
    with HGMemHooks(client), hgmem.task("weather", client=client):
        agent.kickoff("How is the weather?")
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
