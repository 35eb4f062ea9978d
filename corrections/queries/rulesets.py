"""What is served: the stamps, and the live versions behind them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F

from corrections.models import Canary, Rule, RulesetStamp, RuleVersion

CHUNK = 500


class ServedVersion(NamedTuple):
    """A live version. Versions are immutable, so ``version_id`` names all of it for good."""

    version_id: int
    rule_uuid: UUID
    number: int
    body: dict[str, Any]
    created_by_kind: str
    created_at: datetime


class ServedTrial(NamedTuple):
    """A version on trial as the engine is to be told of it. ``baseline_id`` acts in the control arm."""

    version_id: int
    baseline_id: int | None
    canary: UUID
    salt: str
    share: int
    stage: int
    state: str
    kept: list[str]


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


def list_served(workspace_id: int) -> list[int]:
    """Ids of the live versions of the workspace's active rules, oldest rule first."""
    rows = Rule.objects.active().filter(workspace_id=workspace_id).order_by("pk")
    return [version_id for version_id in rows.values_list("live_version_id", flat=True) if version_id]


def list_live(workspace_id: int) -> list[int]:
    """Ids of the live versions of active rules and of those on trial, oldest rule first."""
    rows = Rule.objects.live().filter(workspace_id=workspace_id).order_by("pk")
    return [version_id for version_id in rows.values_list("live_version_id", flat=True) if version_id]


def list_candidates(workspace_id: int) -> list[int]:
    """Ids of approved versions that are on trial, or wait to be, beside the version that is live."""
    rows = Canary.objects.live().filter(workspace_id=workspace_id, change__isnull=False)
    return list(
        rows.exclude(version=F("rule__live_version")).order_by("pk").values_list("version_id", flat=True)
    )


def list_trials(workspace_id: int) -> list[ServedTrial]:
    """The workspace's canaries whose versions are handed to the engine, oldest first. One query.

    A rule that was disabled, retired or deleted has none that acts, whatever its canary says.
    """
    known = Canary.objects.served().filter(workspace_id=workspace_id)
    acting = known.exclude(state="shadow").filter(rule__status__in=("canary", "active"))
    watching = known.filter(state="shadow").exclude(rule__status__in=("retired", "deleted"))
    columns = ("version_id", "baseline_id", "uuid", "salt", "share", "stage", "state", "kept")
    return [ServedTrial(*row) for row in (acting | watching).order_by("pk").values_list(*columns)]


def load_versions(version_ids: list[int]) -> Iterator[ServedVersion]:
    """The versions with these ids, read in chunks that every database accepts."""
    columns = ("pk", "rule__uuid", "number", "body", "created_by_kind", "created_at")
    for start in range(0, len(version_ids), CHUNK):
        rows = RuleVersion.objects.filter(pk__in=version_ids[start : start + CHUNK])
        yield from (ServedVersion(*row) for row in rows.values_list(*columns))
