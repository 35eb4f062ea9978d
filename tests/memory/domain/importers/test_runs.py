"""The run format of the evaluation."""

import json

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers import Imported, LineError, read

GOOD = {
    "path_id": "air:0:0",
    "source": "air",
    "model": "m",
    "domain": "airline",
    "goal": "fly",
    "success": False,
    "reward": 0.0,
    "gold": ["secret label"],
    "order": 3,
    "steps": [
        {"tool": "find", "args": {"id": 1}, "obs": "ok", "error": False},
        {"tool": "pay", "args": {"sum": 2}, "obs": "Error: too little", "error": True},
        {"tool": "wait", "args": {}, "obs": None},
    ],
}


def one(row):
    (item,) = read("runs", [json.dumps(row)], source="f")
    return item


def test_read__a_run__becomes_its_document():
    document = msgspec.convert(one(GOOD).document, ExperienceDoc)

    assert (document.external_id, document.goal, document.env) == ("air:0:0", "fly", {"domain": "airline"})
    assert (document.agent, document.framework, document.final) == ("m", "air", True)
    assert (document.outcome.result, document.outcome.by, document.outcome.reward) == (
        "failure",
        "evaluator",
        0,
    )
    assert [call.status for call in document.calls] == ["ok", "error", "unknown"]
    assert document.calls[1].error.message == "Error: too little"
    assert document.calls[1].output == "Error: too little"


def test_read__gold__is_never_imported():
    assert "secret label" not in json.dumps(one(GOOD).document)


def test_read__no_labels__has_no_outcome():
    row = {name: GOOD[name] for name in ("path_id", "steps")}

    assert "outcome" not in one(row).document


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"path_id": None}, "path_id: expected text", id="no_id"),
        pytest.param({"path_id": 7}, "path_id: expected text", id="number_id"),
        pytest.param({"steps": {}}, "steps: expected a list", id="steps_object"),
        pytest.param({"steps": [[]]}, "steps[0]: expected an object", id="step_list"),
        pytest.param({"steps": [{"args": {}}]}, "steps[0].tool: expected text", id="no_tool"),
        pytest.param({"steps": [{"tool": "t", "error": 3}]}, "steps[0].error: expected", id="error_number"),
        pytest.param({"success": "yes"}, "success: expected true or false", id="success_text"),
        pytest.param({"reward": "1"}, "reward: expected a number", id="reward_text"),
        pytest.param({"goal": ["x"]}, "goal: expected text", id="goal_list"),
    ],
)
def test_read__wrong_type__is_a_line_error_that_names_the_field(change, reason):
    item = one(GOOD | change)

    assert isinstance(item, LineError)
    assert reason in item.reason


def test_read__broken_lines_between_good_ones__reads_the_good_ones():
    lines = [json.dumps(GOOD), "{", "[]", '"text"', "\x00", json.dumps(GOOD | {"path_id": "second"})]

    items = list(read("runs", lines, source="f"))

    assert [item.document["external_id"] for item in items if isinstance(item, Imported)] == [
        "air:0:0",
        "second",
    ]
    assert [item.line for item in items if isinstance(item, LineError)] == [2, 3, 4, 5]
