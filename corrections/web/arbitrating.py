"""What the arbitration page shows: both rules, what they make of the witness, and the ways to decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from corrections.domain.conflicts.narrowing import merged, narrowed
from corrections.domain.documents import served_rule
from corrections.domain.rulings import compile_for, decide, split_witness
from corrections.models import Conflict, Rule
from corrections.queries.conflicts import Side, sides_of
from corrections.queries.rulings import list_words
from corrections.web.simulations import Simulation, readable
from hgmem import rules as engine
from hgmem.rules import RuleError

ENOUGH = 10
"""So many applied corrections say something about a rule."""


@dataclass(frozen=True)
class Arbitrated:
    """One rule on the page: ``letter`` is A or B; ``outcome`` is what it alone makes of the witness."""

    letter: str
    side: Side
    sentence: str
    outcome: Simulation | None
    is_current: bool

    @property
    def has_enough(self) -> bool:
        """Whether its counts say something."""
        return self.side.rule.applied_count >= ENOUGH


@dataclass(frozen=True)
class Choice:
    """A way to decide: its button, what follows, and what else the form asks for."""

    verdict: str
    label: str
    what: str
    target: str = "b"
    condition: str | None = None
    has_end: bool = False
    tone: str = ""

    @property
    def key(self) -> str:
        """A name for the form's fields."""
        return f"{self.verdict}-{self.target}"


@dataclass(frozen=True)
class Arbitration:
    """Everything about one finding."""

    rules: list[Arbitrated]
    both: Simulation | None
    call: dict[str, Any] | None
    problem: str
    choices: list[Choice]


def arbitration_of(conflict: Conflict) -> Arbitration:
    """The page's facts: the witness is decided anew by the real engine, with the rulings in force."""
    sides, now = sides_of(conflict), timezone.now()
    parsed, problem = _parsed(sides)
    call = split_witness(conflict.witness, now)[0] if conflict.witness else None
    words = list_words(conflict.workspace_id, now)

    def made_by(rules: Sequence[engine.Rule]) -> Simulation | None:
        if conflict.witness is None or call is None or not rules:
            return None
        decision = decide(compile_for(conflict.tool, rules, words), conflict.witness, now)
        return readable(decision.to_dict(), call, workspace_id=conflict.workspace_id)

    try:
        alone = [made_by([rule]) for rule in parsed]
        both = made_by(parsed) if len(parsed) > 1 else None
    except RuleError as fault:
        alone, both, problem = [None] * len(parsed), None, str(fault)
    rules = [
        Arbitrated(letter, side, rule.describe(), outcome, _is_current(side))
        for letter, side, rule, outcome in zip("AB", sides, parsed, alone, strict=False)
    ]
    return Arbitration(rules, both, call, problem, choices_of(conflict, parsed))


def _parsed(sides: Sequence[Side]) -> tuple[list[engine.Rule], str]:
    found = []
    for side in sides:
        try:
            found.append(served_rule(side.version, side.rule.uuid))
        except RuleError as fault:
            return [], str(fault)
    return found, ""


def _is_current(side: Side) -> bool:
    return side.version.pk in (side.rule.live_version_id, side.rule.latest_version_id)


def choices_of(conflict: Conflict, parsed: Sequence[engine.Rule]) -> list[Choice]:
    """The ways to decide; those for two rules where there are two."""
    if not parsed:
        return []
    accept = Choice(
        "accept", _("Accept as it is…"), _("Nothing changes; until then it is no longer called a conflict."),
        has_end=True,
    )  # fmt: skip
    if len(parsed) < 2 or conflict.rule_b is None:
        return [_narrow("a", conflict.rule_a, parsed[0].condition), _retire("a", conflict.rule_a), accept]
    a, b = conflict.rule_a, conflict.rule_b
    found = [
        Choice("a_wins", _wins(a), _gives_way(b), tone="button-primary", has_end=True),
        Choice("b_wins", _wins(b), _gives_way(a), tone="button-primary", has_end=True),
        _order("a", a, b),
        _order("b", b, a),
        _narrow("a", a, _without(parsed[0].condition, parsed[1].condition)),
        _narrow("b", b, _without(parsed[1].condition, parsed[0].condition)),
    ]
    if conflict.kind in ("redundant", "subsumed", "shadowed"):
        found.append(_merge("b", a, b, merged(parsed[0], parsed[1])))
        found.append(_merge("a", b, a, merged(parsed[0], parsed[1])))
    return [*found, _retire("a", a), _retire("b", b), accept]


def _without(condition: str, other: str) -> str:
    """Where the one holds and the other does not; for a person to go on with."""
    return narrowed(condition, other) or f"({condition or 'true'}) && !({other or 'true'})"


def _wins(rule: Rule) -> str:
    return _("“%(rule)s” prevails…") % {"rule": rule.name}


def _gives_way(rule: Rule) -> str:
    return _("Where both match, “%(rule)s” gives way whole. Elsewhere it goes on as before.") % {
        "rule": rule.name
    }


def _order(target: str, first: Rule, then: Rule) -> Choice:
    names = {"first": first.name, "then": then.name}
    return Choice(
        "order", _("Both: first “%(first)s”…") % names,
        _("Both are applied: first “%(first)s”, then “%(then)s” on what that left.") % names,
        target=target, has_end=True,
    )  # fmt: skip


def _narrow(target: str, rule: Rule, condition: str) -> Choice:
    return Choice(
        "narrow", _("Narrow “%(rule)s”…") % {"rule": rule.name},
        _("Its next version has this condition. It is approved together with the ruling."),
        target=target, condition=condition,
    )  # fmt: skip


def _merge(target: str, kept: Rule, gone: Rule, condition: str) -> Choice:
    names = {"kept": kept.name, "gone": gone.name}
    return Choice(
        "merge", _("Merge into “%(kept)s”…") % names,
        _("“%(kept)s” gets this condition, and “%(gone)s” is retired.") % names,
        target=target, condition=condition,
    )  # fmt: skip


def _retire(target: str, rule: Rule) -> Choice:
    return Choice(
        "retire", _("Retire “%(rule)s”…") % {"rule": rule.name}, _("It ends for good; its history stays."),
        target=target, tone="button-danger",
    )  # fmt: skip
