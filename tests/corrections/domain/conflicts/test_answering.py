"""What the solver proves, finds and admits not to know, one condition language feature after the other."""

from datetime import UTC, datetime, timedelta

import pytest

from corrections.domain.conflicts import Part, Question, Setting
from corrections.domain.conflicts.answering import Solving

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTING = Setting("before", NOW, ("search",), "search")


@pytest.fixture(scope="module")
def solving() -> Solving:
    return Solving(timeout_ms=1_000)


def _ask(solving: Solving, *parts: Part, setting: Setting = SETTING, **more: str) -> str:
    return solving.ask(Question(tuple(parts), setting, **more)).outcome


@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [
        pytest.param("input.c == 'a'", "input.c == 'b'", "no", id="two constants"),
        pytest.param("input.c == 'a'", "input.c.startsWith('a')", "yes", id="constant and its prefix"),
        pytest.param("input.c == 'b'", "input.c.startsWith('a')", "no", id="constant and another prefix"),
        pytest.param("input.c == null", "has(input.c)", "yes", id="an explicit null is there"),
        pytest.param("input.c != null", "!has(input.c)", "no", id="missing reads as null"),
        pytest.param("input.a.b == 1", "input.a == null", "no", id="a field of null is null"),
        pytest.param("input.a.b == null", "input.a == 'x'", "no", id="a text has no fields"),
        pytest.param("input.n == 1", "input.n == 1.0", "yes", id="int equals double"),
        pytest.param("input.n == 1", "input.n == true", "no", id="a bool is no number"),
        pytest.param("input.n > 5 && input.n < 6", "type(input.n) == int", "no", id="no integer between"),
        pytest.param("input.n > 5 && input.n < 6", "type(input.n) == double", "yes", id="a double between"),
        pytest.param("input.n > 5", "input.n.contains('x')", "no", id="number or text"),
        pytest.param("input.n + 1 > 0", "input.n > 9223372036854775806", "no", id="overflow is an error"),
        pytest.param("input.n >= 5u", "input.n < 6", "yes", id="unsigned literals"),
        pytest.param("input.c.trim() == 'a'", "input.c == ' a '", "yes", id="trim takes the ends"),
        pytest.param("input.c.trim() == 'a '", "true", "no", id="a trimmed text ends in no space"),
        pytest.param("input.c.trim().startsWith('a')", "input.c == '\\t b'", "no", id="trimmed prefix"),
        pytest.param("input.c.lowerAscii() == 'ab'", "input.c == 'aB'", "yes", id="lower folds"),
        pytest.param("input.c.lowerAscii() == 'aB'", "true", "no", id="lower leaves no capital"),
        pytest.param("input.c.upperAscii().contains('É')", "input.c == 'é'", "no", id="only ASCII folds"),
        pytest.param("size(input.c) == 1", "input.c == '😀'", "yes", id="size counts code points"),
        pytest.param("size(input.c) < 2", "input.c.startsWith('ab')", "no", id="too short for its prefix"),
        pytest.param("input.c.matches('^[a-c]+$')", "input.c.contains('d')", "no", id="a class"),
        pytest.param("input.c.matches('b+$')", "input.c.startsWith('a')", "yes", id="a pattern searches"),
        pytest.param("input.c.matches('^a|b$')", "input.c == 'xb'", "yes", id="anchors"),
        pytest.param("input.c in ['a', 'b']", "input.c in ['b', 'c']", "yes", id="lists that share one"),
        pytest.param("input.c in ['a', 1]", "input.c in ['b', 1.0]", "yes", id="mixed lists share a number"),
        pytest.param("input.c in ['a', 'b']", "!(input.c in ['a', 'b', 'c'])", "no", id="part of a list"),
        pytest.param("'x' in input.l", "size(input.l) == 0", "no", id="an empty list holds nothing"),
        pytest.param("'x' in input.l", "input.l == ['y']", "no", id="a list that is known"),
        pytest.param("'x' in input.m", "input.m.x == 1", "yes", id="a key of an object"),
        pytest.param("'x' in input.l", "input.l == null", "no", id="in null is an error"),
        pytest.param("task.tags.all(t, t == 'x')", "'y' in task.tags", "unknown", id="long lists stay open"),
        pytest.param(
            "task.tags.all(t, t == 'x') && size(task.tags) < 4", "'y' in task.tags", "no", id="all, bounded"
        ),
        pytest.param("input.l.exists(t, t > 3)", "size(input.l) == 1 && input.l[0] == 2", "no", id="exists"),
        pytest.param("history.exists(h, h.tool == 'a')", "history[0].tool == 'b'", "yes", id="history"),
        pytest.param("history.exists(h, h.tool == 'a')", "size(history) == 0", "no", id="no history"),
        pytest.param("input.x == 1 || input.t.trim() == ''", "input.t == null", "yes", id="true absorbs"),
        pytest.param(
            "!(input.x == 1 && input.t > 5)", "input.x == 2 && input.t == null",
            "yes", id="so does false",
        ),
        pytest.param("!(input.t > 5)", "input.t == null", "no", id="an error is no false"),
        pytest.param("input.a ? input.b == 1 : input.b == 2", "input.b == 2 && input.a", "no", id="choice"),
        pytest.param(
            "now < timestamp('2025-01-01T00:00:00Z')",
            "now > timestamp('2025-06-01T00:00:00Z')",
            "no",
            id="times",
        ),
        pytest.param("task.goal > 5", "true", "no", id="a goal is text or null"),
        pytest.param("input.c.split('-').size() > 2", "input.c == 'a'", "unknown", id="no word for split"),
    ],
)  # fmt: skip
def test_pair__one_feature__is_decided(solving: Solving, one: str, other: str, outcome: str) -> None:
    assert _ask(solving, Part(one), Part(other)) == outcome


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        pytest.param("input.c.trim() == ''", "yes", id="null has no trim"),
        pytest.param("type(input.c) == string && input.c.trim() == ''", "no", id="guarded by type"),
        pytest.param("input.c == 'a' && input.d in ['a', 1]", "no", id="equality never fails"),
        pytest.param("input.n != null && input.n > 5", "yes", id="a text passes the null guard"),
        pytest.param("input.a.b == 1", "yes", id="a text on the way"),
        pytest.param("task.goal != null && task.goal.contains('x')", "no", id="a goal is text"),
    ],
)
def test_error__one_condition__is_found_or_excluded(solving: Solving, condition: str, outcome: str) -> None:
    assert _ask(solving, Part(condition, "error")) == outcome


