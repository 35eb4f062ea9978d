"""JSON as it comes in."""

from typing import Any

import pytest

from memory.domain.plain_json import InvalidJSONError, clean_json, decode_json, is_too_deep, storable


@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param(
            b'{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}, id="huge"
        ),
        pytest.param('["héé", null, 1.5]'.encode(), ["héé", None, 1.5], id="plain"),
        pytest.param(b'"a\\u0000b"', "a\0b", id="nul-stays"),
    ],
)
def test_decode_json__json__is_the_value_as_it_stands(body: bytes, value: Any) -> None:
    assert decode_json(body) == value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(b"", "not valid JSON", id="nothing"),
        pytest.param(b"{'a': 1}", "not valid JSON", id="python"),
        pytest.param(b'"\xff"', "not valid JSON", id="not-utf8"),
        pytest.param(b'"\\ud800"', "not valid JSON", id="half-a-pair"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "nested too deeply", id="bottomless"),
    ],
)
def test_decode_json__anything_else__says_why(body: bytes, said: str) -> None:
    with pytest.raises(InvalidJSONError, match=said):
        decode_json(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param(b'["a\\u0000", {"\\u0000": 1}]', ["a\ufffd", {"\ufffd": 1}], id="nul"),
        pytest.param(b'["\\ud83d\\ude00", "\\ud83d"]', ["\N{GRINNING FACE}", "\ufffd"], id="pair-and-half"),
        pytest.param(b'["\\\\u0000"]', ["\\u0000"], id="escaped-backslash"),
    ],
)
def test_clean_json__what_no_database_stores__is_replaced(body: bytes, value: Any) -> None:
    assert decode_json(clean_json(body)) == value


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        pytest.param({"a\0": ["b\0", 1, None, True]}, {"a\ufffd": ["b\ufffd", 1, None, True]}, id="nul"),
        pytest.param(("\ud800", "é"), ["\ufffd", "é"], id="half-a-pair"),
        pytest.param("\ud83d\ude00", "\N{GRINNING FACE}", id="two-halves"),
    ],
)
def test_storable__what_no_database_stores__is_replaced(value: Any, kept: Any) -> None:
    assert storable(value) == kept


@pytest.mark.parametrize(
    ("levels", "deep"), [pytest.param(64, False, id="at-the-cap"), pytest.param(65, True, id="one-more")]
)
def test_is_too_deep__levels__are_counted(levels: int, deep: bool) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]

    assert is_too_deep([1, value]) == deep
