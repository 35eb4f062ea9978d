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


def _wish(step: Any) -> str:  # noqa: PLR0911 (one return a kind)
    path = parse_path(step.field)
    field = "input" + "".join(f"[{part}]" if isinstance(part, int) else dotted("", (part,)) for part in path)
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
