"""Outcomes of exposed tasks: once, late, corrected, by many workers."""

import threading
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from corrections.background import outcomes
from corrections.background.outcomes import hear_news, settle_batch, settle_exposures
from corrections.background.settle import count_backlog, settle_backlog, store_backlog
from corrections.live.receipts import RECEIPTS
from corrections.models import Canary, Exposure, Receipt, Rule
from corrections.queries.canary_counts import stage_counts
from memory.actions.judge import judge_task
from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.domain.experience import OutcomeDoc
from memory.models import Task, TaskWatch, Workspace
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_canary, make_rule
from tests.racing import at_once

TOOL = "weather_api"


@pytest.fixture
def canary(cast: Cast) -> Canary:
    return make_canary(make_rule(cast.workspace))


def expose(canary: Canary, unit: str = "t1", **fields: Any) -> Exposure:
    given = {
        "stage": 0, "unit_digest": "0" * 16, "arm": "canary", "share": 5_000, "tool": TOOL,
        "exposed_at": timezone.now() - timedelta(minutes=5), **fields,
    }  # fmt: skip
    return Exposure.objects.create(workspace=canary.workspace, canary=canary, unit=unit, **given)


def record(
    workspace: Workspace, name: str = "t1", statuses: tuple[str, ...] = ("ok",), **fields: Any
) -> None:
    calls = [
        {"seq": seq, "tool": TOOL, "input": {"n": seq}, "status": status}
        | ({"error": "no"} if status == "error" else {})
        for seq, status in enumerate(statuses)
    ]
    document = {"external_id": name, "final": True, "calls": calls, **fields}
    [result] = record_experience(workspace_id=workspace.pk, documents=[document], by=SYSTEM)
    assert result.status in ("created", "updated"), result


def analyse() -> None:
    while analyse_backlog():
        pass


def end(workspace: Workspace, *args: Any, **fields: Any) -> None:
    record(workspace, *args, **fields)
    analyse()
    settle_exposures()


def told(exposure: Exposure) -> tuple[bool | None, bool | None, bool]:
    exposure.refresh_from_db()
    return exposure.failed, exposure.retried, exposure.is_due


def test_outcome__task_ended_before_the_look__is_seen_at_once(canary: Canary) -> None:
    record(canary.workspace, statuses=("error", "ok"))
    analyse()
    exposure = expose(canary)

    assert settle_exposures() == 1

    assert told(exposure) == (False, True, False)
    assert exposure.task == Task.objects.get()
    assert exposure.decided_at is not None
    assert exposure.tool_error is True
    assert Canary.objects.get().is_due
    assert Rule.objects.get().score_due


def test_outcome__task_that_comes_later__is_heard_of(canary: Canary) -> None:
    exposure = expose(canary)
    assert settle_exposures() == 0
    assert told(exposure) == (None, None, False)

    end(canary.workspace, statuses=("error",))

    assert told(exposure) == (True, False, False)


def test_outcome__task_goes_on__waits_for_its_end(canary: Canary) -> None:
    exposure = expose(canary)
    end(canary.workspace, final=False)
    assert told(exposure) == (None, None, False)

    end(canary.workspace, statuses=("ok", "ok"))

    assert told(exposure) == (False, False, False)


def test_outcome__corrected_by_a_person__counts_and_is_an_override(canary: Canary) -> None:
    exposure = expose(canary)
    end(canary.workspace, outcome={"result": "success", "by": "agent"})
    assert told(exposure)[0] is False
    assert exposure.overridden is False
    Canary.objects.update(is_due=False)

    judge_task(task=Task.objects.get(), outcome=OutcomeDoc(result="failure", by="human"), by=SYSTEM)
    analyse()
    settle_exposures()

    assert told(exposure)[0] is True
    assert exposure.overridden is True
    assert Canary.objects.get().is_due


def test_outcome__recorded_but_not_analysed__stays_due(canary: Canary) -> None:
    exposure = expose(canary)
    record(canary.workspace, statuses=("error",))

    assert settle_exposures() == 0
    assert told(exposure) == (None, None, True)

    analyse()
    assert settle_exposures() == 1


