"""AutoGen, the real one, with its replayed model client."""

import asyncio
import json
from typing import Any

import pytest

from tests.integrations.conftest import need

need("autogen_core", "autogen_agentchat", extra="autogen")

from autogen_agentchat.agents import AssistantAgent  # noqa: E402
from autogen_core import FunctionCall  # noqa: E402
from autogen_core.models import (  # noqa: E402
    ChatCompletionClient,
    CreateResult,
    ModelFamily,
    ModelInfo,
    RequestUsage,
)
from autogen_core.tools import FunctionTool, StaticWorkbench  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.autogen import guard_tools, guard_workbench  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402

NOTHING = RequestUsage(prompt_tokens=0, completion_tokens=0)
TOOLS = [standing.weather, standing.forecast, standing.login]


class Scripted(ChatCompletionClient):
    """Says its lines; keeps what it was told."""

    component_type = "model"

    def __init__(self, *lines: Any) -> None:
        self.lines = list(lines)
        self.seen: list[Any] = []

    async def create(self, messages: Any, **more: Any) -> CreateResult:
        self.seen.append(list(messages))
        line = self.lines.pop(0)
        reason = "stop" if isinstance(line, str) else "function_calls"
        return CreateResult(finish_reason=reason, content=line, usage=NOTHING, cached=False)

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(
            vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN,
            structured_output=False,
        )  # fmt: skip

    capabilities = model_info

    def create_stream(self, *more: Any, **other: Any) -> Any:
        raise NotImplementedError

    async def close(self) -> None:
        pass

    def actual_usage(self) -> RequestUsage:
        return NOTHING

    total_usage = actual_usage

    def count_tokens(self, *more: Any, **other: Any) -> int:
        return 0

    remaining_tokens = count_tokens


def play(client: Any, city: str, workbench: Any = None) -> Any:
    """The result of the call as the model read it."""
    call = FunctionCall(id="c0", name="weather", arguments=json.dumps({"city": city}))
    model = Scripted([call], "done")
    agent = AssistantAgent(
        "guide", model_client=model, workbench=workbench or guard_tools(TOOLS, client=client),
        reflect_on_tool_use=True,
    )  # fmt: skip
    asyncio.run(agent.run(task="How is the weather?"))
    return model.seen[-1][-1].content[0]


def test_agent__rule_mends_the_input__first_call_works() -> None:
    client = offline(standing.MEND_CITY)
    with hgmem.task("weather", id="mine", client=client):
        result = play(client, "")
    assert (result.content, result.is_error) == ("sunny in Lima", False)
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    assert client.documents[0]["external_id"] == "mine"


def test_agent__no_rule__the_failure_is_recorded_and_told() -> None:
    client = offline()
    result = play(client, "")
    assert (result.content, result.is_error) == ("city must not be empty", True)
    assert summary(client) == [("weather", "error", {"city": ""})]


def test_agent__blocked__model_reads_why_and_goes_on() -> None:
    client = offline(standing.BLOCK)
    assert play(client, "Rome").content == "The call was not made: Ask for the city first."
    assert summary(client)[0][1] == "rejected"


def test_agent__hint__is_below_the_result() -> None:
    assert play(offline(standing.HINT), "Rome").content == "sunny in Rome\n\n[hint] Degrees are Celsius"


def test_agent__switch_and_inserted_step__run_its_own_tools() -> None:
    client = offline(standing.SWITCH, standing.LOGIN_FIRST)
    assert play(client, "Rome").content.startswith("forecast for Rome\n\n[hint] login was called first")
    assert [made[0] for made in summary(client)] == ["login", "forecast"]


@pytest.mark.parametrize("city", ["", "Rome"])
def test_workbench__any_other__is_guarded(city: str) -> None:
    client = offline(standing.MEND_CITY)
    behind = StaticWorkbench([FunctionTool(standing.weather, description="weather", name="weather")])
    assert play(client, city, guard_workbench(behind, client=client)).content == f"sunny in {city or 'Lima'}"
