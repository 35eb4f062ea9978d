"""The evidence of a canary as numbers: exposed, decided, failed and guardrails, by stage and arm."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, cast

from django.db.models import Count, F, Q

from corrections.domain.canary_counts import GUARDRAILS, ArmNumbers, StageNumbers
from corrections.models import Canary, CanaryStage, Exposure

_HITS = ("failed", *GUARDRAILS)


def stage_counts(
    canary: Canary, *, phases: Sequence[str] = (), of_all_time: bool = False
) -> list[StageNumbers]:
    """The stages of a canary (of these phases; none: of all) in order, with zeros where nothing was met.

    Only exposures since ``evidence_since`` count, unless ``of_all_time``: a promotion sets it, too. A task
    met in two arms counts in its first. Two queries.
    """
    return stage_counts_of([canary], phases=phases, of_all_time=of_all_time)[canary.pk]


def stage_counts_of(
    canaries: Iterable[Canary], *, phases: Sequence[str] = (), of_all_time: bool = False
) -> dict[int, list[StageNumbers]]:
    """:func:`stage_counts` of many canaries by their id. Two queries, however many there are."""
    ids = [canary.pk for canary in canaries]
    arms = _arms(ids, of_all_time)
    found: dict[int, list[StageNumbers]] = {pk: [] for pk in ids}
    stages = CanaryStage.objects.filter(canary__in=ids).order_by("canary_id", "number")
    if phases:
        stages = stages.filter(phase__in=phases)
    for stage in stages:
        counted = arms[stage.canary_id, stage.number]
        found[stage.canary_id].append(StageNumbers(stage.number, stage.phase, stage.share, counted))
    return found


def _arms(ids: Sequence[int], of_all_time: bool) -> dict[tuple[int, int], dict[str, ArmNumbers]]:
    rows = Exposure.objects.filter(canary__in=ids).order_by()
    if not of_all_time:
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
