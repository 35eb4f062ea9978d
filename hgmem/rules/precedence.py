"""Who goes first: ruling > priority > specificity > effectiveness > newer; and who writes what."""

from collections.abc import Iterable, Sequence

from hgmem.rules.compiled import CompiledRule


def in_precedence(rules: Iterable[CompiledRule]) -> list[CompiledRule]:
    """The rules, the one that prevails first.

    A human ruling (``ruled_over``) beats the general order; rulings that contradict each other in a
    circle are broken by the general order.
    """
    ordered = sorted(rules, key=_general_order)
    if not any(rule.rule.ruled_over for rule in ordered):
        return ordered
    result: list[CompiledRule] = []
    while ordered:
        free = (rule for rule in ordered if not any(rule.uuid in other.rule.ruled_over for other in ordered))
        first = next(free, ordered[0])
        ordered.remove(first)
        result.append(first)
    return result


def _general_order(rule: CompiledRule) -> tuple[int, int, float, float, int, str]:
    return rule.order


def in_dependency(rules: Sequence[CompiledRule]) -> list[CompiledRule]:
    """The rules in the order to apply: one that writes what another reads goes before it.

    Otherwise the order given stays; a circle is broken by letting the first of it go first.
    """
    if len(rules) < 2:
        return list(rules)
    waiting = list(rules)
    result: list[CompiledRule] = []
    while waiting:
        free = (
            rule
            for rule in waiting
            if not any(other is not rule and overlap(other.writes, rule.reads) for other in waiting)
        )
        first = next(free, waiting[0])
        waiting.remove(first)
        result.append(first)
    return result


def overlap(some: Iterable[str], others: Iterable[str]) -> str | None:
    """The first field of ``some`` that is, contains or lies inside a field of ``others``."""
    others = tuple(others)
    return next((path for path in sorted(some) for other in others if _touches(path, other)), None)


def _touches(path: str, other: str) -> bool:
    if len(path) > len(other):
        path, other = other, path
    return other.startswith(path) and (len(other) == len(path) or other[len(path)] in ".[")
