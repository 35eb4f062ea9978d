"""Tools appear by themselves: counts, the version callers name, the input schema of the calls that worked."""

from collections.abc import Iterable, Sequence
from uuid import uuid4

from memory.background.rewriting import environment_changed
from memory.domain.analysis import Analysis, SeenCall
from memory.domain.schemas import describe_change, observe, schema_hash, version_after
from memory.models import Tool, ToolSchema
from memory.writer.prepare import as_json
from memory.writer.tables import Row, Table, identifier, moment, update_rows

TOOLS = Table(
    Tool,
    (
        "uuid", "workspace", "name", "description", "input_schema", "schema_hash", "schema_version",
        "reported_version", "call_count", "failure_count", "first_seen_at", "last_seen_at",
    ),
)  # fmt: skip
CHANGED = (
    "input_schema", "schema_hash", "schema_version", "reported_version", "call_count", "failure_count",
    "first_seen_at", "last_seen_at",
)  # fmt: skip


def update_tools(analyses: dict[int, list[Analysis]]) -> None:
    """Count the calls of each workspace and widen the schemas. Inside a transaction."""
    for workspace, group in analyses.items():
        calls: dict[str, list[tuple[SeenCall, bool]]] = {}
        for analysis in group:
            for call in analysis.worked:
                calls.setdefault(call.call.tool, []).append((call, True))
            for call in analysis.failed:
                calls.setdefault(call.call.tool, []).append((call, False))
        tools = list(_lock_tools(workspace, calls))
        changes: list[ToolSchema] = []
        for tool in tools:
            changes += _update(tool, sorted(calls[tool.name], key=lambda pair: pair[0].id))
        update_rows(Tool, CHANGED, [_values(tool) for tool in tools])
        for schema in changes:
            environment_changed(workspace, schema.tool.name, schema.version, schema.change)


def _lock_tools(workspace: int, calls: dict[str, list[tuple[SeenCall, bool]]]) -> Iterable[Tool]:
    if not calls:
        return []
    rows = Tool.objects.filter(workspace_id=workspace, name__in=list(calls))
    known = set(rows.values_list("name", flat=True))
    fresh = []
    for name in sorted(calls.keys() - known):
        at = moment(min(call.happened_at for call, _ in calls[name]))
        fresh.append((identifier(uuid4()), workspace, name, "", "{}", "", 1, "", 0, 0, at, at))
    TOOLS.append_missing(fresh, unique="workspace_id, name")
    return rows.select_for_update(no_key=True).order_by("id")


def _update(tool: Tool, calls: Sequence[tuple[SeenCall, bool]]) -> list[ToolSchema]:
    """In the order in which the calls were stored, so that the same calls always teach the same versions.

    Returns the versions that changed something callers knew.
    """
    changes: list[ToolSchema] = []
    for call, worked in calls:
        tool.call_count += 1
        tool.failure_count += not worked
        _note_version(tool, call)
        learnt = _learn(tool, call) if worked else None
        if learnt is not None and learnt.change:
            changes.append(learnt)
    moments = [call.happened_at for call, _ in calls]
    tool.first_seen_at = min(tool.first_seen_at, *moments)
    tool.last_seen_at = max(tool.last_seen_at, *moments)
    return changes


def _values(tool: Tool) -> Row:
    """The values of ``CHANGED`` and the id."""
    return (
        *(as_json(tool.input_schema), tool.schema_hash, tool.schema_version, tool.reported_version),
        *(
            tool.call_count,
            tool.failure_count,
            moment(tool.first_seen_at),
            moment(tool.last_seen_at),
            tool.pk,
        ),
    )


def _note_version(tool: Tool, call: SeenCall) -> None:
    """A version that no caller reported before is the tool's next version, with the schema it has.

    Callers of two versions at once do not make new ones in turn: what was reported once is known.
    """
    before, now = tool.reported_version, call.tool_version
    if not now or now == before:
        return
    tool.reported_version = now
    if not tool.schema_hash:
        return
    if not before:  # the first that anybody named: that of the schema there is
        ToolSchema.objects.filter(tool=tool, version=tool.schema_version).update(reported_version=now)
        return
    if ToolSchema.objects.filter(tool=tool, reported_version=now).exists():
        return
    tool.schema_version += 1
    ToolSchema.objects.create(
        tool=tool, version=tool.schema_version, reported_version=now, input_schema=tool.input_schema,
        schema_hash=tool.schema_hash, seen_at=call.happened_at,
        change=f"reported version: was {before}, is {now}.",
    )  # fmt: skip


def _learn(tool: Tool, call: SeenCall) -> ToolSchema | None:
    """The version that the call teaches, if any; ``change`` is set where it is a new one."""
    old = tool.input_schema
    new = observe(old, call.call.input)
    if new is old:
        return None
    tool.input_schema = new
    name = schema_hash(new)
    if name == tool.schema_hash:
        return None
    before = tool.schema_version
    observations = tool.call_count - tool.failure_count
    tool.schema_version = version_after(before, observations=observations, changed=bool(tool.schema_hash))
    tool.schema_hash = name
    change = "\n".join(describe_change(old, new)) if tool.schema_version != before else ""
    schema, is_new = ToolSchema.objects.update_or_create(
        tool=tool,
        version=tool.schema_version,
        defaults={
            "input_schema": new,
            "schema_hash": name,
            "seen_at": call.happened_at,
        },
        create_defaults={
            "reported_version": tool.reported_version,
            "input_schema": new,
            "schema_hash": name,
            "seen_at": call.happened_at,
            "change": change,
        },
    )
    return schema if is_new else None