def test_outcome__sub_tasks__count_with_their_calls_and_the_root_decides(canary: Canary) -> None:
    exposure = expose(canary)
    end(canary.workspace, "sub", statuses=("error", "ok"), root_task="t1")
    assert told(exposure) == (False, True, False)

    end(canary.workspace, "t1", statuses=("ok",), outcome={"result": "failure"})

    assert told(exposure) == (True, True, False)
    assert exposure.task == Task.objects.get(external_id="t1")


def at(minutes: int) -> str:
    return (timezone.now() + timedelta(minutes=minutes)).isoformat()


def test_outcome__calls_before_the_exposure__are_left_out(canary: Canary) -> None:
    exposure = expose(canary)
    calls = [
        {"seq": 0, "tool": TOOL, "input": {}, "status": "error", "error": "no", "started_at": at(-9)},
        {"seq": 1, "tool": TOOL, "input": {}, "status": "ok", "started_at": at(-1)},
    ]

    end(canary.workspace, calls=calls)

    assert told(exposure) == (False, False, False)
    assert exposure.tool_error is False


def receipt_of(canary: Canary, seq: int, **body: Any) -> Receipt:
    return Receipt.objects.create(
        uuid=uuid4(), workspace=canary.workspace, issued_at=timezone.now(), tool=TOOL, ruleset_version="1",
        call_task=Task.objects.get(), call_seq=seq, was_applied=True, settled_at=timezone.now(),
        body={"tool": TOOL, "rules": [], **body},
    )  # fmt: skip


def test_outcome__receipt_of_a_call__says_where_it_begins(canary: Canary) -> None:
    record(canary.workspace, statuses=("error", "ok", "ok"))
    analyse()
    exposure = expose(canary, receipt=receipt_of(canary, 1))

    settle_exposures()

    assert told(exposure) == (False, False, False)
    assert exposure.tool_error is False


def test_outcome__call_that_a_correction_stopped__is_nobodys_fault(canary: Canary) -> None:
    record(canary.workspace, statuses=("rejected", "ok"))
    analyse()
    exposure = expose(canary, receipt=receipt_of(canary, 0, blocked=True))

    settle_exposures()

    assert told(exposure) == (False, False, False)
    assert (exposure.overridden, exposure.tool_error) == (False, False)


def test_outcome__slow_call__is_measured_by_the_calls_before_the_canary(canary: Canary) -> None:
    def timed(name: str, *durations: float) -> None:
        calls = [
            {"seq": seq, "tool": TOOL, "input": {}, "status": "ok", "duration_ms": duration}
            for seq, duration in enumerate(durations)
        ]
        end(canary.workspace, name, calls=calls)

    timed("before", *range(1, 21))
    Canary.objects.update(started_at=timezone.now())
    timed("t1", 18.0)
    timed("t2", 20.0)
    fast, slow = expose(canary, "t1"), expose(canary, "t2")

    settle_exposures()

    told(fast), told(slow)
    assert (fast.slow, slow.slow) == (False, True)
    assert Canary.objects.get().slow_ms == {TOOL: 19.0}


def test_outcome__same_name_elsewhere__is_another_task(cast: Cast, canary: Canary) -> None:
    exposure = expose(canary)

    end(cast.elsewhere, statuses=("error",))

    assert told(exposure) == (None, None, False)


def test_outcome__many_exposures__no_more_queries(canary: Canary) -> None:
    def count(names: range) -> int:
        for n in names:
            record(canary.workspace, f"many-{n}", statuses=("ok", "error"))
        analyse()
        ids = [expose(canary, f"many-{n}").pk for n in names]
        with CaptureQueriesContext(connection) as captured:
            assert settle_batch(ids) == len(names)
        return len(captured)

    count(range(1))

    assert count(range(1, 3)) == count(range(10, 30))


