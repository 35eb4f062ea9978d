"""Exposures: one for each canary and root task, the first arm, exact however the receipts arrive."""

import itertools
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from corrections.actions.publishing import lock_rule, stamp_ruleset
from corrections.background import exposures, settle
from corrections.background.settle import count_backlog, settle_backlog, store_backlog
from corrections.live.receipts import RECEIPTS, ReceiptBuffer
from corrections.live.rulesets import RULESETS
from corrections.live.signing import receipt_key
from corrections.models import Canary, Exposure, Receipt, Rule
from hgmem.receipts import issue_receipt
from hgmem.rules import Decision
from hgmem.rules.assignment import assign, unit_digest
from memory.actions.record import record_experience
from memory.models import Task, Workspace
from memory.permissions import SYSTEM
from tests.builders import NOW
from tests.conftest import Cast
from tests.corrections.builders import make_canary, make_rule


def decide(workspace: Workspace, task: dict[str, Any], tool: str = "weather_api") -> Decision:
    live = RULESETS.get(workspace.pk)
    return live.ruleset.decide({"tool": tool, "input": {}, "task": task}, now=timezone.now())


def issue(workspace: Workspace, task: dict[str, Any], *, minutes: int = 0, lost: bool = False) -> str:
    """A decision's token, appended unless it is lost."""
    decision = decide(workspace, task)
    token = issue_receipt(
        decision, ruleset_version="1", key=receipt_key(workspace.pk),
        issued_at=NOW + timedelta(minutes=minutes),
    )  # fmt: skip
    if not lost:
        RECEIPTS.add(workspace.pk, token, decision)
        RECEIPTS.flush()
    return token


def record(workspace: Workspace, token: str, task: str) -> None:
    call = {"tool": "weather_api", "status": "ok", "receipt": token}
    document = {"external_id": task, "calls": [call]}
    [result] = record_experience(workspace_id=workspace.pk, documents=[document], by=SYSTEM)
    assert result.status in ("created", "updated"), result


def work() -> None:
    store_backlog()
    settle_backlog()
    count_backlog()


def arm_of(rule: Rule, unit: str, share: int = 5_000) -> str:
    return assign(str(rule.uuid), "salt", unit, share=share)


def rows() -> list[tuple[str, str, int, bool]]:
    found = Exposure.objects.order_by("unit")
    return [(row.unit, row.arm, row.stage, row.is_crossed) for row in found]


def new_canary(cast: Cast, **fields: Any) -> Canary:
    return make_canary(make_rule(cast.workspace, active=False), **fields)


def test_exposures__many_calls_of_many_tasks__are_one_row_a_root_task(cast: Cast) -> None:
    canary = new_canary(cast, stage=2)
    for number in range(6):
        issue(cast.workspace, {"id": f"t{number}"}, minutes=number)
        issue(cast.workspace, {"id": f"t{number}-sub", "root": f"t{number}"}, minutes=9)
    work()
    assert rows() == [(f"t{at}", arm_of(canary.rule, f"t{at}"), 2, False) for at in range(6)]
    first = Exposure.objects.get(unit="t3")
    assert (first.exposed_at, first.tool, first.share) == (NOW + timedelta(minutes=3), "weather_api", 5_000)
    assert (first.unit_digest, first.is_due, first.failed) == (unit_digest("t3"), True, None)
    assert first.receipt is not None
    assert first.receipt.task_external_id == "t3"
    canary.refresh_from_db()
    assert canary.is_due


def test_counters__rule_in_the_control_arm__did_not_match(cast: Cast) -> None:
    canary = new_canary(cast)
    units = [f"t{at}" for at in range(12)]
    for unit in units:
        issue(cast.workspace, {"id": unit})
    work()
    acted = sum(arm_of(canary.rule, unit) == "canary" for unit in units)
    canary.rule.refresh_from_db()
    assert (Exposure.objects.count(), canary.rule.match_count) == (12, acted)
    assert 0 < acted < 12


