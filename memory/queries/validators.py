"""Validators: the list, a backtest over recorded calls, and the way from a row to what runs."""

from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from memory.domain.failures import CallSnapshot
from memory.domain.validators import CompiledValidator, ValidatorSpec
from memory.models import Failure, Tool, ToolCall, Validator, Workspace
from memory.queries.paging import Page, newest_first

MAX_TOOLS = 20
MAX_CALLS = 2_000
LISTED = 20


def spec_of(validator: Validator) -> ValidatorSpec:
    """The stored validator in the form that compiles."""
    body = validator.body
    if validator.kind == "cel":
        return ValidatorSpec(
            name=validator.name, kind="cel", source=str(body.get("check", "")), message=validator.message
        )
    target: Literal["input", "output"] = "input" if body.get("target") == "input" else "output"
    source = msgspec.json.encode(body.get("schema", {})).decode()
    return ValidatorSpec(validator.name, "schema", source, target, validator.message)


def snapshot_of(call: ToolCall) -> CallSnapshot:
    """A stored call as a validator sees it."""
    return CallSnapshot(tool=call.tool, input=call.input, output=call.output)


def list_validators(workspace: Workspace) -> list[Validator]:
    """All of them, by name."""
    return list(Validator.objects.filter(workspace=workspace).order_by("name", "pk"))


@dataclass
class Backtest:
    """What a validator says about recorded calls: how many of each verdict, and the failing ones listed."""

    looked_at: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    failing: list[tuple[ToolCall, str]] = field(default_factory=list)
    unreadable: list[tuple[ToolCall, str]] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)


def backtest_validator(
    workspace: Workspace, tool_glob: str, compiled: CompiledValidator, *, calls: int = 500
) -> Backtest:
    """Run it on the newest ``calls`` recorded calls of the tools it watches, evenly over those tools."""
    names = matching_tools(workspace, tool_glob)
    result = Backtest(tools=names)
    share = max(1, min(calls, MAX_CALLS) // max(len(names), 1))
    for name in names:
        rows = ToolCall.objects.filter(workspace=workspace, tool=name).select_related("task")
        for call in rows.order_by("-pk")[:share]:
            checked = compiled.check(snapshot_of(call))
            result.looked_at += 1
            result.verdicts[checked.verdict] += 1
            listed = {"failed": result.failing, "error": result.unreadable}.get(checked.verdict)
            if listed is not None and len(listed) < LISTED:
                listed.append((call, checked.detail))
    return result


def matching_tools(workspace: Workspace, tool_glob: str) -> list[str]:
    """The most called tools whose name matches, at most ``MAX_TOOLS``."""
    rows = Tool.objects.filter(workspace=workspace).order_by("-call_count", "name")
    names = rows.values_list("name", flat=True)
    return [name for name in names if fnmatchcase(name, tool_glob)][:MAX_TOOLS]


def source_of(validator: Validator) -> str:
    """What a person wrote: the CEL check, or the schema as indented JSON."""
    if validator.kind == "cel":
        return str(validator.body.get("check", ""))
    return msgspec.json.format(msgspec.json.encode(validator.body.get("schema", {})), indent=2).decode()


def list_found(validator: Validator, cursor: str) -> Page[Failure]:
    """The silent failures it found, newest first."""
    rows = Failure.objects.filter(validator=validator).select_related("task", "call", "pattern")
    return newest_first(rows, cursor, size=25)
