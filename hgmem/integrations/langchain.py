"""LangChain and LangGraph: an agent middleware, wrappers for an own ``ToolNode``, a recording callback.

``create_agent(model, tools, middleware=[HGMemMiddleware()])`` guards every tool call of an agent. In a graph
of one's own, ``guarded_tool_node(tools)`` is a ``ToolNode`` that does the same. ``HGMemRecorder`` is a
callback handler that only records, for chains without either.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired
from uuid import UUID, uuid4

try:
    from langchain.agents.middleware.types import (
        AgentMiddleware,
        AgentState,
        ModelRequest,
        PrivateStateAttr,
    )
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import SystemMessage, ToolMessage
    from langgraph.prebuilt import ToolNode
    from langgraph.prebuilt.tool_node import ToolCallRequest
except ImportError as error:
    raise ImportError("LangChain is missing: pip install 'hgmem[langchain]'") from error

from hgmem.api.errors import Refused
from hgmem.guarding.call import Call, Result, as_text
from hgmem.guarding.planning import aplan_hints, plan_hints
from hgmem.guarding.running import arun_call, begin_recording, conclude, conclude_error, run_call
from hgmem.guarding.tasks import OpenTasks, Task, current_task
from hgmem.integrations.failures import ToolError, text_of
from hgmem.runtime.client import Runtime

FRAMEWORK = "langchain"


class HGMemState(AgentState[Any]):
    """What the middleware keeps in the agent's state: the name of the run's task."""

    hgmem_run: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class HGMemMiddleware(AgentMiddleware[HGMemState, Any, Any]):
    """Asks before each tool call, applies, records. One instance serves any number of runs and agents.

    ``client`` defaults to that of :func:`hgmem.configure`. Hints for planning are added to the system prompt.
    """

    state_schema = HGMemState

    def __init__(self, client: Runtime | None = None) -> None:
        super().__init__()
        self._client = client
        self._open = OpenTasks()

    def before_agent(self, state: HGMemState, runtime: Any) -> dict[str, Any] | None:
        """Open the task of the run."""
        name = str(uuid4())
        self._open.open(name, self._client, goal=_goal(state), framework=FRAMEWORK)
        return {"hgmem_run": name}

    async def abefore_agent(self, state: HGMemState, runtime: Any) -> dict[str, Any] | None:
        """Open the task of the run."""
        return self.before_agent(state, runtime)

    def after_agent(self, state: HGMemState, runtime: Any) -> dict[str, Any] | None:
        """The run is over; nobody knows yet how it went."""
        self._open.finish(state.get("hgmem_run", ""))
        return None

    async def aafter_agent(self, state: HGMemState, runtime: Any) -> dict[str, Any] | None:
        """The run is over; nobody knows yet how it went."""
        return self.after_agent(state, runtime)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        """Add what rules say to a model that plans."""
        return handler(_with_hints(request, plan_hints(self._task(request.state))))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        """Add what rules say to a model that plans."""
        return await handler(_with_hints(request, await aplan_hints(self._task(request.state))))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Guard one call; a refusal is what the model reads as its result."""
        asked, task = _Asked(request), self._task(request.state)
        try:
            with task.active():
                result = run_call(asked.call(task), lambda *call: asked.read(handler(asked.request(*call))))
        except (Refused, ToolError) as error:
            return asked.failed(error)
        return asked.answer(result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Guard one call; a refusal is what the model reads as its result."""
        asked, task = _Asked(request), self._task(request.state)

        async def invoke(tool: str, call_input: dict[str, Any]) -> Any:
            return asked.read(await handler(asked.request(tool, call_input)))

        try:
            with task.active():
                result = await arun_call(asked.call(task), invoke)
        except (Refused, ToolError) as error:
            return asked.failed(error)
        return asked.answer(result)

    def _task(self, state: Any) -> Task:
        name = state.get("hgmem_run", "") if isinstance(state, Mapping) else ""
        return self._open.get(name) or current_task(self._client)


def guarded_tool_node(tools: Sequence[Any], *, client: Runtime | None = None, **options: Any) -> ToolNode:
    """A LangGraph ``ToolNode`` whose calls are guarded; ``options`` are those of ``ToolNode``.

    Its calls belong to the ``hgmem.task`` around the graph's run.
    """
    middleware = HGMemMiddleware(client)
    return ToolNode(
        tools,
        wrap_tool_call=middleware.wrap_tool_call,
        awrap_tool_call=middleware.awrap_tool_call,
        **options,
    )


class HGMemRecorder(BaseCallbackHandler):
    """Records the tool calls of any LangChain run, and asks for nothing: ``config={"callbacks": [...]}``."""

    def __init__(self, client: Runtime | None = None) -> None:
        self._client = client
        self._calls: dict[UUID, Call] = {}

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **more: Any) -> None:
        """A call begins."""
        inputs = more.get("inputs")
        call_input = inputs if isinstance(inputs, dict) else {"input": input_str}
        name = (serialized or {}).get("name") or more.get("name") or "tool"
        self._calls[run_id] = begin_recording(name, call_input, client=self._client)

    def on_tool_end(self, output: Any, *, run_id: UUID, **more: Any) -> None:
        """A call returned."""
        call = self._calls.pop(run_id, None)
        if call is None:
            return
        content = getattr(output, "content", output)
        if getattr(output, "status", "") == "error":
            conclude_error(call, as_text(content))
        else:
            conclude(call, content)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        """A call failed."""
        call = self._calls.pop(run_id, None)
        if call is not None:
            conclude_error(call, error)


class _Asked:
    """One request of a ``ToolNode``, and the message that answers it."""

    def __init__(self, request: ToolCallRequest) -> None:
        self._request = request
        known = getattr(request.runtime, "tools", None) or [request.tool]
        self._tools = {tool.name: tool for tool in known if hasattr(tool, "name")}
        self._message: Any = None

    def call(self, task: Task) -> Call:
        """The call as a guarded one."""
        asked = self._request.tool_call
        return Call(task, asked["name"], asked["args"], has_tool=self._tools.__contains__)

    def request(self, tool: str, call_input: dict[str, Any]) -> ToolCallRequest:
        """The request for an effective tool and input."""
        changed = {**self._request.tool_call, "name": tool, "args": call_input}
        return self._request.override(tool_call=changed, tool=self._tools.get(tool, self._request.tool))

    def read(self, message: Any) -> Any:
        """The tool's output in its message. Raises ToolError when the node made a message of a failure."""
        self._message = message
        if not isinstance(message, ToolMessage):
            return message
        if message.status == "error":
            raise ToolError(as_text(message.content))
        return message.content

    def answer(self, result: Result) -> Any:
        """What the model reads: the very message where the rules changed nothing."""
        message = self._message
        if not isinstance(message, ToolMessage):
            return message
        if result.error is None and not result.hints and result.output is message.content:
            return message
        return message.model_copy(update={"content": result.text, **self._status(bool(result.error))})

    def failed(self, error: Exception) -> ToolMessage:
        """A call that was not made, or failed, as the model reads it."""
        asked = self._request.tool_call
        return ToolMessage(
            content=text_of(error), name=asked["name"], tool_call_id=asked["id"] or "", status="error"
        )

    def _status(self, is_error: bool) -> dict[str, Any]:
        asked = self._request.tool_call
        named = {"name": asked["name"], "tool_call_id": asked["id"]}
        return {**named, "status": "error"} if is_error else named


def _goal(state: Mapping[str, Any]) -> str:
    """The last thing a person said before the run."""
    for message in reversed(state.get("messages") or []):
        if getattr(message, "type", "") == "human":
            return str(message.text)
    return ""


def _with_hints(request: ModelRequest[Any], hints: list[str]) -> ModelRequest[Any]:
    if not hints:
        return request
    before = request.system_message.text if request.system_message else ""
    text = "\n\n".join(part for part in (before, *hints) if part)
    return request.override(system_message=SystemMessage(content=text))
