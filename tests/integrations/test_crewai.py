"""CrewAI, the real one, with a scripted model."""

import json
import os
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("OTEL_SDK_DISABLED", "true")

from tests.integrations.conftest import need

need("crewai", extra="crewai")

from crewai import Agent, Crew, Task  # noqa: E402
from crewai.llms.base_llm import BaseLLM  # noqa: E402
from crewai.tools import tool  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.crewai import run_crew  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402


@tool("weather")
def weather(city: str = "") -> str:
    """The weather of a city."""
    return standing.weather(city)


class Scripted(BaseLLM):
    """Calls the tool once, then answers; keeps what it was told."""

    city: str = ""
    seen: list[Any] = []  # noqa: RUF012 - a pydantic model copies it

    def call(self, messages: Any, tools: Any = None, *more: Any, **other: Any) -> Any:
        self.seen.append([dict(message) for message in messages])
        if any(message["role"] == "tool" for message in messages):
            return "done"
        arguments = json.dumps({"city": self.city})
        function = {"name": "weather", "arguments": arguments}
        return [{"id": "c0", "type": "function", "function": function}]

    def supports_function_calling(self) -> bool:
        return True


def play(client: Any, city: str) -> tuple[str, Scripted]:
    """What the model read of its call."""
    model = Scripted(model="scripted", city=city)
    agent = Agent(role="guide", goal="help", backstory="none", llm=model, tools=[weather], max_retry_limit=0)
    crew = Crew(agents=[agent], tasks=[Task(description="How is it?", expected_output="text", agent=agent)])
    run_crew(crew, client=client)
    told = [message["content"] for message in model.seen[-1] if message["role"] == "tool"]
    return told[-1], model


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
