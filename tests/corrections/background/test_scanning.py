"""Conflict scans by the worker."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from corrections.actions.rules import disable_rule, edit_rule
from corrections.actions.scanning import scan_everything
from corrections.background import scanning
from corrections.background.scanning import scan_backlog
from corrections.models import Conflict, ConflictScan
from memory.permissions import SYSTEM
from tests.builders import make_call, make_task
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document
from tests.corrections.conflicts import found, make_pair

pytestmark = pytest.mark.django_db


def test_scan__two_rules_fill_one_field_differently__finds_it_with_a_witness_and_how_often(
    cast: Cast,
) -> None:
    make_pair(cast.workspace)
    task = make_task(cast.workspace)
    for given in ({"country": "CN"}, {"country": "CN", "city": "x"}, {"country": "CN", "city": None}, {}):
        make_call(task, "weather_api", input=given)

    conflict = found(cast.workspace)

    assert (conflict.verdict, conflict.status, conflict.field) == ("conflict", "open", "input.city")
    assert conflict.witness is not None
    assert not (conflict.witness["input"].get("city") or "").strip()
    assert (conflict.frequency, conflict.frequency_of) == (2, 4)
    assert [call["seq"] for call in conflict.detail["calls"]] == [2, 0]


def test_scan__a_draft__is_looked_at_before_it_is_served(cast: Cast) -> None:
    make_rule(cast.workspace)
    make_rule(
        cast.workspace, active=False, name="Beijing", condition="input.country == 'CN'",
        action_detail={"transform": "set_default", "field": "city", "default_value": "Beijing"},
    )  # fmt: skip

    assert found(cast.workspace).rule_b is not None


def test_scan__found_again__is_the_same_row(cast: Cast) -> None:
    make_pair(cast.workspace)
    before = found(cast.workspace)
    scan_everything(workspace_id=cast.workspace.pk, by=SYSTEM)

    assert found(cast.workspace).pk == before.pk


def test_scan__a_rule_is_disabled_or_has_moved_on__its_findings_are_gone(cast: Cast) -> None:
    _, b = make_pair(cast.workspace)
    found(cast.workspace)
    document = weather_document(name="Beijing", condition="input.city == 'capital'")
    edit_rule(rule=b, document=document, base_version=1, by=SYSTEM)
    scan_backlog(60.0)
    assert found(cast.workspace).status == "open"  # version 1 is served still

    b.refresh_from_db()
    disable_rule(rule=b, by=SYSTEM, reason="enough")
    scan_everything(workspace_id=cast.workspace.pk, by=SYSTEM)

    assert found(cast.workspace).status == "gone"


def test_scan__time_is_up_at_once__goes_on_where_it_stopped_until_all_is_done(cast: Cast) -> None:
    for number in range(5):
        make_rule(cast.workspace, name=f"r{number}", condition=f"input.n == {number}")
    ConflictScan.objects.all().delete()
    scan = scan_everything(workspace_id=cast.workspace.pk, by=SYSTEM)
    stood = []
    for _ in range(40):
        scan_backlog(0.0)
        scan.refresh_from_db()
        stood.append(scan.done)
        if scan.status == "done":
            break

    assert (scan.status, scan.total, stood[-1]) == ("done", 15, 15)
    assert stood == sorted(stood)


def test_scan__its_worker_died__is_taken_over_after_the_lease(cast: Cast) -> None:
    make_pair(cast.workspace)
    now = timezone.now()
    ConflictScan.objects.update(status="running", claimed_at=now)
    assert scan_backlog(60.0) == 0

    late = now - timedelta(seconds=scanning.LEASE_S + 1)
    ConflictScan.objects.update(claimed_at=late)
    assert scan_backlog(60.0) > 0

    assert set(ConflictScan.objects.values_list("status", flat=True)) == {"done"}


def test_scan__it_fails__says_so_and_the_next_one_is_done(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pair(cast.workspace)
    monkeypatch.setattr(scanning, "store_findings", lambda *_: 1 / 0)
    scan_backlog(60.0)

    assert set(ConflictScan.objects.values_list("status", flat=True)) == {"failed"}
    assert "ZeroDivisionError" in ConflictScan.objects.all()[0].last_error


def test_scan__another_workspace__is_left_out(cast: Cast) -> None:
    make_rule(cast.workspace)
    make_pair(cast.elsewhere)
    scan_backlog(60.0)

    mixed = Conflict.objects.exclude(rule_a__workspace=F("workspace"))
    assert not mixed.exists()
    assert not Conflict.objects.filter(workspace=cast.workspace, rule_b__isnull=False).exists()


def test_scan__a_condition_that_can_fail__counts_the_calls_in_which_it_failed(cast: Cast) -> None:
    make_rule(cast.workspace, condition="input.city.trim() == ''")
    task = make_task(cast.workspace)
    for given in ({"city": ""}, {"city": " "}, {"city": 1}, {"city": "x"}):
        make_call(task, "weather_api", input=given)

    conflict = found(cast.workspace, "can_error")

    assert (conflict.frequency, conflict.frequency_of) == (1, 4)
    assert [call["seq"] for call in conflict.detail["calls"]] == [2]


def test_scan__something_more_urgent_waits__gives_way_and_goes_on_later(cast: Cast, monkeypatch) -> None:
    make_pair(cast.workspace)
    make_rule(cast.workspace, name="third")
    scan_everything(workspace_id=cast.workspace.pk, by=SYSTEM)
    ConflictScan.objects.exclude(rule=None).delete()
    monkeypatch.setattr(scanning, "LOOK_S", 0.0)

    scan_backlog(60.0, give_way=lambda: True)
    halfway = ConflictScan.objects.get()
    scan_backlog(60.0)

    assert (halfway.status, halfway.claimed_at) == ("running", None)
    assert 0 < halfway.done < halfway.total
    assert ConflictScan.objects.get().status == "done"


def test_scan__more_findings_than_are_counted_in_a_turn__counts_on_in_the_next(
    cast: Cast, monkeypatch
) -> None:
    make_pair(cast.workspace)
    make_rule(cast.workspace, name="third", action_detail={
        "transform": "set_default", "field": "city", "default_value": "Xian"})  # fmt: skip
    scan_backlog(60.0)
    Conflict.objects.update(frequency=None)
    scan_everything(workspace_id=cast.workspace.pk, by=SYSTEM)
    ConflictScan.objects.filter(status="queued").update(status="running", total=3, done=3)
    monkeypatch.setattr("corrections.background.frequencies.AT_ONCE", 1)

    scan_backlog(0.0)
    uncounted = Conflict.objects.filter(frequency=None).count()
    scan_backlog(60.0)

    assert 0 < uncounted < Conflict.objects.count()
    assert not Conflict.objects.filter(frequency=None).exists()
    assert not ConflictScan.objects.exclude(status="done").exists()
