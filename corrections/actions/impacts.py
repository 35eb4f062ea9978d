"""Deciding about a changed tool: rules are disabled, looked at again or bound to its new version, in bulk.

The number of queries does not grow with the rules; each rule gets its own audit row. What agents are served
changes only through change requests, as everywhere.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from corrections.actions.changes import Wanted, approve_batch, request_changes
from corrections.actions.publishing import lock_rules
from corrections.actions.rebinding import write_rebound
from corrections.domain.changes import SERVES, check_approver, safe_policy
from corrections.domain.impacts import DECISIONS
from corrections.domain.lifecycle import LIVE, Refused
from corrections.models import ChangeRequest, Rule, RuleVersion, ToolImpact
from corrections.queries.impacts import ImpactView, impact_view
from memory.actions import Event, record_event, record_events
from memory.domain.access import Actor, NotPermitted, check_may, may

MAX_REASON = 2_000
STALE_KIND = "tool_changed"
"""The kind of a stale reason that a changed tool gives; ``detail`` is its sentence."""
Skipped = tuple[Rule, str]


@dataclass(frozen=True)
class Decided:
    """What a decision did. ``skipped`` are rules that it cannot be done to, with the reason.

    ``batch`` names the change requests it made; ``waits`` says how many of them still need an approval.
    """

    impact: ToolImpact
    decision: str
    done: list[Rule] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    batch: UUID | None = None
    waits: int = 0


@transaction.atomic
def decide_impact(
    *,
    impact: ToolImpact,
    decision: str,
    reason: str,
    by: Actor,
    rules: Collection[UUID] | None = None,
    only_new: bool = False,
    close: bool = True,
) -> Decided:
    """Do one thing to some or (None) all affected rules of a changed tool; ``close`` ends the impact.

    ``disable`` asks for served rules to be disabled; ``requeue`` marks rules for a person to look at again;
    ``rebind`` writes their next version with a range that holds the tool's new version (``only_new``: just
    that), and asks to serve it where the rule is served; ``keep`` changes no rule. The actor's own approval
    is counted where the workspace's policy lets it. All or nothing.
    Raises :class:`NotPermitted`, :class:`Refused`.
    """
    check_may(by, "draft_rule", within=impact.workspace_id)
    said = _checked(decision, reason)
    locked = _lock(impact)
    if locked.closed_at is not None:
        raise Refused(f"{locked.closed_by} closed this already.")
    view = impact_view(locked)
    chosen = [] if decision == "keep" else _chosen(view, rules)
    locked_rules = lock_rules(rule.pk for rule in chosen)
    if decision == "disable":
        result = _disable(locked, locked_rules, said, by)
    elif decision == "requeue":
        result = _requeue(locked, view, locked_rules, said, by)
    elif decision == "rebind":
        result = _rebind(locked, view, locked_rules, said, by, only_new=only_new)
    else:
        result = Decided(locked, decision)
    if close:
        _close(locked, decision, said, by)
    return result


@transaction.atomic
def undo_impact(*, impact: ToolImpact, reason: str, by: Actor) -> Decided:
    """Ask to serve again what a decision about this impact disabled, and open the impact again.

    Rules that somebody has touched since are left alone. Raises :class:`NotPermitted`, :class:`Refused`.
    """
    check_may(by, "draft_rule", within=impact.workspace_id)
    said = _checked("disable", reason)
    locked = _lock(impact)
    rows = ChangeRequest.objects.filter(
        workspace_id=locked.workspace_id, kind="disable", status="published", detail__impact=str(locked.uuid),
        rule__status="disabled",
    ).select_related("rule").order_by("pk")  # fmt: skip
    served = {change.rule_id: (change.rule, change.base_version, change.base_status) for change in rows}
    if not served:
        raise Refused("Nothing that was disabled because of this change waits to be served again.")
    versions = {
        (version.rule_id, version.number): version for version in RuleVersion.objects.filter(rule__in=served)
    }
    wanted = [
        Wanted(rule, "enable", versions.get((pk or 0, number or 0)), _detail(locked) | _again(status))
        for pk, (rule, number, status) in served.items()
        if rule is not None
    ]
    batch, waits = _ask(wanted, said, by)
    if locked.closed_at is not None:
        _reopen(locked, said, by)
    return Decided(locked, "enable", [want.rule for want in wanted], [], batch, waits)


def _again(status: str) -> dict[str, object]:
    """As it was served before: to all tasks, or on trial."""
    return {"rollout": "canary" if status == "canary" else "all"}


def _checked(decision: str, reason: str) -> str:
    if decision not in DECISIONS:
        raise Refused(f"A decision is one of {', '.join(DECISIONS)}.")
    said = reason.strip()[:MAX_REASON]
    if not said:
        raise Refused("Say why: the reason is kept with every rule.")
    return said


def _lock(impact: ToolImpact) -> ToolImpact:
    locked = ToolImpact.objects.select_for_update().get(pk=impact.pk)
    locked.tool = impact.tool
    return locked


def _chosen(view: ImpactView, rules: Collection[UUID] | None) -> list[Rule]:
    """All affected rules, or the ones named: they must be bound to the tool."""
    if rules is None:
        chosen = [row.rule for row in view.affected]
    else:
        bound = {row.rule.uuid: row.rule for row in view.rules}
        if unknown := [uuid for uuid in rules if uuid not in bound]:
            raise Refused(f"Rule {unknown[0]} is not bound to {view.impact.tool.name}.")
        chosen = [bound[uuid] for uuid in dict.fromkeys(rules)]
    if not chosen:
        raise Refused("No rule is affected: choose rules, or keep everything as it is.")
    return chosen


def _disable(impact: ToolImpact, rules: Sequence[Rule], reason: str, by: Actor) -> Decided:
    served = [rule for rule in rules if rule.status in LIVE]
    skipped = [(rule, "It is not served.") for rule in rules if rule.status not in LIVE]
    batch, waits = _ask([Wanted(rule, "disable", None, _detail(impact)) for rule in served], reason, by)
    return Decided(impact, "disable", served, skipped, batch, waits)


def _requeue(impact: ToolImpact, view: ImpactView, rules: Sequence[Rule], reason: str, by: Actor) -> Decided:
    """Each rule waits in the review lists with what changed for it."""
    now, said = timezone.now(), {row.rule.pk: _sentence(impact, row.effect) for row in view.rules}
    for rule in rules:
        kept = [one for one in rule.stale_reasons if one.get("impact") != str(impact.uuid)]
        mine = {"kind": STALE_KIND, "detail": said[rule.pk], **_detail(impact)}
        rule.stale_since, rule.stale_reasons = rule.stale_since or now, [*kept, mine]
    Rule.objects.bulk_update(rules, ["stale_since", "stale_reasons"])
    _record(by, "requeue_rule", rules, reason, {rule.pk: {"reason": said[rule.pk]} for rule in rules})
    return Decided(impact, "requeue", list(rules))


def _rebind(
    impact: ToolImpact, view: ImpactView, rules: Sequence[Rule], reason: str, by: Actor, *, only_new: bool
) -> Decided:
    bound = {row.rule.pk for row in view.rules if row.effect.binding in ("name", "pattern")}
    fitting = [rule for rule in rules if rule.pk in bound]
    skipped: list[Skipped] = [
        (rule, "It is not bound to this tool by name.") for rule in rules if rule.pk not in bound
    ]
    written, refused = write_rebound(fitting, version=view.version, only=only_new, note=reason, by=by)
    _record(by, "rebind_rule", [rule for rule, _ in written], reason, {
        rule.pk: {"version": new.number, "tool_versions": new.body["applies_to"]["tool_versions"]}
        for rule, new in written
    })  # fmt: skip
    wanted = [Wanted(rule, "edit", new, _detail(impact)) for rule, new in written if rule.status in LIVE]
    batch, waits = _ask(wanted, reason, by)
    _follow(impact, [(rule, new) for rule, new in written if rule.status not in LIVE], reason, by)
    return Decided(impact, "rebind", [rule for rule, _ in written], [*skipped, *refused], batch, waits)


def _follow(impact: ToolImpact, written: Sequence[tuple[Rule, RuleVersion]], reason: str, by: Actor) -> None:
    """Requests that wait to serve one of these rules are now for its new version; nothing is approved."""
    rows = ChangeRequest.objects.undecided().filter(
        rule__in=[rule.pk for rule, _ in written], kind__in=SERVES
    )
    waiting = set(rows.values_list("rule_id", flat=True))
    wanted = [Wanted(rule, "edit", new, _detail(impact)) for rule, new in written if rule.pk in waiting]
    if wanted:
        request_changes(wanted=wanted, by=by, reason=reason)


def _ask(wanted: Sequence[Wanted], reason: str, by: Actor) -> tuple[UUID | None, int]:
    """The batch of the requests, and how many of them wait after the actor's own approval was counted."""
    if not wanted:
        return None, 0
    batch = uuid4()
    changes = request_changes(wanted=wanted, by=by, reason=reason, batch=batch)
    if _counts(changes, wanted[0].rule, by):
        changes = approve_batch(batch=batch, by=by, note=reason)
    return batch, sum(change.status != "published" for change in changes)


