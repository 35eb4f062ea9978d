"""Impacts of changed tools: the list, and what each means for rules, validators and paths."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from corrections.domain.documents import served_rule
from corrections.domain.impacts import (
    Comparison,
    Effect,
    FieldChange,
    compare_schemas,
    effect_on,
    schema_fields,
    validator_effect,
)
from corrections.domain.lifecycle import LIVE
from corrections.models import Rule, RuleVersion, ToolImpact
from hgmem.rules import Condition, RuleError
from hgmem.rules.scope import matches_glob
from memory.queries.tool_changes import (
    PathsUsing,
    changed_schemas,
    learnt_since,
    paths_using,
    schemas_between,
    validator_list,
)

LIVING = ("draft", "canary", "active", "disabled", "expired")
"""Rules that are served, or may be again."""


@dataclass(frozen=True)
class RuleImpact:
    """One rule bound to the tool. ``fault`` where its document can no longer be read."""

    rule: Rule
    version: RuleVersion
    effect: Effect
    fault: str = ""

    @property
    def is_affected(self) -> bool:
        """Whether a person should look."""
        return bool(self.fault) or self.effect.is_affected


@dataclass(frozen=True)
class ValidatorImpact:
    """A validator that watches the tool, and the changed fields it reads."""

    validator: Any
    reads: tuple[FieldChange, ...] = ()


@dataclass(frozen=True)
class ImpactView:
    """All that hangs on one change of a tool; affected rules first. ``version`` is what is reported now."""

    impact: ToolImpact
    version: str
    old_version: str
    change: str
    comparison: Comparison
    rules: list[RuleImpact] = field(default_factory=list)
    validators: list[ValidatorImpact] = field(default_factory=list)
    paths: PathsUsing = field(default_factory=lambda: PathsUsing(0, []))

    @property
    def affected(self) -> list[RuleImpact]:
        """The rules that somebody should look at."""
        return [row for row in self.rules if row.is_affected]

    @property
    def affected_validators(self) -> list[ValidatorImpact]:
        """The validators that read a changed field."""
        return [row for row in self.validators if row.reads]

    @property
    def is_nothing(self) -> bool:
        """Whether no rule and no validator is affected."""
        return not self.affected and not self.affected_validators


def unseen_changes() -> QuerySet[Any]:
    """Schema versions that no impact was opened for, oldest first."""
    opened = ToolImpact.objects.filter(tool=OuterRef("tool"), to_version=OuterRef("version"))
    return changed_schemas().exclude(Exists(opened))


def list_impacts(
    *, workspace_id: int, tool: UUID | None = None, is_open: bool | None = None
) -> QuerySet[ToolImpact]:
    """Newest first, with their tools."""
    rows = ToolImpact.objects.filter(workspace_id=workspace_id).select_related("tool").order_by("-pk")
    if tool is not None:
        rows = rows.filter(tool__uuid=tool)
    if is_open is not None:
        rows = rows.filter(closed_at__isnull=is_open)
    return rows


def get_impact(*, workspace_id: int, uuid: UUID) -> ToolImpact | None:
    """One impact of the workspace with its tool, or None."""
    return list_impacts(workspace_id=workspace_id).filter(uuid=uuid).first()


def impact_view(impact: ToolImpact) -> ImpactView:
    """Everything bound to the tool, and what the change means for it. Ten queries, however many rows."""
    tool = impact.tool
    stored = schemas_between(tool, (impact.from_version, impact.to_version))
    old, new = stored.get(impact.from_version), stored.get(impact.to_version)
    version = new.reported_version if new else tool.reported_version
    old_version = old.reported_version if old else ""
    comparison = _compared(impact, old, new)
    return ImpactView(
        impact=impact,
        version=version,
        old_version=old_version,
        change=new.change if new else "",
        comparison=comparison,
        rules=bound_rules(impact.workspace_id, tool.name, version, comparison.changes),
        validators=_bound_validators(impact.workspace_id, tool.name, comparison.changes),
        paths=paths_using(impact.workspace_id, tool.name),
    )


def bound_rules(
    workspace_id: int, tool: str, version: str, changes: tuple[FieldChange, ...]
) -> list[RuleImpact]:
    """Rules that the tool's calls meet, or that lead to it; affected ones first, then by name. One query."""
    rows = Rule.objects.filter(workspace_id=workspace_id, status__in=LIVING)
    found = []
    for rule in rows.select_related("latest_version", "live_version").order_by("name", "pk"):
        impact = _impact_on(rule, tool, version, changes)
        if impact is not None:
            found.append(impact)
    return sorted(found, key=lambda row: not row.is_affected)


def _impact_on(rule: Rule, tool: str, version: str, changes: tuple[FieldChange, ...]) -> RuleImpact | None:
    spoken = rule.live_version if rule.status in LIVE else rule.latest_version
    if spoken is None:
        return None
    try:
        parsed = served_rule(spoken, rule.uuid)
    except RuleError as error:
        is_bound = spoken.tool in ("", "*") or matches_glob(spoken.tool, tool)
        return RuleImpact(rule, spoken, Effect("name"), fault=str(error)) if is_bound else None
    effect = effect_on(parsed, tool, version, changes)
    return RuleImpact(rule, spoken, effect) if effect else None


def _compared(impact: ToolImpact, old: Any, new: Any) -> Comparison:
    """The old schema against what good calls since the change look like; without any, against the new one."""
    if old is None or new is None:
        return Comparison()
    reported = new.reported_version if new.reported_version != old.reported_version else ""
    fresh = learnt_since(impact.tool, since=new.seen_at, reported_version=reported)
    side = fresh.schema if fresh.calls else new.input_schema
    return Comparison(compare_schemas(old.input_schema, side), fresh.calls)


def _bound_validators(
    workspace_id: int, tool: str, changes: tuple[FieldChange, ...]
) -> list[ValidatorImpact]:
    rows = [row for row in validator_list(workspace_id) if matches_glob(row.tool, tool)]
    found = [ValidatorImpact(row, validator_effect(_fields_of(row), changes)) for row in rows]
    return sorted(found, key=lambda row: not row.reads)


def _fields_of(validator: Any) -> frozenset[str]:
    """What a validator reads; nothing where its condition no longer compiles (its own page says so)."""
    if validator.kind == "cel":
        try:
            return Condition.compile(str(validator.body.get("check", ""))).read_set
        except RuleError:
            return frozenset()
    if validator.body.get("target", "output") != "input":
        return frozenset()
    return schema_fields(validator.body.get("schema"), "input")
