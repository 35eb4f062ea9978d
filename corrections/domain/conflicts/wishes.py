"""Conditions under which an action has something to do, so that an example of a conflict shows it at work."""

import json
from typing import Any

from hgmem.rules import Condition, ParameterTransform, PreCallValidation, Rule, RuleError
from hgmem.rules.fields import parse_path
from hgmem.rules.values import dotted

_MAX_VALUES = 20


def wishes_of(rule: Rule) -> tuple[str, ...]:
    """CEL conditions that are true where the action changes or refuses something; none if nobody can say."""
    action = rule.action
    sources: list[str] = []
    if isinstance(action, ParameterTransform):
        sources = [_wish(step) for step in action.action_detail.operations[:1]]
    elif isinstance(action, PreCallValidation) and action.action_detail.check:
        sources = [f"!({action.action_detail.check})"]
    return tuple(source for source in sources if source and _compiles(source))


def needs_of(rule: Rule) -> str:
    """A condition that is true wherever the action changes anything; "" when nobody can say.

    Unlike a wish it must never be too narrow: proofs rest on it.
    """
    action = rule.action
    if not isinstance(action, ParameterTransform):
        return ""
    needs = [_need(step) for step in action.action_detail.operations]
    source = " || ".join(f"({need})" for need in needs)
    return source if all(needs) and _compiles(source) else ""


def _need(step: Any) -> str:
    field = _field(step.field)
    match step.op:
        case "set_default":
            return f'{field} == null || !{field}.matches("[!-~]")'
        case "set":
            return f"{field} != {json.dumps(step.value)}" if isinstance(step.value, str) else ""
        case "map_values":
            return (
                _wish(step) if len(step.mapping) <= _MAX_VALUES and all(map(_is_word, step.mapping)) else ""
            )
        case "rename" | "remove" | "cast":
            return f"{field} != null || {_has(step.field)}" if step.field else ""
        case "regex_replace" | "clamp":
            return _wish(step)
    return ""


def _has(text: str) -> str:
    """``has`` takes no list item at its end."""
    last = parse_path(text)[-1]
    return f"has({_field(text)})" if isinstance(last, str) and last.isidentifier() else "true"


def _is_word(key: str) -> bool:
    """Whether a key can only stand for that very text, not for the JSON of something else."""
    try:
        json.loads(key)
    except ValueError:
        return True
    return False


def _field(text: str) -> str:
    steps = parse_path(text)
    return "input" + "".join(f"[{part}]" if isinstance(part, int) else dotted("", (part,)) for part in steps)


def _wish(step: Any) -> str:  # noqa: PLR0911 (one return a kind)
    field = _field(step.field)
    match step.op:
        case "set_default":
            return f"{field} == null || {field}.trim() == ''"
        case "set":
            return f"{field} != {json.dumps(step.value)}" if _is_plain(step.value) else ""
        case "rename" | "remove" | "cast":
            return f"{field} != null"
        case "map_values":
            return f"{field} in {json.dumps(list(step.mapping)[:_MAX_VALUES])}"
        case "regex_replace":
            return f"{field}.matches({json.dumps(step.pattern)})"
        case "clamp":
            low = [f"{field} < {step.min}"] * (step.min is not None)
            return " || ".join([*low, *[f"{field} > {step.max}"] * (step.max is not None)])
    return ""


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int)


def _compiles(source: str) -> bool:
    try:
        Condition.compile(source)
    except RuleError:
        return False
    return True
