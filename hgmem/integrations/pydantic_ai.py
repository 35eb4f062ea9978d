"""Pydantic AI: a capability that guards every tool call of an agent.

``Agent(model, tools=..., capabilities=[HGMemCapability()])``. Arguments that fail validation are asked about
as the model wrote them, so that a rule can mend them before the model has to try again.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

try:
    from pydantic import ValidationError
    from pydantic_ai import ModelRetry, RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
    from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool
except ImportError as error:
    raise ImportError("Pydantic AI is missing: pip install 'hgmem[pydantic-ai]'") from error

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call
from hgmem.guarding.planning import aplan_hints
from hgmem.guarding.running import aask, aconclude_error, arun_call
from hgmem.guarding.tasks import Task, current_task, task_of_run
from hgmem.integrations.failures import text_of
from hgmem.runtime.client import Runtime

FRAMEWORK = "pydantic-ai"


class HGMemCapability(AbstractCapability[Any]):
    """Asks before each tool call, applies, records; adds what rules say to the instructions.

    One instance serves any number of runs. ``client`` defaults to that of :func:`hgmem.configure`.
    """

    def __init__(self, client: Runtime | None = None) -> None:
        self._client = client
        self._mended: dict[str, Call] = {}

    def get_instructions(self) -> Any:
        """What rules say to a model that plans."""

        async def hints(context: RunContext[Any]) -> str:
            return "\n\n".join(await aplan_hints(self._task()))

        return hints

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """The agent's tools, guarded."""
        return GuardedToolset(toolset, capability=self)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Callable[[], Awaitable[Any]]) -> Any:
        """A run is a task."""
        goal = ctx.prompt if isinstance(ctx.prompt, str) else ""
        name = getattr(ctx.agent, "name", "") or ""
        task, is_ours = task_of_run(self._client, goal=goal, framework=FRAMEWORK, agent=name)
        try:
            with task.active():
                return await handler()
        except Exception as error:
            if is_ours:
                task.failed(f"{type(error).__name__}: {error}")
            raise
        finally:
            if is_ours:
                task.finish()

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: Any,
        tool_def: Any,
        args: Any,
        handler: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        """Arguments that are not valid: rules may mend them; otherwise the failure is recorded."""
        try:
            return await handler(args)
        except (ValidationError, ModelRetry) as error:
            asked = Call(self._task(), call.tool_name, _raw(args))
            await aask(asked)
            if asked.refusal is None and asked.tool == call.tool_name and asked.input != asked.asked_input:
                valid = await handler(asked.input)
                self._mended[call.tool_call_id] = asked
                return valid
            await aconclude_error(asked, error)
            raise

    def take_mended(self, tool_call_id: str | None) -> Call | None:
        """The call whose arguments were mended while they were validated."""
        return self._mended.pop(tool_call_id or "", None)

    def _task(self) -> Task:
        return current_task(self._client)


@dataclass
class GuardedToolset(WrapperToolset[Any]):
    """A toolset whose calls are guarded: also without an agent's capability, by hand."""

    capability: HGMemCapability = field(default_factory=HGMemCapability)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Guard a call; a refusal is what the model reads as its result."""
        tools = await self.wrapped.get_tools(ctx)
        call = self.capability.take_mended(ctx.tool_call_id)
        if call is None:
            call = Call(self.capability._task(), name, tool_args, has_tool=tools.__contains__)
        given = call.asked_input

        async def invoke(tool_name: str, call_input: dict[str, Any]) -> Any:
            is_same = tool_name == name and call_input == given
            return await self.wrapped.call_tool(
                tool_name, tool_args if is_same else call_input, ctx, tools.get(tool_name, tool)
            )

        try:
            result = await arun_call(call, invoke)
        except (Refused, TreatedAsError) as error:
            return text_of(error)
        except (CallDeferred, ApprovalRequired):  # no failure: a person or another process goes on
            raise
        return result.text if result.error or result.hints else result.output


def _raw(args: Any) -> dict[str, Any]:
    """The arguments as the model wrote them."""
    if isinstance(args, str):
        try:
            args = json.loads(args or "{}")
        except ValueError:
            return {"input": args}
    return args if isinstance(args, dict) else {"input": args}
