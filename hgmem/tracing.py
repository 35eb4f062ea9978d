"""Guarded calls as OpenTelemetry spans, where the process has a tracer provider.

Spans are named and described by the GenAI conventions (``execute_tool {tool}``) and say under ``hgmem.`` what
was decided. Inputs, outputs and error messages are in them only where
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` asks for content. Which arm of a trial a call was in is
never told. Without a provider all of this costs a look into a dictionary: a process that has one has imported
``opentelemetry.trace``, so this module never does. Nothing here raises.
"""

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final, Protocol

from hgmem.receipts import ReceiptError, read_receipt

log = logging.getLogger(__name__)
CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CONTENT_ON: Final = frozenset(("true", "1", "span_only", "span_and_event"))
SCOPE: Final = "hgmem"


class Decided(Protocol):
    """The parts of a verdict that a span tells."""

    source: Any
    why_open: str
    ruleset_version: str
    applied: list[dict[str, Any]]
    receipt: str
    elapsed_ms: float


class CallSpan:
    """The span of one guarded call; it ends with :meth:`end`."""

    def __init__(self, span: Any, trace: Any) -> None:
        self._span = span
        self._trace = trace

    def current(self) -> AbstractContextManager[Any]:
        """Spans that begin in the block are inside this one."""
        use: AbstractContextManager[Any] = self._trace.use_span(
            self._span, end_on_exit=False, record_exception=False, set_status_on_exception=False
        )
        return use

    def end(
        self,
        *,
        status: str,
        error: Mapping[str, Any] | None,
        content: Mapping[str, Any],
        is_recorded: bool,
    ) -> None:
        """The call is over. ``content`` is what is kept of it: ``input``, perhaps ``output``."""
        with _quietly():
            said = {"hgmem.status": status, "hgmem.recorded": is_recorded}
            if captures_content():
                said |= _content(content)
            if error is not None:
                kind = str(error.get("type") or status)
                told = str(error.get("message") or "") if captures_content() else kind
                said["error.type"] = kind
                self._span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, told))
            self._span.set_attributes(said)
        with _quietly():
            self._span.end()


def start_call(
    tool: str, *, asked_tool: str, task: str, agent: str, is_blocked: bool, verdict: Decided | None
) -> CallSpan | None:
    """Begin the span of a call, inside the current one. None where nobody traces, or this is not sampled."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    with _quietly():
        span = trace.get_tracer(SCOPE).start_span(f"execute_tool {tool}")
        if not span.is_recording():
            return None
        said = {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.agent.name": agent,
            "hgmem.task": task, "hgmem.asked_tool": asked_tool if asked_tool != tool else "",
        }  # fmt: skip
        span.set_attributes({name: value for name, value in said.items() if value})
        span.set_attribute("hgmem.blocked", is_blocked)
        if verdict is not None:
            span.set_attributes(_decision(verdict))
        return CallSpan(span, trace)
    return None


def current(span: CallSpan | None) -> AbstractContextManager[Any]:
    """:meth:`CallSpan.current`, also where there is no span."""
    return nullcontext() if span is None else span.current()


def captures_content() -> bool:
    """Whether inputs and outputs may be in spans."""
    return os.environ.get(CONTENT, "").strip().lower() in CONTENT_ON


def _decision(verdict: Decided) -> dict[str, Any]:
    rules: Sequence[str] = [str(entry["rule"]) for entry in verdict.applied]
    said = {
        "hgmem.why_open": verdict.why_open, "hgmem.ruleset.version": verdict.ruleset_version,
        "hgmem.rules.applied": rules, "hgmem.receipt": _receipt_uuid(verdict.receipt),
    }  # fmt: skip
    told = {name: value for name, value in said.items() if value}
    return {"hgmem.source": verdict.source, "hgmem.decision.ms": round(verdict.elapsed_ms, 3), **told}


def _receipt_uuid(token: str) -> str:
    """A receipt made here has the key's first characters at its end."""
    if not token:
        return ""
    try:
        return read_receipt(".".join(token.split(".")[:2]), None).uuid
    except ReceiptError:
        return ""


def _content(content: Mapping[str, Any]) -> dict[str, str]:
    names = {"input": "gen_ai.tool.call.arguments", "output": "gen_ai.tool.call.result"}
    return {
        names[part]: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for part, value in content.items()
        if part in names and value is not None
    }


@contextmanager
def _quietly() -> Iterator[None]:
    """A tracer that fails must not fail the agent's call."""
    try:
        yield
    except Exception as error:
        log.debug("A span was not written: %s", error)