def test_outcome__exposure_that_cannot_be_read__holds_up_no_other(
    canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = expose(canary, "bad"), expose(canary, "good")
    for name in ("bad", "good"):
        record(canary.workspace, name)
    analyse()
    real = outcomes.what_became

    def broken(facts: Any) -> Any:
        if facts.tools == {"bad"}:
            raise ValueError("unreadable")
        return real(facts)

    Exposure.objects.filter(pk=bad.pk).update(tool="bad")
    monkeypatch.setattr(outcomes, "what_became", broken)

    assert settle_exposures() == 1

    assert told(bad) == (None, None, False)
    assert told(good)[0] is False


def test_pass__killed_before_it_commits__leaves_all_of_it(
    canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(canary.workspace)
    analyse()
    exposure = expose(canary)

    def killed(*_ids: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(outcomes, "_tell", killed)
        with pytest.raises(KeyboardInterrupt):
            settle_exposures()

    assert told(exposure) == (None, None, True)
    assert not Canary.objects.get().is_due
    assert settle_exposures() == 1
    assert told(exposure) == (False, False, False)


def test_news__killed_before_it_commits__is_heard_again(
    canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    exposure = expose(canary)
    settle_exposures()
    record(canary.workspace)
    analyse()
    assert TaskWatch.objects.get().has_news

    def killed(**_kinds: Any) -> list[Any]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Exposure.objects, "filter", killed)
        with pytest.raises(KeyboardInterrupt):
            hear_news(10)

    assert TaskWatch.objects.get().has_news
    settle_exposures()
    assert told(exposure)[0] is False


@pytest.mark.django_db(transaction=True)
def test_pass__two_at_once__each_exposure_changes_once(canary: Canary) -> None:
    for n in range(30):
        record(canary.workspace, f"r{n}", statuses=("error" if n % 3 else "ok",))
    analyse()
    for n in range(30):
        expose(canary, f"r{n}")

    results = at_once(*[lambda: settle_exposures(batch=7)] * 3)

    while settle_exposures():
        pass
    assert all(isinstance(count, int) for count in results), results
    assert Exposure.objects.filter(failed=True).count() == 20
    assert Exposure.objects.filter(failed=False).count() == 10
    assert not Exposure.objects.filter(is_due=True).exists()


@pytest.mark.django_db(transaction=True)
def test_pass__while_receipts_of_the_rule_are_counted__never_deadlocks(canary: Canary) -> None:
    record(canary.workspace, statuses=("error",))
    analyse()
    exposure = expose(canary)
    has_rule = threading.Event()

    def count() -> None:
        """As the pass over receipts does: the rule's counters, then the exposures."""
        with transaction.atomic():
            Rule.objects.filter(pk=canary.rule_id).update(match_count=F("match_count") + 1)
            has_rule.set()
            time.sleep(0.3)
            list(Exposure.objects.filter(pk=exposure.pk).select_for_update())

    def look() -> int:
        has_rule.wait()
        return settle_batch([exposure.pk])

    assert at_once(count, look) == [None, 1]


@pytest.mark.django_db(transaction=True)
def test_pass__while_tasks_are_recorded_and_analysed__misses_none(canary: Canary) -> None:
    names = [f"x{n}" for n in range(24)]

    def expose_all() -> None:
        for name in names:
            expose(canary, name)
            settle_exposures(batch=5)

    def record_all() -> None:
        for name in names:
            record(canary.workspace, name, statuses=("error",))
            analyse_backlog()

    results = at_once(expose_all, record_all, lambda: [settle_exposures(batch=3) for _ in range(12)])
    analyse()
    settle_exposures()

    assert not any(isinstance(result, Exception) for result in results), results
    assert Exposure.objects.filter(failed=True).count() == len(names)


def test_outcome__asked_and_recorded_over_the_api__is_decided_in_both_arms(
    canary: Canary, agent_api: Any
) -> None:
    for n in range(24):
        asked = {"tool": TOOL, "input": {}, "task": {"id": f"a{n}"}}
        answer = agent_api.post("/api/v1/corrections/query", asked).json()
        RECEIPTS.flush()
        status = "ok" if answer["input"].get("city") else "error"
        call = {"tool": TOOL, "input": answer["input"], "receipt": answer["receipt"], "status": status}
        document = {"external_id": f"a{n}", "final": True, "calls": [call]}
        record_experience(workspace_id=canary.workspace_id, documents=[document], by=SYSTEM)
    store_backlog(), settle_backlog(), count_backlog()
    analyse()

    assert settle_exposures() == 24

    [stage] = stage_counts(canary, of_all_time=True)
    assert stage.arm("canary").decided + stage.arm("control").decided == 24
    assert stage.arm("canary").failed == 0 < stage.arm("canary").decided
    assert stage.arm("control").failed == stage.arm("control").decided > 0
