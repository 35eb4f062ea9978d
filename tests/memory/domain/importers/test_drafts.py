"""Documents keep to the intake's limits, and say what was cut."""

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers.drafts import Draft, call_document


def draft(**fields):
    return Draft(**({"line": 1, "external_id": "r1"} | fields))


def only(drafted):
    (item,) = drafted.documents()
    msgspec.convert(item.document, ExperienceDoc)
    return item


def test_documents__1201_calls__are_three_parts_with_running_seq_and_one_ending():
    calls = [call_document("t", {"n": place}) for place in range(1201)]

    items = list(draft(calls=calls, goal="g", outcome={"result": "success"}).documents())

    documents = [msgspec.convert(item.document, ExperienceDoc) for item in items]
    assert [len(document.calls) for document in documents] == [500, 500, 201]
    assert [call.seq for document in documents for call in document.calls] == list(range(1201))
    assert [document.final for document in documents] == [False, False, True]
    assert [document.outcome is not None for document in documents] == [False, False, True]
    assert {document.external_id for document in documents} == {"r1"}


def test_documents__no_calls__is_one_document():
    assert only(draft()).document["calls"] == []


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        pytest.param({"goal": "x" * 20_001}, "goal cut from 20,001 to 20,000 characters", id="goal"),
        pytest.param({"agent": "x" * 201}, "agent cut from 201", id="agent"),
        pytest.param({"tags": [str(n) for n in range(60)]}, "60 tags, the first 50 kept", id="tags"),
        pytest.param({"external_id": "x" * 300}, "external_id shortened", id="external_id"),
        pytest.param({"calls": [call_document("x" * 300, {})]}, "calls[0].tool cut", id="tool"),
        pytest.param({"calls": [call_document(None, {})]}, "calls[0] has no tool name", id="no_tool"),
        pytest.param(
            {"calls": [call_document("t", {}, reasoning="x" * 20_001)]}, "reasoning cut", id="reasoning"
        ),
        pytest.param({"calls": [call_document("t", {}, error="x" * 20_001)]}, "error cut", id="error"),
    ],
)
def test_documents__over_a_limit__fits_and_has_a_note(fields, note):
    item = only(draft(**fields))

    assert len(item.notes) == 1
    assert note in item.notes[0]


def test_documents__long_ids_with_the_same_beginning__stay_apart():
    first, second = only(draft(external_id="x" * 300 + "1")), only(draft(external_id="x" * 300 + "2"))

    assert first.document["external_id"] != second.document["external_id"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({"a": 1}, {"a": 1}, id="object"),
        pytest.param('{"a": 1}', {"a": 1}, id="json_text"),
        pytest.param('{"a": 1', {"_raw": '{"a": 1'}, id="broken_json_text"),
        pytest.param("[1, 2]", {"_raw": [1, 2]}, id="json_list"),
        pytest.param("ls -l", {"_raw": "ls -l"}, id="free_text"),
        pytest.param(7, {"_raw": 7}, id="number"),
        pytest.param(None, {}, id="none"),
        pytest.param("", {}, id="empty"),
    ],
)
def test_call_document__any_arguments__become_an_object(arguments, expected):
    assert call_document("t", arguments)["input"] == expected
