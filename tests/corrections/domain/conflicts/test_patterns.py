"""Patterns as regular languages, against the real engine."""

import itertools

import pytest
import z3

from corrections.domain.conflicts.patterns import glob_language, searched
from corrections.domain.conflicts.samples import sample_of
from corrections.domain.conflicts.texts import UnsupportedError, constant
from hgmem.rules import Condition
from hgmem.rules.scope import matches_glob

PATTERNS = (
    "a", "^a", "b$", "^order-[0-9]+$", r"\d+", "a.b", "[^a-c]", "(ab|cd)", "(a|b)*c", "x{2,3}", "^é", "^a|b$",
    r"\w+-\w{3}", "a?b+$",
    r"[A-Z]{2}\.$", r"(?i)ab", r"(?i)\bks\b", r"\bab\b", r"\ba", r"a\b", r"^\bab", r"b\b$",
    r"a\b-\bb", r"a\W+b\b", r"(?i)\bselect\W+s\b", r"\b(?:a|b)c?\b", r"(?i)[^k]b", r"\b\W+a",
    r"\ba*b\b", r"a\bb",
    r"\b[-a]{1,2}\b", r"(?i)\w\W",
)  # fmt: skip
TEXTS = (
    "", "order-17", "cd", "axxxb", "é1", "b\n", "a\nb", "zzz-abc", "AB.", "SELECT  S", "select s,",
    "selects s",
    "KS", "xks", "\u212a\u017f", " \u212as", "k\u017f b", "\u017f b", "a--b", "a-b",
    "-a-", "a -b ab", "aab", "ac bc",
    *("".join(some) for some in itertools.product("ab -", repeat=2)),
)  # fmt: skip


def _found(pattern: str, text: str) -> bool:
    holds = z3.simplify(z3.InRe(constant(text), searched(pattern)))
    solver = z3.Solver()
    solver.add(holds)
    return solver.check() == z3.sat


@pytest.mark.parametrize("pattern", PATTERNS)
def test_searched__every_text__agrees_with_the_engine(pattern: str) -> None:
    escaped = pattern.replace("\\", "\\\\")
    condition = Condition.compile(f'input.t.matches("{escaped}")')

    wrong = [
        text for text in TEXTS if _found(pattern, text) is not condition.evaluate({"input": {"t": text}})
    ]

    assert not wrong


@pytest.mark.parametrize(
    "pattern", ["(?m)^a", r"\pL", "[[:alpha:]]", "(?i)é", r"(ab\b)*", "a^b", r"\Qa", "a{,2}"]
)
def test_searched__what_the_solver_has_no_word_for__is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError):
        searched(pattern)


@pytest.mark.parametrize("pattern", ["(?i)\\bselect\\W+name\\b", "^[A-C]{3}-[0-9]+$", "(ab|cd)x?", "[^a]+"])
def test_sample__a_usual_pattern__fits(pattern: str) -> None:
    escaped = pattern.replace("\\", "\\\\")

    assert Condition.compile(f'input.t.matches("{escaped}")').evaluate({"input": {"t": sample_of(pattern)}})


@pytest.mark.parametrize(
    ("glob", "text"), [("a*", "abc"), ("a?c", "abc"), ("a?c", "ac"), ("*", ""), ("x", "xy")]
)
def test_glob__a_text__agrees_with_the_engine(glob: str, text: str) -> None:
    solver = z3.Solver()
    solver.add(z3.InRe(constant(text), glob_language(glob)))

    assert (solver.check() == z3.sat) is matches_glob(glob, text)
