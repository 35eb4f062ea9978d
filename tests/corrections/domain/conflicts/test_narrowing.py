"""Narrowed and merged conditions, checked by the solver."""

import pytest

from corrections.domain.conflicts import Part, Question, Setting, merged, narrowed
from corrections.domain.conflicts.answering import Solving
from tests.corrections.domain.conflicts.rules import NOW, make_hint

ANYWHERE = Setting("before", NOW)


@pytest.fixture(scope="module")
def solving() -> Solving:
    return Solving(timeout_ms=2_000)


def _impossible(solving: Solving, *parts: Part) -> bool:
    return solving.ask(Question(tuple(parts), ANYWHERE)).outcome == "no"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(
            "input.c == null", "input.d == 'x'", 'input.c == null && !(input.d == "x")', id="equality"
        ),
        pytest.param(
            "input.q.contains('x')",
            "input.q.contains('x') && input.q.contains('y')",
            "input.q.contains('x') && !(input.q.contains(\"y\"))",
            id="what both say is left out, a text is known to be one",
        ),
        pytest.param(
            "input.a == 1",
            "input.t.trim() == ''",
            'input.a == 1 && !(type(input.t) == string && input.t.trim() == "")',
            id="a guard",
        ),
        pytest.param("input.a == 1 || input.b == 2", "input.a == 1", None, id="alternatives"),
        pytest.param("true", "!(input.a.b.startsWith('x'))", None, id="a negation below a field"),
        pytest.param("input.a == 1", "'x' in task.tags && size(input.l) > 2", None, id="membership and size"),
        pytest.param("input.a == 1", "input.n > 2 || input.n < 0.5", None, id="bounds"),
        pytest.param("input.b == 2", "has(input.a.b)", None, id="presence"),
        pytest.param("input.b == 2", "input.flag", None, id="a flag"),
    ],
)
def test_narrowed__two_conditions__is_a_without_b_and_never_fails(
    solving: Solving, one: str, other: str, expected: str | None
) -> None:
    narrow = narrowed(one, other)

    assert narrow is not None
    assert expected in (None, narrow)
    assert _impossible(solving, Part(narrow), Part(other))
    assert _impossible(solving, Part(narrow), Part(one, "not_true"))
    assert _impossible(solving, Part(one), Part(other, "not_true"), Part(narrow, "not_true"))
    assert _impossible(solving, Part(one), Part(narrow, "error"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("input.a == 1", "input.a == 1", id="nothing left"),
        pytest.param("input.a == 1 && input.b == 2", "input.a == 1", id="inside the other"),
        pytest.param("input.a == 1", "input.l.exists(x, x == 1)", id="a loop"),
        pytest.param("input.a == 1", "input.x + 1 == 2", id="arithmetic"),
    ],
)
def test_narrowed__nothing_to_offer__is_none(one: str, other: str) -> None:
    assert narrowed(one, other) is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(
            "input.a == 'x' && input.b == 'y'",
            "input.a == 'x' && input.b == 'z'",
            'input.a == "x" && input.b in ["y", "z"]',
            id="shared part, values as a list",
        ),
        pytest.param(
            "input.a == 'x'", "input.a == 'x' && input.b == 1", 'input.a == "x"', id="the wider one"
        ),
        pytest.param("input.a == 1", "input.b > 2", "(input.a == 1 || input.b > 2)", id="nothing shared"),
        pytest.param("", "input.b > 2", "true", id="always"),
        pytest.param(
            "input.a.filter(x, x == 1).size() > 0",
            "input.b > 2",
            "(input.a.filter(x, x == 1).size() > 0) || (input.b > 2)",
            id="macros stay as written",
        ),
    ],
)
def test_merged__two_rules__is_true_where_either_is(
    solving: Solving, one: str, other: str, expected: str
) -> None:
    both = merged(make_hint("a", one), make_hint("b", other))

    assert both == expected
    if "filter" not in both:
        assert _impossible(solving, Part(both), Part(one, "not_true"), Part(other, "not_true"))
        assert _impossible(solving, Part(one), Part(both, "not_true"))
        assert _impossible(solving, Part(other), Part(both, "not_true"))