@pytest.mark.parametrize(
    ("narrow", "wide", "implied"),
    [
        pytest.param("input.n > 6", "input.n > 5", True, id="bounds"),
        pytest.param("input.c.startsWith('abc')", "input.c.startsWith('ab')", True, id="prefixes"),
        pytest.param("input.c == ' '", "input.c == null || input.c.trim() == ''", True, id="blank"),
        pytest.param("input.c.startsWith('ab')", "input.c.startsWith('abc')", False, id="the other way"),
        pytest.param("input.n >= 5", "!(input.n < 5)", True, id="complements"),
        pytest.param("!(input.n < 5)", "input.n >= 5", None, id="only what is no number tells them apart"),
    ],
)
def test_implication__two_conditions__is_decided(
    solving: Solving, narrow: str, wide: str, implied: bool | None
) -> None:
    outcome = _ask(solving, Part(narrow), Part(wide, "not_true"))

    assert {"no": True, "yes": False, "unknown": None}[outcome] is implied


def test_witness__a_schema__is_obeyed_where_it_can_be(solving: Solving) -> None:
    schema = '{"properties": {"n": {"type": "integer", "minimum": 10}}, "required": ["n"]}'

    kept = solving.ask(Question((Part("input.n > 5"),), SETTING, schema=schema))
    broken = solving.ask(Question((Part("input.n == null"),), SETTING, schema=schema))

    assert kept.witness is not None
    assert kept.witness["input"]["n"] >= 10
    assert kept.obeys_schema
    assert broken.outcome == "yes"
    assert not broken.obeys_schema


def test_witness__a_setting__is_filled_in(solving: Solving) -> None:
    setting = Setting("before", NOW, ("search",), "search", "1.2", ("batch",), "planner")

    answer = solving.ask(Question((Part("'x' in task.tags && tool.name.endsWith('ch')"),), setting))

    assert answer.witness is not None
    assert answer.witness["tool"] == {"name": "search", "version": "1.2"}
    assert answer.witness["task"]["agent"] == "planner"
    assert {"x", "batch"} <= set(answer.witness["task"]["tags"])


def test_moment__a_window__bounds_now(solving: Solving) -> None:
    setting = Setting("before", NOW, since=NOW, until=NOW + timedelta(days=1))

    late = Part("now > timestamp('2026-02-01T00:00:00Z')")
    soon = Part("now > timestamp('2026-01-01T10:00:00Z')")

    assert _ask(solving, late, setting=setting) == "no"
    answer = solving.ask(Question((soon,), setting))
    assert answer.moment is not None
    assert NOW + timedelta(hours=10) < answer.moment < NOW + timedelta(days=1)


def test_unknown__something_not_expressed__is_named(solving: Solving) -> None:
    answer = solving.ask(Question((Part("input.c.split('-').size() > 2"), Part("input.c == 'a'")), SETTING))

    assert answer.outcome == "unknown"
    assert "split()" in answer.reason


def test_unknown__a_condition_that_does_not_compile__is_no_crash(solving: Solving) -> None:
    assert _ask(solving, Part("input.c ==")) == "unknown"
