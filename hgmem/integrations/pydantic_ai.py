"""Pydantic AI: a capability that guards every tool call of an agent.

``Agent(model, tools=..., capabilities=[HGMemCapability()])``. Arguments that fail validation are asked about
as the model wrote them, so that a rule can mend them before the model has to try again. Whatever a rule puts
in the place of the input is validated as the model's is.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from typing import Any, Final

try:
    from pydantic import ValidationError
    from pydantic_ai import ModelRetry, RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed
    from pydantic_ai.messages import ToolReturn
    from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool
except ImportError as error:
    raise ImportError("Pydantic AI is missing: pip install 'hgmem[pydantic-ai]'") from error

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding import wording
from hgmem.guarding.call import Call, Result
from hgmem.guarding.planning import aplan_hints
from hgmem.guarding.running import aask, aconclude_error, arun_call
from hgmem.guarding.tasks import Task, current_task, task_of_run
from hgmem.integrations.failures import text_of
from hgmem.runtime.client import Runtime

FRAMEWORK: Final = "pydantic-ai"
MAX_MENDED: Final = 1_000
"""Calls that were mended and not yet made; the oldest are forgotten."""


class HGMemCapability(AbstractCapability[Any]):
    """Asks before each tool call, applies, records; adds what rules say to the instructions.

    One instance serves any number of runs. ``client`` defaults to that of :func:`hgmem.configure`. With
    ``defer_approvals`` a call that a rule wants a person to approve ends the run with
    ``DeferredToolRequests``, as a tool with ``requires_approval`` does (the agent's ``output_type`` must
    allow it); otherwise the model is told.
    """

    def __init__(self, client: Runtime | None = None, *, defer_approvals: bool = False) -> None:
        self._client = client
        self.defer_approvals = defer_approvals
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
            try:
                asked.check()
            except Refused as refusal:
                raise ToolFailed(str(refusal)) from error
            if asked.tool == call.tool_name and asked.input != asked.asked_input:
                valid = await handler(asked.input)
                self._keep_mended(call.tool_call_id, asked)
                return valid
            raise _told(error, (await aconclude_error(asked, error)).hints) from error

    def _keep_mended(self, tool_call_id: str, call: Call) -> None:
        self._mended[tool_call_id] = call
        while len(self._mended) > MAX_MENDED:
            self._mended.pop(next(iter(self._mended)), None)

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
        """Guard a call; a refusal is a tool result that the model reads as a failure."""
        tools = {
            known: other
            for known, other in (await self.wrapped.get_tools(ctx)).items()
            if other.tool_def.kind == "function"  # rules make no call that waits for a person or a process
        }
        call = self.capability.take_mended(ctx.tool_call_id)
        validated = call.input if call else None
        if call is None:
            call = Call(self.capability._task(), name, tool_args, has_tool=tools.__contains__)
            validated = call.asked_input
        wrapper: ToolReturn[Any] | None = None

        async def invoke(tool_name: str, call_input: dict[str, Any]) -> Any:
            nonlocal wrapper
            target, arguments = (tool, tool_args) if tool_name == name else (tools[tool_name], call_input)
            if target is not tool or call_input != validated:
                arguments = await _validated(target, call_input, ctx)
            try:
                output = await self.wrapped.call_tool(tool_name, arguments, ctx, target)
            except (CallDeferred, ApprovalRequired):
                call.is_over |= tool_name == call.tool  # no failure: a person or another process goes on
                raise
            if isinstance(output, ToolReturn):
                wrapper, output = output, output.return_value
            return output

        if self.capability.defer_approvals and not ctx.tool_call_approved:
            await _defer(call)
        try:
            result = await arun_call(call, invoke, lambda _call: ctx.tool_call_approved)
        except (Refused, TreatedAsError) as error:
            raise ToolFailed(text_of(error)) from error
        except (ModelRetry, ToolFailed) as error:
            raise _told(error, _notes(error)) from error
        if result.error:
            raise ToolFailed(result.text)
        return _shown(result, wrapper)


async def _defer(call: Call) -> None:
    """Raise ApprovalRequired where a rule wants a person to agree."""
    if not call.is_asked:
        await aask(call)
    if call.needs_approval:
        raise ApprovalRequired({"hgmem": str(call.refusal)})


async def _validated(tool: ToolsetTool[Any], call_input: dict[str, Any], ctx: RunContext[Any]) -> Any:
    """An input of a rule, as the tool takes it. Raises ValidationError or ModelRetry."""
    valid = tool.args_validator.validate_python(call_input, context=ctx.validation_context)
    if tool.args_validator_func is not None:
        checked = tool.args_validator_func(ctx, **valid)
        if isawaitable(checked):
            await checked
    return valid


def _shown(result: Result, wrapper: ToolReturn[Any] | None) -> Any:
    """What the model reads: hints stand below a text, and beside any other output."""
    output, beside = result.output, ""
    if result.hints and isinstance(output, str):
        output = result.text
    else:
        beside = wording.with_hints("", result.hints).strip()
    if wrapper is None:
        return ToolReturn(output, content=beside) if beside else output
    if not beside:
        return replace(wrapper, return_value=output)
    more: Any = wrapper.content or []
    more = [more] if isinstance(more, str) else list(more)
    return replace(wrapper, return_value=output, content=[*more, beside])


def _told(error: Exception, hints: list[str]) -> Exception:
    """The failure as the model is to read it, with the hints of rules."""
    if not hints:
        return error
    told = wording.with_hints(str(error), hints)
    return ToolFailed(told) if isinstance(error, ToolFailed) else ModelRetry(told)


def _notes(error: Exception) -> list[str]:
    return [note.removeprefix("[hint] ") for note in getattr(error, "__notes__", ())]


def _raw(args: Any) -> dict[str, Any]:
    """The arguments as the model wrote them."""
    if isinstance(args, str):
        try:
            args = json.loads(args or "{}")
        except ValueError:
            return {"input": args}
    return args if isinstance(args, dict) else {"input": args}
