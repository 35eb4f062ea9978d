"""A first condition for a pattern: from the calls themselves, tried on them before it is shown."""

from typing import Any

import pytest

from corrections.domain.drafting import NEVER, PatternWords, as_message, blank_rule, rule_from_pattern
from corrections.domain.suggesting import suggest_conditions
from hgmem.rules import Rule


def context(call_input: Any, domain: str = "") -> dict[str, Any]:
    """A recorded call."""
    return {"tool": "t", "input": call_input, "env": {"domain": domain} if domain else {}}


CASES = [
    pytest.param(
        "", "", [{"city": ""}, {"city": None}, {"city": "  "}], [{"city": "Paris"}, {"city": "Rome"}],
        "input.city == null || input.city.trim() == ''", id="blank-or-null",
    ),
    pytest.param(
        "city", "", [{"x": 1}, {"x": 2}], [{"city": "Paris", "x": 1}], "input.city == null", id="missing"
    ),
    pytest.param(
        "city", "", [{"city": ""}], [], "input.city == null || input.city.trim() == ''", id="given-but-empty"
    ),
    pytest.param(
        "colour", "", [{"a": 1, "colour": "red"}, {"a": 2, "colour": "blue"}], [{"a": 1}, {"a": 2}],
        "has(input.colour)", id="field-too-many",
    ),
    pytest.param(
        "world_1.countries", "world_1",
        [{"sql": "SELECT 1 FROM countries"}, {"sql": "DESCRIBE countries"}],
        [{"sql": "SELECT 1 FROM country"}],
        'env.domain == "world_1" && input.sql != null && input.sql.contains("countries")', id="word-in-text",
    ),
    pytest.param(
        "Users", "", [{"sql": "select * from USERS"}, {"sql": "use users"}], [{"sql": "select users_id"}],
        "input.sql != null && input.sql.matches('(?i)\\\\bUsers\\\\b')", id="word-in-any-case",
    ),
    pytest.param(
        "HAT030", "", [{"flights": [{"n": "HAT030"}]}, {"flights": [{"n": "X"}, {"n": "HAT030"}]}],
        [{"flights": [{"n": "HAT229"}]}], 'input.flights != null && input.flights.exists(x, x.n == "HAT030")',
        id="item-of-a-list",
    ),
    pytest.param(
        "b", "", [{"tags": ["a", "b"]}], [{"tags": ["a"]}],
        'input.tags != null && input.tags.exists(x, x == "b")', id="plain-item",
    ),
    pytest.param(
        "", "", [{"unit": "K"}, {"unit": "K"}], [{"unit": "C"}], 'input.unit == "K"', id="constant"
    ),
    pytest.param(
        "", "", [{"odd name": "K"}], [{"odd name": "C"}], 'input["odd name"] == "K"', id="odd-field-name"
    ),
    pytest.param("", "", [{"in": 3}], [{"in": 4}], 'input["in"] == 3', id="reserved-field-name"),
    pytest.param(
        "", "", [{"a": {"b": True}}], [{"a": {"b": False}}], "input.a.b == true", id="nested"
    ),
    pytest.param(
        'say "hi"', "", [{"q": 'say "hi" now'}], [{"q": "now"}],
        'input.q != null && input.q.contains("say \\"hi\\"")', id="quotes",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("identifier", "scope", "failing", "good", "condition"), CASES)
def test_suggestion__best_one__is_what_a_person_would_write(
    identifier: str, scope: str, failing: list[Any], good: list[Any], condition: str
) -> None:
    found = suggest_conditions(
        identifier=identifier,
        scope=scope,
        failing=[context(value, scope) for value in failing],
        good=[context(value, scope) for value in good],
    )

    assert found[0].condition == condition
    assert (found[0].failing_hit, found[0].good_hit) == (len(failing), 0)
    assert found[0].is_convincing


def test_suggestions__found_in_two_ways__are_listed_once() -> None:
    found = suggest_conditions(identifier="city", scope="", failing=[context({"city": ""})], good=[])

    conditions = [suggestion.condition for suggestion in found]
    assert len(conditions) == len(set(conditions))


@pytest.mark.parametrize(
    ("failing", "good"),
    [
        pytest.param([], [], id="no-calls"),
        pytest.param([{"a": 1}], [{"a": 1}], id="the-same-call-was-good"),
        pytest.param([{}], [{}], id="empty-inputs"),
        pytest.param(["text"], [None], id="inputs-that-are-no-objects"),
        pytest.param([{"a": 10**40}], [{"a": 1}], id="huge-number"),
        pytest.param([{"a": [[["deep"]]]}], [], id="nested-lists"),
        pytest.param([{"to": "[redacted:email:3fa2]"}], [{"to": "[redacted:email:77ab]"}], id="redacted"),
        pytest.param(
            [{"big": {"$payload": "aa", "size": 9}}], [{"big": {"$payload": "bb"}}], id="kept-apart"
        ),
    ],
)
def test_suggestion__nothing_tells_them_apart__is_none(failing: list[Any], good: list[Any]) -> None:
    found = suggest_conditions(
        identifier="", scope="", failing=[context(v) for v in failing], good=[context(v) for v in good]
    )

    assert found == []


def test_suggestion__hits_as_many_good_calls__is_not_convincing() -> None:
    failing = [context({"cabin": "economy", "n": n}) for n in range(4)]
    good = [context({"cabin": "economy", "n": n}) for n in range(10, 18)] + [
        context({"cabin": "first", "n": 9})
    ]

    found = suggest_conditions(identifier="", scope="", failing=failing, good=good)

    cabin = next(one for one in found if "cabin" in one.condition)
    assert (cabin.good_hit, cabin.good) == (8, 9)
    assert not cabin.is_convincing


def test_suggestion__scope_nobody_names__adds_no_guard() -> None:
    found = suggest_conditions(
        identifier="", scope="db", failing=[context({"a": 1})], good=[context({"a": 2})]
    )

    assert found[0].condition == "input.a == 1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("boom", "This call is known to fail: boom", id="plain"),
        pytest.param("a\n  b", "This call is known to fail: a b", id="lines"),
        pytest.param("{{ input.x }}", "This call is known to fail: { { input.x } }", id="placeholder"),
        pytest.param("{{{{", "This call is known to fail: { {{ {", id="braces"),
    ],
)
def test_message__recorded_words__are_no_template(text: str, message: str) -> None:
    assert as_message(text) == message
    document = blank_rule("t") | {"action_detail": {"message": as_message(text)}, "uuid": "u"}
    assert Rule.from_document(document).action.reads() == frozenset()


@pytest.mark.parametrize("condition", [NEVER, "input.a == 1"])
def test_rule_from_pattern__any_words__is_accepted_by_the_engine(condition: str) -> None:
    words = PatternWords("x" * 600, "t", "{{ boom }} " * 900, 1, 1, "2026-03-01")

    rule = Rule.from_document({**rule_from_pattern(words, condition), "uuid": "u"})

    assert rule.condition == condition
    assert "Seen 1 time in 1 task" in rule.description
