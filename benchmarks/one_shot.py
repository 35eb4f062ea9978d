"""The person of the ``one-shot`` protocol: one label, one failing call, one readable correction rule.

docs/benchmarks/preempt.md describes what such a person does. In short: find what the label blames in the
failing call, say so in CEL as generally as the sentence allows, look at the backtest over the calls that went
well so far, and narrow the condition until it leaves them alone. No tool, database or message is known here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.cel_text import (
    Leaf,
    Place,
    arguments,
    equals,
    field,
    has_word,
    leaves,
    literal,
    place,
    value_at,
)

MAX_CONDITION = 1_900
MAX_SHORT = 60
MIN_WORD = 4


class Past(Protocol):
    """What the person can look up about past calls that went well, of the tool in question."""

    def hit(self, condition: str) -> list[dict[str, Any]] | None:
        """The inputs of the good calls that the condition would have hit; None where it is refused."""

    def returned(self, word: str) -> bool:
        """Whether a good call in this domain returned the word: then it is a real name here."""

    def count(self, argument: Place, value: Any) -> int:
        """How many good calls had this value of this argument."""


_CODE = re.compile(r"[\w@.:+-]*[\w@]")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])")
_PART = re.compile(r"[A-Za-z]+|\d+")
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Blame:
    """What the person knows: the tool, where, the sentence and the identifier of the label, the call."""

    tool: str
    domain: str
    sentence: str
    identifier: str
    args: dict[str, Any]

    @property
    def said(self) -> str:
        """Sentence and identifier as one text."""
        return f"{self.sentence} {self.identifier}"


@dataclass(frozen=True)
class Correction:
    """A rule as the person files it. ``reading`` names how the label was read."""

    tool: str
    condition: str
    message: str
    reading: str


def read_label(fine: str, *, tool: str, domain: str, args: dict[str, Any]) -> Blame:
    """The parts of a fine label without the domain and the tool, which scope the rule."""
    parts = fine.split("|")
    if tool in parts:
        parts = parts[parts.index(tool) + 1 :]
    elif parts[0] == domain:
        parts = parts[1:]
    return Blame(
        tool=tool,
        domain=domain,
        sentence=parts[0] if parts else "",
        identifier="|".join(parts[1:]).strip(),
        args=args,
    )


def write_correction(blame: Blame, past: Past) -> Correction | None:
    """The most general condition that leaves the past good calls alone, or None when there is none."""
    scope = f"env.domain == {literal(blame.domain)} && " if blame.domain else ""
    for reading, condition in _conditions(blame, scope, past):
        if len(scope + condition) <= MAX_CONDITION and past.hit(scope + condition) == []:
            message = f"This call failed before: {_said(blame)}. Check it before you call again."
            return Correction(blame.tool, scope + condition, message, reading)
    return None


def _said(blame: Blame) -> str:
    return ": ".join(part for part in (blame.sentence.strip(" :."), blame.identifier) if part)[:400]


def _conditions(blame: Blame, scope: str, past: Past) -> Iterator[tuple[str, str]]:
    """Candidates in the order in which a person would try them."""
    for reading, candidates in (
        ("word", _words),
        ("value", _values),
        ("amount", _amounts),
        ("phrase", _phrases),
        ("argument", _arguments),
        ("opening", _openings),
    ):
        found = list(candidates(blame))
        if reading != "word" or not any(past.returned(word) for _, word in _spelled(blame)):
            yield from ((reading, condition) for condition in found)
        if found and reading != "opening":
            for clause in _other_arguments(blame.args, past.hit(scope + found[0]) or [], past):
                yield f"{reading}, narrowed", f"{found[0]} && {clause}"
            break
    yield "same call", " && ".join(_same(arguments(blame.args)))


# --- what the label blames -----------------------------------------------------------------------


def _words(blame: Blame) -> Iterator[str]:
    """The identifier is a word of a text argument."""
    yield from (place(leaf.path, has_word(word)) for leaf, word in _spelled(blame))


def _spelled(blame: Blame) -> list[tuple[Leaf, str]]:
    """Where the call spells the identifier, or else its last dotted part; at most one place."""
    texts = [leaf for leaf in leaves(blame.args) if isinstance(leaf.value, str)]
    for word in (blame.identifier, blame.identifier.rsplit(".", 1)[-1]):
        holding = [leaf for leaf in texts if word and _holds(str(leaf.value), word)]
        if holding:
            return [(holding[0], word)]
    return []


def _holds(text: str, word: str) -> bool:
    before = r"\b" if re.match(r"\w", word) else ""
    after = r"\b" if re.search(r"\w\Z", word) else ""
    return re.search(before + re.escape(word) + after, text, re.I) is not None


def _values(blame: Blame) -> Iterator[str]:
    """Codes of the sentence (names with digits, dates, ids) that are values of one element of the input."""
    said = set(_CODE.findall(blame.said))
    named = [leaf for leaf in leaves(blame.args) if isinstance(leaf.value, str) and _is_code(leaf, said)]
    if not named:
        return
    owner = Counter(leaf.container for leaf in named).most_common(1)[0][0]
    whole = [leaf for leaf in leaves(blame.args) if leaf.container == owner and owner]
    texts = [leaf for leaf in whole if isinstance(leaf.value, str)]
    for chosen in (texts or [leaf for leaf in named if leaf.container == owner], whole):
        if chosen:
            yield _element(chosen, len(owner))


def _is_code(leaf: Leaf, said: set[str]) -> bool:
    return leaf.value in said and any(char.isdigit() for char in str(leaf.value))


def _element(named: Sequence[Leaf], depth: int) -> str:
    """All of these leaves stand in the same element."""

    def test(owner: str) -> str:
        return " && ".join(place(leaf.path[depth:], equals(leaf.value), owner) for leaf in named)

    return place(named[0].path[:depth], test)


def _amounts(blame: Blame) -> Iterator[str]:
    """Of two numbers in the sentence one is an amount of the input and the other is not: it should have been.

    An amount is a number of the input, or the sum of one over the elements of a list.
    """
    said = list(dict.fromkeys(float(number) for number in _NUMBER.findall(blame.said)))
    amounts = list(_sums(blame.args))
    given = {total for _, total, _ in amounts}
    wanted = [number for number in said if number not in given]
    for path, total, text in amounts:
        if total in said and len(wanted) == 1:
            others = {other: value for other, value in arguments(blame.args).items() if other != path}
            things = {other: value for other, value in others.items() if isinstance(value, list)}
            for same in (things, others):
                yield " && ".join([*_same(same), f"{text} != {literal(wanted[0])}"])


def _sums(args: dict[str, Any]) -> Iterator[tuple[Place, float, str]]:
    """The argument, its amount, and the amount in CEL."""
    for path, value in arguments(args).items():
        where = place(path, str)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield path, float(value), f"double({where})"
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield from ((path, *amount) for amount in _list_sums(value, where))


def _list_sums(items: list[dict[str, Any]], where: str) -> Iterator[tuple[float, str]]:
    for name, sample in items[0].items():
        numbers = [item.get(name) for item in items]
        if isinstance(sample, bool) or not all(isinstance(number, int | float) for number in numbers):
            continue
        terms = (
            f"({where}.size() > {at} ? double({field(f'{where}[{at}]', name)}) : 0.0)"
            for at in range(max(3, len(numbers)))
        )
        yield float(sum(number or 0 for number in numbers)), "(" + " + ".join(terms) + ")"


def _phrases(blame: Blame) -> Iterator[str]:
    """Words of the sentence that a short value is made of: "gift card" and ``gift_card_123``."""
    words = [word.lower() for word in re.findall(r"[A-Za-z]+", blame.said)]
    best: tuple[int, Leaf | None, str] = (0, None, "")
    for leaf in leaves(blame.args):
        if not isinstance(leaf.value, str) or len(leaf.value) > MAX_SHORT or " " in leaf.value:
            continue
        length, text = _shared(leaf.value, words)
        if length > best[0]:
            best = (length, leaf, text)
    _, blamed, phrase = best
    if blamed is not None:
        verb = "startsWith" if str(blamed.value).startswith(phrase) else "contains"
        yield place(blamed.path, lambda where: f"{where}.{verb}({literal(phrase)})")


def _shared(value: str, words: list[str]) -> tuple[int, str]:
    """The longest run of parts of ``value`` that stands in ``words`` in the same order."""
    parts = list(_PART.finditer(value))
    best = (0, "")
    for first in range(len(parts)):
        for last in range(first, len(parts)):
            run = [part.group().lower() for part in parts[first : last + 1]]
            text = value[parts[first].start() : parts[last].end()]
            spoken = any(words[at : at + len(run)] == run for at in range(len(words)))
            if spoken and (len(run) > 1 or len(text) >= MIN_WORD) and len(text) > best[0]:
                best = (len(text), text)
    return best


def _arguments(blame: Blame) -> Iterator[str]:
    """The sentence speaks of an argument by its name."""
    words = {word.lower() for word in re.findall(r"[A-Za-z]+", blame.said)}
    for path, value in arguments(blame.args).items():
        first = _PART.search(str(path[-1]))
        if first is not None and len(first.group()) >= MIN_WORD and first.group().lower() in words:
            yield place(path, equals(value))


def _openings(blame: Blame) -> Iterator[str]:
    """Nothing is blamed: the way the longest text begins, then the very same text."""
    texts = [leaf for leaf in leaves(blame.args) if isinstance(leaf.value, str) and " " in leaf.value]
    if texts:
        longest = max(texts, key=lambda leaf: len(str(leaf.value)))
        opening = str(longest.value).split(" ", 1)[0] + " "
        yield place(longest.path, lambda where: f"{where}.startsWith({literal(opening)})")


# --- narrowing after a look at the backtest ------------------------------------------------------


def text_words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def _other_arguments(args: dict[str, Any], hit: list[dict[str, Any]], past: Past) -> Iterator[str]:
    """An argument whose value none of these good calls shares; values that are common elsewhere first."""
    telling = [
        (path, value)
        for path, value in arguments(args).items()
        if isinstance(value, str | int | float | bool) and not (isinstance(value, str) and " " in value)
        if hit and all(value_at(other, path) != value for other in hit)
    ]
    telling.sort(key=lambda item: (any(char.isdigit() for char in str(item[1])), -past.count(*item)))
    yield from (place(path, equals(value)) for path, value in telling)


def _same(part: dict[Place, Any]) -> list[str]:
    return [place(path, equals(value)) for path, value in part.items()] or ["true"]
