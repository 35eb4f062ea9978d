"""Many writers at once: one task for one external id, no call twice, never an error."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection, transaction

from memory.actions.record import ItemResult, record_experience
from memory.models import Outcome, Task, ToolCall, Workspace
from memory.permissions import SYSTEM
from memory.writer import gate
from tests.memory.builders import make_document, record
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 8


def in_threads(work: Callable[[int], list[ItemResult]]) -> list[list[ItemResult]]:
    """Run ``work(n)`` in as many threads as there are, all at the same moment; their results."""
    results = at_once(*(partial(work, number) for number in range(THREADS)))
    assert [result for result in results if isinstance(result, Exception)] == []
    return results


@pytest.mark.parametrize("path", ["gate", "alone"])
def test_record__same_document_at_once__is_one_task(
    workspace: Workspace, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``alone``: as if each thread were a process of its own."""
    if path == "alone":
        monkeypatch.setattr(gate.Gate, "write", lambda _, job: gate._write_alone(job))
    document = make_document(outcome={"result": "success"})

    for _ in range(5):
        results = in_threads(lambda _: record(workspace, document))
        statuses = sorted(item.status for [item] in results)
        assert statuses in (["created", *["unchanged"] * (THREADS - 1)], ["unchanged"] * THREADS)

    assert (Task.objects.count(), ToolCall.objects.count(), Outcome.objects.count()) == (1, 2, 1)


def test_record__parts_of_one_task_at_once__are_all_there(workspace: Workspace) -> None:
    def send(number: int) -> list[ItemResult]:
        calls = [{"tool": "t", "seq": number * 10 + n} for n in range(10)]
        return record(workspace, make_document(calls=calls, tags=[str(number)]))

    in_threads(send)

    task = Task.objects.get()
    assert sorted(task.calls.values_list("seq", flat=True)) == list(range(THREADS * 10))
    assert (task.call_count, len(task.tags), task.revision) == (THREADS * 10, THREADS, THREADS)


def test_record__overlapping_batches_in_any_order__do_not_deadlock(workspace: Workspace) -> None:
    names = [f"t{n}" for n in range(20)]

    def send(number: int) -> list[ItemResult]:
        order = names[number:] + names[:number]
        documents = [
            make_document(name, tags=[str(number)]) for name in (order if number % 2 else order[::-1])
        ]
        return record(workspace, *documents)

    for _ in range(3):
        in_threads(send)

    assert (Task.objects.count(), ToolCall.objects.count()) == (20, 40)
    assert {len(task.tags) for task in Task.objects.all()} == {THREADS}


def test_gate__one_job_fails__the_others_of_its_group_are_written(workspace: Workspace) -> None:
    real = gate.write_documents

    def refuse(workspace_id: int, items: Any, **rest: Any) -> Any:
        if items[0].record.external_id == "bad":
            raise RuntimeError("cannot be written")
        return real(workspace_id, items, **rest)

    own = gate.Gate()
    outcomes: dict[str, str] = {}

    def send(name: str) -> None:
        try:
            [result] = record(workspace, make_document(name))
            outcomes[name] = result.status
        except RuntimeError as error:
            outcomes[name] = str(error)
        finally:
            connection.close()

    with patch("memory.actions.record.GATE", own), patch("memory.writer.gate.write_documents", refuse):
        threads = [threading.Thread(target=send, args=(name,)) for name in ("a", "bad", "b")]
        with own._turn:  # everybody waits, so that they make one group
            for thread in threads:
                thread.start()
            while connection.vendor != "postgresql" and len(own._waiting) < len(threads):
                pass
        for thread in threads:
            thread.join()

    assert outcomes == {"a": "created", "b": "created", "bad": "cannot be written"}
    assert sorted(Task.objects.values_list("external_id", flat=True)) == ["a", "b"]


def test_record__inside_the_callers_transaction__is_committed_with_it(workspace: Workspace) -> None:
    def record_and_fail() -> None:
        with transaction.atomic():
            record_experience(workspace_id=workspace.pk, documents=[make_document()], by=SYSTEM)
            raise RuntimeError("rolled back")

    with pytest.raises(RuntimeError, match="rolled back"):
        record_and_fail()

    assert Task.objects.count() == 0