def test_exposure__token_only_in_the_experience__gives_the_same_row(cast: Cast) -> None:
    new_canary(cast)
    for at, lost in ((0, True), (1, False)):
        token = issue(cast.workspace, {"id": f"t{at}"}, minutes=at, lost=lost)
        record(cast.workspace, token, f"t{at}")
    work()
    kept, lost_row = Exposure.objects.order_by("exposed_at")
    names = [field.attname for field in Exposure._meta.concrete_fields]
    apart = {name for name in names if getattr(kept, name) != getattr(lost_row, name)}
    assert apart <= {"id", "unit", "unit_digest", "arm", "receipt_id", "exposed_at"}


def ramp(canary: Canary, share: int, stage: int) -> None:
    Canary.objects.filter(pk=canary.pk).update(share=share, stage=stage, is_due=False)
    stamp_ruleset(canary.workspace_id)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("together", [True, False], ids=["one batch", "one by one"])
def test_exposure__receipts_of_two_arms_in_any_order__the_first_issued_counts(
    cast: Cast, order: tuple[int, ...], together: bool
) -> None:
    canary = new_canary(cast, share=1)
    tokens = [issue(cast.workspace, {"id": "t"}, minutes=at, lost=True) for at in range(2)]
    ramp(canary, share=9_999, stage=1)
    tokens.append(issue(cast.workspace, {"id": "t"}, minutes=2, lost=True))
    for at in order:
        record(cast.workspace, tokens[at], f"call-{at}")
        if not together:
            work()
    work()
    assert rows() == [("t", "control", 0, True)]
    assert Exposure.objects.get().exposed_at == NOW


def test_exposure__corrected_by_a_late_receipt__is_looked_at_again(cast: Cast) -> None:
    canary = new_canary(cast, share=1)
    early = issue(cast.workspace, {"id": "t"}, minutes=0, lost=True)
    ramp(canary, share=9_999, stage=1)
    issue(cast.workspace, {"id": "t"}, minutes=5)
    work()
    assert rows() == [("t", "canary", 1, False)]
    Exposure.objects.update(is_due=False)
    Canary.objects.update(is_due=False)
    record(cast.workspace, early, "t")
    work()
    assert rows() == [("t", "control", 0, True)]
    assert Exposure.objects.get().is_due
    assert Canary.objects.get().is_due


def test_exposure__later_receipt_of_the_same_arm__changes_nothing(cast: Cast) -> None:
    new_canary(cast)
    issue(cast.workspace, {"id": "t"})
    work()
    Exposure.objects.update(is_due=False)
    Canary.objects.update(is_due=False)
    issue(cast.workspace, {"id": "t"}, minutes=5)
    work()
    assert not Exposure.objects.get().is_due
    assert not Canary.objects.get().is_due


def test_exposure__of_a_canary_that_is_over__is_kept_and_asks_for_no_look(cast: Cast) -> None:
    canary = new_canary(cast)
    token = issue(cast.workspace, {"id": "t"}, lost=True)
    Canary.objects.filter(pk=canary.pk).update(state="ended")
    record(cast.workspace, token, "t")
    work()
    assert Exposure.objects.count() == 1
    canary.refresh_from_db()
    assert not canary.is_due


def test_exposure__token_of_another_workspace__touches_nothing(cast: Cast) -> None:
    new_canary(cast)
    token = issue(cast.workspace, {"id": "t"}, lost=True)
    record(cast.elsewhere, token, "t")
    work()
    assert not Exposure.objects.exists()


def test_exposure__canary_of_another_workspace_named_in_a_token__is_left_alone(cast: Cast) -> None:
    canary = new_canary(cast)
    decision = decide(cast.workspace, {"id": "t"})
    token = issue_receipt(decision, ruleset_version="1", key=receipt_key(cast.elsewhere.pk))
    record(cast.elsewhere, token, "t")
    work()
    assert Receipt.objects.get().body["exposures"][0][0] == str(canary.uuid)
    assert not Exposure.objects.exists()


def test_exposure__task_with_a_secret_name__has_the_name_of_the_recorded_task(cast: Cast) -> None:
    new_canary(cast)
    secret = "ask jane.doe@example.org"
    issue(cast.workspace, {"id": secret})
    record(cast.workspace, issue(cast.workspace, {"id": secret}, minutes=1), secret)
    work()
    row = Exposure.objects.get()
    assert row.unit == Task.objects.get().external_id
    assert row.unit.startswith("redacted:")
    assert row.unit_digest == unit_digest(secret)


