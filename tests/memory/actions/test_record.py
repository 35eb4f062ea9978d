"""``record_experience``: what is stored, what a second sending changes, what is refused."""

from typing import Any

import pytest

from memory.actions.record import record_experience
from memory.domain.access import NotPermitted
from memory.models import Outcome, Payload, Step, Task, ToolCall
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.memory.builders import make_document, record

pytestmark = pytest.mark.django_db


def test_record_experience__new_task__keeps_calls_outcome_and_who_said_so(cast: Cast) -> None:
    outcome = {"result": "failure", "reward": 0.0, "by": "environment"}

    [result] = record(cast.workspace, make_document(tags=["a", "b"], outcome=outcome, final=True))

    task = Task.objects.get(uuid=result.uuid)
    assert (result.status, result.calls_added) == ("created", 2)
    assert (task.external_id, task.root_task, task.tags, task.final) == ("t1", "t1", ["a", "b"], True)
    assert (task.outcome, task.reward, task.outcome_by, task.call_count) == ("failure", 0.0, "environment", 2)
    assert task.analysed_at is None
    assert list(task.calls.values_list("seq", "tool", "status")) == [
        (0, "search", "ok"),
        (1, "book", "error"),
    ]
    assert task.calls.get(seq=1).error == {"type": "E", "message": "No seat"}
    assert task.outcomes.get().actor == SYSTEM.name


SECOND_SENDING = [
    pytest.param({}, {}, "unchanged", 2, id="same"),
    pytest.param({}, {"tags": ["x"]}, "updated", 2, id="tag-added"),
    pytest.param({}, {"agent": "bot"}, "updated", 2, id="empty-field-filled"),
    pytest.param({"agent": "bot"}, {"agent": "other"}, "conflict", 2, id="other-value"),
    pytest.param({}, {"calls": [{"tool": "x", "seq": 2}]}, "updated", 3, id="new-call"),
    pytest.param({}, {"calls": [{"tool": "x", "seq": 1}]}, "conflict", 2, id="call-with-other-content"),
    pytest.param({"final": True}, {"calls": [{"tool": "x", "seq": 2}]}, "conflict", 2, id="call-after-final"),
    pytest.param({"final": True}, {"outcome": {"result": "success"}}, "updated", 2, id="outcome-after-final"),
    pytest.param({"root_task": "t1"}, {"root_task": "t1"}, "unchanged", 2, id="own-root"),
]


@pytest.mark.parametrize("together", [False, True], ids=["two-requests", "one-batch"])
@pytest.mark.parametrize(("first", "second", "status", "calls"), SECOND_SENDING)
def test_record_experience__sent_again__follows_the_merge_rule(
    cast: Cast, first: dict[str, Any], second: dict[str, Any], status: str, calls: int, together: bool
) -> None:
    documents = [make_document(**first), make_document(**{**first, **second})]

    if together:
        results = record(cast.workspace, *documents)
    else:
        results = [*record(cast.workspace, documents[0]), *record(cast.workspace, documents[1])]

    assert [item.status for item in results] == ["created", status]
    assert ToolCall.objects.count() == calls == Task.objects.get().call_count
    assert results[0].uuid == results[1].uuid


def test_record_experience__conflict__writes_nothing_of_the_document(cast: Cast) -> None:
    record(cast.workspace, make_document(agent="bot"))

    [result] = record(
        cast.workspace, make_document(agent="other", tags=["new"], outcome={"result": "success"})
    )

    assert result.status == "conflict"
    assert [error.field for error in result.errors] == ["agent"]
    assert Task.objects.get().tags == []
    assert Outcome.objects.count() == 0


def test_record_experience__bad_item__does_not_spoil_the_others(cast: Cast) -> None:
    results = record(cast.workspace, {"goal": "?"}, make_document("t2"), make_document("t3", tags="no"))

    assert [item.status for item in results] == ["invalid", "created", "invalid"]
    assert results[0].errors[0].field == "external_id"
    assert results[2].errors[0].field == "tags"


def test_record_experience__secret__is_never_stored(cast: Cast) -> None:
    secret = "sk-" + "a1B2" * 12
    calls = [
        {"tool": "login", "input": {"password": "hunter2", "note": f"use {secret}"}, "reasoning": secret}
    ]

    record(cast.workspace, make_document(calls=calls, goal=f"Log in with {secret}"))

    task = Task.objects.get()
    stored = str(vars(task)) + str([vars(call) for call in task.calls.all()])
    assert secret not in stored
    assert "hunter2" not in stored
    assert sum(task.redactions.values()) >= 3


def test_record_experience__own_redaction_pattern__is_applied(cast: Cast) -> None:
    cast.workspace.settings = {"redaction": {"patterns": {"badge": "EMP-[0-9]+", "bad": "("}}}
    cast.workspace.save()

    record(cast.workspace, make_document(goal="Call EMP-12345"))

    assert "12345" not in Task.objects.get().goal


def test_record_experience__large_output__is_stored_once_by_digest(cast: Cast) -> None:
    calls = [{"tool": "read", "output": "x" * 50_000}, {"tool": "read", "output": "x" * 50_000}]

    record(cast.workspace, make_document("t1", calls=calls), make_document("t2", calls=calls))

    payload = Payload.objects.get()
    assert payload.size == len(payload.body) == 50_002
    assert {call.output["$payload"] for call in ToolCall.objects.all()} == {payload.digest}


def test_record_experience__steps__keep_their_reasoning(cast: Cast) -> None:
    steps = [
        {"reasoning": "Look first.", "calls": [{"tool": "a"}, {"tool": "b"}]},
        {"calls": [{"tool": "c"}]},
    ]

    record(cast.workspace, make_document(calls=[], steps=steps))

    assert list(Step.objects.values_list("index", "reasoning")) == [(0, "Look first.")]
    assert list(ToolCall.objects.values_list("seq", "step")) == [(0, 0), (1, 0), (2, 1)]


def test_record_experience__same_external_id_elsewhere__is_another_task(cast: Cast) -> None:
    [here] = record(cast.workspace, make_document())
    [there] = record(cast.elsewhere, make_document())

    assert (here.status, there.status) == ("created", "created")
    assert here.uuid != there.uuid


def test_record_experience__by_a_viewer__is_refused(cast: Cast) -> None:
    with pytest.raises(NotPermitted, match="record experience"):
        record_experience(workspace_id=cast.workspace.pk, documents=[], by=cast.actor("viewer"))


def test_record_experience__by_an_owner_of_another_workspace__is_refused(cast: Cast) -> None:
    with pytest.raises(NotPermitted, match="another workspace"):
        record_experience(workspace_id=cast.elsewhere.pk, documents=[], by=cast.actor("owner"))
