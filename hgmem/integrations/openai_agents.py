"""The OpenAI Agents SDK: guarded agents and tools, a guardrail that only refuses, hooks that only record.

``result = await run(agent, "...")`` in the place of ``Runner.run`` guards every function tool of an agent, of
its MCP servers and of the agents it hands off to, and makes the run a task; ``run_sync`` and ``run_streamed``
likewise. ``guard_tool(tool)`` guards a single tool.

With ``defer_approvals`` a call that a rule wants a person to approve interrupts the run, as a tool with
``needs_approval`` does; otherwise the model is told.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

try:
    from agents import (
        Agent,
        FunctionTool,
        Handoff,
        RunContextWrapper,
        Runner,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
    )
    from agents.tool import (
        maybe_invoke_function_tool_failure_error_function,
        set_function_tool_failure_error_function,
    )
except ImportError as error:
    raise ImportError("The OpenAI Agents SDK is missing: pip install 'hgmem[openai-agents]'") from error

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding import wording
from hgmem.guarding.call import Call, Result
from hgmem.guarding.planning import aplan_hints
from hgmem.guarding.running import aask, arun_call
from hgmem.guarding.tasks import Task, current_task, task_of_run
from hgmem.integrations.failures import text_of
from hgmem.integrations.openai_agents_hooks import HGMemHooks, arguments_of, guardrail
from hgmem.runtime.client import Runtime

__all__ = ["HGMemHooks", "guard_agent", "guard_tool", "guardrail", "run", "run_streamed", "run_sync"]

FRAMEWORK: Final = "openai-agents"
STRUCTURED: Final = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)
_MARK: Final = "__hgmem_guarded__"


async def run(
    agent: Agent[Any],
    input: Any,
    *,
    client: Runtime | None = None,
    defer_approvals: bool = False,
    **options: Any,
) -> Any:
    """``Runner.run`` with every tool call guarded; ``options`` are those of ``Runner.run``."""
    guarded = guard_agent(agent, client=client, defer_approvals=defer_approvals)
    with _task_of(agent, input, client):
        return await Runner.run(guarded, input, **options)


def run_sync(
    agent: Agent[Any],
    input: Any,
    *,
    client: Runtime | None = None,
    defer_approvals: bool = False,
    **options: Any,
) -> Any:
    """``Runner.run_sync`` with every tool call guarded."""
    guarded = guard_agent(agent, client=client, defer_approvals=defer_approvals)
    with _task_of(agent, input, client):
        return Runner.run_sync(guarded, input, **options)


def run_streamed(
    agent: Agent[Any],
    input: Any,
    *,
    client: Runtime | None = None,
    defer_approvals: bool = False,
    **options: Any,
) -> Any:
    """``Runner.run_streamed`` with every tool call guarded; the task ends when the run does."""
    guarded = guard_agent(agent, client=client, defer_approvals=defer_approvals)
    task, is_ours = _open(agent, input, client)
    with task.active():
        result = Runner.run_streamed(guarded, input, **options)
    if is_ours and result.run_loop_task is not None:
        result.run_loop_task.add_done_callback(lambda done: _ended(task, done))
    return result


def _open(agent: Agent[Any], input: Any, client: Runtime | None) -> tuple[Task, bool]:
    goal = input if isinstance(input, str) else ""
    return task_of_run(client, goal=goal, framework=FRAMEWORK, agent=agent.name)


@contextmanager
def _task_of(agent: Agent[Any], input: Any, client: Runtime | None) -> Iterator[None]:
    task, is_ours = _open(agent, input, client)
    try:
        with task.active():
            yield
    except Exception as error:
        if is_ours:
            task.failed(f"{type(error).__name__}: {error}")
        raise
    finally:
        if is_ours:
            task.finish()


def _ended(task: Task, done: Any) -> None:
    error = None if done.cancelled() else done.exception()
    if error is None:
        task.finish()
    else:
        task.failed(f"{type(error).__name__}: {error}")


def guard_agent(
    agent: Agent[Any], *, client: Runtime | None = None, defer_approvals: bool = False
) -> Agent[Any]:
    """A copy of the agent, and of those it hands off to, with guarded tools; guarding twice is as once.

    What rules say to a model that plans is added to the instructions. Calls belong to the current task.
    """
    return _guard_agent(agent, _Guard(client, defer_approvals), {})


def guard_tool(
    tool: FunctionTool, *, client: Runtime | None = None, defer_approvals: bool = False
) -> FunctionTool:
    """The function tool, guarded. Its calls belong to the current task."""
    return _Guard(client, defer_approvals).tool(tool, {tool.name: tool})


def _guard_agent(agent: Agent[Any], guard: "_Guard", made: dict[int, Agent[Any]]) -> Agent[Any]:
    if id(agent) in made:  # two agents may hand off to each other
        return made[id(agent)]
    own = {tool.name: tool for tool in agent.tools if isinstance(tool, FunctionTool)}
    copied = made[id(agent)] = agent.clone(
        tools=[guard.tool(tool, own) if isinstance(tool, FunctionTool) else tool for tool in agent.tools],
        instructions=_instructions(agent, guard.client),
    )

    async def mcp_tools(context: RunContextWrapper[Any]) -> list[Any]:
        found = [tool for tool in await agent.get_mcp_tools(context) if isinstance(tool, FunctionTool)]
        known = own | {tool.name: tool for tool in found}
        return [guard.tool(tool, known) for tool in found]

    vars(copied)["get_mcp_tools"] = mcp_tools
    copied.handoffs = [_guard_handoff(other, guard, made) for other in agent.handoffs]
    return copied


def _guard_handoff(other: Any, guard: "_Guard", made: dict[int, Agent[Any]]) -> Any:
    if isinstance(other, Agent):
        return _guard_agent(other, guard, made)
    if not isinstance(other, Handoff):
        return other
    hand_over = other.on_invoke_handoff

    async def guarded(context: RunContextWrapper[Any], text: str) -> Any:
        found = await hand_over(context, text)
        return _guard_agent(found, guard, made) if isinstance(found, Agent) else found

    return replace(other, on_invoke_handoff=guarded)


@dataclass(frozen=True, slots=True)
class _Guard:
    """How tools are guarded."""

    client: Runtime | None
    defers: bool

    def tool(self, tool: FunctionTool, known: dict[str, FunctionTool]) -> FunctionTool:
        """The tool, guarded; rules may also call those of ``known`` that nothing else guards."""
        if hasattr(tool.on_invoke_tool, _MARK):
            return tool

        def begin(given: dict[str, Any]) -> Call:
            return Call(current_task(self.client), tool.name, given, has_tool=can_call)

        def can_call(name: str) -> bool:
            return name == tool.name or (name in known and _is_free(known[name]))

        async def call(context: Any, text: str) -> Any:
            return await _call(begin(arguments_of(text)), tool, known, context, text)

        async def needs_approval(
            context: RunContextWrapper[Any], given: dict[str, Any], call_id: str
        ) -> bool:
            own = tool.needs_approval
            if own if isinstance(own, bool) else await own(context, given, call_id):
                return True
            asked = begin(given)
            await aask(asked)
            return asked.needs_approval

        setattr(call, _MARK, True)
        policy = needs_approval if self.defers else tool.needs_approval
        return replace(tool, on_invoke_tool=call, needs_approval=policy)


async def _call(
    guarded: Call, tool: FunctionTool, known: dict[str, FunctionTool], context: Any, text: str
) -> Any:
    """Make a guarded call; what the model is to read of it."""

    async def invoke(name: str, call_input: dict[str, Any]) -> Any:
        target = tool if name == tool.name else known[name]
        is_as_asked = name == tool.name and call_input == guarded.asked_input
        return await _raising(target)(context, text if is_as_asked else wording.as_json(call_input))

    def approved(_call: Call) -> bool:  # by a person, in the SDK's own way
        return bool(context.is_tool_approved(tool_name=tool.name, call_id=context.tool_call_id))

    try:
        return _shown(await arun_call(guarded, invoke, approved))
    except (Refused, TreatedAsError) as error:
        return text_of(error)
    except Exception as error:
        return await _as_the_sdk_does(tool, context, error)


def _is_free(tool: FunctionTool) -> bool:
    """Whether rules may call it: the SDK asks nobody about a call that the model did not make."""
    has_gate = tool.needs_approval is not False or tool.tool_input_guardrails or tool.tool_output_guardrails
    return tool.is_enabled is True and not has_gate and not hasattr(tool.on_invoke_tool, _MARK)


def _shown(result: Result) -> Any:
    """What the model reads: hints stand below a text, and beside images and files."""
    if result.error or not result.hints:
        return result.text if result.error else result.output
    parts = result.output if isinstance(result.output, list) else [result.output]
    if parts and all(isinstance(part, STRUCTURED) for part in parts):
        return [*parts, ToolOutputText(text=wording.with_hints("", result.hints).strip())]
    return result.text


def _raising(tool: FunctionTool) -> Callable[[Any, str], Awaitable[Any]]:
    """The tool's invocation without the SDK's text for failures, which would hide them."""
    copied = replace(tool)
    set_function_tool_failure_error_function(copied, None)
    return copied.on_invoke_tool


async def _as_the_sdk_does(tool: FunctionTool, context: Any, error: Exception) -> Any:
    """The text that the tool's own error function makes of a failure; without one the failure goes on."""
    told = await maybe_invoke_function_tool_failure_error_function(
        function_tool=tool, context=context, error=error
    )
    if told is None:
        raise error
    notes = getattr(error, "__notes__", ())
    return "\n\n".join([told, *notes]) if isinstance(told, str) and notes else told


def _instructions(agent: Agent[Any], client: Runtime | None) -> Any:
    own: Any = agent.instructions
    if hasattr(own, _MARK):
        return own

    async def told(context: RunContextWrapper[Any], asked: Agent[Any]) -> str | None:
        text = own(context, asked) if callable(own) else own
        if hasattr(text, "__await__"):
            text = await text
        hints = await aplan_hints(current_task(client))
        return "\n\n".join(part for part in (text, *hints) if part) or None

    setattr(told, _MARK, True)
    return told
