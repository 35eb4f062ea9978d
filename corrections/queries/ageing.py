"""Rules that do not match any more: when they last did, and how often their tool was called since."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime

from django.db.models import Sum

from corrections.domain.ageing import LATELY_DAYS, LOOKED_BACK_DAYS, Ageing, age_of, first_day
from corrections.models import Rule, RuleDay
from hgmem.rules.scope import matches_glob
from memory.queries.daily_calls import calls_by_day, names_called


def ageing_of(rules: Sequence[Rule], *, now: datetime) -> dict[int, Ageing]:
    """The age of rules of one workspace by their id, with their live version loaded; rules that are not
    served are left out. Three queries, however many rules there are.
    """
    served = [rule for rule in rules if rule.live_version is not None]
    if not served:
        return {}
    calls = _Calls(served, now)
    matches = _matches(served, now)
    return {
        rule.pk: age_of(
            served_since=max(rule.updated_at, rule.live_version.created_at),
            last_matched_at=rule.last_matched_at,
            matches_lately=matches.get(rule.pk, 0),
            calls=calls.of(rule.live_version.tool),
            now=now,
        )
        for rule in served
        if rule.live_version is not None
    }


def _matches(rules: Sequence[Rule], now: datetime) -> dict[int, int]:
    rows = RuleDay.objects.filter(rule__in=rules, day__gte=first_day(now, LATELY_DAYS)).order_by()
    return dict(rows.values_list("rule_id").annotate(n=Sum("matches")))


class _Calls:
    """Calls by day of the tools that rules name; a glob is all tools that it fits."""

    def __init__(self, rules: Sequence[Rule], now: datetime) -> None:
        workspace_id = rules[0].workspace_id
        tools = {rule.live_version.tool for rule in rules if rule.live_version}
        globs = {tool for tool in tools if set("*?") & set(tool)}
        self._named = {tool: [tool] for tool in tools - globs}
        if globs:
            names = names_called(workspace_id)
            self._named |= {glob: [name for name in names if matches_glob(glob, name)] for glob in globs}
        wanted = {name for names in self._named.values() for name in names}
        self._days = calls_by_day(workspace_id, tools=wanted, since=first_day(now, LOOKED_BACK_DAYS))

    def of(self, tool: str) -> Counter[date]:
        total: Counter[date] = Counter()
        for name in self._named[tool]:
            total.update(self._days.get(name, {}))
        return total
