"""The rules of ``conflicts``: many rules of one tool, as a team would have them after a year.

Conditions are those of ``match_workload`` (60 % with an equality, the rest prefixes, bounds, words, patterns,
emptiness, lengths, tags). Actions: 45 % set or repair one of the fields of the condition (set, set_default,
map_values, clamp, regex_replace), 20 % block, 15 % hint, 10 % insert a step, 5 % switch the tool, 5 % rename
or cast. One rule in 50 repeats the condition of an earlier one, one in 100 lacks its null guard.
"""

import random
from typing import Any

from benchmarks.match_workload import NUMBER_FIELDS, TEXT_FIELDS, Part, Workload, to_cel


class ConflictWorkload:
    """Rule documents of one tool, the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._workload = Workload(seed, tools=1)

    def rules(self, count: int) -> list[dict[str, Any]]:
        """That many rules."""
        specs = self._workload.rules(count)
        conditions: list[str] = []
        documents = []
        for at, spec in enumerate(specs):
            condition = to_cel(spec)
            if conditions and self._random.random() < 0.02:
                condition = self._random.choice(conditions)
            elif self._random.random() < 0.01:
                condition = condition.split(" && ", 1)[-1]
            conditions.append(condition)
            documents.append(self._document(at, condition, spec.parts))
        return documents

    def _document(self, at: int, condition: str, parts: tuple[Part, ...]) -> dict[str, Any]:
        action_type, detail = self._action(
            [part for part in parts if part[1]] or [("present", "query", None)]
        )
        return {
            "uuid": f"rule-{at:05}",
            "applies_to": {"tool": "tool_0", "point": "before"},
            "condition": condition,
            "action_type": action_type,
            "action_detail": detail,
            "priority": self._random.choice((0, 0, 0, 1, 5)),
        }

    def _action(self, parts: list[Part]) -> tuple[str, dict[str, Any]]:
        roll = self._random.random() * 100
        field = parts[0][1]
        if roll < 50:
            return "PARAMETER_TRANSFORM", self._repair(self._random.choice(parts), moves=roll >= 45)
        if roll < 70:
            message = f"this {field} is known to fail ({self._random.randrange(300)})"
            return "PRE_CALL_VALIDATION", {"on_failure": "block", "message": message}
        if roll < 85:
            return "PROMPT_ENHANCEMENT", {"text": f"Mind the {field} ({self._random.randrange(100)})."}
        if roll < 95:
            step = f"look_up_{self._random.randrange(20)}"
            return "INSERT_STEP", {"tool": step, "arguments": {"key": f"{{{{ input.{field} }}}}"}}
        return "TOOL_SWITCH", {"tool": f"tool_{self._random.randrange(1, 4)}"}

    def _repair(self, part: Part, *, moves: bool) -> dict[str, Any]:
        """A repair that has something to do where the condition holds."""
        operator, field, value = part
        word = f"value-{self._random.randrange(50)}"
        if operator == "empty":
            return {"op": "set_default", "field": field, "default_value": word}
        if field in NUMBER_FIELDS:
            return {"op": "clamp", "field": field, "max": self._random.choice((100, 1_000, 10_000))}
        if field not in TEXT_FIELDS:
            return {"op": "regex_replace", "field": field, "pattern": "[^A-Z0-9]", "replacement": ""}
        if moves:
            return {"op": "rename", "field": field, "to": f"{field}_name"}
        if operator in ("eq", "in") and self._random.random() < 0.5:
            wrong = value if operator == "eq" else value[0]
            return {"op": "map_values", "field": field, "mapping": {wrong: word}}
        return {"op": "set", "field": field, "value": word}
