"""The raw writer against the ORM: the same rows, every column."""

import json
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, models

from memory.background.findings import DAILY, FAILURES
from memory.background.patterns import PATTERNS
from memory.background.tools import TOOLS
from memory.models import Outcome, Payload, Step, Task, ToolCall
from memory.writer.merging import CALLS, OUTCOMES, PAYLOADS, STEPS, TASKS
from memory.writer.tables import Table
from tests.conftest import Cast
from tests.memory.builders import record

ALL = [TASKS, CALLS, STEPS, OUTCOMES, PAYLOADS, FAILURES, DAILY, PATTERNS, TOOLS]


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.model.__name__)
def test_table__columns__are_all_that_the_model_has(table: Table) -> None:
    fields = {field.name for field in table.model._meta.concrete_fields if not field.primary_key}

    assert set(table.names) == fields
    assert len(table.names) == len(fields)


STARTED = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=timezone(timedelta(hours=5, minutes=30)))
CALL = {
    "tool": "naïve 工具",
    "tool_version": "2",
    "input": {"a": [1, 2.5, None, True, {"b": "ü"}], "big": 2**70},
    "output": "x" * 20_000,
    "status": "error",
    "error": {"message": "no", "http_status": 404, "detail": [1]},
    "duration_ms": 1.25,
    "started_at": STARTED.isoformat(),
    "reasoning": "because",
    "receipt": "r1.x",
}
DOCUMENT = {
    "external_id": "t",
    "goal": "日本 'quoted' \\ \t\n",
    "tags": ["a", "ü"],
    "agent": "bot",
    "framework": "f",
    "root_task": "root",
    "env": {"domain": "x"},
    "started_at": STARTED.isoformat(),
    "finished_at": (STARTED + timedelta(hours=1)).replace(microsecond=0).isoformat(),
    "final": True,
    "outcome": {"result": "failure", "reward": -0.5, "by": "evaluator", "note": "n"},
    "steps": [{"reasoning": "think", "calls": [CALL, {"tool": "b"}]}],
}


def stored(model: type[models.Model], pk: int) -> list[Any]:
    """What the database itself holds; JSON as read, because its spacing does not matter."""
    fields = [field for field in model._meta.concrete_fields if field.name not in OWN]
    columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM {model._meta.db_table} WHERE id = %s", [pk])
        row = cursor.fetchone()
    return [
        json.loads(value) if isinstance(field, models.JSONField) and value is not None else value
        for field, value in zip(fields, row, strict=True)
    ]


OWN = {"id", "uuid", "external_id", "seq", "index", "digest"}
"""What two rows of one table may not share."""


@pytest.mark.django_db
@pytest.mark.parametrize("model", [Task, ToolCall, Step, Outcome, Payload], ids=lambda model: model.__name__)
def test_writer__row__equals_the_one_the_orm_writes(cast: Cast, model: type[models.Model]) -> None:
    [result] = record(cast.workspace, DOCUMENT)
    assert result.errors == ()
    original = model.objects.order_by("pk").first()

    copy = model.objects.get(pk=original.pk)
    copy.pk, copy._state.adding = None, True
    copy.uuid, copy.external_id, copy.seq, copy.index, copy.digest = uuid4(), "copy", 7, 7, "other"
    copy.save()

    assert stored(model, original.pk) == stored(model, copy.pk)


@pytest.mark.django_db
def test_writer__document__is_read_back_as_it_was_sent(cast: Cast) -> None:
    record(cast.workspace, DOCUMENT)

    task, call = Task.objects.get(), ToolCall.objects.get(seq=0)
    assert (task.goal, task.tags, task.env) == (DOCUMENT["goal"], DOCUMENT["tags"], DOCUMENT["env"])
    assert (task.started_at, task.reward, task.root_task) == (STARTED, -0.5, "root")
    assert (call.input, call.error, call.started_at) == (CALL["input"], CALL["error"], STARTED)
