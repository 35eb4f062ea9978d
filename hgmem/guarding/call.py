"""One guarded call, from its question to its record. It asks nobody and calls nothing itself.

Whoever drives it (:mod:`hgmem.guarding.running`, or hooks of a framework) asks the client for a verdict on
:meth:`Call.question`, hands it to :meth:`Call.answered`, makes the call as :attr:`Call.tool` and
:attr:`Call.input` say, and tells how it went.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

from hgmem import tracing
from hgmem.api.errors import ApprovalNeeded, Blocked, NoDecision, Refused, TreatedAsError
from hgmem.api.settings import Settings
from hgmem.guarding import wording
from hgmem.guarding.tasks import Task
from hgmem.runtime.plain import plain
from hgmem.runtime.verdict import Verdict

log = logging.getLogger(__name__)
MAX_ERROR_CHARS: Final = 20_000
MAX_NAME_CHARS: Final = 200
Status = Literal["ok", "error", "rejected", "cancelled", "timeout"]


@dataclass(frozen=True, slots=True)
class Step:
    """A call that a rule wants made first."""

    tool: str
    input: dict[str, Any]
    reason: str


@dataclass(slots=True)
class Result:
    """What the caller is to see of a call that was made.

    ``error`` (``{"type", "message"}``) is set when a rule says that the output means a failure.
    """

    output: Any
    error: dict[str, Any] | None = None
    hints: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The output, or the error, as text for a model, with the hints below."""
        shown = self.error["message"] if self.error else as_text(self.output)
        return wording.with_hints(shown, self.hints)

    def unwrap(self) -> Any:
        """The output. Raises :class:`~hgmem.api.errors.TreatedAsError` when it means a failure."""
        if self.error is not None:
            raise TreatedAsError(str(self.error.get("message") or "the output means a failure"))
        return self.output


