"""The evidence of a canary as numbers: exposed, decided, failed and guardrails, by stage and arm."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.db.models import Count, F, Q

from corrections.domain.canaries import BUCKETS
from corrections.domain.canary_counts import GUARDRAILS, ArmNumbers, StageNumbers
from corrections.domain.effect.counts import ArmCounts, StageCounts
from corrections.models import Canary, CanaryStage, Exposure

_HITS = ("failed", *GUARDRAILS)


def stage_counts(canary: Canary, *, phases: Sequence[str] = ()) -> list[StageNumbers]:
    """The stages of a canary (of these phases; none: of all) in order, with zeros where nothing was met.

    Only exposures since ``evidence_since`` count; a task met in two arms counts in its first. Two queries.
    """
    return stage_counts_of([canary], phases=phases)[canary.pk]


def stage_counts_of(
    canaries: Iterable[Canary], *, phases: Sequence[str] = ()
) -> dict[int, list[StageNumbers]]:
    """:func:`stage_counts` of many canaries by their id. Two queries, however many there are."""
    ids = [canary.pk for canary in canaries]
    arms = _arms(ids)
    found: dict[int, list[StageNumbers]] = {pk: [] for pk in ids}
    stages = CanaryStage.objects.filter(canary__in=ids).order_by("canary_id", "number")
    if phases:
        stages = stages.filter(phase__in=phases)
    for stage in stages:
        counted = arms[stage.canary_id, stage.number]
        found[stage.canary_id].append(StageNumbers(stage.number, stage.phase, stage.share, counted))
    return found


def _arms(ids: Sequence[int]) -> dict[tuple[int, int], dict[str, ArmNumbers]]:
    rows = Exposure.objects.filter(canary__in=ids).order_by()
    rows = rows.filter(Q(canary__evidence_since=None) | Q(exposed_at__gte=F("canary__evidence_since")))
    counted = rows.values("canary_id", "stage", "arm").annotate(
        exposed=Count("pk"),
        crossed=Count("pk", filter=Q(is_crossed=True)),
        decided=Count("pk", filter=Q(failed__isnull=False)),
        timed=Count("pk", filter=Q(slow__isnull=False)),
        **{f"n_{name}": Count("pk", filter=Q(**{name: True})) for name in _HITS},
    )
    arms: dict[tuple[int, int], dict[str, ArmNumbers]] = defaultdict(dict)
    for row in cast("Iterable[dict[str, Any]]", counted):
        hits = {name: row[f"n_{name}"] for name in _HITS}
        numbers = {name: row[name] for name in ("exposed", "crossed", "decided", "timed")}
        arms[row["canary_id"], row["stage"]][row["arm"]] = ArmNumbers(**numbers, **hits)
    return arms


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
