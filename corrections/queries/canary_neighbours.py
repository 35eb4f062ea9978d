"""Which canaries may not run together: rules on one tool that are in conflict, or may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from corrections.domain.canaries import EXCLUDING, TRYING_STATES
from corrections.domain.documents import served_rule
from corrections.domain.overlapping import scopes_meet
from corrections.models import Canary, Conflict, ConflictScan
from hgmem.rules import Rule as Document
from hgmem.rules import RuleError

SCAN_LIMIT = timedelta(minutes=10)
"""How long a canary waits for the analyser; then rules that write a field of the other's are kept apart."""


@dataclass(frozen=True)
class Hindrance:
    """Why a canary cannot run now: the other rule, and the finding if there is one."""

    other: Canary
    reason: str
    finding: str = ""

    def facts(self) -> dict[str, Any]:
        """JSON-ready."""
        rule = self.other.rule
        return {
            "rule": str(rule.uuid), "name": rule.name, "canary": str(self.other.uuid), "finding": self.finding
        }  # fmt: skip


def hindrance_of(canary: Canary, now: datetime) -> Hindrance | None:
    """What keeps a canary from running beside those that run; None when nothing does."""
    own = _document(canary)
    if own is None:
        return None
    rows = Canary.objects.filter(_may_meet(own), workspace_id=canary.workspace_id, state__in=TRYING_STATES)
    rows = rows.exclude(pk=canary.pk).select_related("rule", "version").order_by("pk")
    rows = rows.defer("kept", "evidence", "policy", "slow_ms")
    near = [(other, theirs) for other in rows if (theirs := _document(other)) and _meet(own, theirs)]
    findings = _findings(canary, [other for other, _ in near])
    for other, theirs in near:
        found = findings.get((other.rule_id, other.version.number))
        if found is not None:
            reason = f"It is in conflict with {other.rule.name}, which is on trial on its tool ({found})."
            return Hindrance(other, reason, found)
        if not _is_scanned(canary, other):
            if now < canary.requested_at + SCAN_LIMIT:
                said = f"Whether it is in conflict with {other.rule.name} (on trial) is being checked."
                return Hindrance(other, said)
            if _touch(own, theirs):
                said = f"It touches what {other.rule.name} does, which is on trial on the same tool."
                return Hindrance(other, said, "writes")
    return None


def _document(canary: Canary) -> Document | None:
    try:
        return served_rule(canary.version, canary.rule.uuid)
    except RuleError:
        return None


def _may_meet(own: Document) -> Q:
    """Those whose tool may be the rule's: all others need not be read."""
    scope = own.applies_to
    if scope.is_glob or scope.any_tool:
        return Q()
    patterns = Q(version__tool="") | Q(version__tool__contains="*") | Q(version__tool__contains="?")
    return patterns | Q(version__tool=scope.tool)


def _meet(one: Document, other: Document) -> bool:
    return scopes_meet(one.applies_to, other.applies_to)


def _findings(canary: Canary, others: Sequence[Canary]) -> dict[tuple[int, int], str]:
    """The kind of a standing finding by the other rule and its version. One query."""
    ids = [other.rule_id for other in others]
    if not ids:
        return {}
    mine, version = canary.rule_id, canary.version.number
    about = Q(rule_a=mine, version_a=version, rule_b__in=ids)
    about |= Q(rule_b=mine, version_b=version, rule_a__in=ids)
    rows = Conflict.objects.filter(about, workspace_id=canary.workspace_id, kind__in=EXCLUDING)
    rows = rows.exclude(status="gone").order_by("pk")
    found: dict[tuple[int, int], str] = {}
    for row in rows:
        other = (row.rule_b_id, row.version_b) if row.rule_a_id == mine else (row.rule_a_id, row.version_a)
        if other[0] is not None and other[1] is not None:
            found.setdefault((other[0], other[1]), row.kind)
    return found


def _is_scanned(canary: Canary, other: Canary) -> bool:
    """Whether the analyser has looked at the pair: this rule after the other's canary was opened."""
    scans = ConflictScan.objects.filter(workspace_id=canary.workspace_id, rule=canary.rule_id)
    if scans.filter(status__in=("queued", "running")).exists():
        return False
    return scans.filter(status="done", finished_at__gte=other.requested_at).exists()


def _touch(one: Document, other: Document) -> bool:
    """Whether one writes what the other reads or writes, or either decides about the call as a whole."""
    mine, theirs = one.action.writes(), other.action.writes()
    if not mine or not theirs:
        return True
    reads = one.compiled_condition.read_set | one.action.reads()
    their_reads = other.compiled_condition.read_set | other.action.reads()
    return bool(mine & (theirs | their_reads) or theirs & reads)
