"""AG2: a middleware that guards every tool call of an agent.

``Agent("guide", middleware=[hgmem_middleware()], ...)``. A turn of the agent (``ask``) is a task. AG2 runs
each call with the tool that the model chose, so a switch or a step to another tool is told to the model.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

try:
    from ag2 import Middleware, ToolResult
    from ag2.events import ToolCallEvent, ToolErrorEvent, ToolResultEvent
    from ag2.middleware.base import BaseMiddleware
except ImportError as error:
    raise ImportError("AG2 is missing: pip install 'hgmem[ag2]'") from error

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call, as_text
from hgmem.guarding.planning import aplan_hints
from hgmem.guarding.running import arun_call
from hgmem.guarding.tasks import current_task, task_of_run
from hgmem.integrations.failures import ToolError, text_of
from hgmem.runtime.client import Runtime

FRAMEWORK = "ag2"


def hgmem_middleware(client: Runtime | None = None) -> Middleware:
    """The middleware, for ``middleware=[...]`` of an agent or of one ``ask``."""
    return Middleware(HGMemMiddleware, client=client)


class HGMemMiddleware(BaseMiddleware):
    """One turn of an agent. AG2 makes one for each; use :func:`hgmem_middleware`."""

    def __init__(self, event: Any, context: Any, client: Runtime | None = None) -> None:
        super().__init__(event, context)
        self._client = client

    async def on_turn(self, call_next: Callable[..., Any], event: Any, context: Any) -> Any:
        """A turn is a task."""
        task, is_ours = task_of_run(self._client, goal=_goal(event), framework=FRAMEWORK)
        try:
            with task.active():
                return await call_next(event, context)
        except Exception as error:
            if is_ours:
                task.failed(f"{type(error).__name__}: {error}")
            raise
        finally:
            if is_ours:
                task.finish()

    async def on_llm_call(self, call_next: Callable[..., Any], events: Sequence[Any], context: Any) -> Any:
        """Add what rules say to a model that plans, for this request only."""
        hints = await aplan_hints(current_task(self._client))
        if not hints:
            return await call_next(events, context)
        before = list(context.prompt)
        context.prompt[:] = [*before, *hints]
        try:
            return await call_next(events, context)
        finally:
            context.prompt[:] = before

    async def on_tool_execution(
        self, call_next: Callable[..., Any], event: ToolCallEvent, context: Any
    ) -> Any:
        """Guard a call; a refusal is what the model reads as its result."""
        call = Call(current_task(self._client), event.name, _arguments(event))
        made: list[Any] = []

        async def invoke(_tool: str, call_input: dict[str, Any]) -> Any:
            changed = call_input != call.asked_input
            answer = await call_next(_with(event, call_input) if changed else event, context)
            made.append(answer)
            if isinstance(answer, ToolErrorEvent):
                raise ToolError(str(answer.error)) from answer.error
            return _output(answer)

        try:
            result = await arun_call(call, invoke)
        except (Refused, TreatedAsError) as error:
            return ToolResultEvent.from_call(event, text_of(error))
        except ToolError as error:
            return _failed(event, made[-1], error)
        if result.error or result.hints:
            return ToolResultEvent.from_call(event, result.text)
        same = result.output == _output(made[-1])
        return made[-1] if same else ToolResultEvent.from_call(event, as_text(result.output))


def _failed(event: ToolCallEvent, answer: Any, error: ToolError) -> Any:
    """The failure as AG2 tells it; with hints below when rules have any."""
    notes = getattr(error, "__notes__", ())
    if not notes:
        return answer
    told = "\n\n".join([_text(answer), *notes])
    return ToolErrorEvent(parent_id=event.id, name=event.name, error=answer.error, result=ToolResult(told))


def _with(event: ToolCallEvent, call_input: dict[str, Any]) -> ToolCallEvent:
    made = ToolCallEvent(
        event.name, id=event.id, arguments=json.dumps(call_input, ensure_ascii=False),
        vendor_metadata=event.vendor_metadata,
    )  # fmt: skip
    return made.handled_by(event.source) if event.source else made


def _arguments(event: ToolCallEvent) -> dict[str, Any]:
    try:
        found = event.serialized_arguments
    except ValueError:
        return {"input": event.arguments}
    return found if isinstance(found, dict) else {"input": found}


def _output(answer: Any) -> Any:
    """What the tool gave: data or text of its only part, else all parts as text."""
    parts = answer.result.parts
    if len(parts) == 1:
        part = parts[0]
        return getattr(part, "data", None) if hasattr(part, "data") else getattr(part, "content", str(part))
    return _text(answer)


def _text(answer: Any) -> str:
    return "\n".join(
        str(getattr(part, "content", getattr(part, "data", part))) for part in answer.result.parts
    )


def _goal(event: Any) -> str:
    parts = getattr(event, "parts", None) or getattr(event, "inputs", None) or ()
    texts = [str(part.content) for part in parts if hasattr(part, "content")]
    return "\n".join(texts) or str(getattr(event, "content", "") or "")
