"""The safe subset of regular expressions against RE2, the CEL runtime's engine."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hgmem.rules import Condition, EvaluationFailure, parse_context
from hgmem.rules.regexes import required_literal, simple_pattern

PIECES = [
    "a",
    "b",
    "é",
    "北",
    "1",
    " ",
    ".",
    "^",
    "$",
    "|",
    "(",
    ")",
    "(?:",
    "*",
    "+",
    "?",
    "{2}",
    "{1,3}",
    "{,2}",
]
PIECES += [
    "[ab]",
    "[^a]",
    "[a-c1]",
    "[é-ü]",
    "[]",
    "[a-]",
    "\\d",
    "\\w",
    "\\s",
    "\\b",
    "\\.",
    "\\-",
    "-",
    "[\\d.]",
    "\\D",
    "(?i)",
]
SUBJECTS = st.text(alphabet="ab1 é北.-\n_\x0b٣ü^$\\", max_size=8)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), SUBJECTS)
def test_simple_pattern__any_pattern_of_the_subset__searches_like_re2(pattern: str, text: str) -> None:
    compiled = simple_pattern(pattern)
    quoted = pattern.replace("\\", "\\\\")
    condition = Condition.compile(f'input.s.matches("{quoted}")')

    expected = condition.evaluate_in_runtime(parse_context({"input": {"s": text}}))

    if compiled is not None:
        assert not isinstance(expected, EvaluationFailure)
        assert (compiled.search(text) is not None) is expected
        literal = required_literal(pattern)
        if expected and literal is not None:
            kind, part = literal
            assert text.startswith(part) if kind == "prefix" else part in text


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(a+)+$", id="repeat of a repeat"),
        pytest.param("(a|aa)*$", id="alternatives under a repeat"),
        pytest.param("a*a*a*b", id="several open repeats"),
        pytest.param("(a|b)(a|b)", id="several groups with alternatives"),
        pytest.param("a?a?a?a?b", id="many optionals"),
        pytest.param("(?i)a", id="a flag"),
        pytest.param("(?P<n>a)", id="a named group"),
        pytest.param("[[:alpha:]]", id="a POSIX class"),
        pytest.param("(", id="broken"),
        pytest.param("[z-a]", id="an empty range"),
        pytest.param("a\\1", id="a back reference"),
    ],
)
def test_simple_pattern__outside_the_subset__is_left_to_re2(pattern: str) -> None:
    assert simple_pattern(pattern) is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "a*a*a*a*b", "(a|aa)+$"])
def test_matches__pattern_that_explodes_elsewhere__answers_at_once(pattern: str) -> None:
    condition = Condition.compile(f"input.s.matches('{pattern}')")
    started = time.monotonic()

    assert condition.evaluate({"input": {"s": "a" * 50_000 + "!"}}) is False
    assert time.monotonic() - started < 2
