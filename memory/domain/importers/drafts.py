"""A task while an importer collects it, and the documents it becomes within the intake's limits."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.domain.experience import MAX_CALLS
from memory.domain.importers.moments import text_of
from memory.domain.importers.records import BadRecordError, Imported
from memory.domain.importers.values import parsed

NAME_CHARS = 200
TEXT_CHARS = 20_000
TAG_CHARS = 100
MAX_TAGS = 50
MAX_REWARD = 1_000_000
UNNAMED = "(unnamed)"


@dataclass(slots=True)
class Draft:
    """One task. `line` is where it began; `calls` are in order and get their ``seq`` at the end."""

    line: int
    external_id: str
    goal: str = ""
    tags: list[str] = field(default_factory=list)
    agent: str = ""
    framework: str = ""
    root_task: str = ""
    env: dict[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    finished_at: datetime | None = None
    outcome: dict[str, Any] | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    final: bool = True

    def documents(self) -> Iterator[Imported]:
        """The task in documents of at most 500 calls each; ``seq`` runs on, only the last one is final."""
        header = self._header()
        calls = [self._fit_call(seq, call) for seq, call in enumerate(self.calls)]
        parts = [calls[start : start + MAX_CALLS] for start in range(0, len(calls), MAX_CALLS)] or [[]]
        if len(parts) > 1:
            self.notes.append(f"{len(calls):,} calls, sent as {len(parts)} documents")
        for place, part in enumerate(parts):
            last = place == len(parts) - 1
            document = header | {"calls": part, "final": last and self.final}
            if document["final"]:
                document |= self._ending()
            yield Imported(self.line, document, tuple(self.notes) if last else ())

    def _header(self) -> dict[str, Any]:
        header: dict[str, Any] = {
            "external_id": self._fit_identity("external_id", self.external_id),
            "goal": self._cut("goal", self.goal, TEXT_CHARS),
            "tags": self._fit_tags(),
            "agent": self._cut("agent", self.agent, NAME_CHARS),
            "framework": self._cut("framework", self.framework, NAME_CHARS),
            "root_task": self._fit_identity("root_task", self.root_task),
            "env": self.env,
            "started_at": text_of(self.started_at),
        }
        return {name: value for name, value in header.items() if value not in ("", None, [], {})}

    def _ending(self) -> dict[str, Any]:
        ending: dict[str, Any] = {}
        if self.finished_at:
            ending["finished_at"] = text_of(self.finished_at)
        if self.outcome:
            ending["outcome"] = self.outcome
        return ending

    def _fit_call(self, seq: int, call: dict[str, Any]) -> dict[str, Any]:
        fitted = call | {"seq": seq, "tool": self._tool_name(seq, call["tool"])}
        if "reasoning" in call:
            fitted["reasoning"] = self._cut(f"calls[{seq}].reasoning", call["reasoning"], TEXT_CHARS)
        if "error" in call:
            error = call["error"]
            message = self._cut(f"calls[{seq}].error", error["message"], TEXT_CHARS)
            fitted["error"] = error | {"message": message}
        return fitted

    def _tool_name(self, seq: int, name: str) -> str:
        if not name:
            self.notes.append(f"calls[{seq}] has no tool name")
            return UNNAMED
        return self._cut(f"calls[{seq}].tool", name, NAME_CHARS)

    def _fit_tags(self) -> list[str]:
        tags = list(dict.fromkeys(tag[:TAG_CHARS] for tag in self.tags if tag))
        if len(tags) > MAX_TAGS:
            self.notes.append(f"{len(tags)} tags, the first {MAX_TAGS} kept")
        return tags[:MAX_TAGS]

    def _cut(self, name: str, text: str, limit: int) -> str:
        if len(text) <= limit:
            return text
        self.notes.append(f"{name} cut from {len(text):,} to {limit:,} characters")
        return text[:limit]

    def _fit_identity(self, name: str, identity: str) -> str:
        """Too long an identifier keeps its beginning and gets a digest, so that it stays unique."""
        if len(identity) <= NAME_CHARS:
            return identity
        self.notes.append(f"{name} shortened to {NAME_CHARS} characters with a digest")
        digest = hashlib.sha256(identity.encode()).hexdigest()[:32]
        return f"{identity[: NAME_CHARS - 33]}~{digest}"


def call_document(
    tool: Any,
    arguments: Any,
    *,
    status: str = "unknown",
    output: Any = None,
    error: str | None = None,
    error_type: str = "",
    **extra: Any,
) -> dict[str, Any]:
    """A call in the shape of ``CallDoc``; empty fields are left out, datetimes become text."""
    call: dict[str, Any] = {
        "tool": tool if isinstance(tool, str) else "",
        "input": input_object(arguments),
    }
    settle(call, status=status, output=output, error=error, error_type=error_type)
    for name, value in extra.items():
        if value not in (None, ""):
            call[name] = text_of(value) if isinstance(value, datetime) else value
    return call


def input_object(arguments: Any) -> dict[str, Any]:
    """Arguments as an object: JSON text is read, anything else that is no object is kept under ``_raw``."""
    value = parsed(arguments)
    if value is None or value == "":
        return {}
    return value if isinstance(value, dict) else {"_raw": value}


def reward_of(value: Any) -> float:
    """A reward as a number. Raises BadRecordError when it is none, or beyond what an outcome may hold."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MAX_REWARD:
        raise BadRecordError(f"reward: expected a number from -{MAX_REWARD:,} to {MAX_REWARD:,}")
    return float(value)


def settle(
    call: dict[str, Any], *, status: str, output: Any = None, error: str | None = None, error_type: str = ""
) -> None:
    """Fill in how a call ended, once its result is read."""
    call["status"] = status
    if output is not None:
        call["output"] = output
    if error is not None:
        call["error"] = {"message": error, "type": error_type[:NAME_CHARS]}
