"""The evidence about one canary as the statistics take it, beside that of the others."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from corrections.domain.canaries import BUCKETS, TRYING_STATES
from corrections.domain.canary_counts import GUARDRAILS, StageNumbers
from corrections.domain.effect.counts import ArmCounts, StageCounts
from corrections.domain.effect.evidence import Evidence
from corrections.models import Canary
from corrections.queries.canary_counts import stage_counts


def evidence_of(canary: Canary, now: datetime) -> tuple[Evidence, list[StageNumbers]]:
    """Everything that is known of a canary now, and the numbers of the stages of its phase. Three queries.

    Of the other canaries in its phase their last look counts. A stage in which nothing was exposed tells
    nothing.
    """
    phase = "holdout" if canary.state == "holdout" else "trial"
    counted = stage_counts(canary, phases=[phase])
    told = [stage for stage in counted if stage.arms]
    present = [_stage(stage, "failed") for stage in told]
    others = _others(canary)
    evidence = Evidence(
        state=canary.state, share=canary.share / BUCKETS,
        trial=present if phase == "trial" else (), holdout=present if phase == "holdout" else (),
        exposed=_exposed(told),
        guardrails={name: [_stage(stage, name) for stage in told] for name in GUARDRAILS},
        live=len(others) + 1,
        other_harm=[float(seen.get("harm_log_e") or 0.0) for seen in others],
        other_guard=[float(seen.get("guard_log_e") or 0.0) for seen in others],
        days_left=(canary.ends_at - now) / timedelta(days=1) if canary.ends_at else None,
        is_human=canary.version.created_by_kind == "human",
    )  # fmt: skip
    return evidence, counted


def _exposed(stages: Sequence[StageNumbers]) -> list[tuple[float, int, int]]:
    return [
        (stage.share / BUCKETS, stage.arm("canary").exposed, stage.arm("control").exposed) for stage in stages
    ]


def _stage(stage: StageNumbers, bad: str) -> StageCounts:
    arms = (stage.arm("canary"), stage.arm("control"))
    canary, control = (ArmCounts(arm.among(bad), arm.count(bad)) for arm in arms)
    return StageCounts(stage.share / BUCKETS, canary, control)


def _others(canary: Canary) -> list[dict[str, Any]]:
    """The last looks of the other canaries in the same phase of the workspace."""
    states = ("holdout",) if canary.state == "holdout" else TRYING_STATES
    rows = Canary.objects.filter(workspace_id=canary.workspace_id, state__in=states).exclude(pk=canary.pk)
    return list(rows.values_list("evidence", flat=True))
