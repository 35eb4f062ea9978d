"""AG2, the real one, with its scripted model."""

import asyncio
import json
from typing import Any

from tests.integrations.conftest import need

need("ag2", extra="ag2")

from ag2 import Agent, tool  # noqa: E402
from ag2.events import ToolCallEvent  # noqa: E402
from ag2.testing import TestConfig, TrackingConfig  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.ag2 import hgmem_middleware  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402


@tool
def weather(city: str = "") -> str:
    """The weather of a city."""
    return standing.weather(city)


def play(client: Any, city: str, **options: Any) -> tuple[str, Any]:
    """What the model read of its call, and the calls of the model."""
    call = ToolCallEvent("weather", arguments=json.dumps({"city": city}))
    script = TrackingConfig(TestConfig(call, "done", raise_tool_errors=False))
    agent = Agent("guide", config=script, tools=[weather], middleware=[hgmem_middleware(client)], **options)
    asyncio.run(agent.ask("How is the weather?"))
    (last,) = script.mock.call_args_list[-1].args
    return last.results[-1].result.parts[0].content, script


def test_agent__rule_mends_the_input__first_call_works() -> None:
    client = offline(standing.MEND_CITY)
    assert play(client, "")[0] == "sunny in Lima"
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    first, *_, last = client.documents
    assert (first["framework"], first["goal"], last["final"]) == ("ag2", "How is the weather?", True)


def test_agent__no_rule__the_failure_is_recorded_and_told() -> None:
    client = offline()
    assert "city must not be empty" in play(client, "")[0]
    assert summary(client) == [("weather", "error", {"city": ""})]
    assert client.calls[0]["error"] == {"type": "ValueError", "message": "city must not be empty"}


def test_agent__blocked__model_reads_why_and_goes_on() -> None:
    client = offline(standing.BLOCK)
    assert play(client, "Rome")[0] == "The call was not made: Ask for the city first."
    assert summary(client)[0][1] == "rejected"


def test_agent__hint_and_switch__are_told_to_the_model() -> None:
    assert play(offline(standing.HINT), "Rome")[0] == "sunny in Rome\n\n[hint] Degrees are Celsius"
    assert play(offline(standing.SWITCH), "Rome")[0] == (
        'The call was not made: call forecast instead, with {"place": "Rome"}.'
    )


def test_agent__planning_hint__is_in_the_prompt_of_the_request_only() -> None:
    script = TrackingConfig(TestConfig("done"))
    middleware = [hgmem_middleware(offline(standing.PLAN))]
    agent = Agent("guide", prompt="Be brief.", config=script, middleware=middleware)
    asyncio.run(agent.ask("weather"))
    assert list(script.calls[0].prompt) == ["Be brief.", "Name a city in every call"]


def test_agent__task_around_it__is_its_task() -> None:
    client = offline()
    with hgmem.task(id="mine", client=client):
        play(client, "Rome")
    assert {document["external_id"] for document in client.documents} == {"mine"}
