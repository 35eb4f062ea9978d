"""Log lines carry no secrets, whatever was logged."""

import json
import logging

import pytest

from hgmem_site.logs import JSONFormatter, LineFormatter, masked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("key hgm_abcDEF-12_345 used", "key *** used", id="api-key"),
        pytest.param("Authorization: Bearer eyJhbGciOi.x-y", "Authorization: Bearer ***", id="bearer"),
        pytest.param("postgres://joe:pa55@db/x failed", "postgres://***@db/x failed", id="url-with-password"),
        pytest.param("redis://:pa55@cache:6379", "redis://***@cache:6379", id="url-without-user"),
        pytest.param("GET http://127.0.0.1:8000/a?b=c", "GET http://127.0.0.1:8000/a?b=c", id="plain-url"),
    ],
)
def test_masked__secret_in_a_text__is_gone_and_the_rest_stays(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("formatter", [LineFormatter(), JSONFormatter()])
def test_formatters__secret_in_message_and_trace__is_gone(formatter: logging.Formatter) -> None:
    try:
        raise ValueError("no such key hgm_abcdefghijkl")
    except ValueError as error:
        trace = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "f", 1, "key %s", ("hgm_abcdefghijkl",), trace)

    line = formatter.format(record)

    assert "hgm_" not in line
    assert "ValueError" in line


def test_json_formatter__extras__are_fields_of_one_line() -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "stored\nit", (), None)
    record.workspace = "acme"

    line = JSONFormatter().format(record)

    assert "\n" not in line
    assert json.loads(line) | {"at": 0} == {
        "at": 0, "level": "INFO", "logger": "x", "message": "stored\nit", "workspace": "acme",
    }  # fmt: skip
