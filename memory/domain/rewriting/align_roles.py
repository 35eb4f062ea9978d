"""Which word of a goal plays an argument's part: learnt from the words that stood around it in other goals."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from memory.domain.rewriting.align_goal import Token, aliased_tokens, near, tokens
from memory.domain.rewriting.align_sources import canonical

SMOOTHING = 1.0
Aliases = Mapping[str, Sequence[str]]
_RUNS = ((re.compile(r"[0-9]+"), "0"), (re.compile(r"[^\W\d_]+"), "a"))


class Scene(NamedTuple):
    """A goal as seen from a moment: ``zone`` is the part (from, to) that speaks of it, ``taken`` says which
    values other calls of the path use already, and as what."""

    goal: str
    zone: tuple[int, int]
    taken: Mapping[str, str]


class Profile:
    """How the known values of an argument are written, and how well another value fits in with them."""

    def __init__(self) -> None:
        self._seen = 0.0
        self._values: Counter[Hashable] = Counter()
        self._traits: Counter[tuple[int, Hashable]] = Counter()

    def learn(self, value: Any) -> None:
        """Count one known value."""
        self._seen += 1
        self._values[canonical(value)] += 1
        for trait in enumerate(_traits(value)):
            self._traits[trait] += 1

    def fit(self, value: Any) -> float:
        """0 to 1: low when the value is written as (almost) no known value was."""
        fit = 1.0 if canonical(value) in self._values else self._novelty
        for trait in enumerate(_traits(value)):
            fit *= min(1.0, 2.0 * (self._traits[trait] + 0.5) / (self._seen + 1.0))
        return fit

    @property
    def _novelty(self) -> float:
        """The chance that the next value is a new one (Good and Turing: the share of those seen once)."""
        once = sum(count == 1 for count in self._values.values())
        return (once + 0.2) / (self._seen + 0.2)


class Roles:
    """A naive Bayes classifier over the words around a token."""

    def __init__(self, aliases: Aliases, profile: Profile) -> None:
        self._aliases, self._profile = aliases, profile
        self._right: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()
        self._rights, self._wrongs = 0.0, 0.0

    def learn(self, scene: Scene, targets: Iterable[Hashable], prefix: str = "") -> None:
        """Learn one goal whose tokens with a value among ``targets`` (canonical) are the right ones."""
        wanted = set(targets)
        for token, around in self._read(scene.goal):
            features = _features(token, around, scene)
            if wanted and {canonical(token.value), str(token.value), f"{prefix}{token.value}"} & wanted:
                self._right.update(features)
                self._rights += 1
            else:
                self._wrong.update(features)
                self._wrongs += 1

    def ranked(self, scene: Scene, *, numeric: bool) -> list[tuple[float, Token]]:
        """Score (log odds) and token, best first; empty when no goal ever held a right one."""
        if not self._rights:
            return []
        scored = [
            (self._score(_features(token, around, scene)) + math.log(self._profile.fit(_value(token, numeric))), token)
            for token, around in self._read(scene.goal)
            if not numeric or isinstance(token.value, int | float)
        ]
        return sorted(scored, key=lambda pair: -pair[0])

    def _score(self, features: Iterable[str]) -> float:
        everything = self._rights + self._wrongs + 1
        score = 0.0
        for word in features:
            usual = (self._right[word] + self._wrong[word] + 1) / everything
            score += math.log((self._right[word] + SMOOTHING * usual) / (self._rights + SMOOTHING) / usual)
        return score

    def _read(self, goal: str) -> Iterator[tuple[Token, list[str]]]:
        yield from _read(goal)
        for token in aliased_tokens(goal, self._aliases):
            yield token, list(near(goal, token))


def _value(token: Token, numeric: bool) -> Any:
    return token.value if numeric else str(token.value)


def _features(token: Token, around: list[str], scene: Scene) -> list[str]:
    low, high = scene.zone
    place = "before" if token.start < low else "after" if token.start > high else "within"
    taken = scene.taken.get(str(token.value), "by none")
    return [f"shape {token.shape}", f"zone {place}", f"taken {taken}", *around]


@lru_cache(maxsize=512)
def _read(goal: str) -> list[tuple[Token, list[str]]]:
    return [(token, list(near(goal, token))) for token in tokens(goal)]


def _traits(value: Any) -> Iterator[Hashable]:
    if not isinstance(value, str):
        yield type(value).__name__ if not isinstance(value, int | float) or isinstance(value, bool) else "number"
        return
    yield "text"
    yield any(char.isdigit() for char in value)
    yield any(char.isspace() for char in value)
    yield value.isupper()
    yield value[:1] if value[:1] in "#@$/" else ""
    yield _outline(value) if "0" in _outline(value) and _outline(value).count("0") > 1 else ""


def _outline(value: str) -> str:
    outline = value[:40]
    for run, letter in _RUNS:
        outline = run.sub(letter, outline)
    return outline
