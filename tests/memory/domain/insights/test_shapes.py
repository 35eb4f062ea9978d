"""The shape of parameters as a text."""

from typing import Any

import pytest

from memory.domain.insights.shapes import MAX_SHAPE, kind_of, shape_of


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"), (True, "true"), (False, "false"), (0, "0"), (0.2, "<1"), (1, "1-10"), (10, "1-10"),
        (10.5, "11-100"), (11, "11-100"), (100, "11-100"), (101, "101-1000"), (2_000_000, ">1000000"),
        (-5, "-(1-10)"), ("", "empty text"), ("a", "text<100"), ("a" * 100, "text<1000"),
        ("a" * 2_000_000, "text>=1000000"), ([], "list of 0"), ([1, 2], "list of 1-10"), ({}, "object"),
        ({"$payload": "0" * 64, "size": 9, "preview": ""}, "large"), (float("inf"), ">1000000"),
    ],
)  # fmt: skip
def test_kind__value__has_type_and_size_class(value: Any, kind: str) -> None:
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        pytest.param({}, "()", id="nothing given"),
        pytest.param({"query": "flights", "limit": 5}, "(limit: 1-10, query: text<100)", id="sorted by name"),
        pytest.param({"limit": 7, "query": "trains"}, "(limit: 1-10, query: text<100)", id="other values"),
        pytest.param(
            {f"p{n}": 1 for n in range(10)},
            f"({', '.join(f'p{n}: 1-10' for n in range(8))}, and 2 more)",
            id="many parameters",
        ),
        pytest.param({"$payload": "0" * 64, "size": 9, "preview": ""}, "(large)", id="kept apart"),
        pytest.param({"a\0": 1}, "(a\ufffd: 1-10)", id="NUL"),
    ],
)
def test_shape__input__is_readable(given: dict[str, Any], shape: str) -> None:
    assert shape_of(given) == shape


def test_shape__long_names__is_cut() -> None:
    shape = shape_of({f"{'x' * 39}{n}": "y" for n in range(8)})

    assert len(shape) == MAX_SHAPE
    assert shape.endswith("…)")
