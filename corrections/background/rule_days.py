"""Matches of rules by day."""

from collections.abc import Mapping
from datetime import date

from django.db.models import F

from corrections.models import RuleDay


def add_days(matches: Mapping[tuple[int, date], int]) -> None:
    """Add matches to the days of rules (rule id, UTC day). Call it inside a transaction."""
    ordered = sorted(matches)
    RuleDay.objects.bulk_create(
        [RuleDay(rule_id=rule_id, day=day) for rule_id, day in ordered], ignore_conflicts=True
    )
    for rule_id, day in ordered:
        rows = RuleDay.objects.filter(rule=rule_id, day=day)
        rows.update(matches=F("matches") + matches[rule_id, day])
