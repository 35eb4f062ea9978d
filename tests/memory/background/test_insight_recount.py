"""Whatever happens to tasks in whatever order, the tables of the insights are those of a recount."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from django.apps import apps
from django.db.models import Model

from memory.actions.judge import judge_task
from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.background.insights import counting
from memory.background.insights.counting import count_batch, waiting_insights
from memory.background.insights.recounting import count_all, want_all
from memory.background.patterns import _turn_into_repeats
from memory.domain.experience import OutcomeDoc
from memory.models import ErrorPattern, Failure, RepeatCell, Task, TaskInsight, ToolSequence, Workspace
from memory.permissions import SYSTEM
from tests.memory.insight_scenes import count_tasks, insight_call

pytestmark = pytest.mark.django_db

TABLES = {
    "SpeedCell": ("n", "failed", "timed"),
    "WayCell": ("n",),
    "RetryCell": ("calls", "failures", "retries", "recovered", "given_up"),
    "RepeatCell": ("calls", "failures"),
    "SequenceKind": ("won", "lost"),
    "ToolSequence": ("tasks", "missed"),
    "ToolHour": ("calls",),
    "PatternHour": ("failures",),
}
"""Each with the counts of which one is above zero in a row that says anything."""
NOT_COUNTED = {
    "id", "uuid", "examples", "is_stale", "ranked_at", "is_closed", "lift", "lift_low", "lift_high", "verdict",
    "strength",
}  # fmt: skip
TOOLS = ("find", "book", "<b>{{ x }}</b>", "\u202eevil", "=1+1", "a > b")
MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
MOMENTS = (MIDNIGHT, MIDNIGHT - timedelta(microseconds=1), MIDNIGHT + timedelta(hours=1), None)
ZONES = ("Z", "+05:30", "-08:00")


def table(name: str) -> list[tuple[Any, ...]]:
    """The rows that say anything, as comparable texts; sums of times to six digits."""
    model: type[Model] = apps.get_model("memory", name)
    fields = [field.attname for field in model._meta.concrete_fields if field.attname not in NOT_COUNTED]
    counts = TABLES[name]
    rows = []
    for row in model._default_manager.values(*fields):
        if any(row[count] for count in counts):
            kind = SEQUENCE_KINDS.get(row.pop("kind_id", None), "")
            rows.append((kind, *[f"{v:.6g}" if isinstance(v, float) else str(v) for v in row.values()]))
    return sorted(rows)


SEQUENCE_KINDS: dict[Any, str] = {}


def tables() -> dict[str, list[tuple[Any, ...]]]:
    """All of them."""
    kinds = apps.get_model("memory", "SequenceKind")._default_manager
    SEQUENCE_KINDS.clear()
    SEQUENCE_KINDS.update(kinds.values_list("pk", "name"))
    return {name: table(name) for name in TABLES}


def count_anew(workspace: Workspace) -> dict[str, list[tuple[Any, ...]]]:
    """What the tables are after they were emptied and everything was counted again."""
    for name in reversed(TABLES):
        apps.get_model("memory", name)._default_manager.all().delete()
    ToolSequence.objects.all().delete()
    TaskInsight.objects.update(contribution=b"")
    want_all(workspace.pk)
    count_all(workspace.pk)
    return tables()


def random_call(chance: random.Random) -> dict[str, Any]:
    """Any call, some of them strange."""
    ms = chance.choice((None, 0.0, 12.5, 1e9, 1e308))
    call = insight_call(
        chance.choice(TOOLS), ms, ok=chance.random() < 0.6, q="x" * chance.choice((0, 5, 500))
    )
    at = chance.choice(MOMENTS)
    if at is None:
        del call["started_at"]
    else:
        call["started_at"] = at.replace(tzinfo=None).isoformat() + chance.choice(ZONES)
    if chance.random() < 0.1:
        call["input"] = {"deep": [[[{"a": [None] * 9}]]], "n": 1e300, "\u202e": -1}
    return call


def send_something(workspace: Workspace, chance: random.Random) -> None:
    """A task begins, goes on, ends or is sent again with other words."""
    name = f"t{chance.randrange(8)}"
    task = Task.objects.filter(workspace=workspace, external_id=name).first()
    first = task.call_count if task else 0
    calls = [random_call(chance) | {"seq": first + n} for n in range(chance.randrange(4))]
    document = {
        "external_id": name, "goal": "Book", "calls": calls, "tags": chance.sample(["a", "b", "<i>"], k=2),
        "env": chance.choice(({}, {"domain": "shop"}, {"domain": 7})), "agent": chance.choice(("", "bot")),
    }  # fmt: skip
    if chance.random() < 0.6:
        result = chance.choice(("success", "failure", "unknown"))
        document |= {"final": True, "outcome": {"result": result, "by": "environment"}}
    record_experience(workspace_id=workspace.pk, documents=[document], by=SYSTEM)


def judge_something(workspace: Workspace, chance: random.Random) -> None:
    """A person says how some task ended, late."""
    tasks = list(Task.objects.filter(workspace=workspace, final=True).order_by("pk"))
    if tasks:
        said = {"result": chance.choice(("success", "failure")), "by": "human"}
        judge_task(task=chance.choice(tasks), outcome=msgspec.convert(said, OutcomeDoc), by=SYSTEM)


@pytest.mark.parametrize("seed", range(3))
def test_tables__anything_happens__are_those_of_a_recount(workspace: Workspace, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        step = chance.random()
        if step < 0.5:
            send_something(workspace, chance)
        elif step < 0.65:
            judge_something(workspace, chance)
        elif step < 0.8:
            analyse_backlog()
        elif step < 0.85:
            want_all(workspace.pk)
        else:
            count_batch(workspace.pk)
    while analyse_backlog() or count_batch(workspace.pk):
        pass

    assert not TaskInsight.objects.exclude(error="").exists()
    found = tables()
    assert found["SpeedCell"] and found["ToolHour"]
    assert count_anew(workspace) == found


def test_repeat__turns_while_its_task_is_read__is_counted_all_the_same(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker finds that an earlier task had met the pattern, between reading and writing."""
    count_tasks(workspace, [insight_call("book", ok=False)])
    TaskInsight.objects.update(counted_revision=0)
    read = counting._read

    def read_and_wait(*some: Any) -> list[counting.Change]:
        changes = read(*some)
        for failure in Failure.objects.filter(repeat=False):
            _turn_into_repeats(ErrorPattern.objects.get(pk=failure.pattern_id), failure.task_id)
        return changes

    monkeypatch.setattr(counting, "_read", read_and_wait)
    while count_batch(workspace.pk):
        pass

    assert not waiting_insights().exists()
    assert RepeatCell.objects.get(pattern=0).repeats == 1
