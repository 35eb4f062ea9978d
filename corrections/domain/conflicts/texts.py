"""Texts as solver terms, and tests of a trimmed or case-folded text against a constant.

``trim``, ``lowerAscii`` and ``upperAscii`` are not functions of the solver. A test of their value
against a constant is a regular expression over the text itself, which is exact.
"""

from dataclasses import dataclass
from typing import Any, Final

import z3

from hgmem.rules.operators import _WHITE_SPACE as WHITE_SPACE

LARGEST_CHARACTER: Final = 0x2FFFF
"""The solver's characters end here (SMT-LIB); a constant beyond is left open."""

_SORT = z3.ReSort(z3.StringSort())


class UnsupportedError(Exception):
    """The solver has no word for this; the text says what it was."""


@dataclass(frozen=True)
class Text:
    """A text: a term, and the functions applied to it in order (``trim``, ``lowerAscii``, ``upperAscii``)."""

    term: Any
    done: tuple[str, ...] = ()


AnyText = str | Text


def constant(text: str) -> Any:
    """A constant as a term.

    Raises:
        UnsupportedError: it holds a character the solver does not know.
    """
    out = []
    for character in text:
        code = ord(character)
        if code > LARGEST_CHARACTER:
            raise UnsupportedError(f"the character U+{code:X}")
        out.append(character if 32 <= code < 127 and character != "\\" else f"\\u{{{code:x}}}")
    return z3.StringVal("".join(out))


def literal(text: str) -> Any:
    """The language of one text."""
    return z3.Re(constant(text))


def anything() -> Any:
    """The language of all texts."""
    return z3.Full(_SORT)


def nothing() -> Any:
    """The empty language."""
    return z3.Empty(_SORT)


def joined(*parts: Any) -> Any:
    """One language after the other."""
    return parts[0] if len(parts) == 1 else z3.Concat(*parts)


def one_of(characters: str) -> Any:
    """The language of single characters."""
    parts = [literal(character) for character in characters]
    return parts[0] if len(parts) == 1 else z3.Union(*parts)


_TESTS: Final = {
    "_==_": lambda term, other: term == other,
    "startsWith": lambda term, other: z3.PrefixOf(other, term),
    "endsWith": lambda term, other: z3.SuffixOf(other, term),
    "contains": z3.Contains,
}
_CONSTANT_TESTS: Final = {
    "_==_": lambda text, other: text == other,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, other: other in text,
}


def text_test(test: str, text: AnyText, other: AnyText) -> Any:
    """``_==_``, ``startsWith``, ``endsWith`` or ``contains`` as a formula.

    Raises:
        UnsupportedError: both sides are computed, or a character is unknown.
    """
    if isinstance(text, str) and isinstance(other, str):
        return _CONSTANT_TESTS[test](text, other)
    if isinstance(text, str) and test == "_==_":
        text, other = other, text
    if isinstance(text, Text) and text.done:
        if isinstance(other, str):
            return z3.InRe(text.term, _preimage(test, other, text.done))
        if text == other and test == "_==_":
            return True
    return _TESTS[test](plain(text), plain(other))  # type: ignore[no-untyped-call]


def plain(text: AnyText) -> Any:
    """A text as a term.

    Raises:
        UnsupportedError: it is trimmed or folded.
    """
    if isinstance(text, str):
        return constant(text)
    if text.done:
        raise UnsupportedError(f"{text.done[-1]}() compared with another value")
    return text.term


def applied(function: str, text: AnyText) -> AnyText:
    """``trim``, ``lowerAscii`` or ``upperAscii`` of a text."""
    if isinstance(text, Text):
        return Text(text.term, (*text.done, function))
    if function == "trim":
        return text.strip(WHITE_SPACE)
    return "".join(_folded(function, character) for character in text)


def _folded(function: str, character: str) -> str:
    if not character.isascii():
        return character
    return character.lower() if function == "lowerAscii" else character.upper()


def in_language(text: AnyText, language: Any) -> Any:
    """The text lies in a language.

    Raises:
        UnsupportedError: it is trimmed or folded.
    """
    return z3.InRe(plain(text), language)


def _preimage(test: str, wanted: str, done: tuple[str, ...]) -> Any:
    """The texts that pass a test once the functions have been applied to them."""
    folds = [function for function in done if function != "trim"]
    core = [_unfolded(character, folds) for character in wanted]
    if any(piece is None for piece in core):
        return nothing()
    middle = joined(*core) if core else literal("")
    if "trim" not in done:
        return _around(test, middle)
    space = one_of(WHITE_SPACE)
    edge_ok = z3.Union(
        literal(""),
        z3.Intersect(
            z3.Complement(joined(space, anything())),
            z3.Complement(joined(anything(), space)),
        ),
    )
    trimmed = z3.Intersect(_around(test, middle), edge_ok) if test != "_==_" else middle
    if test == "_==_" and wanted != wanted.strip(WHITE_SPACE):
        return nothing()
    return joined(z3.Star(space), trimmed, z3.Star(space))


def _around(test: str, middle: Any) -> Any:
    if test == "_==_":
        return middle
    if test == "startsWith":
        return joined(middle, anything())
    if test == "endsWith":
        return joined(anything(), middle)
    return joined(anything(), middle, anything())


def _unfolded(character: str, folds: list[str]) -> Any:
    """The characters that become this one."""
    if not folds or not (character.isascii() and character.isalpha()):
        return literal(character)
    if _folded(folds[-1], character) != character:
        return None
    return one_of(character.lower() + character.upper())
