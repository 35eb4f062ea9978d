"""What a goal text offers as an argument's value: typed tokens, each with the words around it.

Nothing here knows a language beyond the spelling of dates; a name that a text spells out ("Los Angeles") and
a value that calls spell short ("LAX") meet through aliases that were learnt elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple

MAX_GOAL = 20_000
MAX_TOKENS = 2_000
NEAR_WORDS = 4
_WINDOW = 120

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = re.compile(
    rf"(?i)\b(?P<m1>{_MONTH})\.?\s+(?P<d1>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+(?:in\s+)?(?P<y1>[0-9]{{4}})\b"
    rf"|\b(?P<d2>[0-9]{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})\.?,?\s+(?P<y2>[0-9]{{4}})\b"
    r"|\b(?P<y3>[0-9]{4})[-/](?P<m3>[0-9]{1,2})[-/](?P<d3>[0-9]{1,2})\b"
    r"|(?P<y4>[0-9]{4})\s*年\s*(?P<m4>[0-9]{1,2})\s*月\s*(?P<d4>[0-9]{1,2})\s*日"
)
_QUOTED = re.compile(
    "|".join(
        [
            rf"(?<!\w){quote}([^{quote}\n]{{1,2000}}?(?:{quote}(?=\w)[^{quote}\n]{{1,500}}?){{0,3}}){quote}(?!\w)"
            for quote in "'\"`"
        ]
        + [rf"{one}([^{other}\n]{{1,2000}}){other}" for one, other in ("‘’", "“”", "「」", "『』", "《》")]
    )
)
_NUMBER = re.compile(
    r"(?<![\w.])-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?!\w)|(?<![\w.-])-?[0-9]+(?:\.[0-9]+)?(?!\w)"
)
_HASHED = re.compile(r"(?<!\w)[#@][\w-]+")
_WORD = re.compile(r"[^\W_](?:[\w.@/-]*\w)?")
_CODE = re.compile(r"(?=.*[0-9])|.*[_@]|.*\w\.\w")
_CAPITALS = re.compile(r"\b[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,3}")
_NEAR = re.compile(r"\w+|[#@$€£¥:=]")


class Token(NamedTuple):
    """Something a goal says. ``shape`` is how it is written, ``start`` and ``end`` where it stands."""

    shape: str
    value: str | int | float
    start: int
    end: int


def tokens(goal: str) -> list[Token]:
    """Every token of the text's first 20,000 characters, 2,000 at most."""
    goal = goal[:MAX_GOAL]
    return [*_dates(goal), *_quoted(goal), *_numbers(goal), *_words(goal)][:MAX_TOKENS]


def phrases(goal: str) -> set[str]:
    """The names a text spells out, in lower case: runs of one to four capitalised words, and words of a
    script without capitals."""
    found: set[str] = set()
    for match in _CAPITALS.finditer(goal[:MAX_GOAL]):
        words = match.group().split()
        for size in range(1, len(words) + 1):
            found.update(" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
    found.update(match.group() for match in _WORD.finditer(goal[:MAX_GOAL]))
    return {phrase.casefold() for phrase in found if len(phrase) > 1 and not phrase.islower()}


def near(goal: str, token: Token) -> Iterator[str]:
    """What stands around a token: its four nearest words on each side, the closest once more as such."""
    before = _NEAR.findall(goal[max(0, token.start - _WINDOW) : token.start].casefold())[::-1]
    after = _NEAR.findall(goal[token.end : token.end + _WINDOW].casefold())
    for side, words in (("<", before), (">", after)):
        yield f"{side}1{words[0] if words else '.'}"
        yield from (f"{side}{word}" for word in words[:NEAR_WORDS])


def _dates(goal: str) -> Iterator[Token]:
    for match in _DATES.finditer(goal):
        year, month, day = (
            next(match[f"{part}{form}"] for form in "1234" if match[f"{part}{form}"]) for part in "ymd"
        )
        try:
            said = date(int(year), _MONTHS.get(month.casefold()) or int(month), int(day))
        except ValueError:
            continue
        yield Token("date", said.isoformat(), match.start(), match.end())


def _quoted(goal: str) -> Iterator[Token]:
    for match in _QUOTED.finditer(goal):
        said = next(group for group in match.groups() if group is not None)
        yield Token("quoted", said, match.start(), match.end())


def _numbers(goal: str) -> Iterator[Token]:
    for match in _NUMBER.finditer(goal):
        plain = match.group().replace(",", "")
        number = float(plain) if "." in plain else int(plain)
        yield Token("number", number, match.start(), match.end())


def _words(goal: str) -> Iterator[Token]:
    for match in _HASHED.finditer(goal):
        yield Token("tag", match.group(), match.start(), match.end())
    for match in _WORD.finditer(goal):
        text = match.group()
        shape = "code" if _CODE.match(text) else "capitals" if text.isupper() and len(text) > 1 else "word"
        yield Token(shape, text, match.start(), match.end())
        if "-" in text and shape == "word":
            yield from _pieces(match)
    for match in _CAPITALS.finditer(goal):
        if " " in match.group():
            yield Token("name", match.group(), match.start(), match.end())


def _pieces(match: re.Match[str]) -> Iterator[Token]:
    for piece in re.finditer(r"[^-]+", match.group()):
        yield Token("word", piece.group(), match.start() + piece.start(), match.start() + piece.end())


def aliased_tokens(goal: str, aliases: Mapping[str, Iterable[str]]) -> Iterator[Token]:
    """A token for every value that a phrase of the text stands for; ``aliases`` has phrases in lower case."""
    folded = goal.casefold()
    if len(folded) != len(goal):
        return
    for phrase, values in aliases.items():
        if phrase not in folded:
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", folded):
            for value in values:
                yield Token("alias", value, match.start(), match.end())
