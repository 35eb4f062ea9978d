"""The edit between a call that failed and the one that worked, generalised."""

import json
from typing import Any

import pytest

from corrections.domain.inducing.edits import edit_between


def expression(name: str, text: str) -> dict[str, Any]:
    return {"op": "expression", "field": name, "expression": text}


GENERAL = [
    pytest.param(
        {"town": "Rome"}, {"city": "Rome"}, {"op": "rename", "field": "town", "to": "city"}, id="rename"
    ),
    pytest.param({"n": "5"}, {"n": 5}, {"op": "cast", "field": "n", "to": "integer"}, id="integer"),
    pytest.param({"n": 5}, {"n": "5"}, {"op": "cast", "field": "n", "to": "string"}, id="string"),
    pytest.param({"n": "True"}, {"n": True}, {"op": "cast", "field": "n", "to": "boolean"}, id="boolean"),
    pytest.param({"n": "a"}, {"n": ["a"]}, {"op": "cast", "field": "n", "to": "list"}, id="list"),
    pytest.param({"c": " Rome "}, {"c": "Rome"}, expression("c", "input.c.trim()"), id="trim"),
    pytest.param({"c": "rome"}, {"c": "ROME"}, expression("c", "input.c.upperAscii()"), id="upper"),
    pytest.param(
        {"a": "id-77"}, {"a": "id-77", "b": "id-77"}, expression("b", "input.a"), id="another-arguments-value"
    ),
]
LITERAL = [
    pytest.param({}, {"k": "de"}, {"op": "set_default", "field": "k", "default_value": "de"}, id="default"),
    pytest.param({"a": 1, "b": 2}, {"a": 1}, {"op": "remove", "field": "b"}, id="remove"),
    pytest.param({"c": "a"}, {"c": "b"}, {"op": "map_values", "field": "c", "mapping": {"a": "b"}}, id="map"),
    pytest.param(
        {"q": "get all users now"}, {"q": "get all user now"},
        {"op": "replace_words", "field": "q", "words": {"users": "user"}}, id="one-word",
    ),
]  # fmt: skip
NONE = [
    pytest.param({"a": 1}, {"a": 1}, id="nothing-changed"),
    pytest.param({"q": "get users of rome"}, {"q": "list everything there is"}, id="another-text"),
    pytest.param({"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 5, "c": 6}, id="too-much-changed"),
    pytest.param({"rows": [1, 2]}, {"rows": [1, 3]}, id="inside-a-list"),
    pytest.param({"a b": 1}, {"a b": "1"}, id="a-name-that-no-operation-takes"),
    pytest.param({}, {"k": "[redacted:email:12ab]"}, id="redacted"),
]


@pytest.mark.parametrize(("failed", "fixed", "operation"), GENERAL)
def test_edit_between__value_that_the_input_explains__is_general(
    failed: Any, fixed: Any, operation: Any
) -> None:
    edit = edit_between(failed, fixed)

    assert edit is not None
    assert (edit.detail(), edit.is_general) == ({"operations": [operation]}, True)


@pytest.mark.parametrize(("failed", "fixed", "operation"), LITERAL)
def test_edit_between__literal_of_one_run__is_not_general(failed: Any, fixed: Any, operation: Any) -> None:
    edit = edit_between(failed, fixed)

    assert edit is not None
    assert (json.loads(edit.operations[0]), edit.is_general) == (operation, False)


@pytest.mark.parametrize(("failed", "fixed"), NONE)
def test_edit_between__no_small_edit__is_none(failed: Any, fixed: Any) -> None:
    assert edit_between(failed, fixed) is None
