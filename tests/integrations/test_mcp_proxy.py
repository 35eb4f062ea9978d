"""The proxy in front of a real second server, seen by the official SDK's client."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.conftest import need

need("mcp", extra="mcp")

import mcp_types as types  # noqa: E402
from mcp import Client  # noqa: E402
from mcp.server.mcpserver import Context, MCPServer  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

from hgmem.mcp.proxy import Proxy  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402


def second_server() -> MCPServer:
    """A server as there are many: one of its tools fails the first time."""
    server: MCPServer = MCPServer("weather", instructions="Ask me about the weather.")
    server.tool()(standing.forecast)
    server.tool()(standing.login)

    @server.tool()
    def weather(city: str = "") -> dict[str, Any]:
        """The weather of a city."""
        return {"text": standing.weather(city), "rows": [1, 2]}

    @server.tool()
    async def slow(context: Context) -> str:
        """Reports progress."""
        await context.report_progress(1, 2, "half")
        return "done"

    @server.tool()
    async def learn(context: Context) -> str:
        """Says that there are other tools now."""
        await context.session.send_tool_list_changed()
        return "learnt"

    @server.resource("weather://today")
    def today() -> str:
        """Today's weather."""
        return "sunny"

    @server.prompt()
    def ask(city: str) -> str:
        """A question."""
        return f"How is {city}?"

    return server


def through(
    client: Any, play: Callable[[Client], Awaitable[Any]], upstream: Any = None, **options: Any
) -> Any:
    """What a client sees through the proxy."""

    async def run() -> Any:
        proxy = Proxy(client, upstream or second_server())
        async with proxy.connected() as server, Client(server, **options) as seen:
            return await play(seen)

    return asyncio.run(run())


def call(client: Any, city: str, **options: Any) -> types.CallToolResult:
    async def play(seen: Client) -> Any:
        return await seen.call_tool("weather", {"city": city})

    return through(client, play, **options)


def text(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content)


def test_call__rule_mends_the_input__works_the_first_time() -> None:
    client = offline(standing.MEND_CITY)
    result = call(client, "")
    assert (result.is_error, result.structured_content["text"]) == (False, "sunny in Lima")
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    assert client.calls[0]["output"] == {"text": "sunny in Lima", "rows": [1, 2]}
    assert client.documents[0]["framework"] == "mcp"
    assert client.documents[-1]["final"] is True


def test_call__no_rule__failure_goes_through_and_is_recorded() -> None:
    client = offline()
    result = call(client, "")
    assert result.is_error
    assert "weather" in text(result)
    assert summary(client)[0][1] == "error"


def test_call__blocked__is_an_error_that_says_why() -> None:
    client = offline(standing.BLOCK)
    result = call(client, "Rome")
    assert (result.is_error, text(result)) == (True, "The call was not made: Ask for the city first.")
    assert summary(client)[0][1] == "rejected"


def test_call__hint__is_one_more_block() -> None:
    result = call(offline(standing.HINT), "Rome")
    assert result.content[-1].text == "[hint] Degrees are Celsius"
    assert result.structured_content == {"text": "sunny in Rome", "rows": [1, 2]}


def test_call__switch_and_inserted_step__use_the_servers_own_tools() -> None:
    client = offline(standing.SWITCH, standing.LOGIN_FIRST)
    assert text(call(client, "Rome")).startswith("forecast for Rome")
    assert [made[0] for made in summary(client)] == ["login", "forecast"]


def test_call__adjusted_output__is_what_the_client_gets() -> None:
    adjust = {
        "applies_to": {"tool": "weather", "point": "after"},
        "action_type": "POST_CALL_PARSING_ADJUST",
        "action_detail": {"op": "remove", "field": "rows"},
    }
    result = call(offline(adjust), "Rome")
    assert result.structured_content == {"text": "sunny in Rome"}


