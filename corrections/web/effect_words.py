"""What the rule pages say about a rule's effect: the shown bound, the ordering score, how it ages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.domain.ageing import Ageing
from corrections.domain.canary_figures import Certainty, certainty_of
from corrections.models import Rule


@dataclass(frozen=True)
class ShownUplift:
    """The uplift among matched tasks: its bounds, the tasks in both arms, and since when they count.

    ``certainty.word`` is ``unknown`` where there is not enough data.
    """

    certainty: Certainty
    n_canary: int = 0
    n_control: int = 0
    since: datetime | None = None
    phase: str = ""
    version: int = 0


def uplift_shown(rule: Rule) -> ShownUplift:
    """What is stored of a rule's uplift."""
    given: Mapping[str, Any] = rule.uplift if isinstance(rule.uplift, dict) else {}
    with_rule, without = (_count(given.get(name)) for name in ("n_canary", "n_control"))
    return ShownUplift(
        certainty_of(given, decided=(with_rule, without)),
        with_rule,
        without,
        parse_datetime(str(given.get("since", ""))),
        str(given.get("phase", "")),
        _count(given.get("version")),
    )


def ageing_said(ageing: Ageing | None) -> str:
    """How long it has not matched and what it let pass; "" for a rule that is used, or not served."""
    if ageing is None or not ageing.is_unused:
        return ""
    calls = ngettext(
        "its tool was called %(n)s time since", "its tool was called %(n)s times since", ageing.calls_since
    ) % {"n": f"{ageing.calls_since:,}"}
    words = (
        ngettext("Not matched for %(days)d day", "Not matched for %(days)d days", ageing.days)
        if ageing.has_matched
        else ngettext("Never matched in %(days)d day", "Never matched in %(days)d days", ageing.days)
    )
    return _("%(long)s; %(calls)s.") % {"long": words % {"days": ageing.days}, "calls": calls}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
