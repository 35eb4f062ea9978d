"""What is served: the stamps, and the live versions behind them."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from corrections.models import Rule, RulesetStamp, RuleVersion


class ServedVersion(NamedTuple):
    """A live version by its ids. Versions are immutable, so ``version_id`` names a body for good."""

    rule_uuid: UUID
    version_id: int
    number: int
    created_by_kind: str
    created_at: datetime


def read_stamps() -> dict[int, int]:
    """Every workspace's stamp, in one query. A workspace without one has never served a rule: 0."""
    return dict(RulesetStamp.objects.values_list("workspace_id", "version"))


def read_stamp(workspace_id: int) -> int:
    """One workspace's stamp."""
    rows = RulesetStamp.objects.filter(workspace_id=workspace_id).values_list("version", flat=True)
    return rows.first() or 0


def get_stamp(workspace_id: int) -> RulesetStamp | None:
    """The stamp with the time of its last change, for people; None before the first change."""
    return RulesetStamp.objects.filter(workspace_id=workspace_id).first()


def list_served(workspace_id: int) -> list[ServedVersion]:
    """The live versions of the workspace's active rules, oldest rule first."""
    rows = Rule.objects.active().filter(workspace_id=workspace_id).order_by("pk")
    return [
        ServedVersion(*row)
        for row in rows.values_list(
            "uuid",
            "live_version_id",
            "live_version__number",
            "live_version__created_by_kind",
            "live_version__created_at",
        )
    ]


def load_bodies(version_ids: list[int]) -> dict[int, dict[str, object]]:
    """Bodies by version id, in chunks that every database accepts."""
    bodies: dict[int, dict[str, object]] = {}
    for start in range(0, len(version_ids), 500):
        chunk = version_ids[start : start + 500]
        bodies.update(RuleVersion.objects.filter(pk__in=chunk).values_list("pk", "body"))
    return bodies
