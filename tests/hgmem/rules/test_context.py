"""What a context may hold, and the field paths of what it may not."""

from datetime import UTC, datetime
from typing import Any

import pytest

from hgmem.rules import RuleError, Ruleset, parse_context

NOW = datetime(2026, 5, 1, tzinfo=UTC)
DEEP: Any = 1
for _ in range(60):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        pytest.param([], "", id="no object"),
        pytest.param({"point": "later"}, "point", id="unknown point"),
        pytest.param({"tol": "t"}, "tol", id="unknown field"),
        pytest.param({"input": [1]}, "input", id="input is a list"),
        pytest.param({"tool": 5}, "tool", id="tool is a number"),
        pytest.param({"tool": {"name": 5}}, "tool.name", id="tool name is a number"),
        pytest.param({"task": {"tags": "a"}}, "task.tags", id="tags are a text"),
        pytest.param({"task": {"id": 5}}, "task.id", id="task id is a number"),
        pytest.param({"history": {"a": 1}}, "history", id="history is an object"),
        pytest.param({"history": [{}, 5]}, "history.1", id="an entry is a number"),
        pytest.param({"history": [{}] * 1_001}, "history", id="too long a history"),
        pytest.param({"input": {"a": {"b": {1, 2}}}}, "input.a.b", id="a set"),
        pytest.param({"input": {"a": {5: 1}}}, "input.a", id="a key that is a number"),
        pytest.param({"input": {"a": DEEP}}, "", id="nested too deep"),
        pytest.param({"input": {"a": [0] * 20_001}}, "", id="too many values"),
        pytest.param({"input": {"a": "x" * 1_000_001}}, "", id="too many characters"),
    ],
)
def test_parse_context__wrong_document__names_the_field(document: Any, field: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_context(document)

    assert field in {fault["field"] for fault in caught.value.errors}


def test_decide__now_without_a_zone__is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Ruleset.compile([], version="1").decide({}, now=NOW.replace(tzinfo=None))


def test_decide__no_rules__answers_the_call_as_it_is() -> None:
    decision = Ruleset.compile([], version="7").decide({"tool": "t", "input": {"a": 1}}, now=NOW)

    assert decision.to_dict()["input"] == {"a": 1}
    assert decision.to_dict()["ruleset_version"] == "7"
    assert not decision.changed
