"""A first condition for an error pattern: what the failing calls have and the good ones have not.

Candidates are read off the failing calls, each is tried with the real evaluator on both kinds of calls, and
the best come first. A person edits and approves what comes out. Nothing here knows a tool or a domain.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hgmem.rules import Condition, Context, RuleError, parse_context
from memory.domain.payloads import is_reference

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORD = re.compile(r"[A-Za-z0-9_]+")
RESERVED = frozenset(
    ("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let",
     "loop", "null", "package", "namespace", "return", "true", "var", "void", "while")
)  # fmt: skip
REDACTED = "[redacted:"
"""What was redacted before storage reads differently in a live call: it is never a constant."""
MAX_DEPTH = 4
MAX_CANDIDATES = 40
MAX_CONSTANT = 200
MAX_LISTED = 300
SHOWN = 5
CAUGHT, HARMED = 0.5, 0.2


@dataclass(frozen=True)
class Suggestion:
    """A condition with how often it holds: among failing calls (higher is better) and good ones (lower)."""

    condition: str
    why: str
    failing_hit: int
    failing: int
    good_hit: int
    good: int

    @property
    def failing_share(self) -> float:
        """Of the failing calls, how many it would have caught."""
        return self.failing_hit / self.failing if self.failing else 0.0

    @property
    def good_share(self) -> float:
        """Of the good calls, how many it would have hit."""
        return self.good_hit / self.good if self.good else 0.0

    @property
    def is_convincing(self) -> bool:
        """Whether it is worth to start from: most failing calls, few good ones."""
        return self.failing_share >= CAUGHT and self.good_share <= HARMED


def suggest_conditions(
    *, identifier: str, scope: str, failing: Sequence[Mapping[str, Any]], good: Sequence[Mapping[str, Any]]
) -> list[Suggestion]:
    """The best few candidates, best first; empty when nothing tells the failing calls from the good ones.

    ``failing`` and ``good`` are contexts; ``scope`` (a database, a site) is looked up in ``env`` and narrows
    every candidate.
    """
    guard = _scope_guard(scope, failing)
    bad, fine = _parsed(failing), _parsed(good)
    inputs, fine_inputs = _inputs(failing), _inputs(good)
    known = {name for value in (*inputs, *fine_inputs) for name in value}
    reasons: dict[str, str] = {}
    for text, why in _candidates(identifier, inputs, known):
        reasons.setdefault(text, why)
    candidates = list(reasons.items())[:MAX_CANDIDATES]
    tried = [_try(_joined(guard, text), why, bad, fine) for text, why in candidates]
    useful = [found for found in tried if found and found.failing_share > found.good_share]
    useful.sort(key=lambda found: found.good_share - found.failing_share)  # stable: telling kinds first
    return useful[:SHOWN]


def _inputs(contexts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [context["input"] for context in contexts if isinstance(context.get("input"), Mapping)]


def _parsed(contexts: Iterable[Mapping[str, Any]]) -> list[Context]:
    """Contexts ready to be asked; those too large for the engine are left out."""
    found = []
    for context in contexts:
        try:
            found.append(parse_context(context))
        except RuleError:
            continue
    return found


def _try(source: str, why: str, failing: Sequence[Context], good: Sequence[Context]) -> Suggestion | None:
    try:
        condition = Condition.compile(source)
    except RuleError:
        return None
    hits = [sum(condition.evaluate(context) is True for context in some) for some in (failing, good)]
    return Suggestion(source, why, hits[0], len(failing), hits[1], len(good))


def _candidates(
    identifier: str, inputs: Sequence[Mapping[str, Any]], known: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Conditions with the reason in words, the more telling kinds first. ``known`` are fields of any call."""
    if identifier:
        yield from _about_name(identifier, inputs)
    if identifier in known:
        yield from _about_presence(identifier, inputs)
    leaves = [dict(_leaves(value)) for value in inputs]
    fields = Counter(path for found in leaves for path in found)
    for path, _n in fields.most_common(MAX_CANDIDATES):
        values = [found[path] for found in leaves if path in found]
        yield from _about_field(path, values)
    missing = [path for path in fields if fields[path] < len(inputs)]
    for path in missing:
        yield f"{path} == null", f"{path} is missing"