def test_exposure__name_that_no_database_stores__is_stored_as_the_task_is(cast: Cast) -> None:
    new_canary(cast)
    issue(cast.workspace, {"id": "t\0"})
    issue(cast.workspace, {"id": "t\ud800"}, minutes=1)
    work()
    assert [row[0] for row in rows()] == ["t\ufffd"]


def test_exposure__in_shadow__keeps_its_receipt(cast: Cast) -> None:
    new_canary(cast, state="shadow")
    issue(cast.workspace, {"id": "t"})
    work()
    row = Exposure.objects.get()
    assert row.receipt is not None
    assert (row.arm, row.receipt.body["rules"]) == ("shadow", [])


@pytest.mark.parametrize("canaries", [1, 8])
def test_exposures__more_receipts_and_canaries__cost_the_same_queries(
    cast: Cast, canaries: int, django_assert_max_num_queries: Any
) -> None:
    for number in range(canaries):
        make_canary(make_rule(cast.workspace, active=False, name=f"Rule {number}"))
    for number in range(3 * canaries):
        issue(cast.workspace, {"id": f"t{number}"})
    store_backlog()
    receipts = list(Receipt.objects.all())
    with django_assert_max_num_queries(8):
        assert exposures.write_exposures(receipts) == 3 * canaries * canaries


@pytest.mark.parametrize("step", ["_ask_for_a_look", "_first_of"])
def test_exposures__interrupted__are_exact_after_the_next_run(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    canary = new_canary(cast)
    issue(cast.workspace, {"id": "t"})
    store_backlog()

    def power_cut(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(exposures, step, power_cut)
        with pytest.raises(KeyboardInterrupt):
            count_backlog()
    assert not Exposure.objects.exists()
    work()
    assert len(rows()) == 1
    canary.refresh_from_db()
    assert canary.is_due


@pytest.mark.django_db(transaction=True)
def test_exposures__two_workers_at_once__are_one_row_a_task(cast: Cast) -> None:
    canary = new_canary(cast, share=1)
    units = [f"t{at}" for at in range(10)]
    for at, unit in enumerate(units):
        issue(cast.workspace, {"id": unit}, minutes=at)
    ramp(canary, share=9_999, stage=1)
    for at, unit in enumerate(units):
        issue(cast.workspace, {"id": unit}, minutes=60 + at)
    store_backlog()
    faults: list[BaseException] = []

    def count() -> None:
        try:
            while settle.count_receipts(3):
                pass
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    workers = [threading.Thread(target=count) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert faults == []
    assert rows() == [(unit, "control", 0, True) for unit in units]


@pytest.mark.django_db(transaction=True)
def test_exposures__written_while_somebody_steers_the_canary__never_deadlock(cast: Cast) -> None:
    canary = new_canary(cast, share=9_999)
    for at in range(12):
        issue(cast.workspace, {"id": f"t{at}"}, minutes=at)
    store_backlog()
    faults: list[BaseException] = []

    def attempt(work: Callable[[], Any]) -> None:
        try:
            for _ in range(12):
                work()
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    def steer() -> None:
        with transaction.atomic():
            lock_rule(canary.rule)
            Canary.objects.select_for_update(no_key=True).get(pk=canary.pk)
            Canary.objects.filter(pk=canary.pk).update(is_due=False)

    workers = [
        threading.Thread(target=attempt, args=(step,)) for step in (lambda: settle.count_receipts(1), steer)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert faults == []
    assert len(rows()) == 12


def test_buffer__decision_in_the_control_arm__keeps_its_exposures(cast: Cast) -> None:
    canary = new_canary(cast, share=1)
    decision = decide(cast.workspace, {"id": "t"})
    buffer = ReceiptBuffer()
    buffer.add(cast.workspace.pk, issue(cast.workspace, {"id": "t"}, lost=True), decision)
    assert (buffer.flush(), store_backlog()) == (1, 1)
    assert Receipt.objects.get().body["exposures"] == [[str(canary.uuid), 0, 1, "control"]]
