"""The rules and contexts of ``match``: one neutral form, rendered for every engine.

A rule is a conjunction of ``(operator, field, value)`` on one of the tools. 60 % have an equality
with a constant (half of those alone, the rest with a bound, a text test or a presence beside it).
The other 40 %:

=====  ==================================================================================
share  form
=====  ==================================================================================
 6 %   a field is empty (``f == null || f.trim() == ''``) while another has a prefix
 4 %   a field is present and another contains a word
 7 %   a prefix
 7 %   numeric bounds: half one-sided in the outer 1 % of the range, half a window of 0.5 %
 5 %   a text contains a word
 4 %   a regular expression (anchored code, or a word followed by digits)
 3 %   the length of a text beyond a bound, with a prefix on another field
 2 %   one of several constants (``in``) with a bound on another field
 2 %   a task tag with a prefix
=====  ==================================================================================

Every test is guarded against null, as a careful author writes it (``f != null && f > 5``). Each
tool has 12 fields: 6 texts from vocabularies of 3,000 words, 3 numbers, 2 codes, 1 list. A context
leaves out or nulls a quarter of them. Most contexts match no rule; a few match several.
"""

import random
from dataclasses import dataclass
from typing import Any

TEXT_FIELDS = ("city", "query", "status", "path", "table", "user")
NUMBER_FIELDS = ("amount", "limit", "offset")
CODE_FIELDS = ("order", "sku")
ALL_FIELDS = (*TEXT_FIELDS, *NUMBER_FIELDS, *CODE_FIELDS, "items")
_SYLLABLES = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
_VOCABULARY = 3_000
_RANGE = 1_000_000

Part = tuple[str, str, Any]


@dataclass(frozen=True, slots=True)
class Spec:
    """One rule: the tool, and the parts that must all hold."""

    uuid: str
    tool: str
    parts: tuple[Part, ...]


class Workload:
    """Rules and contexts, the same for the same seed."""

    def __init__(self, seed: int = 7, tools: int = 50) -> None:
        self._random = random.Random(seed)
        self.tools = [f"tool_{at}" for at in range(tools)]
        words = {"".join(self._random.choices(_SYLLABLES, k=4)) for _ in range(3 * _VOCABULARY)}
        self._words = sorted(words)[:_VOCABULARY]
        self._tags = [f"tag-{at}" for at in range(200)]

    def rules(self, count: int) -> list[Spec]:
        """That many rules, spread evenly over the tools."""
        return [
            Spec(f"rule-{at}", self.tools[at % len(self.tools)], tuple(self._parts())) for at in range(count)
        ]

    def contexts(self, count: int) -> list[dict[str, Any]]:
        """That many contexts, as an agent sends them."""
        return [self._context(at) for at in range(count)]

    def _parts(self) -> list[Part]:
        roll = self._random.random() * 100
        if roll < 60:
            return self._equality(roll)
        text, other = self._random.sample(TEXT_FIELDS, 2)
        number = self._random.choice(NUMBER_FIELDS)
        for share, parts in (
            (66, [("empty", text, None), self._prefix(other)]),
            (70, [("present", text, None), ("contains", other, self._word()[:6])]),
            (77, [self._prefix(text)]),
            (84, self._bounds(number)),
            (89, [("contains", text, self._word()[:6])]),
            (93, [self._regex()]),
            (96, [("longer", "query", 60), self._prefix(other)]),
            (98, [("in", text, [self._word() for _ in range(4)]), ("gt", number, _RANGE // 2)]),
        ):
            if roll < share:
                return parts
        return [("tag", "", self._random.choice(self._tags)), self._prefix(text)]

    def _equality(self, roll: float) -> list[Part]:
        field, other = self._random.sample(TEXT_FIELDS, 2)
        parts: list[Part] = [("eq", field, self._word())]
        if roll < 30:
            return parts
        beside = (
            ("gt", self._random.choice(NUMBER_FIELDS), _RANGE // 2),
            self._prefix(other),
            ("present", other, None),
        )
        return [*parts, self._random.choice(beside)]

    def _bounds(self, number: str) -> list[Part]:
        edge = self._random.randrange(_RANGE // 100)
        if self._random.random() < 0.5:
            low = self._random.randrange(_RANGE)
            return [("gt", number, low), ("lt", number, low + _RANGE // 200)]
        return [("gt", number, _RANGE - edge)] if self._random.random() < 0.5 else [("lt", number, edge)]

    def _regex(self) -> Part:
        if self._random.random() < 0.5:
            return ("regex", self._random.choice(CODE_FIELDS), f"^{self._code()[:5]}[0-9]+$")
        return ("regex", "query", f"{self._word()} [0-9]+")

    def _prefix(self, field: str) -> Part:
        return ("prefix", field, self._word()[: self._random.choice((5, 6, 7))])

    def _word(self) -> str:
        return self._random.choice(self._words)

    def _code(self) -> str:
        letters = self._random.choice("ABCDEFGH") + self._random.choice("KLMNOPQR")
        return f"{letters}-{self._random.randrange(10**6):06}"

    def _context(self, at: int) -> dict[str, Any]:
        call_input: dict[str, Any] = {field: self._word() for field in TEXT_FIELDS}
        call_input["query"] = " ".join(self._word() for _ in range(self._random.choice((2, 4, 8))))
        call_input |= {field: self._random.randrange(_RANGE) for field in NUMBER_FIELDS}
        call_input |= {field: self._code() for field in CODE_FIELDS}
        call_input["items"] = [{"id": self._random.randrange(1000), "note": self._word()} for _ in range(2)]
        for field in self._random.sample(ALL_FIELDS, 3):
            if self._random.random() < 0.3:
                call_input[field] = None
            else:
                del call_input[field]
        history = [
            {"tool": self._random.choice(self.tools), "input": {"query": self._word()}, "status": "ok"}
        ]
        return {
            "point": "before",
            "tool": {"name": self._random.choice(self.tools), "version": "1.4"},
            "input": call_input,
            "task": {"id": f"task-{at}", "goal": "help the user", "tags": self._random.sample(self._tags, 2)},
            "env": {"domain": "shop", "locale": "en"},
            "history": history * 3,
        }


def to_cel(spec: Spec) -> str:
    """The condition in CEL."""
    return " && ".join(_CEL[operator](f"input.{field}", value) for operator, field, value in spec.parts)


_CEL = {
    "eq": lambda f, v: f"{f} == '{v}'",
    "in": lambda f, v: f"{f} in [{', '.join(repr(word) for word in v)}]",
    "empty": lambda f, v: f"({f} == null || {f}.trim() == '')",
    "present": lambda f, v: f"{f} != null",
    "prefix": lambda f, v: f"{f} != null && {f}.startsWith('{v}')",
    "contains": lambda f, v: f"{f} != null && {f}.contains('{v}')",
    "regex": lambda f, v: f"{f} != null && {f}.matches('{v}')",
    "longer": lambda f, v: f"{f} != null && size({f}) > {v}",
    "gt": lambda f, v: f"{f} != null && {f} > {v}",
    "lt": lambda f, v: f"{f} != null && {f} < {v}",
    "tag": lambda f, v: f"'{v}' in task.tags",
}


def to_rule(spec: Spec) -> dict[str, Any]:
    """The rule document: what a match is for does not matter here, so it is a plain hint."""
    return {
        "uuid": spec.uuid,
        "applies_to": {"tool": spec.tool, "point": "before"},
        "condition": to_cel(spec),
        "action_type": "PROMPT_ENHANCEMENT",
        "action_detail": {"text": f"Mind {spec.uuid}."},
    }
