"""Which rules need which: the graph of a workspace, and who may break when one rule changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from corrections.domain.documents import served_rule
from corrections.domain.graphs.dependencies import (
    Dependency,
    DependencyGraph,
    Manual,
    RuleFacts,
    dependency_graph,
    edges_from,
    facts_of,
)
from corrections.domain.lifecycle import LIVE
from corrections.domain.witnessing import Seen, find_witnesses
from corrections.models import Conflict, ManualDependency, Rule
from hgmem import rules as engine
from memory.queries.evidence import RecordedCall, list_recent_calls

MAX_RULES = 5_000
"""The newest rules that the graph is made of."""
LOOKED_AT = 200
"""Recorded calls that are decided with and without a rule."""
NOTED = 20
"""Dependents that a change request keeps."""
LIVING = ("active", "canary", "draft", "disabled")
INTERFERING = ("interference", "loop")


@dataclass(frozen=True)
class RuleGraph:
    """The graph, the rules by uuid, and whether there are more rules than were looked at."""

    graph: DependencyGraph
    rules: dict[str, Rule]
    unreadable: int = 0
    is_cut: bool = False


@dataclass(frozen=True)
class Witness:
    """A call on which the dependent needs the rule: a recorded one, or the analyser's (``call`` is None)."""

    context: dict[str, Any]
    with_it: str
    without_it: str
    call: RecordedCall | None = None


@dataclass(frozen=True)
class Dependent:
    """A rule that may break, why, and a call that shows it. ``looked_at`` calls were tried for one."""

    rule: Rule
    edge: Dependency
    witness: Witness | None = None
    looked_at: int = 0

    @property
    def is_served(self) -> bool:
        """Whether agents are served it now."""
        return self.rule.status in LIVE

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, for a change request's ``detail``."""
        return {
            "rule": str(self.rule.uuid), "name": self.rule.name, "status": str(self.rule.status),
            "kind": self.edge.kind, "fields": list(self.edge.fields), "tool": self.edge.tool,
            "reason": self.edge.reason, "looked_at": self.looked_at, "witness": _witness_dict(self.witness),
        }  # fmt: skip


def rule_graph(*, workspace_id: int, tool: str = "", served_only: bool = False) -> RuleGraph:
    """The graph of the workspace's living rules, or of those that the calls of one tool meet. Two queries.

    A rule speaks with its live version where it has one, else with its latest.
    """
    statuses = tuple(LIVE) if served_only else LIVING
    rows = list(_living(workspace_id, statuses).order_by("-pk")[: MAX_RULES + 1])
    parsed = _parsed(rows[:MAX_RULES])
    facts = [one for _, one in parsed.values()]
    if tool:
        facts = [one for one in facts if one.scope.fits_tool(tool) or one.leads_to == tool]
    graph = dependency_graph(facts, _manual(workspace_id))
    rules = {str(row.uuid): row for row in rows}
    return RuleGraph(graph, rules, min(len(rows), MAX_RULES) - len(parsed), len(rows) > MAX_RULES)


def dependents_of(rule: Rule, *, now: datetime, looked_at: int = LOOKED_AT) -> list[Dependent]:
    """Who may break when ``rule`` is disabled or changed, and why; served rules first.

    Each with a witness where one exists: the newest recorded calls are decided by the real engine with and
    without the rule (``looked_at`` 0 leaves that out), else a finding of the analyser is shown.
    """
    near = _near(rule)
    parsed = _parsed([rule, *near])
    own = parsed.pop(str(rule.uuid), None)
    if own is None:
        return []
    provider, facts = own
    edges = edges_from(facts, [one for _, one in parsed.values()], _manual(rule.workspace_id, provider=rule))
    if not edges:
        return []
    rows = {str(row.uuid): row for row in near}
    seen, calls = _witnesses(rule, provider, parsed, rows, edges, now=now, looked_at=looked_at)
    proven = _proven(rule, [edge.dependent for edge in edges])
    found = [
        Dependent(
            rows[edge.dependent], edge,
            _witness(seen.get(edge.dependent), calls) or proven.get(edge.dependent),
            len(calls) if edge.kind != "manual" else 0,
        )
        for edge in edges
    ]  # fmt: skip
    return sorted(found, key=lambda one: (not one.is_served, one.witness is None, one.rule.name))


def dependents_detail(rule: Rule, *, now: datetime) -> dict[str, Any]:
    """For a change request's ``detail``: who needed the rule when it was asked for. No call is looked at."""
    found = dependents_of(rule, now=now, looked_at=0)
    return {"dependents": [one.to_dict() for one in found[:NOTED]]} if found else {}


def list_manual(workspace_id: int) -> QuerySet[ManualDependency]:
    """What people said, newest first, with both rules."""
    rows = ManualDependency.objects.filter(workspace_id=workspace_id)
    return rows.select_related("rule", "depends_on").order_by("-pk")


