"""From a document to a record: places, digests, redaction."""

from typing import Any

import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.intake import read_document
from memory.domain.records import InvalidRecordError, TaskRecord, normalize
from memory.domain.redaction import Redactor


def make_doc(**fields: Any) -> ExperienceDoc:
    doc = read_document({"external_id": "t", **fields})
    assert isinstance(doc, ExperienceDoc), doc
    return doc


def make_record(**fields: Any) -> TaskRecord:
    return normalize(make_doc(**fields))


CALL = {"tool": "a"}


@pytest.mark.parametrize(
    ("fields", "places"),
    [
        pytest.param({"calls": [CALL, CALL]}, [(0, 0), (1, 1)], id="positions"),
        pytest.param({"calls": [{**CALL, "seq": 5}, CALL]}, [(5, 5), (1, 1)], id="explicit-beside-position"),
        pytest.param({"calls": [{**CALL, "step": 4}]}, [(0, 4)], id="flat-with-step"),
        pytest.param(
            {"steps": [{"calls": [CALL]}, {"calls": [CALL, CALL]}]}, [(0, 0), (1, 1), (2, 1)], id="steps"
        ),
        pytest.param({"steps": [{"index": 7, "calls": [CALL]}]}, [(0, 7)], id="step-index"),
    ],
)
def test_normalize__calls__get_their_places(fields: Any, places: list[tuple[int, int]]) -> None:
    assert [(call.seq, call.step) for call in make_record(**fields).calls] == places


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        pytest.param({"calls": [{**CALL, "seq": 1}, CALL]}, "calls.1.seq", id="seq-taken"),
        pytest.param({"steps": [{"index": 1}, {}]}, "steps.1.index", id="step-taken"),
        pytest.param({"steps": [{"calls": [{**CALL, "step": 3}]}]}, "steps.0.calls.0.step", id="other-step"),
    ],
)
def test_normalize__places_do_not_fit__names_the_field(fields: Any, field: str) -> None:
    with pytest.raises(InvalidRecordError) as caught:
        make_record(**fields)

    assert [error.field for error in caught.value.errors] == [field]


@pytest.mark.parametrize(
    ("fields", "indexes"),
    [
        pytest.param({"steps": [{"calls": [CALL]}]}, [], id="one-bare-call"),
        pytest.param({"steps": [{"reasoning": "r", "calls": [CALL]}]}, [0], id="reasoning"),
        pytest.param({"steps": [{}, {"calls": [CALL, CALL]}]}, [1], id="several-calls"),
        pytest.param(
            {"calls": [{**CALL, "step": 2}, {**CALL, "step": 2}]}, [2], id="flat-calls-share-a-step"
        ),
    ],
)
def test_normalize__steps__only_those_with_content(fields: Any, indexes: list[int]) -> None:
    assert [step.index for step in make_record(**fields).steps] == indexes


def test_normalize__digests__name_the_content_and_not_the_order_of_keys() -> None:
    first = make_record(calls=[{"tool": "a", "input": {"x": 1, "y": 2}}])
    same = make_record(calls=[{"input": {"y": 2, "x": 1}, "tool": "a"}])
    other = make_record(calls=[{"tool": "a", "input": {"x": 1, "y": 3}}])

    assert first.digest == same.digest != other.digest
    assert first.calls[0].digest == same.calls[0].digest != other.calls[0].digest


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"output": 1}, id="output"),
        pytest.param({"status": "ok"}, id="status"),
        pytest.param({"error": "e"}, id="error"),
        pytest.param({"error": {"http_status": 500}}, id="http-status"),
        pytest.param({"duration_ms": 1}, id="duration"),
        pytest.param({"receipt": "r"}, id="receipt"),
        pytest.param({"step": 1}, id="step"),
    ],
)
def test_normalize__any_content_differs__the_digest_differs(change: dict[str, Any]) -> None:
    assert (
        make_record(calls=[{**CALL, **change}]).calls[0].digest != make_record(calls=[CALL]).calls[0].digest
    )


def test_normalize__with_a_redactor__keeps_markers_and_the_digest_of_what_was_sent() -> None:
    doc = make_doc(
        goal="mail a@example.org",
        env={"password": "x"},
        tags=["a@example.org", "ok"],
        outcome={"note": "a@example.org"},
        steps=[
            {
                "reasoning": "a@example.org",
                "calls": [
                    {
                        **CALL,
                        "input": {"to": "a@example.org"},
                        "output": "4111111111111111",
                        "error": "b@example.org",
                    }
                ],
            }
        ],
    )

    record = normalize(doc, redactor=Redactor(), key=b"k")

    assert record.goal == "mail [redacted:email]"
    assert record.env == {"password": "[redacted:password]"}
    assert record.tags == ("[redacted:email]", "ok")
    assert record.outcome is not None
    assert record.outcome.note == "[redacted:email]"
    assert record.steps[0].reasoning == "[redacted:email]"
    assert record.calls[0].input == {"to": "[redacted:email]"}
    assert record.calls[0].output == "[redacted:card]"
    assert record.calls[0].error_message == "[redacted:email]"
    assert record.redactions == {"email": 6, "password": 1, "card": 1}
    assert record.digest == normalize(doc, key=b"k").digest
    assert record.calls[0].digest != normalize(doc, key=b"other").calls[0].digest


def test_normalize__external_id_with_an_address__becomes_a_name_of_its_own() -> None:
    names = [
        normalize(make_doc(external_id=f"{who}@example.org"), redactor=Redactor(), key=b"k").external_id
        for who in "aab"
    ]

    assert names[0] == names[1] != names[2]
    assert all(name.startswith("redacted:") for name in names)
