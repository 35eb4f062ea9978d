"""The experience document: what an agent sends, and what every importer produces.

One document describes one task. It may be partial (``final`` false) and be sent again with more
calls. Validation is strict about types and sizes, and silent about nothing: a bad document is
refused with the path of the offending field.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

type_name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
short_text = Annotated[str, msgspec.Meta(max_length=200)]
long_text = Annotated[str, msgspec.Meta(max_length=20_000)]
tag = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
moment = Annotated[datetime, msgspec.Meta(tz=True)]

CallStatus = Literal["unknown", "ok", "error", "rejected", "cancelled", "timeout"]
Result = Literal["unknown", "success", "failure"]
Source = Literal["agent", "environment", "evaluator", "human"]

MAX_CALLS = 500


class ErrorDoc(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What went wrong in one call, as the caller saw it."""

    message: long_text = ""
    type: short_text = ""
    http_status: Annotated[int, msgspec.Meta(ge=100, le=599)] | None = None
    detail: Any = None


class CallDoc(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One tool call. ``seq`` is its place in the task and, with the task, its identity."""

    tool: type_name
    input: dict[str, Any] = {}
    output: Any = None
    seq: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    step: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    tool_version: short_text = ""
    status: CallStatus = "unknown"
    error: ErrorDoc | str | None = None
    duration_ms: Annotated[float, msgspec.Meta(ge=0)] | None = None
    started_at: moment | None = None
    reasoning: long_text = ""
    receipt: Annotated[str, msgspec.Meta(max_length=8_000)] = ""


class StepDoc(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One turn of the agent: its reasoning and the calls it made in that turn."""

    calls: list[CallDoc] = []
    index: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    reasoning: long_text = ""


class OutcomeDoc(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How the task ended, and who says so."""

    result: Result = "unknown"
    reward: Annotated[float, msgspec.Meta(ge=-1_000_000, le=1_000_000)] | None = None
    by: Source = "agent"
    note: long_text = ""


class ExperienceDoc(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One task with its calls, flat (``calls``) or grouped by turn (``steps``), not both."""

    external_id: type_name
    goal: long_text = ""
    tags: Annotated[list[tag], msgspec.Meta(max_length=50)] = []
    agent: short_text = ""
    framework: short_text = ""
    root_task: short_text = ""
    env: dict[str, Any] = {}
    started_at: moment | None = None
    finished_at: moment | None = None
    final: bool = False
    outcome: OutcomeDoc | None = None
    calls: list[CallDoc] = []
    steps: list[StepDoc] = []
