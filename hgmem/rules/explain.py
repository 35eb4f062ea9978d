"""Why a rule did not match: which of its parts held and which did not, with the values seen."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

from hgmem.rules.compiled import CompiledRule, Entry
from hgmem.rules.conditions import Condition
from hgmem.rules.context import Context
from hgmem.rules.errors import EvaluationFailure, RuleError
from hgmem.rules.tree import Has, Node, Read, conjuncts, walk
from hgmem.rules.unparse import can_unparse, unparse
from hgmem.rules.values import ConditionError, dotted, read_path

MAX_NEAR_MISSES: Final = 20
_MAX_SHOWN_CHARS: Final = 200


def near_misses(
    entries: Iterable[Entry], context: Context, now: datetime, acts: Callable[[CompiledRule], bool]
) -> list[dict[str, Any]]:
    """The rules for this tool that came close: one part failed, or at least half of them held.

    Each is ``{"rule", "version", "name", "failed", "held", "parts": [{"part", "holds", "values"}]}``;
    ``holds`` is null where the part could not be evaluated. Nearest first. Only rules that ``acts`` are told.
    """
    dated = context.with_variables(now=now)
    found: list[tuple[int, int, tuple[Any, ...], dict[str, Any]]] = []
    for entry in entries:
        rules = [] if entry.foreseen else [rule for rule in entry.rules if acts(rule)]
        if not rules:
            continue
        parts = _condition_parts(entry.condition, dated)
        for rule in rules:
            every = [*_scope_parts(rule, context, now), *parts]
            held = sum(part["holds"] is True for part in every)
            failed = len(every) - held
            if failed and (failed == 1 or held >= failed):
                found.append((failed, -held, rule.order, _miss(rule, every, failed, held)))
    found.sort(key=lambda miss: miss[:3])
    return [miss for *_, miss in found[:MAX_NEAR_MISSES]]


def _miss(rule: CompiledRule, parts: list[dict[str, Any]], failed: int, held: int) -> dict[str, Any]:
    return {
        "rule": rule.uuid,
        "version": rule.version,
        "name": rule.name,
        "failed": failed,
        "held": held,
        "parts": parts,
    }


def _scope_parts(rule: CompiledRule, context: Context, now: datetime) -> list[dict[str, Any]]:
    """The parts beside the condition, listed only where they exist."""
    parts: list[dict[str, Any]] = []
    if rule.scoped:
        misfit = rule.rule.applies_to.misfit(context)
        parts.append(_part("scope", misfit is None, {}, misfit))
    if rule.timed:
        valid = rule.rule.is_valid_at(now)
        parts.append(_part("validity", valid, {}, None if valid else _window_fault(rule, now)))
    return parts


def _window_fault(rule: CompiledRule, now: datetime) -> str:
    start, end = rule.rule.valid_from, rule.rule.valid_until
    if start is not None and now < start:
        return f"valid only from {start.isoformat()}"
    return f"expired at {end.isoformat()}" if end is not None else ""


def _condition_parts(condition: Condition, context: Context) -> list[dict[str, Any]]:
    if condition.always:
        return []
    if not can_unparse(condition.tree):
        return [_evaluated(condition, condition.source, condition.tree, context)]
    parts = []
    for node in conjuncts(condition.tree):
        text = unparse(node)
        try:
            parts.append(_evaluated(Condition.compile(text), text, node, context))
        except RuleError:  # a part that is no question by itself
            return [_evaluated(condition, condition.source, condition.tree, context)]
    return parts


def _evaluated(condition: Condition, text: str, node: Node, context: Context) -> dict[str, Any]:
    outcome = condition.evaluate(context)
    values = {
        dotted(part.root, part.path): _shown(part, context)
        for part in walk(node)
        if isinstance(part, Read | Has) and part.root != "now"
    }
    if isinstance(outcome, EvaluationFailure):
        return _part(text, None, values, outcome.detail)
    return _part(text, outcome, values, None)


def _part(text: str, holds: bool | None, values: dict[str, Any], detail: str | None) -> dict[str, Any]:
    part: dict[str, Any] = {"part": text, "holds": holds, "values": values}
    return part if detail is None else {**part, "detail": detail}


def _shown(read: Read | Has, context: Context) -> Any:
    try:
        value = read_path(context.variables, read.root, read.path)
    except ConditionError:
        return None
    if isinstance(value, str) and len(value) > _MAX_SHOWN_CHARS:
        return value[:_MAX_SHOWN_CHARS] + "…"
    if isinstance(value, dict | list):
        return f"{'map' if isinstance(value, dict) else 'list'} of {len(value)}"
    return value
