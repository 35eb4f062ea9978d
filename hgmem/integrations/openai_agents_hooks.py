"""The OpenAI Agents SDK, tools unwrapped: a guardrail that only refuses, hooks that only record."""

import json
from typing import Any

try:
    from agents import (
        RunHooks,
        ToolGuardrailFunctionOutput,
        ToolInputGuardrail,
        ToolInputGuardrailData,
        default_tool_error_function,
    )
except ImportError as error:
    raise ImportError("The OpenAI Agents SDK is missing: pip install 'hgmem[openai-agents]'") from error

from hgmem.api.errors import Refused
from hgmem.guarding.call import Call
from hgmem.guarding.running import abegin, aconclude, aconclude_error, begin_recording
from hgmem.runtime.client import Runtime


def guardrail(client: Runtime | None = None) -> ToolInputGuardrail[Any]:
    """A tool input guardrail: refuses what rules block or want a person to approve, and changes nothing.

    For tools that are guarded no other way: ``function_tool(..., tool_input_guardrails=[guardrail()])``.
    """

    async def check(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = await abegin(data.context.tool_name, arguments_of(data.context.tool_arguments), client=client)
        try:
            call.check()
        except Refused as refusal:
            return ToolGuardrailFunctionOutput.reject_content(str(refusal))
        return ToolGuardrailFunctionOutput.allow()

    return ToolInputGuardrail(guardrail_function=check, name="hgmem")


class HGMemHooks(RunHooks[Any]):
    """Run hooks that only record the tool calls of a run; one instance for each run.

    The SDK tells them a failure as the text it gives the model: its standard one is known as a failure here,
    one of an error function of your own is not; and a failure that ends the run is told nobody.
    """

    def __init__(self, client: Runtime | None = None) -> None:
        self._client = client
        self._calls: dict[str, Call] = {}

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        """A call begins."""
        call_input = arguments_of(getattr(context, "tool_arguments", ""))
        made = begin_recording(tool.name, call_input, client=self._client)
        self._calls[getattr(context, "tool_call_id", tool.name)] = made

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        """A call returned."""
        call = self._calls.pop(getattr(context, "tool_call_id", tool.name), None)
        if call is not None and result == default_tool_error_function(context, Exception()):
            await aconclude_error(call, "the tool failed; the SDK does not tell its hooks how")
        elif call is not None:
            await aconclude(call, result)


def arguments_of(text: str) -> dict[str, Any]:
    """The arguments that the model wrote; what is no JSON object is kept as it is, under ``input``."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        found = text
    return found if isinstance(found, dict) else {"input": found}