def _about_name(identifier: str, inputs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Where the name that the error blames, or the last part of it (``countries``), stands in the call."""
    last = identifier.rpartition(".")[2]
    for name in dict.fromkeys((identifier, last)):
        where = Counter(
            path
            for value in inputs
            for path, leaf in _leaves(value)
            if isinstance(leaf, str) and name.casefold() in leaf.casefold()
        )
        for path, _n in where.most_common(SHOWN):
            yield from _about_text(path, name)
        for path, item in dict.fromkeys(found for value in inputs for found in _list_items(value, name)):
            text = json.dumps(name, ensure_ascii=False)
            yield f"{path} != null && {path}.exists(x, {item} == {text})", f"{path} has an item {name}"


def _list_items(value: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Lists of the input with an item that is the name, or whose field is: (list, ``x`` or ``x.field``)."""
    for field, part in value.items():
        for item in part if isinstance(part, list) else ():
            if item == name:
                yield _path(("input", str(field))), "x"
            for key, leaf in item.items() if isinstance(item, Mapping) else ():
                if leaf == name:
                    yield _path(("input", str(field))), _path(("x", str(key)))


def _about_presence(identifier: str, inputs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """A field that is given, or is not. That it is given is no reason where it is given empty."""
    field = _path(("input", identifier))
    if any(_is_blank(value[identifier]) for value in inputs if identifier in value):
        yield f"{field} == null || {field}.trim() == ''", f"{identifier} is missing, empty or blank"
    else:
        yield f"has({field})", f"{identifier} is given"
    yield f"{field} == null", f"{identifier} is missing"
    yield f"{field} == null || {field} == ''", f"{identifier} is missing or empty"


def _about_text(path: str, name: str) -> Iterator[tuple[str, str]]:
    """A name in a text: as all of it, as a part, as a word in any case."""
    text = json.dumps(name, ensure_ascii=False)
    yield f"{path} == {text}", f"{path} is {name}"
    yield f"{path} != null && {path}.contains({text})", f"{path} contains {name}"
    if WORD.fullmatch(name):
        yield f"{path} != null && {path}.matches('(?i)\\\\b{name}\\\\b')", f"{path} has the word {name}"


def _about_field(path: str, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What a field has in common: emptiness, a constant, a few constants."""
    if any(_is_blank(value) for value in values):
        yield f"{path} == null || {path} == ''", f"{path} is empty"
        yield f"{path} == null || {path}.trim() == ''", f"{path} is empty or blank"
    constants = [value for value in values if _is_constant(value)]
    common = Counter(json.dumps(value, ensure_ascii=False) for value in constants).most_common(SHOWN)
    if common:
        yield f"{path} == {common[0][0]}", f"{path} is {common[0][0]}"
    listed = ", ".join(text for text, _n in common)
    if len(common) > 1 and len(listed) <= MAX_LISTED:
        yield f"{path} in [{listed}]", f"{path} is one of {listed}"


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_constant(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= MAX_CONSTANT and REDACTED not in value
    return isinstance(value, bool | int) and abs(value) < 2**53


def _leaves(value: Any, steps: tuple[str, ...] = ("input",)) -> Iterator[tuple[str, Any]]:
    """The scalar values of an input by their path in a condition.

    Lists are not entered, nor what stands for a large value kept apart: live calls have the value itself.
    """
    if isinstance(value, Mapping) and not is_reference(value):
        for name, part in value.items():
            if len(steps) <= MAX_DEPTH:
                yield from _leaves(part, (*steps, str(name)))
    elif not isinstance(value, list | Mapping):
        path = _path(steps)
        if path:
            yield path, value


def _path(steps: Sequence[str]) -> str:
    """``input.city``, or ``input["a b"]`` where a name is no identifier."""
    text = steps[0]
    for step in steps[1:]:
        plain = NAME.fullmatch(step) and step not in RESERVED
        text += f".{step}" if plain else f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def _scope_guard(scope: str, failing: Sequence[Mapping[str, Any]]) -> str:
    """``env.domain == "airline"`` for the field of the environment that holds the scope."""
    if not scope:
        return ""
    names = Counter(
        name
        for context in failing
        for name, value in (context.get("env") or {}).items()
        if isinstance(value, str) and value.strip() == scope
    )
    for name, _n in names.most_common(1):
        return f"{_path(('env', name))} == {json.dumps(scope, ensure_ascii=False)}"
    return ""


def _joined(guard: str, text: str) -> str:
    if not guard:
        return text
    return f"{guard} && ({text})" if "||" in text else f"{guard} && {text}"
