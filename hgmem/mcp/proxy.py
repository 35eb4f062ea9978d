"""A proxy that stands in front of any MCP server and guards every tool call through it.

Tools, resources, prompts and completions are those of the server behind. Sampling, elicitation and roots that
it asks for go to the client. A task is one session of a client; one that names a task in ``_meta``
(``hgmem/task``) has one for each name.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Literal
from uuid import uuid4

try:
    import mcp_types as types
    from mcp import Client as Upstream
    from mcp.client.stdio import StdioServerParameters
    from mcp.server.lowlevel.server import NotificationOptions, Server
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError
except ImportError as error:
    raise ImportError("The MCP SDK is missing: pip install 'hgmem[mcp]'") from error

from hgmem import __version__
from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call, Result
from hgmem.guarding.running import arun_call
from hgmem.guarding.tasks import OpenTasks, Task
from hgmem.integrations.failures import ToolError, text_of
from hgmem.runtime.client import Runtime

FRAMEWORK = "mcp"
TASK_META = "hgmem/task"
PASSED: dict[str, tuple[Any, Any, Any]] = {
    "resources/list": (
        types.PaginatedRequestParams, types.ListResourcesRequest, types.ListResourcesResult,
    ),
    "resources/templates/list": (
        types.PaginatedRequestParams, types.ListResourceTemplatesRequest, types.ListResourceTemplatesResult,
    ),
    "resources/read": (
        types.ReadResourceRequestParams, types.ReadResourceRequest, types.ReadResourceResult,
    ),
    "prompts/list": (types.PaginatedRequestParams, types.ListPromptsRequest, types.ListPromptsResult),
    "prompts/get": (types.GetPromptRequestParams, types.GetPromptRequest, types.GetPromptResult),
    "completion/complete": (types.CompleteRequestParams, types.CompleteRequest, types.CompleteResult),
}  # fmt: skip
"""Requests that are only passed on: their parameters, request and result."""
CHANGED: dict[type, str] = {
    types.ToolListChangedNotification: "send_tool_list_changed",
    types.ResourceListChangedNotification: "send_resource_list_changed",
    types.PromptListChangedNotification: "send_prompt_list_changed",
}
"""Notifications that go to every client, and what sends them."""
MAX_SESSIONS = 1_000
_asking: ContextVar[Any] = ContextVar("hgmem_mcp_session")
"""The client's session of the request that is being served."""


class Proxy:
    """The server that clients see, over one connection to the server behind.

    ``upstream`` is a URL, a command with its arguments, or (in tests) a server of the SDK. ``mode`` is how
    the protocol is negotiated with it: ``auto``, or ``legacy`` for the handshake of before 2026.
    """

    def __init__(self, client: Runtime, upstream: Any, mode: Literal["auto", "legacy"] = "auto") -> None:
        self._client = client
        self._tasks = OpenTasks()
        self._tools: frozenset[str] = frozenset()
        self._session_name = str(uuid4())
        self._sessions: OrderedDict[int, Any] = OrderedDict()
        self._upstream = Upstream(
            _target(upstream),
            sampling_callback=_sample,
            elicitation_callback=_elicit,
            list_roots_callback=_roots,
            message_handler=self._heard,
            cache=None,
            mode=mode,
        )
        self.server: Server[Any] = Server("hgmem-proxy", version=__version__)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Server[Any]]:
        """Connect to the server behind; the server for clients, which offers what that one offers."""
        async with self._upstream as upstream:
            self.server.instructions = upstream.instructions
            self._offer(upstream.server_capabilities)
            try:
                yield self.server
            finally:
                self._tasks.finish(self._session_name)

    def _offer(self, can: types.ServerCapabilities) -> None:
        """A handler for each thing that the server behind can do, so that the same is advertised."""
        add = self.server.add_request_handler
        if can.tools is not None:
            add("tools/list", types.PaginatedRequestParams, self._list_tools)
            add("tools/call", types.CallToolRequestParams, self._call_tool)
        offered = {
            "resources": can.resources, "prompts": can.prompts, "completion": can.completions,
        }  # fmt: skip
        for method, (params, request, result) in PASSED.items():
            if offered[method.partition("/")[0]] is not None:
                add(method, params, self._pass(request, result))

    async def _heard(self, message: Any) -> None:
        """A list of the server behind changed: tell the clients that were met and are still there."""
        name = CHANGED.get(type(message))
        if name is None:
            return
        if isinstance(message, types.ToolListChangedNotification):
            self._tools = frozenset()
        for key, session in list(self._sessions.items()):
            try:
                await getattr(session, name)()
            except Exception:  # that client is gone
                self._sessions.pop(key, None)

    def _met(self, context: Any) -> None:
        self._sessions[id(context.session)] = context.session
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)

    def _pass(self, request: Any, result: Any) -> Any:
        """A handler that asks the server behind the same."""

        async def handle(context: Any, params: Any) -> Any:
            self._met(context)
            with _serving(context):
                return await self._upstream.session.send_request(request(params=params), result)

        return handle

    async def _list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        self._met(context)
        found: types.ListToolsResult = await self._upstream.session.send_request(
            types.ListToolsRequest(params=params), types.ListToolsResult
        )
        names = frozenset(tool.name for tool in found.tools)
        self._tools = names if params is None or params.cursor is None else self._tools | names
        return found

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> Any:
        self._met(context)
        if not self._tools:
            await self._list_tools(context, None)
        made = _Made(self._upstream, context, params)
        call = Call(
            self._task(context), params.name, params.arguments or {}, has_tool=self._tools.__contains__
        )
        with _serving(context):
            try:
                result = await arun_call(call, made.call, lambda asked: _approve(context, asked))
            except _Unfinished as unfinished:
                return unfinished.result
            except (Refused, TreatedAsError, ToolError) as error:
                return made.failed(text_of(error))
        return made.shown(result)

    def _task(self, context: Any) -> Task:
        named = (context.meta or {}).get(TASK_META) if isinstance(context.meta, dict) else None
        headers = getattr(context.request, "headers", None) or {}
        session = headers.get("mcp-session-id", "")  # over http one process has many clients
        name = str(named)[:200] if named else f"{self._session_name}{session}"
        return self._tasks.open(name, self._client, framework=FRAMEWORK, **({"id": name} if named else {}))


