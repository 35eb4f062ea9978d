"""Findings as rows: each once, however often it is found; those whose versions are over are gone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from corrections.domain.conflicts import Finding
from corrections.domain.scanning import dedupe_key
from corrections.models import Canary, Conflict, Rule, Ruling
from hgmem.rules import Rule as Document

Known: TypeAlias = Mapping[str, Document]
"""The documents a scan looked at, by uuid."""
CHUNK = 200
SETTLED = ("contradictory", "shadowed")
"""Findings that a ruling on two rules settles whatever the field."""
MUTUAL = frozenset(("contradictory", "redundant"))
SETTLING = ("a_wins", "b_wins", "order", "accept")
UPDATED = ("status", "verdict", "witness", "detail", "reason", "updated_at", "gone_at", "ruling", "frequency")


def store_findings(workspace_id: int, findings: Sequence[Finding], known: Known) -> None:
    """Write findings, in chunks of one transaction each. Found again, a row is brought up to date."""
    for start in range(0, len(findings), CHUNK):
        _store(workspace_id, findings[start : start + CHUNK], known)


@transaction.atomic
def _store(workspace_id: int, findings: Sequence[Finding], known: Known) -> None:
    uuids = {uuid for finding in findings for uuid in (finding.rule_a, finding.rule_b) if uuid}
    rows = Rule.objects.filter(workspace_id=workspace_id, uuid__in=uuids)
    rules = {str(rule.uuid): rule for rule in rows}
    wanted = {}
    for finding in findings:
        if finding.rule_a in rules and (not finding.rule_b or finding.rule_b in rules):
            row = _row(workspace_id, finding, rules, known)
            wanted[row.dedupe] = row
    there = Conflict.objects.filter(workspace_id=workspace_id, dedupe__in=list(wanted))
    existing = {row.dedupe: row for row in there.select_for_update()}
    ruled = _rulings(workspace_id, {rule.pk for rule in rules.values()})
    for dedupe, row in wanted.items():
        row.ruling = ruled.get(frozenset((row.rule_a_id, row.rule_b_id)))
        if row.kind not in SETTLED:
            row.ruling = None
        row.status = "ruled" if row.ruling is not None else "open"
        if dedupe in existing:
            _bring_up(existing[dedupe], row)
    Conflict.objects.bulk_update(list(existing.values()), UPDATED)
    Conflict.objects.bulk_create(
        [row for dedupe, row in wanted.items() if dedupe not in existing], ignore_conflicts=True
    )


def _bring_up(old: Conflict, new: Conflict) -> None:
    for name in ("verdict", "witness", "detail", "reason", "updated_at"):
        setattr(old, name, getattr(new, name))
    old.frequency, old.gone_at = None, None
    if old.status != "ruled":
        old.status, old.ruling = new.status, new.ruling


def _rulings(workspace_id: int, rules: set[int]) -> dict[frozenset[int | None], Ruling]:
    """The rulings in force that settle all contradictions of two of these rules."""
    rows = Ruling.objects.filter(
        workspace_id=workspace_id, status="active", verdict__in=SETTLING, rule_a__in=rules, rule_b__in=rules
    )
    return {frozenset((row.rule_a_id, row.rule_b_id)): row for row in rows}


def _row(workspace_id: int, finding: Finding, rules: Mapping[str, Rule], known: Known) -> Conflict:
    now: datetime = timezone.now()
    finding = _canonical(finding, rules)
    sides = [(uuid, known[uuid].version) for uuid in (finding.rule_a, finding.rule_b) if uuid]
    a, b = rules[finding.rule_a], rules.get(finding.rule_b)
    return Conflict(
        workspace_id=workspace_id, kind=finding.kind, verdict=finding.verdict, field=finding.field[:300],
        dedupe=dedupe_key(finding.kind, finding.field, sides, finding.detail.get("rules", ())),
        tool=_tool_of(finding, known)[:200], point=known[finding.rule_a].point, rule_a=a,
        version_a=sides[0][1], rule_b=b, version_b=sides[1][1] if b else None,
        witness=_witness(finding, known), detail=finding.detail, reason=finding.reason,
        found_at=now, updated_at=now,
    )  # fmt: skip


def _canonical(finding: Finding, rules: Mapping[str, Rule]) -> Finding:
    """A finding that holds both ways begins with the older rule, whichever scan found it."""
    if finding.kind not in MUTUAL or not finding.rule_b:
        return finding
    if rules[finding.rule_a].pk < rules[finding.rule_b].pk:
        return finding
    swapped = {"a": finding.detail.get("b"), "b": finding.detail.get("a")}
    detail = finding.detail | {side: said for side, said in swapped.items() if said is not None}
    return replace(finding, rule_a=finding.rule_b, rule_b=finding.rule_a, detail=detail)


def _tool_of(finding: Finding, known: Known) -> str:
    """The tool of the witness; without one, the narrower of the two scopes."""
    tool = (finding.witness or {}).get("tool")
    if isinstance(tool, dict) and tool.get("name"):
        return str(tool["name"])
    if isinstance(tool, str) and tool:
        return tool
    scopes = [known[uuid].applies_to for uuid in (finding.rule_a, finding.rule_b) if uuid]
    named = [scope.tool for scope in scopes if not scope.is_glob and not scope.any_tool]
    return named[0] if named else scopes[0].tool or "*"


def _witness(finding: Finding, known: Known) -> dict[str, Any] | None:
    """The context; with its moment where a condition or a window of the rules looks at the time."""
    if finding.witness is None:
        return None
    rules = [known[uuid] for uuid in (finding.rule_a, finding.rule_b) if uuid]
    timed = any(rule.compiled_condition.reads_now or rule.valid_from or rule.valid_until for rule in rules)
    moment = finding.detail.get("now")
    return {**finding.witness, "now": moment} if timed and moment else finding.witness


def _on_trial(side: str) -> Q:
    """The version is on trial, or waits to be."""
    rows = Canary.objects.live().filter(
        rule=OuterRef(f"rule_{side}"), version__number=OuterRef(f"version_{side}")
    )
    return Q(Exists(rows))


def mark_gone(workspace_id: int) -> int:
    """Findings about versions that are neither served nor the latest of a rule in use; how many."""
    now = timezone.now()
    present = Q()
    for side in ("a", "b"):
        latest, live = f"rule_{side}__latest_version__number", f"rule_{side}__live_version__number"
        current = Q(**{f"version_{side}": F(latest)}) | Q(**{f"version_{side}": F(live)}) | _on_trial(side)
        used = current & ~Q(**{f"rule_{side}__status__in": ["retired", "deleted"]})
        present &= used if side == "a" else used | Q(rule_b=None)
    rows = Conflict.objects.filter(workspace_id=workspace_id).exclude(status="gone")
    over = rows.exclude(pk__in=rows.filter(present).values("pk"))
    ids = list(over.values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        Conflict.objects.filter(pk__in=ids[start : start + CHUNK]).update(
            status="gone", gone_at=now, updated_at=now
        )
    return len(ids)
