"""What calls teach about a tool's input, and when the shape counts as changed."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.schemas import describe_change, observe, schema_hash, version_after


def learn(*inputs: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for item in inputs:
        schema = observe(schema, item)
    return schema


@pytest.mark.parametrize(
    ("inputs", "properties", "required"),
    [
        pytest.param([{"a": 1}, {"a": 2}], {"a": {"type": "integer"}}, ["a"], id="one-field"),
        pytest.param([{"a": 1}, {"a": 1.5}], {"a": {"type": "number"}}, ["a"], id="integer-becomes-number"),
        pytest.param([{"a": 1}, {"a": None}], {"a": {"type": ["integer", "null"]}}, ["a"], id="nullable"),
        pytest.param([{"a": 1}, {}], {"a": {"type": "integer"}}, None, id="not-always-there"),
        pytest.param(
            [{"a": 1}, {"a": 1, "b": True}],
            {"a": {"type": "integer"}, "b": {"type": "boolean"}},
            ["a"],
            id="new-field",
        ),
        pytest.param(
            [{"a": [1, None]}],
            {"a": {"type": "array", "items": {"type": ["integer", "null"]}}},
            ["a"],
            id="array",
        ),
        pytest.param(
            [{"a": []}, {"a": [1]}],
            {"a": {"type": "array", "items": {"type": "integer"}}},
            ["a"],
            id="empty-array",
        ),
        pytest.param(
            [{"a": {"b": 1}}, {"a": {"c": 1}}],
            {"a": {"type": "object", "properties": {"b": {"type": "integer"}, "c": {"type": "integer"}}}},
            ["a"],
            id="nested",
        ),
        pytest.param(
            [{"a": "x"}, {"a": "y"}], {"a": {"type": "string", "examples": ["x", "y"]}}, ["a"], id="few-words"
        ),
        pytest.param(
            [{"a": str(n)} for n in range(9)],
            {"a": {"type": "string", "x-open": True}},
            ["a"],
            id="many-words",
        ),
        pytest.param(
            [{"a": "x"}, {"a": "long " * 20}],
            {"a": {"type": "string", "x-open": True}},
            ["a"],
            id="long-words",
        ),
    ],
)
def test_observe__inputs__give_the_schema(inputs: Any, properties: Any, required: Any) -> None:
    schema = learn(*inputs)

    assert schema.get("properties") == properties
    assert schema.get("required") == required


def test_observe__failed_call__teaches_nothing() -> None:
    schema = learn({"a": 1})

    assert observe(schema, {"b": "wrong"}, ok=False) is schema
    assert observe(None, {"b": "wrong"}, ok=False) == {}


def test_observe__nothing_new__is_the_same_object() -> None:
    schema = learn({"a": "x", "b": [1]})

    assert observe(schema, {"b": [2], "a": "x"}) is schema


def test_observe__hundreds_of_names__become_a_map() -> None:
    schema = learn({"rows": {f"r{n}": n for n in range(101)}}, {"rows": {"other": "x"}})

    rows = schema["properties"]["rows"]
    assert rows["additionalProperties"]["type"] == ["integer", "string"]
    assert "properties" not in rows


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        pytest.param([{"a": "x", "b": 1}], [{"b": 7, "a": "other"}], True, id="values-and-order"),
        pytest.param([{"a": "x"}], [{"a": "a longer text " * 10}], True, id="open-or-few"),
        pytest.param([{"a": 1}], [{"a": "1"}], False, id="type"),
        pytest.param([{"a": 1}], [{"b": 1}], False, id="name"),
        pytest.param([{"a": 1}], [{"a": 1}, {}], False, id="required"),
        pytest.param(
            [{"a": {"examples": 1}}], [{"a": {"other": 1}}], False, id="a-field-named-like-an-annotation"
        ),
    ],
)
def test_schema_hash__two_schemas__names_the_shape_only(first: Any, second: Any, same: bool) -> None:
    assert (schema_hash(learn(*first)) == schema_hash(learn(*second))) == same


@pytest.mark.parametrize(
    ("observations", "changed", "expected"),
    [
        pytest.param(5, True, 1, id="still-settling"),
        pytest.param(20, True, 1, id="last-of-settling"),
        pytest.param(21, True, 2, id="settled-and-changed"),
        pytest.param(21, False, 1, id="settled-and-the-same"),
    ],
)
def test_version_after__observation__goes_up_once_settled(
    observations: int, changed: bool, expected: int
) -> None:
    assert version_after(1, observations=observations, changed=changed) == expected


def test_describe_change__widened__says_each_difference() -> None:
    old, new = (
        learn({"a": 1, "b": {"c": "x"}}),
        learn({"a": 1, "b": {"c": "x"}}, {"b": {"c": None, "d": True}}),
    )

    assert describe_change(old, new) == [
        "input.a: no longer always present.",
        "input.b.c: was string, is null or string.",
        "input.b.d: new optional field (boolean).",
    ]
    assert describe_change(new, new) == []


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
inputs = st.lists(st.dictionaries(st.sampled_from("abc"), values, max_size=3), min_size=1, max_size=5)


@given(inputs)
def test_observe__any_inputs__schema_accepts_them_all_in_any_order(seen: list[dict[str, Any]]) -> None:
    schema = learn(*seen)

    for item in seen:
        jsonschema.validate(item, schema)
    assert schema_hash(learn(*reversed(seen))) == schema_hash(schema)
    assert all(observe(schema, item) is schema for item in seen)
