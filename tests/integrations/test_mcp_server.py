"""The MCP server beside a real HGMem, asked by the official SDK's client."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.conftest import need

need("mcp", "django", extra="mcp")

from mcp import Client  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

import hgmem  # noqa: E402
from hgmem.mcp.server import build_server  # noqa: E402
from memory.models import Task, ToolCall  # noqa: E402
from tests.builders import make_path  # noqa: E402
from tests.conftest import Cast, make_key  # noqa: E402
from tests.corrections.builders import make_canary, make_rule  # noqa: E402

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ask(cast: Cast, tmp_path: Path, live_server: Any) -> Any:
    """Play something through an MCP client, to a server that has the test's database."""

    secret = make_key(cast.workspace)

    def play(work: Callable[[Client], Awaitable[Any]]) -> Any:
        async def run(client: hgmem.Client) -> Any:
            async with Client(build_server(client)) as seen:
                return await work(seen)

        client = hgmem.Client(live_server.url, secret, home=tmp_path)
        with client, ThreadPoolExecutor(1) as pool:  # the browser's tests leave a loop running in this thread
            return pool.submit(asyncio.run, run(client)).result(60)

    return play


def test_get_corrections__rule_matches__says_what_to_do_and_not_on_what_trial(cast: Cast, ask: Any) -> None:
    rule = make_rule(cast.workspace, active=False)
    make_canary(rule, share=10_000)

    async def work(seen: Client) -> Any:
        return await seen.call_tool("get_corrections", {"tool": "weather_api", "task_id": "t1"})

    advice = ask(work).structured_content
    assert (advice["tool"], advice["arguments"]) == ("weather_api", {"city": "Shanghai"})
    assert advice["receipt"]
    assert str(rule.uuid) not in json.dumps(advice)


def test_record_experience__twice__is_recorded_once(cast: Cast, ask: Any) -> None:
    calls = [{"tool": "weather_api", "input": {"city": "Rome"}, "output": "sunny", "status": "ok"}]

    async def work(seen: Client) -> Any:
        told = {"task_id": "t1", "goal": "weather", "calls": calls, "outcome": "success"}
        return [await seen.call_tool("record_experience", told) for _ in range(2)]

    first, second = (result.structured_content for result in ask(work))
    assert (first["status"], second["status"]) == ("created", "unchanged")
    assert Task.objects.get().outcome == "success"
    assert ToolCall.objects.count() == 1


def test_report_failure__one_call__is_a_failed_call(cast: Cast, ask: Any) -> None:
    async def work(seen: Client) -> Any:
        return await seen.call_tool(
            "report_failure", {"tool": "weather_api", "error": "city must not be empty"}
        )

    assert ask(work).structured_content["status"] == "created"
    call = ToolCall.objects.get()
    assert (call.status, call.error["message"]) == ("error", "city must not be empty")


def test_record_experience__nonsense__says_what_is_wrong(cast: Cast, ask: Any) -> None:
    async def work(seen: Client) -> Any:
        return await seen.call_tool("record_experience", {"task_id": "t1", "calls": [{"tool": ""}]})

    result = ask(work)
    assert result.is_error
    assert "tool" in result.content[0].text


def test_locate_paths__nothing_recorded__tells_the_templates(cast: Cast, ask: Any) -> None:
    async def work(seen: Client) -> Any:
        return await seen.call_tool("locate_paths", {"goal": "book a flight"})

    assert "A general pattern, not a recorded run." in ask(work).content[0].text


def test_resources__rules_and_paths__can_be_read(cast: Cast, ask: Any) -> None:
    rule, path = make_rule(cast.workspace), make_path(cast.workspace)

    async def work(seen: Client) -> Any:
        names = ("rules", f"rules/{rule.uuid}", "paths", f"paths/{path.uuid}")
        return [(await seen.read_resource(f"hgmem://{name}")).contents[0].text for name in names]

    rules, one, paths, prompt = ask(work)
    assert json.loads(rules)[0]["uuid"] == json.loads(one)["uuid"] == str(rule.uuid)
    assert str(path.uuid) in paths
    assert prompt


def test_resource__of_another_workspace__is_not_there(cast: Cast, ask: Any) -> None:
    foreign = make_rule(cast.elsewhere)

    async def work(seen: Client) -> Any:
        with pytest.raises(MCPError):
            await seen.read_resource(f"hgmem://rules/{foreign.uuid}")
        return True

    assert ask(work)
