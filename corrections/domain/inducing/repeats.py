"""The very same call again: what then worked takes its place.

Where a run repaired one long text, the same text in the same environment is replaced as a whole: no word of
it needs to be understood. A text that ever worked is left alone, and a repair that failed later is forgotten.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from corrections.domain.inducing.features import REDACTED, Atom, Place, is_long_text
from corrections.domain.inducing.proposals import Action, Evidence, Joined, ask_first

MAX_EXACT = 800
MAX_TEXTS = 5_000
MAX_REMEMBERED = 200_000
Scope = tuple[str, str]


class RepeatKey(NamedTuple):
    """A text that failed: where, and at which field of the input."""

    tool: str
    scope: Scope
    place: str
    text: str


@dataclass
class _Told:
    failing: dict[str, str] = field(default_factory=dict)
    fixes: dict[str, str] = field(default_factory=dict)
    message: str = ""

    def fix(self, bad: Mapping[bytes, None], key: RepeatKey) -> str:
        """The repair that most runs made (the latest of equals), blank for none that still stands."""
        counted = Counter(fix for fix in self.fixes.values() if _digest(key._replace(text=fix)) not in bad)
        best = max(counted.values(), default=0)
        return next((fix for fix in reversed(self.fixes.values()) if counted.get(fix) == best), "")


class Repeats:
    """Texts that failed and what their runs did instead; the oldest of ``MAX_TEXTS`` are forgotten."""

    def __init__(self) -> None:
        self._told: dict[RepeatKey, _Told] = {}
        self._by_fix: dict[RepeatKey, set[RepeatKey]] = {}
        self._worked: dict[bytes, None] = {}
        self._failed: dict[bytes, None] = {}

    def meet(self, tool: str, scope: Scope, call_input: Mapping[str, Any], *, failed: bool) -> set[RepeatKey]:
        """One more call; the texts about which more is known now."""
        changed: set[RepeatKey] = set()
        seen = self._failed if failed else self._worked
        for place, text in _texts(call_input):
            key = RepeatKey(tool, scope, place, text)
            digest = _digest(key)
            if digest not in seen:
                seen[digest] = None
                changed |= self._by_fix.get(key, set()) if failed else {key} & self._told.keys()
            if len(seen) > MAX_REMEMBERED:
                del seen[next(iter(seen))]
        return changed

    def pair(
        self, tool: str, scope: Scope, failed: Mapping[str, Any], fixed: Mapping[str, Any],
        *, name: str, run: str, message: str,
    ) -> set[RepeatKey]:  # fmt: skip
        """A failing input and the one that then worked; the text it is about, if it differs in one alone."""
        differing = [one for one in {**failed, **fixed} if failed.get(one) != fixed.get(one)]
        texts, others = dict(_texts(failed)), dict(_texts(fixed))
        if len(differing) != 1 or differing[0] not in texts or differing[0] not in others:
            return set()
        key = RepeatKey(tool, scope, differing[0], texts[differing[0]])
        told = self._told.setdefault(key, _Told(message=message))
        told.failing[name] = run
        told.fixes[run] = others[differing[0]]
        self._by_fix.setdefault(key._replace(text=others[differing[0]]), set()).add(key)
        if len(self._told) > MAX_TEXTS:
            oldest = next(iter(self._told))
            del self._told[oldest]
            return {key, oldest}
        return {key}

    def rule(self, key: RepeatKey) -> tuple[Joined, Action, Evidence] | None:
        """What to propose about a text; None for nothing."""
        told = self._told.get(key)
        fix = told.fix(self._failed, key) if told and _digest(key) not in self._worked else ""
        if told is None or not fix:
            return None
        place: Place = (key.place,)
        atoms = frozenset({Atom(place, "is", key.text)})
        detail = {"operations": [{"op": "set", "field": key.place, "value": fix}]}
        action = Action(
            "PARAMETER_TRANSFORM", json.dumps(detail, ensure_ascii=False, sort_keys=True),
            ask_first(told.message).name, priority=2,
        )  # fmt: skip
        failing = [(name, run, atoms) for name, run in told.failing.items()]
        return Joined(atoms, frozenset()), action, Evidence(failing=failing)


def _texts(call_input: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The long texts of an input, at its top level."""
    for name, value in call_input.items():
        if isinstance(name, str) and name.isidentifier() and name.isascii() and isinstance(value, str):
            plain = " ".join(value.split()).isprintable() and REDACTED not in value
            if plain and len(value) <= MAX_EXACT and is_long_text(value):
                yield name, value


def _digest(key: RepeatKey) -> bytes:
    return hashlib.blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=12).digest()