def get_manual(*, workspace_id: int, uuid: UUID) -> ManualDependency | None:
    """One of them, or None."""
    return list_manual(workspace_id).filter(uuid=uuid).first()


def _living(workspace_id: int, statuses: Sequence[str] = LIVING) -> QuerySet[Rule]:
    rows = Rule.objects.filter(workspace_id=workspace_id, status__in=statuses)
    return rows.select_related("latest_version", "live_version")


def _near(rule: Rule) -> list[Rule]:
    """Rules that could depend on this one by their tools; one query."""
    rows = _living(rule.workspace_id).exclude(pk=rule.pk).order_by("-pk")
    spoken = rule.live_version or rule.latest_version
    tool = spoken.tool if spoken else ""
    if tool and "*" not in tool and "?" not in tool:
        detail = spoken.body.get("action_detail") if spoken else None
        target = detail.get("tool") if isinstance(detail, dict) else ""
        names = [name for name in (tool, target, "", "*") if isinstance(name, str)]
        reached = (
            Q(latest_version__tool__in=names) | Q(live_version__tool__in=names) | Q(needs__depends_on=rule)
        )
        for star in "*?":
            reached |= Q(latest_version__tool__contains=star) | Q(live_version__tool__contains=star)
        rows = rows.filter(reached).distinct()
    return list(rows[:MAX_RULES])


def _parsed(rows: Iterable[Rule]) -> dict[str, tuple[engine.Rule, RuleFacts]]:
    """By uuid; rules whose document can no longer be read are left out (their own page says so)."""
    found = {}
    for row in rows:
        version = row.live_version if row.status in LIVE else row.latest_version
        if version is None:
            continue
        uuid = str(row.uuid)
        try:
            parsed = served_rule(version, uuid)
        except engine.RuleError:
            continue
        found[uuid] = parsed, facts_of(parsed, uuid=uuid, name=row.name, status=str(row.status))
    return found


def _manual(workspace_id: int, provider: Rule | None = None) -> list[Manual]:
    rows = ManualDependency.objects.filter(workspace_id=workspace_id).order_by("pk")
    if provider is not None:
        rows = rows.filter(depends_on=provider)
    columns = ("uuid", "depends_on__uuid", "rule__uuid", "reason")
    return [
        Manual(str(one), str(two), str(three), why) for one, two, three, why in rows.values_list(*columns)
    ]


def _witnesses(
    rule: Rule,
    provider: engine.Rule,
    parsed: dict[str, tuple[engine.Rule, RuleFacts]],
    rows: dict[str, Rule],
    edges: list[Dependency],
    *,
    now: datetime,
    looked_at: int,
) -> tuple[dict[str, Seen], list[RecordedCall]]:
    asked = {edge.dependent: edge.tool for edge in edges if edge.kind != "manual"}
    if not asked or not looked_at:
        return {}, []
    calls = _calls(rule.workspace_id, provider, {parsed[uuid][0].point for uuid in asked}, looked_at)
    others = [_always(one) for uuid, (one, _) in parsed.items() if uuid in asked or rows[uuid].status in LIVE]
    contexts = [call.context for call in calls]
    return find_witnesses(_always(provider), others, asked, contexts, now=now), calls


def _calls(workspace_id: int, provider: engine.Rule, points: set[str], limit: int) -> list[RecordedCall]:
    scope = provider.applies_to
    calls = list_recent_calls(
        workspace_id=workspace_id, tool="" if scope.is_glob or scope.any_tool else scope.tool, limit=limit,
        after="after" in points, history=True,
    )  # fmt: skip
    return [call for call in calls if scope.fits_tool(call.tool)]


def _always(rule: engine.Rule) -> engine.Rule:
    """What it would have said at any time."""
    return rule.model_copy(update={"valid_from": None, "valid_until": None})


def _witness(seen: Seen | None, calls: Sequence[RecordedCall]) -> Witness | None:
    if seen is None:
        return None
    return Witness(seen.context, seen.with_it, seen.without_it, calls[seen.place])


def _proven(rule: Rule, dependents: Iterable[str]) -> dict[str, Witness]:
    """The analyser's witnesses of interference between the rule and its dependents; one query."""
    rows = Conflict.objects.filter(
        workspace_id=rule.workspace_id, kind__in=INTERFERING, verdict="conflict", witness__isnull=False
    ).exclude(status="gone")
    rows = rows.filter(Q(rule_a=rule) | Q(rule_b=rule)).select_related("rule_a", "rule_b")
    wanted, found = set(dependents), {}
    for row in rows[:100]:
        other = row.rule_b if row.rule_a_id == rule.pk else row.rule_a
        if other is not None and str(other.uuid) in wanted and isinstance(row.witness, dict):
            found[str(other.uuid)] = Witness(row.witness, "", "")
    return found


def _witness_dict(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    call = witness.call
    place = {"task": str(call.task_uuid), "seq": call.seq} if call else None
    return {
        "context": witness.context,
        "with_it": witness.with_it,
        "without_it": witness.without_it,
        "call": place,
    }
