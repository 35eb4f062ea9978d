"""Random conditions and contexts over one small vocabulary, so that they meet often."""

import random
from collections.abc import Callable
from typing import Any

from hgmem.rules import Condition, EvaluationFailure, RuleError
from hgmem.rules.conditions import Outcome

FIELDS = ("a", "b", "n")
TEXTS = ("", "a", "ab", "A", " a ", "b-1", "é", "北")
NUMBERS = (
    "0", "1", "-1", "5", "1.0", "0.5", "5.0", "-1.5",
    "9007199254740993", "9007199254740992.0", "9223372036854775807",
)  # fmt: skip
PATTERNS = ("a", "^a", "b$", "^b-[0-9]+$", r"\\d+", "a.b", "[^a-c]", "(ab|cd)", "x{2,3}", r"\\w", r"\\bab")
VALUES = (
    None, True, False, 0, 1, -1, 5, 2**53 + 1, 2**53, 2**63 - 1, 0.0, 1.0, 0.5, 5.0, -1.5, float(2**53),
    float("nan"), 1e300, *TEXTS, "ab", "cd", "xx", "b-17", "a\nb",
)  # fmt: skip


class Vocabulary:
    """Conditions and contexts, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def conditions(self, count: int) -> list[str]:
        """That many conditions that compile."""
        found: list[str] = []
        while len(found) < count:
            source = self._condition()
            try:
                Condition.compile(source)
            except RuleError:
                continue
            found.append(source)
        return found

    def contexts(self, count: int) -> list[dict[str, Any]]:
        """That many contexts."""
        return [self._context() for _ in range(count)]

    def _condition(self) -> str:
        roll = self._random.random()
        if roll < 0.4:
            return self._atom()
        if roll < 0.7:
            return f"({self._atom()}) {self._one('&&', '||')} ({self._atom()})"
        if roll < 0.85:
            return f"!({self._atom()})"
        return f"({self._atom()}) && !({self._atom()} || {self._atom()})"

    def _atom(self) -> str:
        path, other, literal, text = self._path(), self._path(), self._literal(), self._text()
        number, sign = self._one(*NUMBERS), self._one("==", "!=", "<", "<=", ">", ">=")
        field, count = self._one(*FIELDS), self._one("0", "1", "2")
        return self._one(
            f"{path} {sign} {literal}", f"{literal} {sign} {path}", f"{path} {sign} {other}",
            f"{path} != null && {path} {sign} {number}",
            f"{path} in [{literal}, {text}]", f"{text} in {path}",
            f"{path} in {other}", f"has(input.{field})", "has(input.a.b)", "has(input.a[0].b)",
            f"{path}.startsWith({text})", f"{path}.endsWith({text})", f"{path}.contains({text})",
            f"{path}.startsWith({other})", f'{path}.matches("{self._one(*PATTERNS)}")',
            f"{path}.trim() == {text}", f"{path}.trim().startsWith({text})", f"{path}.lowerAscii() == {text}",
            f"{path}.trim().lowerAscii() == {text}", f"{path}.upperAscii().contains({text})",
            f"size({path}) {sign} {count}", f"({path} == {literal} ? {other} == {text} : {path} == {text})",
            f"{path}.exists(x, x == {literal})", f"{path}.all(x, x {sign} {number})",
            f"{path}.exists(x, x.a == {literal})", f"{path}.exists(x, {other}.all(y, x == y))",
            f"{path} + {other} == {literal}", f"{path} * 2 > {number}", f"{path} - 1 == {other}",
            f"{path} + 9223372036854775800 > 0", path, f"{path}.filter(x, x != null).size() == 1",
            f"type({path}) == {self._one('string', 'int', 'double', 'bool', 'list', 'map', 'null_type')}",
            f"{path} == [{literal}]", f"{path} == [{other}, {literal}]", f"-({number}) == {path}",
            f"{path} + {text} == {other}", "now > timestamp('2020-01-01T00:00:00Z')",
            f"history.exists(h, h.tool == 'a' && h.status == {literal})", f"history[0].tool == {text}",
        )  # fmt: skip

    def _path(self) -> str:
        field, inner = self._one(*FIELDS), self._one(*FIELDS)
        many = [f"input.{field}"] * 12
        return self._one(
            *many, f"input.{field}.{inner}", f"input.{field}.{inner}", f"env.{field}",
            f"input.{field}[{self._one('0', '1')}]", "task.tags", "task.goal", "tool.name",
        )  # fmt: skip

    def _literal(self) -> str:
        return self._one(self._one(*NUMBERS), self._text(), "null", "true", "false")

    def _text(self) -> str:
        return f'"{self._one(*TEXTS)}"'

    def _one(self, *choices: Any) -> Any:
        return self._random.choice(choices)

    def _context(self) -> dict[str, Any]:
        chance: Callable[[], float] = self._random.random
        document: dict[str, Any] = {"point": "before", "input": self._object()}
        document["tool"] = {"name": self._one("alpha", "a", "ab")}
        if chance() < 0.3:
            document["env"] = self._object()
        if chance() < 0.4:
            tags = self._random.sample(["a", "ab", "x"], self._random.randrange(3))
            document["task"] = {"tags": tags, "goal": self._one("a", None, "ab")}
        if chance() < 0.4:
            calls = self._one(1, 2, 6)
            document["history"] = [
                {"tool": self._one("a", ""), "status": self._value()} for _ in range(calls)
            ]
        return document

    def _object(self) -> dict[str, Any]:
        return {field: self._value() for field in FIELDS if self._random.random() < 0.7}

    def _value(self, depth: int = 0) -> Any:
        roll = self._random.random()
        if roll < 0.75 or depth > 2:
            return self._one(*VALUES)
        if roll < 0.88:
            return [self._value(depth + 1) for _ in range(self._one(0, 1, 1, 2, 3, 5, 6))]
        return {
            field: self._value(depth + 1) for field in self._random.sample(FIELDS, self._random.randrange(3))
        }


def named(outcome: Outcome) -> str:
    """An outcome as a word: true, false or error."""
    if isinstance(outcome, EvaluationFailure):
        return "error"
    return "true" if outcome else "false"