class _Unfinished(BaseException):
    """The server behind wants more input before it answers: the client has to bring it. Nothing to record."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


class _Made:
    """One tool call at the server behind, and its last result."""

    def __init__(self, upstream: Upstream, context: Any, params: types.CallToolRequestParams) -> None:
        self._upstream = upstream
        self._context = context
        self._params = params
        self._result: types.CallToolResult | None = None

    async def call(self, tool: str, call_input: dict[str, Any]) -> Any:
        """What the tool gave: structured content, else JSON or text of its only block, else the blocks."""
        params = self._params
        try:
            result = await self._upstream.session.call_tool(
                tool, call_input, progress_callback=self._progress, meta=params.meta,
                input_responses=params.input_responses, request_state=params.request_state,
                allow_input_required=True,
            )  # fmt: skip
        except MCPError as error:
            raise ToolError(str(error)) from error
        if not isinstance(result, types.CallToolResult):
            raise _Unfinished(result)
        self._result = result
        if result.is_error:
            raise ToolError(_text_of(result.content))
        return _output_of(result)

    def shown(self, result: Result) -> types.CallToolResult:
        """The result for the client: the very one where the rules changed nothing."""
        given = self._result
        if given is None:
            return self.failed("the server gave no result")
        hints = [types.TextContent(type="text", text=f"[hint] {hint}") for hint in result.hints]
        if result.error is not None:
            return self.failed(result.text)
        if result.output is _output_of(given) or result.output == _output_of(given):
            return given.model_copy(update={"content": [*given.content, *hints]}) if hints else given
        text = types.TextContent(type="text", text=Result(result.output).text)
        structured = result.output if given.structured_content is not None else None
        return types.CallToolResult(content=[text, *hints], structured_content=structured)

    def failed(self, text: str) -> types.CallToolResult:
        """A call that was not made, or failed, as the model reads it."""
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        await self._context.session.report_progress(progress, total, message)


def run_proxy(
    client: Runtime,
    upstream: str | Sequence[str],
    *,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: int = 8_765,
) -> None:
    """Stand between clients and the server behind until one of them is gone. Over http at ``/mcp``."""
    asyncio.run(_run(client, upstream, transport, host, port))


async def _run(client: Runtime, upstream: Any, transport: str, host: str, port: int) -> None:
    async with Proxy(client, upstream).connected() as server:
        if transport == "stdio":
            async with stdio_server() as (read, write):
                changes = NotificationOptions(
                    prompts_changed=True, resources_changed=True, tools_changed=True
                )
                await server.run(read, write, server.create_initialization_options(changes))
        else:
            import uvicorn

            app = server.streamable_http_app(host=host)
            await uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning")).serve()


def _target(upstream: Any) -> Any:
    if isinstance(upstream, list | tuple):
        return StdioServerParameters(command=upstream[0], args=list(upstream[1:]))
    return upstream


class _serving:  # noqa: N801 - a context manager
    """For the block, what the server behind asks for goes to the client of this request."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._token = _asking.set(self._context.session)

    def __exit__(self, *_error: object) -> None:
        _asking.reset(self._token)


async def _approve(context: Any, call: Call) -> bool:
    """Ask the person at the client, where it can ask one; otherwise nobody agrees."""
    capability = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    if not context.session.can_send_request or not context.session.check_client_capability(capability):
        return False
    asked = f"{call.refusal}\n\nCall {call.tool} with {json.dumps(call.input, ensure_ascii=False)}?"
    schema = {"type": "object", "properties": {"approve": {"type": "boolean", "title": "Make the call"}}}
    answer = await context.session.elicit_form(asked, schema, related_request_id=context.request_id)
    return bool(answer.action == "accept" and (answer.content or {}).get("approve", True))


async def _sample(_context: Any, params: Any) -> Any:
    return await _forwarded(types.CreateMessageRequest(params=params), types.CreateMessageResult)


async def _elicit(_context: Any, params: Any) -> Any:
    return await _forwarded(types.ElicitRequest(params=params), types.ElicitResult)


async def _roots(_context: Any) -> Any:
    return await _forwarded(types.ListRootsRequest(), types.ListRootsResult)


async def _forwarded(request: Any, result: Any) -> Any:
    session = _asking.get(None)
    if session is None:
        return types.ErrorData(code=types.INVALID_REQUEST, message="there is no client to ask")
    return await session.send_request(request, result)


def _text_of(content: Sequence[Any]) -> str:
    return "\n".join(block.text for block in content if isinstance(block, types.TextContent)) or "it failed"


def _output_of(result: types.CallToolResult) -> Any:
    if result.structured_content is not None:
        return result.structured_content
    texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
    if len(texts) == len(result.content) == 1:
        try:
            return json.loads(texts[0])
        except ValueError:
            return texts[0]
    return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
