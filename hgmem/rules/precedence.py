"""Who goes first: ruling > priority > specificity > effectiveness > newer; and who writes what."""

from collections.abc import Iterable, Sequence

from hgmem.rules.compiled import CompiledRule


def in_precedence(rules: Iterable[CompiledRule]) -> list[CompiledRule]:
    """The rules, the one that prevails first.

    A human ruling (``ruled_over``) beats the general order; rulings that contradict each other in a
    circle are broken by the general order.
    """
    ordered = sorted(rules, key=_general_order)
    if not any(rule.ruled_over for rule in ordered):
        return ordered
    result: list[CompiledRule] = []
    while ordered:
        free = (rule for rule in ordered if not any(rule.uuid in other.ruled_over for other in ordered))
        first = next(free, ordered[0])
        ordered.remove(first)
        result.append(first)
    return result


def _general_order(rule: CompiledRule) -> tuple[int, int, float, float, int, str]:
    return rule.order


def in_dependency(rules: Sequence[CompiledRule]) -> list[CompiledRule]:
    """The rules in the order to apply: one that writes what another reads goes before it.

    A human ruling (``runs_after``) beats what they read and write. Otherwise the order given stays; a
    circle is broken by letting the first of it go first that no ruling holds back.
    """
    if len(rules) < 2:
        return list(rules)
    waiting = list(rules)
    result: list[CompiledRule] = []
    while waiting:
        free = (
            rule
            for rule in waiting
            if not any(other is not rule and _goes_before(other, rule) for other in waiting)
        )
        first = next(free, None) or _first_unruled(waiting)
        waiting.remove(first)
        result.append(first)
    return result


def _goes_before(one: CompiledRule, other: CompiledRule) -> bool:
    if one.uuid in other.runs_after:
        return True
    return other.uuid not in one.runs_after and overlap(one.writes, other.reads) is not None


def _first_unruled(waiting: Sequence[CompiledRule]) -> CompiledRule:
    uuids = {rule.uuid for rule in waiting}
    return next((rule for rule in waiting if rule.runs_after.isdisjoint(uuids)), waiting[0])


def overlap(some: Iterable[str], others: Iterable[str]) -> str | None:
    """The first field of ``some`` that is, contains or lies inside a field of ``others``."""
    others = tuple(others)
    return next((path for path in sorted(some) for other in others if _touches(path, other)), None)


def _touches(path: str, other: str) -> bool:
    if len(path) > len(other):
        path, other = other, path
    return other.startswith(path) and (len(other) == len(path) or other[len(path)] in ".[")
