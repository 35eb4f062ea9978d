"""How often a rule on trial may match: what its first share depends on."""

from datetime import datetime, timedelta

from corrections.models import Canary, ReceiptUse
from memory.queries.evidence import failures_per_day
from memory.queries.tools import calls_per_day

LOOKED_BACK = timedelta(days=7)


def matches_per_day(canary: Canary, now: datetime) -> float | None:
    """Tasks a day that the rule is expected to match; None when nothing is known.

    Told by its shadow run, else by what the rule matched before, else by the failures that it is meant for;
    a rule cannot match more often than its tool is called.
    """
    called = calls_per_day(canary.workspace_id, canary.version.tool, since=now - LOOKED_BACK)
    known = [rate for rate in (_seen(canary, now), called) if rate is not None]
    return min(known) if known else None


def _seen(canary: Canary, now: datetime) -> float | None:
    shadow = canary.stages.filter(phase="shadow").order_by("number").first()
    if shadow is not None:
        days = max(((shadow.ended_at or now) - shadow.begun_at) / timedelta(days=1), 1 / 24)
        return canary.exposures.filter(stage=shadow.number, arm="shadow").count() / days
    since = now - LOOKED_BACK
    uses = ReceiptUse.objects.filter(rule=canary.rule_id, receipt__issued_at__gte=since).count()
    if uses:
        return uses / (LOOKED_BACK / timedelta(days=1))
    return failures_per_day(canary.rule.patterns.values_list("pk", flat=True), now=now)
