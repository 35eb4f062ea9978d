"""A plain linear scan in the CEL runtime: what the index and the closures must agree with."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from hgmem.rules import Condition, EvaluationFailure, Rule, RuleError, parse_context
from hgmem.rules.tree import conjuncts
from hgmem.rules.unparse import can_unparse, unparse


def scan(rules: Iterable[Rule], document: dict[str, Any], now: datetime) -> tuple[set[str], set[str]]:
    """The uuids of the rules whose condition is true, and of those whose condition fails."""
    context = parse_context(document).with_variables(now=now)
    matched, failed = set(), set()
    for rule in rules:
        scope = rule.applies_to
        if rule.point != context.point or not scope.fits_tool(context.tool):
            continue
        if scope.misfit(context) or not rule.is_valid_at(now):
            continue
        outcome = Condition.compile(rule.condition).evaluate_in_runtime(context)
        if isinstance(outcome, EvaluationFailure):
            failed.add(rule.uuid)
        elif outcome:
            matched.add(rule.uuid)
    return matched, failed


def surely_false_before_the_call(rule: Rule, document: dict[str, Any]) -> bool:
    """Whether a part of the condition that does not read the result is false already."""
    context = parse_context(document)
    condition = Condition.compile(rule.condition)
    for part in conjuncts(condition.tree):
        if not can_unparse(part):
            continue
        try:
            known = Condition.compile(unparse(part))
        except RuleError:
            continue
        if not known.reads_result and known.evaluate_in_runtime(context) is False:
            return True
    return False
