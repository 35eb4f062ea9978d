"""LlamaIndex: an agent that asks before each tool call, and guarded tools for any other agent.

``HGMemFunctionAgent`` and ``HGMemReActAgent`` take the place of LlamaIndex's agents. ``guard_tools(tools)``
wraps tools for agents of other kinds, one by one.
"""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

try:
    from llama_index.core.agent.workflow import AgentOutput, FunctionAgent, ReActAgent
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.tools import AsyncBaseTool, BaseTool, FunctionTool, ToolOutput, adapt_to_async_tool
    from pydantic import PrivateAttr
except ImportError as error:
    raise ImportError("LlamaIndex is missing: pip install 'hgmem[llamaindex]'") from error

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call, Result
from hgmem.guarding.planning import aplan_hints
from hgmem.guarding.running import AsyncInvoke, arun_call, run_call
from hgmem.guarding.tasks import OpenTasks, Task, current_task
from hgmem.integrations.failures import ToolError, text_of
from hgmem.runtime.client import Runtime

FRAMEWORK = "llamaindex"
_RUN = "hgmem_run"


class _Guarding:
    """What both agents add: the run's task, hints while planning, guarded calls."""

    _hgmem_client: Runtime | None
    _hgmem_open: OpenTasks

    def with_client(self, client: Runtime) -> Any:
        """The agent, with another client than the one of :func:`hgmem.configure`."""
        self._hgmem_client = client
        return self

    async def take_step(
        self, ctx: Any, llm_input: list[ChatMessage], tools: Sequence[Any], memory: Any
    ) -> Any:
        """Ask the model, with what rules say to a model that plans."""
        hints = await aplan_hints(await self._hgmem_task(ctx))
        told = [ChatMessage(role=MessageRole.SYSTEM, content="\n\n".join(hints))] if hints else []
        return await super().take_step(ctx, [*told, *llm_input], tools, memory)  # type: ignore[misc]

    async def _call_tool(self, ctx: Any, tool: AsyncBaseTool, tool_input: dict[str, Any]) -> ToolOutput:
        task = await self._hgmem_task(ctx)
        tools = {known.metadata.get_name(): known for known in await self.get_tools("")}  # type: ignore[attr-defined]
        ask = super()._call_tool  # type: ignore[misc]

        async def invoke(name: str, call_input: dict[str, Any]) -> ToolOutput:
            made: ToolOutput = await ask(ctx, tools.get(name, tool), call_input)
            return made

        with task.active():
            return await _guarded(task, tool.metadata.get_name(), tool_input, tools, invoke)

    async def finalize(self, ctx: Any, output: AgentOutput, memory: Any) -> AgentOutput:
        """The run is over; nobody knows yet how it went."""
        done: AgentOutput = await super().finalize(ctx, output, memory)  # type: ignore[misc]
        self._hgmem_open.finish(await ctx.store.get(_RUN, default=""))
        return done

    async def _hgmem_task(self, ctx: Any) -> Task:
        name = await ctx.store.get(_RUN, default="")
        if not name:
            name = str(uuid4())
            await ctx.store.set(_RUN, name)
        goal = str(await ctx.store.get("user_msg_str", default="") or "")
        return self._hgmem_open.open(
            name, self._hgmem_client, goal=goal, framework=FRAMEWORK, agent=str(getattr(self, "name", ""))
        )


class HGMemFunctionAgent(_Guarding, FunctionAgent):
    """LlamaIndex's ``FunctionAgent`` with guarded tool calls."""

    _hgmem_client: Runtime | None = PrivateAttr(default=None)
    _hgmem_open: OpenTasks = PrivateAttr(default_factory=OpenTasks)


class HGMemReActAgent(_Guarding, ReActAgent):
    """LlamaIndex's ``ReActAgent`` with guarded tool calls."""

    _hgmem_client: Runtime | None = PrivateAttr(default=None)
    _hgmem_open: OpenTasks = PrivateAttr(default_factory=OpenTasks)


def guard_tools(tools: Sequence[BaseTool], *, client: Runtime | None = None) -> list[AsyncBaseTool]:
    """The tools, guarded: for any agent. They can be switched to and inserted before each other."""
    known = {tool.metadata.get_name(): adapt_to_async_tool(tool) for tool in tools}
    return [GuardedTool(tool, known, client) for tool in known.values()]


class GuardedTool(AsyncBaseTool):
    """A tool whose calls are guarded; its calls belong to the current task."""

    def __init__(
        self, tool: AsyncBaseTool, known: dict[str, AsyncBaseTool], client: Runtime | None = None
    ) -> None:
        self._tool = tool
        self._known = known
        self._client = client

    @property
    def metadata(self) -> Any:
        """The tool's own."""
        return self._tool.metadata

    def call(self, *args: Any, **keywords: Any) -> ToolOutput:
        """Guard a sync call."""
        name, task = self._tool.metadata.get_name(), current_task(self._client)
        call = Call(task, name, _input(args, keywords), has_tool=self._known.__contains__)
        try:
            return _shown(
                name, call, run_call(call, lambda tool, given: _read(self._known[tool].call(**given)))
            )
        except (Refused, TreatedAsError, ToolError) as error:
            return _failed(name, call, error)

    async def acall(self, *args: Any, **keywords: Any) -> ToolOutput:
        """Guard an async call."""

        async def invoke(tool: str, given: dict[str, Any]) -> ToolOutput:
            return await self._known[tool].acall(**given)

        name, task = self._tool.metadata.get_name(), current_task(self._client)
        return await _guarded(task, name, _input(args, keywords), self._known, invoke)


async def _guarded(
    task: Task, name: str, call_input: dict[str, Any], tools: dict[str, AsyncBaseTool], invoke: AsyncInvoke
) -> ToolOutput:
    call = Call(task, name, call_input, has_tool=tools.__contains__)

    async def read(tool: str, given: dict[str, Any]) -> Any:
        return _read(await invoke(tool, given))

    try:
        return _shown(name, call, await arun_call(call, read))
    except (Refused, TreatedAsError, ToolError) as error:
        return _failed(name, call, error)


def _read(made: ToolOutput) -> Any:
    """What the tool gave. Raises ToolError, from the tool's own exception, where it says that it failed."""
    if made.is_error:
        raise ToolError(made.content) from made.exception
    return made.raw_output


def _shown(name: str, call: Call, result: Result) -> ToolOutput:
    return ToolOutput(
        content=result.text, tool_name=name, raw_input=call.input, raw_output=result.output,
        is_error=result.error is not None,
    )  # fmt: skip


def _failed(name: str, call: Call, error: Exception) -> ToolOutput:
    return ToolOutput(
        content=text_of(error), tool_name=name, raw_input=call.input, raw_output=str(error), is_error=True,
        exception=error,
    )  # fmt: skip


def _input(args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    return {"input": args[0], **keywords} if args else keywords


__all__ = ["FunctionTool", "GuardedTool", "HGMemFunctionAgent", "HGMemReActAgent", "guard_tools"]
