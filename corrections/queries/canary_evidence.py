"""The evidence about one canary as the statistics take it, beside that of the others."""

from datetime import datetime, timedelta
from typing import Any

from corrections.domain.canaries import BUCKETS, TRYING_STATES
from corrections.domain.effect.evidence import Evidence
from corrections.models import Canary
from corrections.queries.canary_counts import Counts, count_stages, phase_counts


def evidence_of(canary: Canary, now: datetime) -> tuple[Evidence, dict[int, Counts]]:
    """Everything that is known of a canary now, and the counts by stage. Three queries.

    Of the other canaries in its phase their last look counts.
    """
    counts, stages = count_stages(canary), list(canary.stages.all())
    phase = "holdout" if canary.state == "holdout" else "trial"
    counts = {stage.number: counts[stage.number] for stage in stages
              if stage.phase == phase and stage.number in counts}  # fmt: skip
    present = phase_counts(stages, counts, phase)
    others = _others(canary)
    evidence = Evidence(
        state=canary.state, share=canary.share / BUCKETS, exposed=present.exposed,
        trial=present.stages if phase == "trial" else (),
        holdout=present.stages if phase == "holdout" else (),
        guardrails=present.guardrails, live=len(others) + 1,
        other_harm=[float(seen.get("harm_log_e") or 0.0) for seen in others],
        other_guard=[float(seen.get("guard_log_e") or 0.0) for seen in others],
        days_left=(canary.ends_at - now) / timedelta(days=1) if canary.ends_at else None,
        is_human=canary.version.created_by_kind == "human",
    )  # fmt: skip
    return evidence, counts


def _others(canary: Canary) -> list[dict[str, Any]]:
    """The last looks of the other canaries in the same phase of the workspace."""
    states = ("holdout",) if canary.state == "holdout" else TRYING_STATES
    rows = Canary.objects.filter(workspace_id=canary.workspace_id, state__in=states).exclude(pk=canary.pk)
    return list(rows.values_list("evidence", flat=True))