class Call:
    """One call of a tool in a task.

    ``tool`` and ``input`` are effective: what to call and with what. ``hints`` are texts for the model,
    ``steps`` calls to make first, ``refusal`` why it must not be made. ``has_tool`` says whether whoever
    makes the calls can make one of that tool: only then a rule can switch to it or insert it, otherwise the
    model is told to.
    """

    def __init__(
        self,
        task: Task,
        tool: str,
        call_input: Mapping[str, Any],
        *,
        version: str = "",
        reasoning: str = "",
        has_tool: Callable[[str], bool] | None = None,
        is_step: bool = False,
    ) -> None:
        self.task = task
        self.asked_tool = self.tool = tool[:MAX_NAME_CHARS]
        self.asked_input: dict[str, Any] = plain(dict(call_input))
        self.input = self.asked_input
        self.verdict: Verdict | None = None
        self.hints: list[str] = []
        self.steps: list[Step] = []
        self.refusal: Refused | None = None
        self.is_over = False
        self._version = version[:MAX_NAME_CHARS]
        self._reasoning = reasoning[:MAX_ERROR_CHARS]
        self._has_tool = has_tool or (lambda _tool: False)
        self._is_step = is_step
        self._seq = -1
        self._started_at: datetime | None = None
        self._began = 0.0
        self._duration_ms = 0.0
        self._output: Any = None
        self._span: tracing.CallSpan | None = None

    def question(self) -> dict[str, Any]:
        """The context to ask about, before the call."""
        return {"point": "before", "input": self.asked_input, **self._circumstances(self.asked_tool)}

    def answered(self, verdict: Verdict) -> None:
        """Take over what the rules make of the call."""
        self.verdict = verdict
        if verdict.source == "open":
            return
        self.hints += _texts(verdict.hints, "text")
        for entry in verdict.insert_steps:
            self._insert(str(entry["tool"]), dict(entry["arguments"]), str(entry.get("reason") or ""))
        if verdict.block:
            self.refusal = Blocked(wording.refusal(_texts(verdict.block, "message")))
        elif verdict.tool == self.asked_tool or self._has_tool(verdict.tool):
            self.tool, self.input = verdict.tool, verdict.input
            if verdict.ask:
                self.refusal = ApprovalNeeded(wording.approval(_texts(verdict.ask, "message")))
        else:
            self.refusal = Blocked(wording.call_instead(verdict.tool, verdict.input))

    def undecided(self, error: NoDecision) -> None:
        """There are no rules for a tool that is never called without."""
        self.refusal = NoDecision(wording.no_decision(self.asked_tool, str(error)))

    @property
    def is_asked(self) -> bool:
        """Whether the rules were asked about it."""
        return self.verdict is not None or self.refusal is not None

    @property
    def needs_approval(self) -> bool:
        """Whether a person has to agree before the call is made."""
        return isinstance(self.refusal, ApprovalNeeded)

    def approved(self) -> None:
        """A person agreed."""
        if self.needs_approval:
            self.refusal = None

    def step_call(self, step: Step) -> "Call":
        """The guarded call of a step: rules of its own tool act on it, but insert nothing before it."""
        return Call(self.task, step.tool, step.input, has_tool=self._has_tool, is_step=True)

    def check(self) -> None:
        """Whether the call may be made; one that may not is recorded as rejected.

        Raises:
            Blocked: a rule refuses it. ``str()`` of each of these is text that a model can act on.
            ApprovalNeeded: a person has to agree, and nobody did.
            NoDecision: the tool fails closed, and no rules could be had.
        """
        if self.refusal is not None:
            self.decline()
            raise self.refusal

    def decline(self) -> None:
        """Record a call that must not be made, as :meth:`check` does, for who answers by other means."""
        if self.refusal is not None and not self.is_over:
            self.start()
            self._record("rejected", _described(self.refusal))

    def start(self) -> None:
        """The call is made now: it takes its place in the task, and its time runs."""
        if self._seq < 0:
            self._seq = self.task.next_seq()
            self._started_at = datetime.now(UTC)
            self._span = tracing.start_call(
                self.tool, asked_tool=self.asked_tool, task=self.task.id, agent=self.task.agent,
                is_blocked=self.refusal is not None, verdict=self.verdict,
            )  # fmt: skip
            self._began = time.perf_counter()

    def traced(self) -> AbstractContextManager[Any]:
        """Spans that begin in the block are inside the call's."""
        return tracing.current(self._span)

    def returned(self, output: Any) -> dict[str, Any]:
        """The tool returned; the context to ask about, after the call."""
        self._stop()
        self._output = plain(output)
        return self._after(output=self._output)

    def raised(self, error: BaseException | str) -> dict[str, Any]:
        """The tool failed; the context to ask about, after the call."""
        self._stop()
        return self._after(error=_described(error))

    def concluded(self, output: Any, verdict: Verdict) -> Result:
        """Record a call that returned. The result is what the caller is to see of it.

        What is recorded is what the tool gave, whatever the rules make of it.
        """
        self._record("ok", None)
        if verdict.source == "open":
            return Result(output, None, self._told([]))
        changed = (
            verdict.output
            if verdict.applied and verdict.has_output and verdict.output != self._output
            else output
        )
        return Result(changed, verdict.error or None, self._told(_texts(verdict.hints, "text")))

    def failed(self, error: BaseException | str, verdict: Verdict | None = None) -> Result:
        """Record a call that failed. The result holds the error and the hints for the model."""
        described = _described(error)
        self._record(_status_of(error), described)
        hints = _texts(verdict.hints, "text") if verdict is not None and verdict.source != "open" else []
        return Result(None, described, self._told(hints))

    def _circumstances(self, tool: str) -> dict[str, Any]:
        named = {"name": tool, "version": self._version} if self._version else tool
        return {
            "tool": named, "task": self.task.describe(), "env": self.task.env, "history": self.task.history,
        }  # fmt: skip

    def _after(self, **happened: Any) -> dict[str, Any]:
        return {
            "point": "after", "input": self.input, **self._circumstances(self.tool), **happened,
            "duration_ms": self._duration_ms,
        }  # fmt: skip

    def _insert(self, tool: str, arguments: dict[str, Any], reason: str) -> None:
        if self._is_step:
            return
        if self._has_tool(tool):
            self.steps.append(Step(tool, arguments, reason))
        else:
            self.hints.append(wording.call_first(tool, arguments, reason))

    def _stop(self) -> None:
        self.start()
        self._duration_ms = round((time.perf_counter() - self._began) * 1_000, 3)

    def _told(self, hints: list[str]) -> list[str]:
        told = [*self.hints, *hints]
        self.task.hints.extend(told)
        return told

    def _record(self, status: Status, error: dict[str, Any] | None) -> None:
        if self.is_over:
            return
        self.is_over = True
        self.task.remember(self.tool, self.input, status, error)
        client = self.task.client
        call: dict[str, Any] = {
            "seq": self._seq, "tool": self.tool, "status": status, "duration_ms": self._duration_ms,
            "started_at": self._started_at.isoformat() if self._started_at else None,
        }  # fmt: skip
        content = _captured(client.settings, self.input, self._output)
        call |= content
        said = {
            "error": error, "tool_version": self._version, "reasoning": self._reasoning,
            "receipt": self.verdict.receipt if self.verdict else "",
        }  # fmt: skip
        call |= {name: value for name, value in said.items() if value}
        is_recorded = client.record({**self.task.header(), "calls": [call]})
        if self._span is not None:
            self._span.end(status=status, error=error, content=content, is_recorded=is_recorded)


def as_text(output: Any) -> str:
    """An output as a model reads it: text as it is, anything else as JSON."""
    return output if isinstance(output, str) else wording.as_json(plain(output))


def _captured(settings: Settings, call_input: dict[str, Any], output: Any) -> dict[str, Any]:
    """What of a call's content is kept. Where the agent's own redaction fails, nothing is."""
    if not settings.capture:
        return {"input": {}}
    if settings.redact is None:
        return {"input": call_input, "output": output}
    try:
        kept = plain(settings.redact({"input": call_input, "output": output}))
        return {"input": dict(kept["input"]), "output": kept["output"]}
    except Exception as error:
        log.warning("The redaction of a call failed (%s); its content is left out.", type(error).__name__)
        return {"input": {}}


def _texts(entries: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    return [str(entry[name]) for entry in entries]


def _described(error: BaseException | str) -> dict[str, Any]:
    if isinstance(error, str):
        return {"type": "", "message": error[:MAX_ERROR_CHARS]}
    if getattr(error, "tells_cause", False) and error.__cause__ is not None:
        error = error.__cause__
    described: dict[str, Any] = {
        "type": type(error).__name__[:MAX_NAME_CHARS], "message": _message_of(error)[:MAX_ERROR_CHARS],
    }  # fmt: skip
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int) and 100 <= status <= 599:
        described["http_status"] = status
    return described


def _message_of(error: BaseException) -> str:
    """Whatever an exception of the agent says of itself, even if saying it fails."""
    try:
        return str(error)
    except Exception as fault:
        return f"<its text cannot be had: {type(fault).__name__}>"


def _status_of(error: BaseException | str) -> Status:
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit | GeneratorExit):
        return "cancelled"
    return "error"