def _counts(changes: Sequence[ChangeRequest], rule: Rule, by: Actor) -> bool:
    """Whether the actor may approve all of them and the policy lets that count."""
    policy, may_publish = safe_policy(rule.workspace.settings), may(by, "publish_rule")
    try:
        check_may(by, "review_change", within=rule.workspace_id)
        for change in changes:
            check_approver(
                policy, kind=by.kind, uuid=by.uuid, may_publish=may_publish, authors=change.authors
            )
    except (NotPermitted, Refused):
        return False
    return True


def _record(
    by: Actor, verb: str, rules: Sequence[Rule], reason: str, new: Mapping[int, dict[str, object]]
) -> None:
    events = [
        Event(workspace=rule.workspace, verb=verb, subject=rule, new=new[rule.pk], reason=reason)
        for rule in rules
    ]
    record_events(by=by, events=events)


def _detail(impact: ToolImpact) -> dict[str, object]:
    return {"impact": str(impact.uuid), "tool": impact.tool.name, "tool_version": impact.to_version}


def _sentence(impact: ToolImpact, effect: object) -> str:
    """What a reviewer reads beside the rule."""
    touched = [*getattr(effect, "reads", ()), *getattr(effect, "writes", ())]
    fields = ", ".join(dict.fromkeys(f"{change.path} ({change.kind})" for change in touched))
    said = f"The tool {impact.tool.name} changed to version {impact.to_version}"
    if getattr(effect, "out_of_range", False):
        said += ", which the rule's version range leaves out"
    return f"{said}: {fields}." if fields else f"{said}."


def _close(impact: ToolImpact, decision: str, reason: str, by: Actor) -> None:
    impact.closed_at, impact.closed_by = timezone.now(), by.name[:200]
    impact.decision, impact.reason = decision, reason
    impact.save(update_fields=["closed_at", "closed_by", "decision", "reason"])
    record_event(
        by=by, workspace=impact.tool.workspace, verb="close_impact", subject=impact,
        new={"decision": decision}, reason=reason,
    )  # fmt: skip


def _reopen(impact: ToolImpact, reason: str, by: Actor) -> None:
    old = {"decision": impact.decision, "closed_by": impact.closed_by}
    impact.closed_at, impact.closed_by, impact.decision, impact.reason = None, "", "", ""
    impact.save(update_fields=["closed_at", "closed_by", "decision", "reason"])
    record_event(
        by=by, workspace=impact.tool.workspace, verb="reopen_impact", subject=impact, old=old, reason=reason
    )
