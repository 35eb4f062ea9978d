"""What rules do to one call, each alone and all together: asked of the real engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hgmem.rules import Context, Decision, Rule, Ruleset
from hgmem.rules.fields import MISSING, get_field, parse_path

_SHOWN = ("tool", "input", "output", "error", "block", "ask", "hints", "insert_steps", "after_call")


@dataclass(frozen=True)
class Effects:
    """The decisions for one call: ``alone[i]`` by rule i, ``together`` by all."""

    alone: tuple[Decision, ...]
    together: Decision

    @property
    def all_match(self) -> bool:
        """Whether every rule's condition is true, alone and together."""
        return all(len(one.matched) == 1 for one in self.alone) and (
            len(self.together.matched) == len(self.alone)
        )

    def differ_at(self, field: str) -> bool:
        """Whether rules, each alone, would leave a field with different values."""
        values = [_at(one, field) for one in self.alone]
        return any(value != values[0] or type(value) is not type(values[0]) for value in values[1:])

    def acted(self, at: int) -> bool:
        """Whether a rule alone does anything that can be seen."""
        one = self.alone[at]
        return bool(one.block or one.ask or one.hints or one.insert_steps or one.after_call) or any(
            step["changes"] for step in one.applied
        )

    def disturbed(self, at: int) -> bool:
        """Whether a rule does something else, or nothing, because of the others."""
        alone = _part_of(self.alone[at], self.alone[at].matched[0].uuid)
        return bool(alone != _part_of(self.together, self.alone[at].matched[0].uuid))

    def described(self) -> dict[str, Any]:
        """As JSON: ``a``, ``b``... for each rule alone, and ``both`` (``together`` for more than two)."""
        shown = {chr(97 + at): _shown(one) for at, one in enumerate(self.alone)}
        return shown | {"both" if len(self.alone) == 2 else "together": _shown(self.together)}


def effects_of(rules: Sequence[Rule], context: Context, now: datetime) -> Effects:
    """Ask the engine what the rules make of a call."""
    alone = tuple(_decide((rule,), context, now) for rule in rules)
    return Effects(alone, alone[0] if len(rules) == 1 else _decide(rules, context, now))


def _decide(rules: Sequence[Rule], context: Context, now: datetime) -> Decision:
    return Ruleset.compile(rules, version="analysis").decide(context, now=now)


def _at(decision: Decision, field: str) -> Any:
    """What a decision makes of a field such as ``input.city``, ``tool``, ``steps.get_order`` or ``output``."""
    variable, _, rest = field.partition(".")
    if variable.startswith(("input[", "output[")):
        variable, rest = field[: field.index("[")], field[field.index("[") :]
    if variable == "steps":
        return [step["arguments"] for step in decision.insert_steps if step["tool"] == rest]
    if variable == "tool":
        return decision.tool, decision.input
    owner = {"input": decision.input, "output": decision.output, "error": decision.error}.get(variable)
    found = get_field(owner, parse_path(rest)) if rest else owner
    return "(missing)" if found is MISSING else found


def _part_of(decision: Decision, uuid: str) -> Any:
    """Everything in a decision that comes from one rule."""
    said = [
        {key: value for key, value in entry.items() if key != "name"}
        for part in (decision.block, decision.ask, decision.hints, decision.insert_steps, decision.after_call)
        for entry in part
        if entry["rule"] == uuid
    ]
    done = [step["changes"] for step in decision.applied if step["rule"] == uuid]
    return said, done, [failure["detail"] for failure in decision.errors if failure["rule"] == uuid]


def _shown(decision: Decision) -> dict[str, Any]:
    document = decision.to_dict()
    shown = {key: document[key] for key in _SHOWN if document.get(key)}
    shown["input"] = document["input"]
    shown["applied"] = [step["rule"] for step in decision.applied if step["changes"] or _speaks(step)]
    shown["suppressed"] = [
        {"rule": one["rule"], "reason": one["reason"], "by": one["by"]} for one in decision.suppressed
    ]
    shown["errors"] = [{"rule": one["rule"], "detail": one["detail"]} for one in decision.errors]
    return shown


def _speaks(step: dict[str, Any]) -> bool:
    return bool(step["action_type"] not in ("PARAMETER_TRANSFORM", "POST_CALL_PARSING_ADJUST"))
