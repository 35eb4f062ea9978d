"""Bodies: every shape that is accepted, and every way to be refused."""

import json
from typing import Any

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.intake import (
    DocumentError,
    FieldError,
    InvalidBodyError,
    TooLargeError,
    read_document,
    read_documents,
)

DOC = {"external_id": "a", "calls": [{"tool": "t"}]}


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        pytest.param(DOC, ["a"], id="one"),
        pytest.param([DOC, {"external_id": "b"}], ["a", "b"], id="list"),
        pytest.param({"experiences": [DOC, DOC]}, ["a", "a"], id="envelope-with-a-repeat"),
        pytest.param([], [], id="empty"),
    ],
)
def test_read_documents__accepted_shape__documents_in_order(body: Any, ids: list[str]) -> None:
    documents = read_documents(json.dumps(body).encode())

    assert [doc.external_id for doc in documents] == ids
    assert not [doc for doc in documents if isinstance(doc, DocumentError)]


@pytest.mark.parametrize(
    ("doc", "field", "detail"),
    [
        pytest.param({}, "external_id", "This field is required.", id="missing"),
        pytest.param({"external_id": "a", "x": 1}, "x", "This field is not known.", id="unknown"),
        pytest.param(
            {"external_id": "a", "calls": [{"tool": "t"}, {"tool": "t", "input": 5}]},
            "calls.1.input",
            "Expected `object`, got `int`.",
            id="type-in-a-call",
        ),
        pytest.param(
            {"external_id": "a", "steps": [{"calls": [{"tool": ""}]}]},
            "steps.0.calls.0.tool",
            "Expected `str` of length >= 1.",
            id="length-in-a-step",
        ),
        pytest.param(
            {"external_id": "a", "calls": [{"tool": "t", "zz": 1}]},
            "calls.0.zz",
            "This field is not known.",
            id="unknown-in-call",
        ),
        pytest.param(
            {"external_id": "a", "started_at": "2026-01-01T00:00:00"},
            "started_at",
            "Expected `datetime` with a timezone component.",
            id="time-without-zone",
        ),
        pytest.param(
            {"external_id": "a", "calls": [{"tool": "t"}], "steps": [{}]},
            "steps",
            "Send calls flat or grouped in steps, not both.",
            id="both-forms",
        ),
        pytest.param(5, "", "Expected `object`, got `int`.", id="not-a-document"),
    ],
)
def test_read_documents__bad_document__names_the_field_and_keeps_the_others(
    doc: Any, field: str, detail: str
) -> None:
    bad, good = read_documents(json.dumps([doc, DOC]).encode())

    assert isinstance(good, ExperienceDoc)
    assert bad == DocumentError(0, "a" if isinstance(doc, dict) and doc else "", (FieldError(field, detail),))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(b"", "must be one document", id="empty"),
        pytest.param(b"3", "must be one document", id="number"),
        pytest.param(b'[{"external_id":"a",}]', "trailing comma", id="syntax"),
        pytest.param(b'{"external_id":"a","goal":NaN}', "not valid JSON", id="nan"),
        pytest.param(b'{"external_id":"a","env":{"x":-Infinity}}', "not valid JSON", id="infinity"),
        pytest.param(b'{"external_id":"\xff"}', "UTF-8", id="not-utf-8"),
        pytest.param(b'{"experiences":{}}', "must be a list", id="envelope-of-an-object"),
        pytest.param(b'{"experiences":[],"x":1}', "holds: x", id="envelope-with-more"),
        pytest.param(b"[" * 100_000, "nested more than", id="hostile-nesting"),
        pytest.param(
            b'{"external_id":"a","env":{"x":' + b"[" * 100_000, "nested more than", id="nesting-in-env"
        ),
    ],
)
def test_read_documents__unreadable_body__is_refused_as_a_whole(body: bytes, reason: str) -> None:
    with pytest.raises(InvalidBodyError, match=reason):
        read_documents(body)


@pytest.mark.parametrize(
    ("doc", "field"),
    [
        pytest.param({"env": {"x": "DEEP"}}, "env", id="env"),
        pytest.param({"calls": [{"tool": "t", "input": {"x": "DEEP"}}]}, "calls.0.input", id="input"),
        pytest.param(
            {"steps": [{"calls": [{"tool": "t", "output": "DEEP"}]}]}, "steps.0.calls.0.output", id="output"
        ),
        pytest.param(
            {"calls": [{"tool": "t", "error": {"detail": "DEEP"}}]}, "calls.0.error.detail", id="detail"
        ),
    ],
)
def test_read_documents__value_nested_too_deep__is_an_error_of_the_field(doc: Any, field: str) -> None:
    def body(depth: int) -> bytes:
        text = json.dumps({"external_id": "a", **doc})
        return text.replace('"DEEP"', "[" * depth + "1" + "]" * depth).encode()

    (bad,), (good,) = read_documents(body(65)), read_documents(body(60))

    assert isinstance(bad, DocumentError)
    assert [error.field for error in bad.errors] == [field]
    assert isinstance(good, ExperienceDoc)


def test_read_documents__number_out_of_range__is_an_error_of_the_document() -> None:
    (result,) = read_documents(b'{"external_id":"a","env":{"x":1e999}}')

    assert isinstance(result, DocumentError)
    assert result.errors[0].detail == "Number out of range."


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param(r"a\u0000b", "a\ufffdb", id="nul"),
        pytest.param(r"a\ud83db", "a\ufffdb", id="first-half"),
        pytest.param(r"a\uDE00b", "a\ufffdb", id="second-half"),
        pytest.param(r"\ud83d\ude00", "\U0001f600", id="whole-pair"),
        pytest.param(r"\\ud83d", r"\ud83d", id="escaped-backslash"),
        pytest.param(r"\\\u0000", "\\\ufffd", id="backslash-then-nul"),
    ],
)
def test_read_documents__text_no_database_stores__is_replaced(sent: str, kept: str) -> None:
    (doc,) = read_documents(b'{"external_id":"a","goal":"' + sent.encode() + b'"}')

    assert isinstance(doc, ExperienceDoc)
    assert doc.goal == kept


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param([{"external_id": "a", "calls": [{"tool": "t"}] * 501}], "501 calls", id="calls"),
        pytest.param(
            [{"external_id": "a", "steps": [{"calls": [{"tool": "t"}] * 300}] * 2}],
            "600 calls",
            id="in-steps",
        ),
        pytest.param([{"external_id": "a"}] * 501, "501 documents", id="documents"),
        pytest.param([{"external_id": "a", "goal": "x" * 2_000}] * 5_000, "bytes", id="bytes"),
    ],
)
def test_read_documents__over_a_cap__is_refused_as_a_whole(body: Any, reason: str) -> None:
    with pytest.raises(TooLargeError, match=reason):
        read_documents(json.dumps(body).encode())


def test_read_document__decoded_value_with_half_a_pair__is_cleaned() -> None:
    doc = read_document({"external_id": "a", "goal": "x\ud800\x00"})

    assert isinstance(doc, ExperienceDoc)
    assert doc.goal == "x\ufffd\ufffd"


def test_read_documents__huge_integer__is_kept() -> None:
    (doc,) = read_documents(b'{"external_id":"a","env":{"n":123456789012345678901234567890}}')

    assert isinstance(doc, ExperienceDoc)
    assert msgspec.json.encode(doc.env) == b'{"n":123456789012345678901234567890}'
