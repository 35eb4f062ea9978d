"""From bytes to values: every way a file can be cut, damaged or oddly written."""

import gzip
import json

import pytest

from memory.domain.importers.records import LineError
from memory.domain.importers.values import decode_json, json_values


def split(items):
    items = list(items)
    values = [(item.line, item.data) for item in items if not isinstance(item, LineError)]
    return values, [item for item in items if isinstance(item, LineError)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b'{"a":1}\n{"a":2}\n', [(1, {"a": 1}), (2, {"a": 2})], id="lines"),
        pytest.param(
            b'{"a":1}\r\n\r\n{"a":2}', [(1, {"a": 1}), (3, {"a": 2})], id="crlf_blank_no_final_newline"
        ),
        pytest.param(b'\xef\xbb\xbf{"a":1}\n', [(1, {"a": 1})], id="byte_order_mark"),
        pytest.param(
            b'[{"a":1},{"a":[2,"]"]}]', [(1, {"a": 1}), (1, {"a": [2, "]"]})], id="array_on_one_line"
        ),
        pytest.param(
            b'[\n  {"a": 1},\n  {\n "a": "x,\\"}"\n }\n]\n', [(2, {"a": 1}), (3, {"a": 'x,"}'})], id="array"
        ),
        pytest.param(
            b'{\n  "a": {\n    "b": [1, 2]\n  }\n}\n', [(1, {"a": {"b": [1, 2]}})], id="one_spread_object"
        ),
        pytest.param(b'[{"a":1}]\n[{"a":2}]\n', [(1, {"a": 1}), (2, {"a": 2})], id="an_array_a_line"),
        pytest.param(b"", [], id="empty"),
        pytest.param(b" \n\n ", [], id="blank"),
        pytest.param(b"[]", [], id="empty_array"),
        pytest.param('{"a":"日本"}'.encode(), [(1, {"a": "日本"})], id="unicode"),
        pytest.param(
            b'{"a":123456789012345678901234567890}', [(1, {"a": 123456789012345678901234567890})], id="huge"
        ),
        pytest.param(rb'{"a":"\ud800"}', [(1, {"a": "�"})], id="lone_surrogate"),
        pytest.param(
            gzip.compress(b'{"a":1}\n') + gzip.compress(b'{"a":2}'), [(1, {"a": 1}), (2, {"a": 2})], id="gz"
        ),
    ],
)
def test_json_values__whole_file__gives_values_with_their_lines(raw, expected):
    assert split(json_values(raw)) == (expected, [])


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'\xef\xbb\xbf{"a":"\\\\"}\n{"b":"\\""}\n', id="lines"),
        pytest.param(b'[{"a":"\\\\"},\n {"b":"\\"]"}]', id="array"),
        pytest.param(gzip.compress(b'[{"a":"\\\\"},\n{"b":"x"}]'), id="gzip"),
    ],
)
def test_json_values__cut_anywhere__gives_the_same(raw, size):
    pieces = [raw[start : start + size] for start in range(0, len(raw), size)]

    assert list(json_values(pieces)) == list(json_values(raw))
    assert len(list(json_values(raw))) == 2


def test_json_values__text_lines_without_line_ends__are_a_line_each():
    assert split(json_values(['{"a":1}', '{"a":2}\n']))[0] == [(1, {"a": 1}), (2, {"a": 2})]


@pytest.mark.parametrize(
    ("raw", "good", "bad_lines", "reason"),
    [
        pytest.param(b'{"a":1}\n{"a":\n{"a":3}', [1, 3], [2], "truncated", id="truncated_line"),
        pytest.param(b'{"a":1,\n{"a":2}\n{"a":3}', [2, 3], [1], "truncated", id="truncated_first_line"),
        pytest.param(b'{"a":1}\nnonsense\n{"a":3}', [1, 3], [2], "not JSON", id="no_json"),
        pytest.param(b'{"a":1}\n\x00\x01\xfe\xff\n{"a":3}', [1, 3], [2], "not UTF-8", id="binary"),
        pytest.param(b'{"a":1}\n{"a":NaN}\n{"a":3}', [1, 3], [2], "NaN is not a number", id="nan"),
        pytest.param(b'{"a":1}\n{"a":1e999}\n{"a":3}', [1, 3], [2], "beyond the range", id="infinite"),
        pytest.param(
            b'{"a":1}\n' + b"[" * 200_000 + b'\n{"a":3}', [1, 3], [2], "nested more than 100", id="nested"
        ),
        pytest.param(
            b'[\n{"a":1},\n{"a":oops},\n{"a":3}\n]', [1, 3], [3], "not JSON", id="array_bad_element"
        ),
        pytest.param(b'[\n{"a":1},\n{"a":2,\n{"a":3}\n]', [1, 3], [3], "", id="array_unclosed_element"),
        pytest.param(b'[\n{"a":1},\n{"a":"x},\n{"a":3}\n]', [1, 3], [3], "", id="array_lost_quote"),
        pytest.param(
            b'[\n{"a":1},\n{"a":3}\n', [1, 3], [4], "ends inside the array", id="array_never_closed"
        ),
        pytest.param(b'[\n{"a":1},\n{"a":', [1], [3], "truncated", id="array_truncated"),
        pytest.param(b'[{"a":1}] trailing', [1], [1], "not JSON", id="text_after_the_array"),
    ],
)
def test_json_values__one_broken_piece__is_reported_and_the_rest_read(raw, good, bad_lines, reason):
    values, errors = split(json_values(raw))

    assert [data["a"] for _, data in values] == good
    assert [error.line for error in errors] == bad_lines
    assert reason in errors[0].reason


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'{"a":1}\n{"a":"' + b"x" * 500 + b'"}\n{"a":3}\n', id="lines"),
        pytest.param(b'[{"a":1},\n{"a":"' + b"x" * 500 + b'"},\n{"a":3}]', id="array"),
    ],
)
def test_json_values__longer_than_the_cap__is_reported_not_read(raw):
    values, errors = split(json_values([raw[:300], raw[300:]], cap=100))

    assert [data["a"] for _, data in values] == [1, 3]
    assert [(error.line, error.reason) for error in errors] == [(2, "longer than 100 bytes; not read")]
    assert len(errors[0].excerpt) <= 120


def test_json_values__damaged_gzip__gives_what_came_before():
    lines = b"".join(b'{"a":%d,"b":"%d"}\n' % (place, place * 7919) for place in range(20_000))
    packed = gzip.compress(lines)

    values, errors = split(json_values(packed[: len(packed) // 2]))

    assert len(values) > 5_000
    assert "gzip stream ends early" in errors[-1].reason


def test_json_values__gzip_magic_only__is_an_error():
    assert "gzip" in split(json_values(b"\x1f\x8bnot really"))[1][0].reason


@pytest.mark.parametrize("raw", [json.dumps({"a": "é\n"}), json.dumps({"a": "é\n"}).encode()])
def test_decode_json__text_or_bytes__gives_the_value(raw):
    assert decode_json(raw) == {"a": "é\n"}


@pytest.mark.parametrize(("depth", "fits"), [(100, True), (101, False), (900, False)])
def test_decode_json__nesting__is_capped(depth, fits):
    raw = "[" * depth + "]" * depth

    if fits:
        assert decode_json(raw)
    else:
        with pytest.raises(ValueError, match="nested more than 100 levels"):
            decode_json(raw)