@pytest.mark.parametrize("agrees", [True, False])
def test_call__needs_a_person__asks_the_one_at_the_client(agrees: bool) -> None:
    asked = []

    async def elicit(_context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept" if agrees else "decline", content={"approve": True})

    rule = {**standing.BLOCK, "action_detail": {"message": "Sure?", "on_failure": "ask"}}
    result = call(offline(rule), "Rome", elicitation_callback=elicit, mode="legacy")
    assert result.is_error is not agrees
    assert "Sure?" in asked[0]


def test_call__needs_a_person__and_there_is_none() -> None:
    rule = {**standing.BLOCK, "action_detail": {"message": "Sure?", "on_failure": "ask"}}
    assert "approval of a person: Sure?" in text(call(offline(rule), "Rome"))


def test_tasks__named_in_meta__are_kept_apart() -> None:
    client = offline()

    async def play(seen: Client) -> None:
        for name in ("one", "two", "one"):
            await seen.call_tool("weather", {"city": "Rome"}, meta={"hgmem/task": name})

    through(client, play)
    client.close()
    assert [document["external_id"] for document in client.documents if document.get("calls")] == [
        "one", "two", "one",
    ]  # fmt: skip


def test_proxy__everything_else__goes_through() -> None:
    async def play(seen: Client) -> Any:
        tools = [tool.name for tool in (await seen.list_tools()).tools]
        resource = (await seen.read_resource("weather://today")).contents[0].text
        prompt = (await seen.get_prompt("ask", {"city": "Rome"})).messages[0].content.text
        progress = []

        async def note(done: float, total: float | None, message: str | None) -> None:
            progress.append((done, total, message))

        await seen.call_tool("slow", {}, progress_callback=note)
        return tools, resource, prompt, progress, seen.instructions

    tools, resource, prompt, progress, instructions = through(offline(), play)
    assert set(tools) == {"weather", "forecast", "login", "slow", "learn"}
    assert (resource, prompt) == ("sunny", "How is Rome?")
    assert progress == [(1, 2, "half")]
    assert instructions == "Ask me about the weather."


def test_proxy__tools_behind_it_change__clients_are_told() -> None:
    heard: list[str] = []

    async def listen(message: Any) -> None:
        heard.append(type(message).__name__)

    async def play(seen: Client) -> None:
        await seen.call_tool("learn", {})
        while not heard:
            await asyncio.sleep(0.01)

    async def run() -> None:
        proxy = Proxy(offline(), second_server(), mode="legacy")
        async with (
            proxy.connected() as server,
            Client(server, message_handler=listen, mode="legacy") as seen,
        ):
            await asyncio.wait_for(play(seen), 20)

    asyncio.run(run())
    assert heard == ["ToolListChangedNotification"]


def test_unknown_tool__and_resource__are_the_servers_own_errors() -> None:
    async def play(seen: Client) -> Any:
        with pytest.raises(MCPError):
            await seen.read_resource("weather://never")
        return await seen.call_tool("never", {})

    assert through(offline(), play).is_error


SECOND = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("second")

@server.tool()
def weather(city: str = "") -> str:
    if not city:
        raise ValueError("city must not be empty")
    return f"sunny in {city}"

@server.tool()
def die() -> str:
    import os
    os._exit(3)

server.run("stdio")
"""


def test_stdio__a_real_process_behind__is_guarded_and_may_die(tmp_path: Path) -> None:
    script = tmp_path / "second.py"
    script.write_text(SECOND)
    client = offline(standing.MEND_CITY)

    async def play(seen: Client) -> Any:
        mended = await seen.call_tool("weather", {"city": ""})
        dead = await asyncio.wait_for(seen.call_tool("die", {}), 20)
        return mended, dead

    mended, dead = through(client, play, [sys.executable, str(script)])
    assert text(mended) == "sunny in Lima"
    assert dead.is_error
    assert [made[1] for made in summary(client)] == ["ok", "error"]
