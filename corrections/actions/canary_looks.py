"""What each look at a canary saw, kept for its chart: old looks thin out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from corrections.domain.canary_counts import StageNumbers
from corrections.models import Canary, CanaryLook

MAX_LOOKS = 400
DENSE = 200
"""The newest looks stay as they are; of those before every second one goes."""
TIMED = ("days_left",)
"""Numbers that change with the clock alone: no reason for another look in the chart."""


def keep_look(
    canary: Canary, numbers: Mapping[str, Any], stages: Sequence[StageNumbers], *, now: datetime
) -> None:
    """Store what a look saw on a locked canary and its stages; a look that saw nothing new is not added."""
    is_new = _plain(canary.evidence) != _plain(numbers)
    canary.evidence, canary.looked_at, canary.is_due = dict(numbers), now, False
    canary.save(update_fields=["evidence", "looked_at", "is_due"])
    if not is_new:
        return
    keep_counts(canary, stages)
    CanaryLook.objects.create(canary=canary, at=now, numbers=dict(numbers))
    thin_looks(canary)


def keep_counts(canary: Canary, stages: Sequence[StageNumbers]) -> None:
    """Store the numbers of stages where they have changed."""
    counts = {stage.number: stage.to_dict() for stage in stages}
    for stage in canary.stages.filter(number__in=list(counts)):
        if stage.counts != counts[stage.number]:
            stage.counts = counts[stage.number]
            stage.save(update_fields=["counts"])


def thin_looks(canary: Canary) -> None:
    """Keep at most ``MAX_LOOKS``: half of the old ones goes when there are more."""
    ids = list(CanaryLook.objects.filter(canary=canary).order_by("pk").values_list("pk", flat=True))
    if len(ids) > MAX_LOOKS:
        old = ids[: len(ids) - DENSE]
        CanaryLook.objects.filter(pk__in=old[1::2]).delete()


def _plain(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in numbers.items() if name not in TIMED}
