"""Settling that is interrupted, or done by two workers at once, comes out exact."""

import threading
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from corrections.background import settle
from corrections.background.settle import count_backlog, settle_backlog, store_backlog
from corrections.live.rulesets import RULESETS
from corrections.live.signing import receipt_key
from corrections.models import IssuedToken, Receipt, ReceiptUse, Rule
from corrections.schedule import BEAT
from hgmem.receipts import issue_receipt
from hgmem_site.celery import app
from memory.actions.record import record_experience
from memory.models import ToolCall
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule

CALLS = 60
PASSES = (store_backlog, settle_backlog, count_backlog)


def make_backlog(cast: Cast) -> Rule:
    """Decisions that were followed; half of their tokens were appended before the process died."""
    rule = make_rule(cast.workspace)
    live = RULESETS.get(cast.workspace.pk)
    key, now, calls = receipt_key(cast.workspace.pk), timezone.now(), []
    for number in range(CALLS):
        decision = live.ruleset.decide({"tool": "weather_api", "input": {"n": number}}, now=now)
        token = issue_receipt(decision, ruleset_version=live.version, key=key)
        calls.append({"tool": "weather_api", "input": decision.input, "receipt": token, "status": "ok"})
        if number % 2:
            IssuedToken.objects.create(workspace=cast.workspace, token=token)
    document = {"external_id": "t1", "calls": calls}
    record_experience(workspace_id=cast.workspace.pk, documents=[document], by=SYSTEM)
    return rule


def expect_exact(rule: Rule) -> None:
    rule.refresh_from_db()
    assert (rule.match_count, rule.applied_count, rule.error_count) == (CALLS, CALLS, 0)
    assert Receipt.objects.filter(was_applied=True).count() == CALLS == Receipt.objects.count()
    assert ReceiptUse.objects.count() == CALLS
    assert not IssuedToken.objects.exists()
    assert not ToolCall.objects.filter(receipt_settled_at=None).exists()


@pytest.mark.parametrize("step", ["mark_receipts_settled", "_add_counts", "receipt_row"])
def test_passes__interrupted_anywhere__are_exact_after_the_next_run(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    rule = make_backlog(cast)

    def power_cut(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(settle, step, power_cut)
        for work in PASSES:
            try:
                work(7)
            except KeyboardInterrupt:
                continue
    for work in PASSES:
        work(7)
    expect_exact(rule)


@pytest.mark.django_db(transaction=True)
def test_passes__three_workers_at_once__are_exact(cast: Cast) -> None:
    rule = make_backlog(cast)
    errors: list[Exception] = []

    def worker() -> None:
        try:
            for work in PASSES:
                work(5)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for work in PASSES:  # what one had locked, the others passed over
        work(5)
    expect_exact(rule)


def test_clock__every_entry__names_a_task_that_is_there() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in BEAT.values()} <= set(app.tasks)
