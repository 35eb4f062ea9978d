"""Evidence that begins anew: a tool has another schema, or a ruling says what a rule on trial may do."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.utils import timezone

from corrections.actions.canary_rows import next_stage, note, phase_of
from corrections.actions.locking import stamp_ruleset
from corrections.domain.canaries import TRYING_STATES, in_buckets, policy_of
from corrections.models import Canary
from memory.domain.access import Actor
from memory.queries.tools import SchemaPeriod, schema_periods


def note_schema(canary: Canary) -> None:
    """Remember the schema that the evidence of a canary is about; the caller saves it.

    A rule for several tools (a pattern) has none, and its evidence is never reset.
    """
    periods = schema_periods(canary.workspace_id, canary.version.tool)
    _remember(canary, periods[-1] if periods else None)


def reset_evidence(canary: Canary, *, now: datetime, by: Actor) -> bool:
    """Begin anew with a locked canary whose tool has another schema hash; whether it had.

    A trial goes back to its first share and gets its whole time again. While the first calls of a tool are
    still teaching its schema, and when only its reported version is another one, nothing begins anew.
    """
    periods = schema_periods(canary.workspace_id, canary.version.tool)
    if not periods:
        return False
    before, current = _period_of(periods, canary.schema_version), periods[-1]
    if canary.schema_version == 0 or before.hash == current.hash:
        if (canary.schema_version, canary.schema_hash) != (current.version, current.hash):
            _remember(canary, current)
            canary.save(update_fields=["schema_version", "schema_hash"])
        return False
    _begin_anew(canary, now)
    _remember(canary, current)
    canary.save()
    note(
        canary, "reset", by=by, reason="Its tool's input schema changed: what was seen before is left out.",
        numbers={"schema_from": before.hash, "schema_to": current.hash, "schema_version": current.version,
                 "stage": canary.stage},
    )  # fmt: skip
    stamp_ruleset(canary.workspace_id)
    return True


def reset_after_ruling(rules: Iterable[int | None], *, by: Actor, reason: str) -> None:
    """Begin anew with the canaries of locked rules that a ruling is about, in the ruling's transaction.

    From then on their versions act, or give way, differently than before.
    """
    now = timezone.now()
    rows = Canary.objects.filter(
        rule__in=[pk for pk in rules if pk], state__in=(*TRYING_STATES, "holdout", "paused")
    )
    rows = rows.select_related("workspace", "rule", "version").select_for_update(of=("self",), no_key=True)
    for canary in rows.order_by("pk"):
        _begin_anew(canary, now)
        canary.save()
        note(canary, "reset", by=by, reason=reason, numbers={"stage": canary.stage})


def _begin_anew(canary: Canary, now: datetime) -> None:
    phase, share, policy = phase_of(canary), canary.share, policy_of(canary.policy)
    if phase == "trial":
        share = min(share, in_buckets(policy.first_share))
        canary.ends_at = now + timedelta(days=policy.max_days)
    next_stage(canary, phase, share, now=now)
    canary.evidence, canary.evidence_since, canary.updated_at = {}, now, now


def _period_of(periods: list[SchemaPeriod], version: int) -> SchemaPeriod:
    """The period that a version belongs to: the first one that did not end before it."""
    return next((period for period in periods if period.version >= version), periods[-1])


def _remember(canary: Canary, period: SchemaPeriod | None) -> None:
    if period is not None:
        canary.schema_version, canary.schema_hash = period.version, period.hash
