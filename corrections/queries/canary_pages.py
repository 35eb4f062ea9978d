"""Canaries for the pages: lists, one with its stages, looks, events and exposures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet

from corrections.domain.canaries import TRYING_STATES
from corrections.models import Canary, CanaryLook, CanaryStage, ChangeRequest, Exposure, Rule
from corrections.queries import canaries
from corrections.queries.canary_counts import stage_counts

GROUPS: dict[str, tuple[str, ...]] = {
    "trial": ("held", "waiting", "running", "paused"),
    "shadow": ("shadow",),
    "holdout": ("holdout",),
    "over": ("rolled_back", "ended"),
}
"""How the list is divided; every state is in one group."""
GROUP_SHOWN = 50
OVER_SHOWN = 10
FRESH_UP_TO = 20_000
EXPOSURE_COLUMNS = {
    "task": "unit", "stage": "stage", "arm": "arm", "share_of_10000": "share", "tool": "tool",
    "exposed_at": "exposed_at", "crossed": "is_crossed", "failed": "failed", "tool_error": "tool_error",
    "slow": "slow", "retried": "retried", "overridden": "overridden", "decided_at": "decided_at",
    "receipt": "receipt__uuid",
}  # fmt: skip


@dataclass(frozen=True)
class ExposureFilters:
    """``arm``, ``outcome`` (``failed``, ``good`` or ``open``) and ``crossed`` ("yes"); "" for all."""

    arm: str = ""
    outcome: str = ""
    crossed: str = ""


def list_by_state(workspace_id: int, *, states: tuple[str, ...] = (), q: str = "") -> QuerySet[Canary]:
    """The workspace's canaries with their rules and stages, newest first; ``q`` looks in the rule's name."""
    rows = canaries.list_canaries(workspace_id=workspace_id, q=q)
    rows = rows.defer("kept", "version__body", "baseline__body").prefetch_related("stages")
    return rows.filter(state__in=states) if states else rows


def count_by_state(workspace_id: int) -> dict[str, int]:
    """How many canaries are in each state (a state without any is left out)."""
    rows = Canary.objects.filter(workspace_id=workspace_id).order_by()
    return dict(rows.values_list("state").annotate(n=Count("pk")))


def count_trying(workspace_id: int) -> int:
    """How many share the risk of a false verdict now."""
    return Canary.objects.filter(workspace_id=workspace_id, state__in=TRYING_STATES).count()


def get_canary(*, workspace_id: int, uuid: UUID) -> Canary | None:
    """One canary of the workspace with its rule, versions and stages, or None."""
    rows = canaries.canary_rows(workspace_id).prefetch_related("stages")
    return rows.filter(uuid=uuid).first()


def canaries_of_rule(rule: Rule, limit: int = 5) -> list[Canary]:
    """The canary a rule is in and its last ones, newest first. Two queries."""
    rows = Canary.objects.filter(rule=rule).select_related("version", "baseline").defer("kept")
    return list(rows.prefetch_related("stages").order_by("-pk")[:limit])


def canary_of_change(change: ChangeRequest) -> Canary | None:
    """The newest canary that a change request began, or None."""
    return Canary.objects.filter(change=change).defer("kept").order_by("-pk").first()


def list_exposures(canary: Canary, filters: ExposureFilters) -> QuerySet[Exposure]:
    """Exposed tasks with the recorded task and the receipt, newest first."""
    rows = canaries.list_exposures(canary, arm=filters.arm)
    if filters.outcome == "open":
        rows = rows.filter(failed__isnull=True)
    elif filters.outcome:
        rows = rows.filter(failed=filters.outcome == "failed")
    return rows.filter(is_crossed=True) if filters.crossed else rows


def list_matches(canary: Canary) -> QuerySet[Exposure]:
    """Where a rule in shadow would have fired, newest first, with the call it was asked about."""
    rows = Exposure.objects.filter(canary=canary, arm="shadow")
    return rows.select_related("task", "receipt__call_task").order_by("-pk")


def count_matches(canary: Canary, most: int = 10_000) -> int:
    """How often it would have fired, counted up to one above ``most``."""
    return Exposure.objects.filter(canary=canary, arm="shadow")[: most + 1].count()


def all_looks(canary: Canary) -> Iterator[CanaryLook]:
    """For a download."""
    return canary.looks.order_by("pk").iterator()


def all_exposures(canary: Canary) -> Iterator[tuple[Any, ...]]:
    """For a download: the columns of ``EXPOSURE_COLUMNS``."""
    rows = Exposure.objects.filter(canary=canary).order_by("pk")
    return rows.values_list(*EXPOSURE_COLUMNS.values()).iterator()


def count_afresh(canary: Canary) -> None:
    """Put what is recorded now into the prefetched stages' counts, in memory. Two queries.

    With more than ``FRESH_UP_TO`` exposed tasks the counts stay those of the last look, seconds old.
    """
    known = sum(arm.get("exposed", 0) for stage in canary.stages.all() for arm in stage.counts.values())
    if known > FRESH_UP_TO:
        return
    counted = {one.number: one.to_dict() for one in stage_counts(canary)}
    for stage in canary.stages.all():
        stage.counts = counted.get(stage.number, {})


def stages_of_all_time(canary: Canary) -> list[CanaryStage]:
    """The stages with everything that was met in them, also what does not count as evidence any more.

    Two queries; with more than ``FRESH_UP_TO`` exposed tasks one, and the counts that are stored.
    """
    stages = list(canary.stages.order_by("number"))
    known = sum(arm.get("exposed", 0) for stage in stages for arm in stage.counts.values())
    if known <= FRESH_UP_TO:
        counted = {one.number: one.to_dict() for one in stage_counts(canary, of_all_time=True)}
        for stage in stages:
            stage.counts = counted.get(stage.number, {})
    return stages
