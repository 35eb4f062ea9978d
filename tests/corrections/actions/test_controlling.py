"""The controller: what it does with what the statistics say, once, and with the numbers it saw."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from corrections.actions import controlling, publishing
from corrections.actions.arbitration import Said, rule_conflict
from corrections.actions.canaries import pause_canary, resume_canary
from corrections.actions.canary_looks import MAX_LOOKS, thin_looks
from corrections.domain.lifecycle import Refused
from corrections.models import Canary, CanaryLook, Conflict, ConflictScan
from memory.models import Alert, AuditEvent
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, serve_at_once
from tests.corrections.canaries import again, expose, open_canary, open_edit, steps_of, turn
from tests.racing import at_once

pytestmark = pytest.mark.django_db
BEIJING = {"name": "Beijing", "action_detail": {"transform": "set_default", "field": "city",
                                               "default_value": "Beijing"}}  # fmt: skip


def test_turn__quiet_guard_and_enough_tasks__ramps_and_keeps_open_control_tasks(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 3)
    expose(canary, "control", 9)
    expose(canary, "control", 2, failed=None)

    turn()

    now = again(canary)
    assert (now.state, now.share, now.stage, len(now.kept)) == ("running", 5_000, 1, 2)
    assert [(stage.number, stage.share, stage.ended_at is None) for stage in now.stages.all()] == [
        (0, 1_000, False), (1, 5_000, True),
    ]  # fmt: skip
    assert now.stages.get(number=0).counts["control"]["decided"] == 9
    event = now.events.last()
    assert event is not None
    assert (event.kind, event.numbers["decided"]) == ("ramp", 12)


def test_turn__too_few_tasks__waits(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 2)

    turn()

    assert (again(canary).share, again(canary).evidence["step"]) == (1_000, "wait")


def test_turn__harm__rolls_a_new_rule_back_with_an_alert(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 8, failed=8)
    expose(canary, "control", 72, failed=2)

    turn()
    turn()

    now = again(canary)
    assert (now.state, now.rule.status, now.rule.live_version) == ("rolled_back", "disabled", None)
    assert steps_of(canary) == ["open", "start", "roll_back"]
    alert = Alert.objects.get(kind="canary_rolled_back")
    assert alert.detail["numbers"]["canary"] == {"n": 8, "failed": 8}
    audit = AuditEvent.objects.get(verb="roll_back_canary")
    assert audit.new is not None
    assert audit.new["numbers"]["harm_e"] >= 20


def test_turn__harm_of_an_edit__drops_the_candidate_and_keeps_the_baseline(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    canary = open_edit(rule, priority=7)
    expose(canary, "canary", 8, failed=8)
    expose(canary, "control", 72, failed=2)

    turn()

    now = again(canary)
    assert (now.state, now.rule.status, now.rule.live_version) == ("rolled_back", "active", now.baseline)


def test_turn__benefit__promotes_with_a_holdout(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    Canary.objects.filter(pk=canary.pk).update(share=5_000)
    canary.stages.update(share=5_000)
    expose(canary, "canary", 40, failed=2)
    expose(canary, "control", 40, failed=35)

    turn()

    now = again(canary)
    assert (now.state, now.share, now.kept) == ("holdout", 9_500, [])
    assert (now.rule.status, now.rule.live_version) == ("active", now.version)
    assert [stage.phase for stage in now.stages.all()] == ["trial", "holdout"]
    assert now.stages.get(number=0).counts["canary"]["failed"] == 2


def test_turn__edit_that_helps__becomes_the_version_served(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    canary = open_edit(rule, priority=7)
    canary.stages.update(share=5_000)
    expose(canary, "canary", 40, failed=2)
    expose(canary, "control", 40, failed=35)

    turn()

    rule.refresh_from_db()
    assert (again(canary).state, rule.live_version) == ("holdout", canary.version)


def test_turn__no_holdout_wanted__ends_after_the_promotion(cast: Cast) -> None:
    serve_at_once(cast.workspace, start="agents", holdout=0)
    canary = open_canary(cast.workspace)
    canary.stages.update(share=5_000)
    expose(canary, "canary", 40, failed=2)
    expose(canary, "control", 40, failed=35)

    turn()

    assert (again(canary).state, again(canary).rule.status) == ("ended", "active")


def test_turn__holdout_goes_worse_with_the_rule__brings_the_baseline_back(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    canary = open_edit(rule, priority=7)
    canary.stages.update(share=5_000)
    expose(canary, "canary", 40, failed=2)
    expose(canary, "control", 40, failed=35)
    turn()
    canary = again(canary)
    expose(canary, "canary", 400, failed=300)
    expose(canary, "control", 21, failed=1)

    turn()

    rule.refresh_from_db()
    assert (again(canary).state, rule.live_version) == ("rolled_back", canary.baseline)


def test_turn__time_is_over__holds_an_agents_rule_for_a_person(cast: Cast) -> None:
    canary = open_canary(cast.workspace)

    turn(later=timedelta(days=15))

    assert (again(canary).state, Alert.objects.get().kind) == ("held", "canary_held")


def test_turn__arms_do_not_match__blocks_and_says_so_once(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 90)
    expose(canary, "control", 90)

    turn()
    expose(canary, "control", 1)
    turn()

    assert (again(canary).state, again(canary).share) == ("running", 1_000)
    assert steps_of(canary) == ["open", "start", "blocked"]
    assert Alert.objects.filter(kind="canary_mismatch").count() == 1


def test_turn__one_of_two_harmful__is_judged_beside_the_other(cast: Cast) -> None:
    bad = open_canary(cast.workspace)
    good = open_canary(cast.workspace, name="Other", applies_to="TOOL_CALL:maps")
    expose(bad, "canary", 9, failed=9)
    expose(bad, "control", 81, failed=1)
    expose(good, "canary", 9)
    expose(good, "control", 81)

    turn()

    assert (again(bad).state, again(good).state) == ("rolled_back", "running")
    event = bad.events.get(kind="roll_back")
    assert event.numbers["live"] == 2


def test_turn__nothing_new__adds_no_look(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 2)

    turn()
    Canary.objects.update(is_due=True)
    turn(later=timedelta(minutes=2))

    assert canary.looks.count() == 1


def test_looks__many__thin_out_and_keep_the_newest(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    now = timezone.now()
    CanaryLook.objects.bulk_create(
        CanaryLook(canary=canary, at=now, numbers={"n": n}) for n in range(MAX_LOOKS + 1)
    )

    thin_looks(canary)

    kept = [look.numbers["n"] for look in canary.looks.all()]
    assert len(kept) < MAX_LOOKS
    assert kept[-200:] == list(range(MAX_LOOKS - 199, MAX_LOOKS + 1))
    assert kept[0] == 0


def scanned(canary: Canary) -> None:
    """The analyser has looked at everything that waits."""
    ConflictScan.objects.update(status="done", finished_at=timezone.now())


def conflict_of(one: Canary, other: Canary, kind: str = "contradictory", status: str = "open") -> Conflict:
    now = timezone.now()
    return Conflict.objects.create(
        workspace=one.workspace, dedupe=f"{one.pk}-{other.pk}", kind=kind, verdict="conflict", status=status,
        tool="weather_api", point="before", rule_a=one.rule, version_a=1, rule_b=other.rule, version_b=1,
        found_at=now, updated_at=now,
    )  # fmt: skip


def test_start__other_canary_on_the_tool__waits_for_the_scan_and_starts_by_itself(cast: Cast) -> None:
    open_canary(cast.workspace)
    second = open_canary(cast.workspace, **BEIJING)
    assert (second.state, "is being checked" in second.state_reason) == ("waiting", True)
    scanned(second)

    turn()

    assert (again(second).state, steps_of(second)) == ("running", ["open", "wait", "start"])


@pytest.mark.parametrize("status", ["open", "ruled"])
def test_start__conflict_with_a_running_canary__waits_until_that_is_over(cast: Cast, status: str) -> None:
    first = open_canary(cast.workspace)
    second = open_canary(cast.workspace, **BEIJING)
    scanned(second)
    conflict_of(first, second, status=status)
    turn()
    turn()
    assert (again(second).state, "Default city" in again(second).state_reason) == ("waiting", True)
    expose(first, "canary", 8, failed=8)
    expose(first, "control", 72, failed=2)

    turn()
    turn()

    assert (again(first).state, again(second).state) == ("rolled_back", "running")
    assert steps_of(second) == ["open", "wait", "wait", "start"]


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        pytest.param(BEIJING, "waiting", id="writes the same field"),
        pytest.param(
            {"name": "Units", "condition": "input.units == null",
             "action_detail": {"transform": "set_default", "field": "units", "default_value": "C"}},
            "running", id="touches nothing of it",
        ),
    ],
)  # fmt: skip
def test_start__scan_never_ends__what_they_touch_decides(
    cast: Cast, changes: dict[str, object], state: str
) -> None:
    open_canary(cast.workspace)
    second = open_canary(cast.workspace, **changes)
    Canary.objects.filter(pk=second.pk).update(requested_at=timezone.now() - timedelta(minutes=11))

    turn()

    assert again(second).state == state


def test_start__another_tool__begins_at_once(cast: Cast) -> None:
    open_canary(cast.workspace)

    assert open_canary(cast.workspace, applies_to="TOOL_CALL:maps").state == "running"


def test_shadow_first__enough_tasks_seen__goes_on_trial(cast: Cast) -> None:
    serve_at_once(cast.workspace, start="agents", shadow_first=True, shadow_tasks=3)
    canary = open_canary(cast.workspace)
    expose(canary, "shadow", 2)
    turn()
    assert (again(canary).state, again(canary).evidence["exposed"]) == ("shadow", 2)
    expose(canary, "shadow", 1)

    turn()

    assert (again(canary).state, again(canary).stage) == ("running", 1)
    assert again(canary).stages.get(number=0).counts["shadow"]["exposed"] == 3


def test_start__version_not_valid_yet__waits_and_leaves_the_baseline_alone(cast: Cast) -> None:
    later = timezone.now() + timedelta(days=5)

    canary = open_edit(make_rule(cast.workspace), priority=7, valid_from=later.isoformat())

    assert (canary.state, canary.state_reason[:16]) == ("waiting", "It is valid from")
    turn()
    assert steps_of(canary) == ["open", "wait"]


def test_turn__window_of_an_edit_has_ended__ends_the_canary_and_keeps_the_baseline(cast: Cast) -> None:
    soon = timezone.now() + timedelta(hours=1)
    canary = open_edit(make_rule(cast.workspace), priority=7, valid_until=soon.isoformat())

    turn(later=timedelta(hours=2))

    now = again(canary)
    assert (now.state, now.rule.status, now.rule.live_version) == ("ended", "active", now.baseline)


@pytest.mark.parametrize("is_paused", [False, True], ids=["running", "paused"])
def test_ruling__about_a_rule_on_trial__begins_its_evidence_anew(cast: Cast, is_paused: bool) -> None:
    other = make_rule(cast.workspace, name="Served")
    canary = open_canary(cast.workspace, **BEIJING)
    scanned(canary)
    expose(canary, "canary", 3)
    finding = conflict_of(canary, canary)
    Conflict.objects.filter(pk=finding.pk).update(rule_b=other)
    if is_paused:
        pause_canary(canary=canary, by=SYSTEM, reason="a look")

    rule_conflict(conflict=finding, said=Said("order", "as it is", target="a"), by=SYSTEM)

    now = again(canary)
    assert (now.state, now.stage) == ("paused" if is_paused else "running", 1)
    assert steps_of(canary)[-1] == "reset"
    if is_paused:
        resume_canary(canary=canary, by=SYSTEM, reason="go on")
    turn()
    assert again(canary).evidence["decided"] == 0


def test_turn__ruling_forbids_the_promotion__a_person_decides(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = open_canary(cast.workspace)
    canary.stages.update(share=5_000)
    expose(canary, "canary", 40, failed=2)
    expose(canary, "control", 40, failed=35)

    def refuse(**_given: object) -> None:
        raise Refused("This would break the ruling of the owner.")

    monkeypatch.setattr(publishing, "check_rulings", refuse)

    turn()

    now = again(canary)
    assert (now.state, now.rule.status, "break the ruling" in now.state_reason) == ("held", "canary", True)


def test_turn__one_canary_is_broken__the_others_go_on(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = open_canary(cast.workspace)
    canary = open_canary(cast.workspace, applies_to="TOOL_CALL:maps")
    expose(canary, "canary", 3)
    expose(canary, "control", 9)
    judged = controlling.evidence_of

    def fail(one: Canary, now: datetime) -> object:
        if one.pk == broken.pk:
            raise RuntimeError("a power cut")
        return judged(one, now)

    monkeypatch.setattr(controlling, "evidence_of", fail)

    turn()

    assert again(canary).share == 5_000


@pytest.mark.django_db(transaction=True)
def test_turn__two_workers_at_once__decide_once(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 8, failed=8)
    expose(canary, "control", 72, failed=2)

    at_once(turn, turn, turn)

    assert (again(canary).state, steps_of(canary)) == ("rolled_back", ["open", "start", "roll_back"])
    assert Alert.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_start__two_that_disturb_each_other_at_once__only_one_begins(cast: Cast) -> None:
    first, second = open_canary(cast.workspace), open_canary(cast.workspace, **BEIJING)
    Canary.objects.update(state="waiting")
    scanned(first)
    conflict_of(first, second)

    at_once(turn, turn)

    assert sorted([again(first).state, again(second).state]) == ["running", "waiting"]
