"""Which word of a goal plays an argument's part, learnt from the words around it in other goals."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from memory.domain.rewriting.align_goal import Token, aliased_tokens, near, tokens
from memory.domain.rewriting.align_sources import canonical

STEPS, LIST_STEPS = 3, 6
RATE, LEAST_STEP = 0.5, 0.001
WRONG_WEIGHT = 1.0
MIN_GOALS, FEW_GOALS, RARE_SHARE = 5, 5, 0.15
Aliases = Mapping[str, Sequence[str]]
_RUNS = ((re.compile(r"[0-9]+"), "0"), (re.compile(r"[^\W\d_]+"), "a"))


Read = list[tuple[Token, list[str]]]


class Scene(NamedTuple):
    """A goal as seen from a moment: ``zone`` is the part (from, to) that speaks of it, ``taken`` says which
    values other calls of the path use already, and as what."""

    goal: str
    zone: tuple[int, int]
    taken: Mapping[str, str]


class Words:
    """How common words are in the goals that are remembered: an argument's value is rarely "the"."""

    def __init__(self, goals: Iterable[str]) -> None:
        distinct = set(goals)
        self._goals = len(distinct)
        self._in: Counter[str] = Counter()
        for goal in distinct:
            self._in.update(
                {str(token.value).casefold() for token, _ in _read(goal) if token.shape == "word"}
            )

    def commonness(self, token: Token) -> float:
        """0 for a rare word to 4 for one that is in every goal."""
        if self._goals < MIN_GOALS or token.shape not in ("word", "capitals"):
            return 0.0
        return 4.0 * min(1.0, 3.0 * self._in[str(token.value).casefold()] / self._goals)

    def is_rare(self, phrase: str) -> bool:
        """Whether some word of a phrase (in lower case) is in few goals."""
        least = min((self._in[word] for word in phrase.split()), default=0)
        return least <= max(FEW_GOALS, RARE_SHARE * self._goals)


class Profile:
    """How the known values of an argument are written, and how well another value fits in with them."""

    def __init__(self) -> None:
        self._seen = 0.0
        self._values: Counter[Hashable] = Counter()
        self._fits: dict[str | int | float, float] = {}
        self._traits: Counter[tuple[int, Hashable]] = Counter()

    def learn(self, value: Any) -> None:
        """Count one known value."""
        self._fits.clear()
        self._seen += 1
        self._values[canonical(value)] += 1
        for trait in enumerate(_traits(value)):
            self._traits[trait] += 1

    def fit(self, value: str | int | float) -> float:
        """0 to 1: low when the value is written as (almost) no known value was."""
        if value not in self._fits:
            self._fits[value] = self._fit(value)
        return self._fits[value]

    def _fit(self, value: str | int | float) -> float:
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
    """A log-linear model over the words around a token, learnt one goal at a time.

    One value: the tokens of a goal compete (softmax). A list: each token is in it or not (logistic).
    """

    def __init__(self, aliases: Aliases, profile: Profile, words: Words, *, is_list: bool) -> None:
        self._aliases, self._profile, self._words = aliases, profile, words
        self._is_list = is_list
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._has_learnt = False

    def learn(self, read: Read, targets: Iterable[Hashable], prefix: str = "") -> None:
        """Learn one goal whose tokens with a value among ``targets`` (canonical) are the right ones."""
        wanted = set(targets)
        right = [
            bool({canonical(token.value), str(token.value), f"{prefix}{token.value}"} & wanted)
            for token, _ in read
        ]
        if not any(right) and not (self._is_list and self._has_learnt):
            return
        self._has_learnt = True
        for _ in range(LIST_STEPS if self._is_list else STEPS):
            chances = self._chances([self._score(features) for _, features in read])
            rights = sum(right) or 1
            for (_, features), is_right, chance in zip(read, right, chances, strict=True):
                step = RATE * (is_right / (1 if self._is_list else rights) - chance)
                if self._is_list:
                    step /= rights if is_right else len(read) / WRONG_WEIGHT
                if abs(step) > LEAST_STEP:
                    for feature in features:
                        self._weights[feature] += step

    def ranked(self, read: Read, *, numeric: bool) -> list[tuple[float, Token]]:
        """Score (log odds) and token, best first; empty when no goal ever held a right one."""
        if not self._has_learnt:
            return []
        scored = [
            (self._score(features) + self._expected(token, numeric), token)
            for token, features in read
            if not numeric or isinstance(token.value, int | float)
        ]
        return sorted(scored, key=lambda pair: -pair[0])

    def _expected(self, token: Token, numeric: bool) -> float:
        return math.log(self._profile.fit(_value(token, numeric))) - self._words.commonness(token)

    def _score(self, features: Iterable[str]) -> float:
        known = self._weights.get
        return sum([known(feature, 0.0) for feature in features])

    def _chances(self, scores: list[float]) -> list[float]:
        if self._is_list:
            return [1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score)))) for score in scores]
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        return [power / total for power in powers]

    def read(self, scene: Scene) -> Read:
        """The tokens of a goal, each with what is known around it."""
        low, high = scene.zone
        aliased = [
            (token, list(near(scene.goal, token))) for token in aliased_tokens(scene.goal, self._aliases)
        ]
        return [
            (
                token,
                [
                    "any",
                    f"shape {token.shape} {_sign(token.value)}",
                    f"zone {'before' if token.start < low else 'after' if token.start > high else 'within'}",
                    f"taken {scene.taken.get(str(token.value), 'by none')}",
                    *(word for word in around if not self._is_list or word[1:2] == "1"),
                ],
            )
            for token, around in [*_read(scene.goal), *aliased]
        ]


def _sign(value: str | int | float) -> str:
    first = str(value)[:1]
    return "" if first.isalnum() else first


def _value(token: Token, numeric: bool) -> str | int | float:
    return token.value if numeric else str(token.value)


@lru_cache(maxsize=512)
def _read(goal: str) -> list[tuple[Token, list[str]]]:
    return [(token, list(near(goal, token))) for token in tokens(goal)]


def _traits(value: Any) -> Iterator[Hashable]:
    if not isinstance(value, str):
        yield (
            type(value).__name__
            if not isinstance(value, int | float) or isinstance(value, bool)
            else "number"
        )
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
