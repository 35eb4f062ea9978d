"""``hgmem mcp`` and ``hgmem mcp-proxy`` as processes, over both transports, with the official client."""

import asyncio
import os
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.conftest import need

need("mcp", "django", extra="mcp")

from mcp import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters  # noqa: E402

from memory.models import ToolCall  # noqa: E402
from tests.conftest import Cast, make_key  # noqa: E402
from tests.corrections.builders import make_rule  # noqa: E402
from tests.servers import Process, free_port, wait_until  # noqa: E402

pytestmark = pytest.mark.django_db(transaction=True)
SECOND = textwrap.dedent("""
    import sys
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("second")

    @server.tool()
    def weather_api(city: str = "") -> str:
        if not city:
            raise ValueError("city must not be empty")
        return f"sunny in {city}"

    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
""")


@pytest.fixture
def environment(cast: Cast, live_server: Any, tmp_path: Path) -> dict[str, str]:
    make_rule(cast.workspace)
    return {
        **os.environ, "HGMEM_URL": live_server.url, "HGMEM_KEY": make_key(cast.workspace),
        "HGMEM_HOME": str(tmp_path / "home"),
    }  # fmt: skip


def play(target: Any, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(target) as client:
            return await asyncio.wait_for(work(client), 30)

    with ThreadPoolExecutor(1) as pool:  # the browser's tests leave a loop running in this thread
        return pool.submit(asyncio.run, run()).result(60)


@contextmanager
def started(command: list[str], port: int, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """A process that listens on a port; the address of its endpoint."""
    process = Process([sys.executable, *command], folder / f"log-{port}", **environment)
    try:
        wait_until(lambda: _listens(port), process=process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.stop()


def _listens(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def advice(client: Client) -> Any:
    return (await client.call_tool("get_corrections", {"tool": "weather_api"})).structured_content


async def weather(client: Client) -> Any:
    return (await client.call_tool("weather_api", {"city": ""})).content[0].text


def test_server__over_stdio__gives_advice(environment: dict[str, str]) -> None:
    target = StdioServerParameters(command=sys.executable, args=["-m", "hgmem", "mcp"], env=environment)
    assert play(target, advice)["arguments"] == {"city": "Shanghai"}


def test_server__over_http__gives_advice(environment: dict[str, str], tmp_path: Path) -> None:
    port = free_port()
    command = ["-m", "hgmem", "mcp", "--transport", "http", "--port", str(port)]
    with started(command, port, tmp_path, environment) as url:
        assert play(url, advice)["arguments"] == {"city": "Shanghai"}


def test_proxy__http_on_both_sides__guards_and_records(environment: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "second.py"
    script.write_text(SECOND)
    behind, front = free_port(), free_port()
    with started([str(script), str(behind)], behind, tmp_path, environment) as upstream:
        command = ["-m", "hgmem", "mcp-proxy", "--upstream", upstream, "--transport", "http"]
        with started([*command, "--port", str(front)], front, tmp_path, environment) as url:
            assert play(url, weather) == "sunny in Shanghai"
            wait_until(ToolCall.objects.exists)
    call = ToolCall.objects.get()
    assert (call.tool, call.status, call.input) == ("weather_api", "ok", {"city": "Shanghai"})
