"""What was seen of canaries, counted in the database: tasks by stage and arm."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from corrections.domain.canaries import BUCKETS
from corrections.domain.effect.counts import ArmCounts, StageCounts
from corrections.models import Canary, CanaryStage, Exposure

GUARDRAILS = ("tool_error", "slow", "retried", "overridden")
Counts = Mapping[str, Mapping[str, int]]
"""For each arm ``exposed``, ``decided``, ``failed`` and one number for each guardrail."""


@dataclass(frozen=True)
class PhaseCounts:
    """The stages of one phase in order, as the statistics take them."""

    stages: tuple[StageCounts, ...]
    exposed: tuple[tuple[float, int, int], ...]
    guardrails: Mapping[str, tuple[StageCounts, ...]]


def count_stages(canary: Canary) -> dict[int, Counts]:
    """Numbers by stage and arm of the exposures that count. One query.

    Each task counts in the stage and the arm of its first exposure.
    """
    rows = Exposure.objects.filter(canary=canary)
    if canary.evidence_since is not None:
        rows = rows.filter(exposed_at__gte=canary.evidence_since)
    numbers = {"exposed": Count("pk"), "decided": Count("pk", filter=Q(failed__isnull=False))}
    for name in ("failed", *GUARDRAILS):
        numbers[name] = Count("pk", filter=Q(failed__isnull=False) & Q(**{name: True}))
    found: dict[int, dict[str, Mapping[str, int]]] = {}
    grouped = (
        rows.order_by().values("stage", "arm").annotate(**{f"n_{name}": n for name, n in numbers.items()})
    )
    for stage, arm, *counted in grouped.values_list("stage", "arm", *(f"n_{name}" for name in numbers)):
        found.setdefault(stage, {})[arm] = dict(zip(numbers, counted, strict=True))
    return dict(found)


def phase_counts(stages: list[CanaryStage], counts: Mapping[int, Counts], phase: str) -> PhaseCounts:
    """The counts of one phase; a stage in which nothing was exposed tells nothing."""
    mine = [stage for stage in stages if stage.phase == phase and counts.get(stage.number)]
    parts = [(stage.share / BUCKETS, counts[stage.number]) for stage in mine]
    return PhaseCounts(
        tuple(_stage(share, arms, "failed") for share, arms in parts),
        tuple(
            (share, _n(arms, "canary", "exposed"), _n(arms, "control", "exposed")) for share, arms in parts
        ),
        {name: tuple(_stage(share, arms, name) for share, arms in parts) for name in GUARDRAILS},
    )


def count_shadow(canary: Canary, since: datetime | None = None) -> int:
    """Tasks in which a version in shadow would have fired."""
    rows = Exposure.objects.filter(canary=canary, arm="shadow")
    return rows.filter(exposed_at__gte=since).count() if since else rows.count()


def _stage(share: float, arms: Counts, bad: str) -> StageCounts:
    def arm(name: str) -> ArmCounts:
        return ArmCounts(_n(arms, name, "decided"), _n(arms, name, bad))

    return StageCounts(share, arm("canary"), arm("control"))


def _n(arms: Counts, arm: str, name: str) -> int:
    return arms.get(arm, {}).get(name, 0)
