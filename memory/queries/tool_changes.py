"""A tool that changed: the versions of its schema, what its calls look like since, and who uses it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from memory.domain.schemas import Schema, observe
from memory.models import Failure, Path, Tool, ToolCall, ToolSchema, Validator
from memory.queries.paths import ids_calling

LOOKED_AT = 200
"""Newest calls that a fresh schema is learnt from."""
UNREFUSED = ("ok", "unknown")
"""What callers say of a call that went well: most say nothing, and the analysis finds those that failed."""
COUNTED = 1_000
LISTED = 20


def changed_schemas() -> QuerySet[ToolSchema]:
    """Every schema version after a tool's first, of all workspaces, with its tool; oldest first."""
    return ToolSchema.objects.filter(version__gt=1).select_related("tool").order_by("pk")


def schemas_between(tool: Tool, versions: Iterable[int]) -> dict[int, ToolSchema]:
    """Versions of a tool's schema by number; those that do not exist are left out."""
    return {row.version: row for row in ToolSchema.objects.filter(tool=tool, version__in=list(versions))}


@dataclass(frozen=True)
class FreshSchema:
    """A schema learnt only from ``calls`` good calls since a change."""

    schema: Schema
    calls: int


def learnt_since(tool: Tool, *, since: datetime, reported_version: str) -> FreshSchema:
    """What the newest good calls look like: those of the reported version, or without one those since then.

    Two queries, ``LOOKED_AT`` calls. Calls that failed teach nothing; what only a validator minds does, for
    the validator may be what the change left behind.
    """
    rows = ToolCall.objects.filter(workspace_id=tool.workspace_id, tool=tool.name, status__in=UNREFUSED)
    rows = (
        rows.filter(tool_version=reported_version)
        if reported_version
        else rows.filter(recorded_at__gte=since)
    )
    found = list(rows.order_by("-pk").values_list("pk", "input")[:LOOKED_AT])
    failures = Failure.objects.filter(call__in=[pk for pk, _ in found], source="explicit")
    failed = set(failures.values_list("call_id", flat=True))
    schema: Schema = {}
    good: list[dict[str, Any]] = [said for pk, said in found if pk not in failed and isinstance(said, dict)]
    for said in good:
        schema = observe(schema, said)
    return FreshSchema(schema, len(good))


@dataclass(frozen=True)
class PathsUsing:
    """How many whole active paths call a tool (counted up to ``COUNTED``), and the newest of them."""

    count: int
    rows: list[Path]

    @property
    def is_more(self) -> bool:
        """Whether counting stopped."""
        return self.count > COUNTED


def paths_using(workspace_id: int, tool: str) -> PathsUsing:
    """The paths that a tool's change touches. Two queries."""
    rows = Path.objects.active().whole().filter(workspace_id=workspace_id)
    rows = rows.filter(pk__in=ids_calling(workspace_id, tool)).order_by("-pk")
    return PathsUsing(rows[: COUNTED + 1].count(), list(rows.select_related("lineage")[:LISTED]))


def validator_list(workspace_id: int) -> list[Validator]:
    """All validators of the workspace by name; the caller asks each whether it watches a tool."""
    return list(Validator.objects.filter(workspace_id=workspace_id).order_by("name", "pk"))
