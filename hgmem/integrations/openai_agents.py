"""The OpenAI Agents SDK: guarded agents and tools, a guardrail that only refuses, hooks that only record.

``result = await run(agent, "...")`` in the place of ``Runner.run`` guards every function tool of an agent and
of those it hands off to, and makes the run a task. ``guard_tool(tool)`` guards a single tool.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

try:
    from agents import (
        Agent,
        FunctionTool,
        RunContextWrapper,
        RunHooks,
        Runner,
        ToolGuardrailFunctionOutput,
        ToolInputGuardrail,
        ToolInputGuardrailData,
    )
    from agents.tool import (
        maybe_invoke_function_tool_failure_error_function,
        set_function_tool_failure_error_function,
    )
except ImportError as error:
    raise ImportError("The OpenAI Agents SDK is missing: pip install 'hgmem[openai-agents]'") from error

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call
from hgmem.guarding.planning import aplan_hints
from hgmem.guarding.running import abegin, aconclude, arun_call, begin_recording
from hgmem.guarding.tasks import current_task, task_of_run
from hgmem.integrations.failures import text_of
from hgmem.runtime.client import Runtime

FRAMEWORK = "openai-agents"


async def run(agent: Agent[Any], input: Any, *, client: Runtime | None = None, **options: Any) -> Any:
    """``Runner.run`` with every tool call guarded; ``options`` are those of ``Runner.run``."""
    goal = input if isinstance(input, str) else ""
    task, is_ours = task_of_run(client, goal=goal, framework=FRAMEWORK, agent=agent.name)
    try:
        with task.active():
            return await Runner.run(guard_agent(agent, client=client), input, **options)
    except Exception as error:
        if is_ours:
            task.failed(f"{type(error).__name__}: {error}")
        raise
    finally:
        if is_ours:
            task.finish()


def guard_agent(agent: Agent[Any], *, client: Runtime | None = None) -> Agent[Any]:
    """A copy of the agent, and of those it hands off to, with guarded function tools.

    What rules say to a model that plans is added to the instructions. Calls belong to the current task.
    """
    return _guard_agent(agent, client, {})


def _guard_agent(agent: Agent[Any], client: Runtime | None, made: dict[int, Agent[Any]]) -> Agent[Any]:
    if id(agent) in made:  # two agents may hand off to each other
        return made[id(agent)]
    known = {tool.name: tool for tool in agent.tools if isinstance(tool, FunctionTool)}
    copied = made[id(agent)] = agent.clone(
        tools=[_guarded(tool, known, client) if tool.name in known else tool for tool in agent.tools],
        instructions=_instructions(agent, client),
    )
    copied.handoffs = [
        _guard_agent(other, client, made) if isinstance(other, Agent) else other for other in agent.handoffs
    ]
    return copied


def guard_tool(tool: FunctionTool, *, client: Runtime | None = None) -> FunctionTool:
    """The function tool, guarded. Its calls belong to the current task."""
    return _guarded(tool, {tool.name: tool}, client)


def _guarded(tool: FunctionTool, known: dict[str, FunctionTool], client: Runtime | None) -> FunctionTool:
    async def call(context: Any, text: str) -> Any:
        guarded = Call(current_task(client), tool.name, _arguments(text), has_tool=known.__contains__)

        async def invoke(name: str, call_input: dict[str, Any]) -> Any:
            return await _raising(known[name])(context, json.dumps(call_input))

        try:
            result = await arun_call(guarded, invoke)
        except (Refused, TreatedAsError) as error:
            return text_of(error)
        except Exception as error:
            return await _as_the_sdk_does(tool, context, error)
        if result.error or result.hints:
            return result.text
        return result.output

    return replace(tool, on_invoke_tool=call)


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
    own = agent.instructions

    async def told(context: RunContextWrapper[Any], asked: Agent[Any]) -> str:
        text = own(context, asked) if callable(own) else own
        if hasattr(text, "__await__"):
            text = await text
        hints = await aplan_hints(current_task(client))
        return "\n\n".join(part for part in (text or "", *hints) if part)

    return told


def guardrail(client: Runtime | None = None) -> ToolInputGuardrail[Any]:
    """A tool input guardrail: refuses what rules block or want a person to approve, and changes nothing.

    For tools that are guarded no other way: ``function_tool(..., tool_input_guardrails=[guardrail()])``.
    """

    async def check(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = await abegin(data.context.tool_name, _arguments(data.context.tool_arguments), client=client)
        try:
            call.check()
        except Refused as refusal:
            return ToolGuardrailFunctionOutput.reject_content(str(refusal))
        return ToolGuardrailFunctionOutput.allow()

    return ToolInputGuardrail(guardrail_function=check, name="hgmem")


class HGMemHooks(RunHooks[Any]):
    """Run hooks that only record the tool calls of a run; one instance for each run."""

    def __init__(self, client: Runtime | None = None) -> None:
        self._client = client
        self._calls: dict[str, Call] = {}

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        """A call begins."""
        call_input = _arguments(getattr(context, "tool_arguments", ""))
        made = begin_recording(tool.name, call_input, client=self._client)
        self._calls[getattr(context, "tool_call_id", tool.name)] = made

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        """A call returned. The SDK tells a failure as text here, so that it is recorded as an output."""
        call = self._calls.pop(getattr(context, "tool_call_id", tool.name), None)
        if call is not None:
            await aconclude(call, result)


def _arguments(text: str) -> dict[str, Any]:
    """The arguments that the model wrote; what is no JSON object is kept as it is, under ``input``."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        found = text
    return found if isinstance(found, dict) else {"input": found}
