"""Filling in the arguments of a call that is to be inserted, from how the same call was filled in before."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from memory.domain.rewriting.align_goal import phrases
from memory.domain.rewriting.align_roles import Aliases, Profile, Read, Roles, Scene, Words
from memory.domain.rewriting.align_sources import Moment, Source, canonical, sources, texts

USUAL: Source = ("usual",)
GOAL: Source = ("goal",)
NEVER = "never given"
SMOOTHING = 1.0
PRIOR = 0.1
PRIOR_SAME_NAME = 0.5
PRIOR_GOAL = 0.3
STRONG, STRONG_CHANCES = 0.8, 3.0
IN_THE_SHADOW = 0.1
EXPLAINED = 0.3
CERTAIN, SURE = 0.995, 0.9
MAX_SAID, RUNNER_UP = 3, 0.4
MIN_ALIAS_GOALS = 2
MIN_TOGETHER = 2
USUALLY = 0.5
MIN_ALIAS_SHARE = 0.75
MIN_ALIAS_LEAD = 0.25


class Occurrence:
    """A call that was made (or inserted) at a moment of another path, with its arguments."""

    def __init__(self, moment: Moment, params: Mapping[str, Any]) -> None:
        self.moment, self.params = moment, params

    @cached_property
    def raw(self) -> dict[Source, Any]:
        """What every source says."""
        return sources(self.moment)

    @cached_property
    def sources(self) -> dict[Source, Hashable]:
        """The same in canonical form."""
        return {key: canonical(value) for key, value in self.raw.items()}

    @cached_property
    def scene(self) -> Scene:
        """The goal, with what the calls around this moment took from it."""
        return Scene(self.moment.goal, _zone(self.moment), _taken(self.moment))


Weighted = Sequence[tuple[Occurrence, float]]


class Bound(NamedTuple):
    """A value for an argument, how sure it is (0 to 1), and where it comes from."""

    value: Any
    confidence: float
    origin: Source


class Slot:
    """What was learnt about one argument of one tool."""

    def __init__(self, name: str, examples: Weighted, aliases: Aliases, words: Words) -> None:
        self.name = name
        given = [(one, weight) for one, weight in examples if name in one.params]
        self.known = {canonical(one.params[name]): one.params[name] for one, _ in given}
        self.share = sum(weight for _, weight in given) / (sum(weight for _, weight in examples) or 1.0)
        self._hits: defaultdict[Source, float] = defaultdict(float)
        self._chances: defaultdict[Source, float] = defaultdict(float)
        self._profile = Profile()
        self._prefix = _shared_prefix(self.known.values())
        self.is_list = bool(self.known) and all(isinstance(value, list) for value in self.known.values())
        self._roles = Roles(aliases, self._profile, words, is_list=self.is_list)
        self._goals = list(examples) if self.is_list else given
        kinds = Counter(isinstance(value, int | float) for value in self.known.values())
        self._numeric = kinds[True] > kinds[False]
        self._shares: defaultdict[Hashable, float] = defaultdict(float)
        self._unexplained: defaultdict[Hashable, float] = defaultdict(float)
        self._total = 0.0
        for one, weight in given:
            self._learn_sources(one, weight)

    def bind(self, query: Occurrence) -> list[Bound]:
        """Candidate values, the surest first."""
        doubts: dict[Hashable, float] = {}
        origins: dict[Hashable, tuple[float, Source, Any]] = {}
        votes = [(value, self._trust(key), key) for key, value in query.raw.items() if self._is_known(key)]
        votes += [(self.known[name], self._usual(name), USUAL) for name in self.known]
        if max((trust for _, trust, _ in votes), default=0.0) < SURE:
            votes += self._said(query.scene)
        for value, said_trust, origin in votes:
            trust = min(said_trust, CERTAIN)
            name = canonical(value)
            doubts[name] = doubts.get(name, 1.0) * (1.0 - trust)
            if name not in origins or trust > origins[name][0]:
                origins[name] = trust, origin, value
        ranked = [Bound(origins[name][2], 1.0 - doubt, origins[name][1]) for name, doubt in doubts.items()]
        return sorted(ranked, key=lambda bound: -bound.confidence)

    def _said(self, scene: Scene) -> list[tuple[Any, float, Source]]:
        for one, weight in self._goals:
            self._learn_goal(one, weight)
        self._goals = []
        said = self._said_in(self._roles.read(scene))
        trust = self._trust(GOAL)
        return [(value, trust * RUNNER_UP**place, GOAL) for place, value in enumerate(said)]

    def _is_known(self, key: Source) -> bool:
        return self._hits[key] > 0 or key[-1] == self.name

    def _trust(self, key: Source) -> float:
        prior = PRIOR_GOAL if key == GOAL else PRIOR_SAME_NAME if key[-1] == self.name else PRIOR
        return (self._hits[key] + SMOOTHING * prior) / (self._chances[key] + SMOOTHING)

    def _usual(self, name: Hashable) -> float:
        """A value that comes again and again; one that had its reasons in its own path says little here."""
        total = self._total + SMOOTHING
        share = self._shares[name] / total
        return share**2 if share >= STRONG else (self._unexplained[name] / total) ** 2

    def _learn_sources(self, one: Occurrence, weight: float) -> None:
        target = canonical(one.params[self.name])
        value = one.params[self.name]
        for item in value if self.is_list else [value]:
            self._profile.learn(item)
        explained = False
        for key, value in one.sources.items():
            self._chances[key] += weight
            if value == target:
                self._hits[key] += weight
                explained = True
        explained = explained or str(one.params[self.name]) in one.moment.goal
        self._shares[target] += weight
        self._unexplained[target] += weight * (EXPLAINED if explained else 1.0)
        self._total += weight

    def _learn_goal(self, one: Occurrence, weight: float) -> None:
        target = one.params.get(self.name, [] if self.is_list else None)
        read = self._roles.read(one.scene)
        said = self._said_in(read)
        if any(self._is_strong(key) for key in one.sources):
            weight *= IN_THE_SHADOW
        self._chances[GOAL] += weight
        if said and canonical(said[0]) == canonical(target):
            self._hits[GOAL] += weight
        targets = [canonical(item) for item in target] if self.is_list else [canonical(target)]
        self._roles.learn(read, targets, self._prefix)

    def _is_strong(self, key: Source) -> bool:
        return self._chances[key] >= STRONG_CHANCES and self._trust(key) >= STRONG

    def _said_in(self, read: Read) -> list[Any]:
        """The values that the goal may mean, the likeliest first."""
        ranked = self._roles.ranked(read, numeric=self._numeric)
        if self.is_list:
            chosen = sorted((token for score, token in ranked if score > 0), key=lambda token: token.start)
            items = (self._prefix + str(token.value).removeprefix(self._prefix) for token in chosen)
            return [list(dict.fromkeys(items))]
        values = (token.value if self._numeric else str(token.value) for _, token in ranked)
        return list(itertools.islice(dict.fromkeys(values), MAX_SAID))


class Binder:
    """What was learnt about the arguments of one tool from its weighted occurrences."""

    def __init__(self, examples: Weighted, words: Words) -> None:
        names = dict.fromkeys(name for one, _ in examples for name in one.params)
        aliases = learn_aliases(examples, words)
        self.slots = {name: Slot(name, examples, aliases, words) for name in names}
        self._examples = examples

    def bind(self, query: Occurrence) -> dict[str, Bound]:
        """A value for every argument that is usually given; two arguments that never had the same value do
        not get the same one."""
        ranked = {name: slot.bind(query) for name, slot in self.slots.items()}
        bound: dict[str, Bound] = {}
        for name in sorted(
            ranked, key=lambda name: -max((one.confidence for one in ranked[name]), default=0.0)
        ):
            free = [one for one in ranked[name] if not self._is_taken(name, one.value, bound)]
            if free and self._is_given(name, free[0]):
                bound[name] = free[0]
        return {name: bound[name] for name in self.slots if name in bound}

    def _is_given(self, name: str, best: Bound) -> bool:
        slot = self.slots[name]
        if slot.is_list and slot.share < 1.0:
            return bool(best.value)
        return slot.share >= USUALLY

    def _is_taken(self, name: str, value: Any, bound: Mapping[str, Bound]) -> bool:
        wanted = canonical(value)
        return any(
            canonical(other.value) == wanted and self._always_differ(name, other_name)
            for other_name, other in bound.items()
        )

    def _always_differ(self, name: str, other: str) -> bool:
        both = [one.params for one, _ in self._examples if name in one.params and other in one.params]
        return len(both) >= MIN_TOGETHER and all(
            canonical(params[name]) != canonical(params[other]) for params in both
        )


def learn_aliases(examples: Weighted, words: Words) -> dict[str, list[str]]:
    """Phrase in lower case -> the values it stood for, from goals that do not say the value itself.

    A phrase must be rare, must nearly always come with the value, and clearly more often than others do.
    """
    said: dict[str, set[str]] = {}
    used: defaultdict[str, set[str]] = defaultdict(set)
    for one, _ in examples:
        goal = one.moment.goal
        said.setdefault(goal, phrases(goal))
        for value in one.params.values():
            if isinstance(value, str) and value not in goal:
                used[value].add(goal)
    often = Counter(phrase for found in said.values() for phrase in found)
    aliases: defaultdict[str, list[str]] = defaultdict(list)
    for value, goals in used.items():
        together = Counter(phrase for goal in goals for phrase in said[goal])
        for phrase, count in together.items():
            share = count / often[phrase]
            is_clear = share >= MIN_ALIAS_SHARE and share - len(goals) / len(said) >= MIN_ALIAS_LEAD
            if count >= MIN_ALIAS_GOALS and is_clear and words.is_rare(phrase):
                aliases[phrase].append(value)
    return dict(aliases)


def _shared_prefix(values: Iterable[Any]) -> str:
    """The sign ("#") that every item of every list begins with."""
    signs = {str(item)[:1] for value in values if isinstance(value, list) for item in value}
    return signs.pop() if len(signs) == 1 and not next(iter(signs)).isalnum() else ""


def _zone(moment: Moment) -> tuple[int, int]:
    """From where to where (characters) the goal speaks of this moment, as far as arguments tell."""
    folded = moment.goal.casefold()
    low = 0
    for node in moment.before[-4:]:
        for text in texts(node.params):
            if len(text) > 2:
                low = max(low, folded.find(text.casefold(), low))
    found = [
        folded.find(text.casefold(), low)
        for node in moment.after[:1]
        for text in texts(node.params)
        if len(text) > 2
    ]
    return low, min([at for at in found if at >= 0], default=len(folded))


def _taken(moment: Moment) -> dict[str, str]:
    taken: dict[str, str] = {}
    if moment.after:
        taken |= {str(value): f"by next {name}" for name, value in moment.after[0].params.items()}
    for node in (*reversed(moment.before), *moment.after):
        for text in texts(node.params):
            taken.setdefault(text, "by another")
    return taken
