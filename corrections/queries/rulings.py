"""Rulings: those in force as the engine needs them, and lists for people."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from corrections.domain.rulings import Word
from corrections.models import Conflict, Rule, Ruling


def rulings_in_force(workspace_id: int, now: datetime) -> QuerySet[Ruling]:
    """Active rulings whose time has not run out, oldest first."""
    rows = Ruling.objects.filter(workspace_id=workspace_id, status="active")
    return rows.filter(Q(expires_at=None) | Q(expires_at__gt=now)).order_by("pk")


def list_words(workspace_id: int, now: datetime) -> list[Word]:
    """What the rulings in force say, for the engine. One query."""
    rows = rulings_in_force(workspace_id, now).values_list("verdict", "rule_a__uuid", "rule_b__uuid")
    return [Word(verdict, str(a), str(b) if b else "") for verdict, a, b in rows]


def word_of(ruling: Ruling) -> Word:
    """What one ruling says, for the engine."""
    b = str(ruling.rule_b.uuid) if ruling.rule_b else ""
    return Word(ruling.verdict, str(ruling.rule_a.uuid), b)


def list_rulings(*, workspace_id: int, status: str = "", rule: UUID | None = None) -> QuerySet[Ruling]:
    """The workspace's rulings, newest first."""
    rows = Ruling.objects.filter(workspace_id=workspace_id).select_related("rule_a", "rule_b", "change")
    if status:
        rows = rows.filter(status=status)
    if rule is not None:
        rows = rows.filter(Q(rule_a__uuid=rule) | Q(rule_b__uuid=rule))
    return rows.order_by("-pk")


def get_ruling(*, workspace_id: int, uuid: UUID) -> Ruling | None:
    """One ruling of the workspace, or None."""
    rows = Ruling.objects.select_related("workspace", "rule_a", "rule_b", "change")
    return rows.filter(workspace_id=workspace_id, uuid=uuid).first()


def rulings_about(conflict: Conflict) -> list[Ruling]:
    """Earlier and present rulings on the rules of a conflict, newest first; at most 20."""
    about = Q(rule_a=conflict.rule_a, rule_b=conflict.rule_b)
    if conflict.rule_b_id is not None:
        about |= Q(rule_a=conflict.rule_b, rule_b=conflict.rule_a)
    rows = Ruling.objects.filter(workspace_id=conflict.workspace_id).filter(about)
    return list(rows.select_related("rule_a", "rule_b", "change").order_by("-pk")[:20])


def served_tools(workspace_id: int) -> list[tuple[int, str, int, str]]:
    """Rule id, rule uuid, live version id and tool of every rule that is served or on trial. One query."""
    rows = Rule.objects.live().filter(workspace_id=workspace_id).order_by("pk")
    found = rows.values_list("pk", "uuid", "live_version_id", "live_version__tool")
    return [(pk, str(uuid), version, tool) for pk, uuid, version, tool in found if version is not None]
