"""An MCP server: corrections, experience and paths for any MCP client.

The key comes from the environment of this process, never from a model. Answers tell what to do, not which
rules are on trial.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Literal, TypeVar
from uuid import uuid4

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ResourceError, ToolError
except ImportError as error:
    raise ImportError("The MCP SDK is missing: pip install 'hgmem[mcp]'") from error

from hgmem import __version__
from hgmem.api.errors import HGMemError
from hgmem.runtime.client import Client

T = TypeVar("T")
Transport = Literal["stdio", "http"]
INSTRUCTIONS = (
    "Ask get_corrections before a tool call that may fail, and do as it says. Report what failed with "
    "report_failure, whole tasks with record_experience. locate_paths finds ways that worked before."
)
MAX_ROWS = 100


def build_server(client: Client) -> MCPServer:
    """The server, for a client that says where HGMem is and who asks."""
    server: MCPServer = MCPServer("hgmem", instructions=INSTRUCTIONS, version=__version__)
    _add_questions(server, client)
    _add_reports(server, client)
    _add_resources(server, client)
    return server


def run_server(
    client: Client, *, transport: Transport = "stdio", host: str = "127.0.0.1", port: int = 8_765
) -> None:
    """Serve until the client is gone. Over http at ``/mcp``, with the SDK's checks of Host and Origin."""
    server = build_server(client)
    if transport == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host=host, port=port)


def _add_questions(server: MCPServer, client: Client) -> None:
    @server.tool()
    async def get_corrections(
        tool: str,
        arguments: dict[str, Any] | None = None,
        task_id: str = "",
        goal: str = "",
    ) -> dict[str, Any]:
        """What to do instead of a tool call that you are about to make.

        Call it with the tool and the arguments you have in mind. Make the call as ``tool`` and ``arguments``
        of the answer say; make the calls of ``first`` before it; do not make it when ``blocked`` says why
        not; ask a person when ``ask_a_person`` says so. Give the same task_id for all calls of one task.
        """
        task = {"id": task_id, "goal": goal} if task_id else {"goal": goal}
        context = {"point": "before", "tool": tool, "input": arguments or {}, "task": task}
        return _advice(await _asked(client.api.get_corrections, context))

    @server.tool()
    async def locate_paths(goal: str, top_k: int = 3, tokens: int = 1_000) -> str:
        """Ways that reached a goal like this one before, and ways that failed, as text to plan with."""
        found = await _asked(lambda: client.api.locate(goal, top_k=top_k, prompt_tokens=tokens))
        prompt = found.get("prompt") or {}
        text = prompt.get("text") if isinstance(prompt, dict) else ""
        return text or "Nothing is known about a goal like this."


def _add_reports(server: MCPServer, client: Client) -> None:
    @server.tool()
    async def record_experience(
        task_id: str,
        calls: list[dict[str, Any]],
        goal: str = "",
        outcome: Literal["unknown", "success", "failure"] = "unknown",
        finished: bool = True,
    ) -> dict[str, Any]:
        """Record a task and the tool calls made in it, so that the next one is warned.

        Each call is an object with ``tool``, ``input`` (an object), ``output``, ``status`` (ok, error,
        rejected, cancelled or timeout), ``error`` (text) and the ``receipt`` that get_corrections gave for
        it. Recording the same task_id again adds calls; the same calls again change nothing.
        """
        document: dict[str, Any] = {
            "external_id": task_id, "goal": goal, "framework": "mcp", "final": finished,
            "calls": [{"seq": number, **call} for number, call in enumerate(calls)],
        }  # fmt: skip
        if outcome != "unknown":
            document["outcome"] = {"result": outcome, "by": "agent"}
        return _taken(await _asked(client.api.record_experience, document))

    @server.tool()
    async def report_failure(
        tool: str,
        error: str,
        arguments: dict[str, Any] | None = None,
        goal: str = "",
        receipt: str = "",
    ) -> dict[str, Any]:
        """Report one tool call that failed: which tool, with which arguments, what error it gave.

        For a call that get_corrections was asked about, give the receipt of the answer.
        """
        call = {
            "tool": tool, "input": arguments or {}, "status": "error", "error": {"message": error}, "seq": 0,
            "receipt": receipt,
        }  # fmt: skip
        document = {
            "external_id": f"mcp-{uuid4()}", "goal": goal, "framework": "mcp", "final": True, "calls": [call],
        }  # fmt: skip
        return _taken(await _asked(client.api.record_experience, document))


def _add_resources(server: MCPServer, client: Client) -> None:
    @server.resource("hgmem://rules", mime_type="application/json", description="The rules, newest first.")
    async def rules() -> str:
        page = await _read(lambda: client.api.list_rules(page_size=MAX_ROWS))
        return _json([_named(rule, "name", "status", "description") for rule in page["results"]])

    @server.resource("hgmem://rules/{uuid}", mime_type="application/json", description="One rule.")
    async def rule(uuid: str) -> str:
        return _json(await _read(lambda: client.api.get_rule(uuid)))

    @server.resource("hgmem://paths", mime_type="application/json", description="Recorded paths.")
    async def paths() -> str:
        page = await _read(client.api.list_paths)
        return _json([_named(path, "title", "goal", "result", "level") for path in page["results"]])

    @server.resource(
        "hgmem://paths/{uuid}", mime_type="text/plain", description="A path as text to plan with."
    )
    async def path(uuid: str) -> str:
        return (await _read(lambda: client.api.get_path_prompt(uuid)))["text"]


def _advice(decided: Any) -> dict[str, Any]:
    """The decision in words that a model can act on. Nothing in it tells whether a rule is on trial."""
    advice: dict[str, Any] = {"tool": decided["tool"], "arguments": decided["input"]}
    advice["first"] = [
        {"tool": step["tool"], "arguments": step["arguments"], "reason": step.get("reason") or ""}
        for step in decided["insert_steps"]
    ]
    advice["blocked"] = [entry["message"] for entry in decided["block"]]
    advice["ask_a_person"] = [entry["message"] for entry in decided["ask"]]
    advice["hints"] = [entry["text"] for entry in decided["hints"]]
    advice["receipt"] = decided.get("receipt", "")
    return advice


def _taken(results: list[Any]) -> dict[str, Any]:
    result = results[0]
    if result["status"] in ("invalid", "conflict"):
        faults = "; ".join(f"{fault['field']}: {fault['detail']}" for fault in result.get("errors") or ())
        raise ToolError(f"Not recorded ({result['status']}): {faults}")
    return {"status": result["status"], "calls_added": result.get("calls_added", 0)}


async def _asked(work: Callable[..., T], *arguments: Any) -> T:
    try:
        return await asyncio.to_thread(work, *arguments)
    except HGMemError as error:
        raise ToolError(str(error)) from None


async def _read(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except (HGMemError, ValueError) as error:
        raise ResourceError(str(error)) from None


def _named(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {"uuid": row.get("uuid"), **{name: row[name] for name in names if name in row}}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
