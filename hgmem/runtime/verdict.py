"""What is known about a call before it is made, wherever that comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hgmem.rules.decision import Decision

Source = Literal["local", "server", "open"]
Entries = list[dict[str, Any]]


@dataclass(slots=True)
class Verdict:
    """A decision in this process.

    ``source``: made here from the copy of the rules (``local``), by the server, or ``open``: there was none,
    the call goes on as it is, and ``why_open`` says why. The other parts are those of
    :class:`hgmem.rules.Decision` (``has_output``: it says what the output is); ``receipt`` is empty where
    nothing was decided. ``elapsed_ms`` is the time the caller waited.
    """

    source: Source
    tool: str
    input: dict[str, Any]
    output: Any = None
    has_output: bool = True
    error: Any = None
    block: Entries = field(default_factory=list)
    ask: Entries = field(default_factory=list)
    hints: Entries = field(default_factory=list)
    insert_steps: Entries = field(default_factory=list)
    after_call: Entries = field(default_factory=list)
    applied: Entries = field(default_factory=list)
    suppressed: Entries = field(default_factory=list)
    errors: Entries = field(default_factory=list)
    receipt: str = ""
    ruleset_version: str = ""
    why_open: str = ""
    elapsed_ms: float = 0.0

    @classmethod
    def from_decision(cls, decision: Decision, receipt: str) -> "Verdict":
        """What the engine of this process decided."""
        return cls(
            source="local", tool=decision.tool, input=decision.input, output=decision.output,
            error=decision.error, block=decision.block, ask=decision.ask, hints=decision.hints,
            insert_steps=decision.insert_steps, after_call=decision.after_call, applied=decision.applied,
            suppressed=decision.suppressed, errors=decision.errors, receipt=receipt,
            ruleset_version=decision.ruleset_version,
        )  # fmt: skip

    @classmethod
    def from_answer(cls, answer: Mapping[str, Any]) -> "Verdict":
        """What the server decided. Raises KeyError, TypeError or ValueError for what is no decision."""
        parts: dict[str, Any] = {name: answer[name] for name in _LISTS}
        if not all(isinstance(value, list) for value in parts.values()):
            raise TypeError("a part of the decision is no list")
        if not isinstance(answer["tool"], str) or not isinstance(answer["input"], dict):
            raise TypeError("tool and input are no text and object")
        return cls(
            source="server", tool=answer["tool"], input=answer["input"], output=answer.get("output"),
            has_output="output" in answer,
            error=answer.get("error"), receipt=str(answer.get("receipt") or ""),
            ruleset_version=str(answer["ruleset_version"]), **parts,
        )  # fmt: skip

    @classmethod
    def open(cls, context: Mapping[str, Any], why: str) -> "Verdict":
        """No decision: the call goes on as it is."""
        tool = context.get("tool") or ""
        name = tool.get("name") if isinstance(tool, Mapping) else tool
        return cls(
            source="open", tool=str(name or ""), input=context.get("input") or {},
            output=context.get("output"), error=context.get("error"), why_open=why,
        )  # fmt: skip


_LISTS = ("block", "ask", "hints", "insert_steps", "after_call", "applied", "suppressed", "errors")
