r"""Patterns with ``\b`` as regular languages: what is left of a position decides what may be right of it.

The text read so far is kept apart by its last character (a word character or not, or whatever) and by what a
``\b`` asks of the next one. Start and end of the text count as no word.
"""

from typing import Any, Final

import z3

from corrections.domain.conflicts.characters import OTHER, WORD, Ranges, common, language_of, ranges_of
from corrections.domain.conflicts.texts import UnsupportedError, anything, joined, literal

State = tuple[str, str]
"""Class of the last character ("word", "other" or "" when nobody asks), and class wanted of the next ("")."""
Read = dict[State, Any]

_CLASSES: Final[dict[str, Ranges]] = {"word": WORD, "other": OTHER}
_OPPOSITE: Final = {"word": "other", "other": "word"}
_CONSUMING: Final = frozenset(("LITERAL", "NOT_LITERAL", "ANY", "IN"))
_MAX_UNROLLED: Final = 20


def searched_with_boundaries(tokens: list[Any], *, fold: bool) -> Any:
    r"""The texts in which a pattern with ``\b`` is found; ``tokens`` as ``re``'s parser gives them.

    Raises:
        UnsupportedError: an anchor inside, or a repeated group.
    """
    start = bool(tokens) and _is(tokens[0], "AT_BEGINNING")
    end = len(tokens) > start and _is(tokens[-1], "AT_END")
    read: Read = {("other", ""): literal("")}
    if not start:
        read = {
            ("other", ""): z3.Option(joined(anything(), language_of(OTHER))),
            ("word", ""): joined(anything(), language_of(WORD)),
        }
    read = _sequence(read, tokens[start : len(tokens) - end], fold=fold)
    rest = {"": literal(""), "other": literal("")} if end else _rest()
    parts = [joined(text, rest[wanted]) for (_, wanted), text in read.items() if wanted in rest]
    if not parts:
        return z3.Empty(z3.ReSort(z3.StringSort()))
    return parts[0] if len(parts) == 1 else z3.Union(*parts)


def _rest() -> dict[str, Any]:
    return {
        "": anything(),
        "word": joined(language_of(WORD), anything()),
        "other": z3.Option(joined(language_of(OTHER), anything())),
    }


def _is(token: Any, which: str) -> bool:
    return str(token[0]) == "AT" and str(token[1]) == which


def _sequence(read: Read, tokens: Any, *, fold: bool) -> Read:
    items = list(tokens)
    for at, token in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        read = _token(read, token, is_asked=not _consumes(following), fold=fold)
    return read


def _consumes(token: Any) -> bool:
    """Whether a token certainly reads a character, so that nobody asks for the one before it."""
    if token is None:
        return False
    if str(token[0]) in ("MAX_REPEAT", "MIN_REPEAT"):
        return bool(token[1][0] > 0 and len(token[1][2]) == 1 and _consumes(token[1][2][0]))
    return str(token[0]) in _CONSUMING


def _token(read: Read, token: Any, *, is_asked: bool, fold: bool) -> Read:
    operator, argument = str(token[0]), token[1]
    if operator in _CONSUMING:
        return _character(read, ranges_of(token, fold=fold), is_asked=is_asked)
    if _is(token, "AT_BOUNDARY"):
        return _boundary(read)
    if operator == "SUBPATTERN":
        return _sequence(read, argument[3], fold=fold)
    if operator == "BRANCH":
        found: Read = {}
        for branch in argument[1]:
            for state, text in _sequence(read, branch, fold=fold).items():
                _add(found, state, text)
        return found
    if operator in ("MAX_REPEAT", "MIN_REPEAT"):
        return _repeat(read, argument, fold=fold)
    raise UnsupportedError(f"{operator.lower()} inside a pattern")


def _add(read: Read, state: State, text: Any) -> None:
    read[state] = z3.Union(read[state], text) if state in read else text


def _character(read: Read, characters: Ranges, *, is_asked: bool) -> Read:
    found: Read = {}
    for (_, wanted), text in read.items():
        fitting = common(characters, _CLASSES[wanted]) if wanted else characters
        for name, group in _CLASSES.items() if is_asked else (("", None),):
            some = common(fitting, group) if group is not None else fitting
            if some:
                _add(found, (name, ""), joined(text, language_of(some)))
    return found


def _boundary(read: Read) -> Read:
    found: Read = {}
    for (last, wanted), text in read.items():
        if not last:
            raise UnsupportedError("a boundary after a group")
        if wanted in ("", _OPPOSITE[last]):
            _add(found, (last, _OPPOSITE[last]), text)
    return found


def _repeat(read: Read, argument: Any, *, fold: bool) -> Read:
    low, high, body = argument
    token = body[0] if len(body) == 1 else None
    if token is None or str(token[0]) not in _CONSUMING:
        raise UnsupportedError("a repeated group beside a boundary")
    characters = ranges_of(token, fold=fold)
    is_open = str(high) == "MAXREPEAT"
    if low > _MAX_UNROLLED or (not is_open and high > _MAX_UNROLLED):
        raise UnsupportedError("a long repeat inside a pattern")
    found: Read = dict(read) if low == 0 else {}
    for count in range(1, (max(low, 1) if is_open else high) + 1):
        read = _character(read, characters, is_asked=True)
        if count >= low:
            for state, text in read.items():
                _add(found, state, text)
    if is_open:
        more = joined(z3.Star(language_of(characters)), literal(""))
        longer = {state: joined(text, more) for state, text in read.items()}
        for state, text in _character(longer, characters, is_asked=True).items():
            _add(found, state, text)
    return found
