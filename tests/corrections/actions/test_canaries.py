"""Steering canaries: who may, with which reason, in which state, and what it does."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from corrections.actions import canary_shadows
from corrections.actions.canaries import (
    STEERS,
    end_holdout,
    extend_canary,
    pause_canary,
    promote_canary,
    resume_canary,
    roll_back_canary,
    set_canary_policy,
    set_share,
    start_shadow,
    stop_shadow,
    why_not_steer,
)
from corrections.actions.gate import Publication
from corrections.actions.publishing import publish
from corrections.actions.rules import activate_rule, draft_rule
from corrections.domain.canaries import CANARY_STATES
from corrections.domain.changes import InvalidPolicyError
from corrections.domain.lifecycle import ReasonMissing, Refused, Status
from corrections.models import Canary, Rule, RuleVersion
from corrections.queries.rulesets import read_stamp
from memory.domain.access import Actor, NotPermitted, Scope
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document
from tests.corrections.canaries import INDUCER, again, expose, open_canary, open_edit, steps_of, turn

pytestmark = pytest.mark.django_db
WHY = "because"
ACTS: dict[str, Callable[..., Canary]] = {
    "pause": pause_canary, "resume": resume_canary, "promote": promote_canary,
    "roll_back": roll_back_canary, "end_holdout": end_holdout, "stop_shadow": stop_shadow,
    "extend": lambda **how: extend_canary(days=3, **how),
    "set_share": lambda **how: set_share(share=0.3, **how),
}  # fmt: skip


def act(do: str, canary: Canary, by: Actor, reason: str = WHY) -> Canary:
    return ACTS[do](canary=canary, by=by, reason=reason)


@pytest.mark.parametrize(
    ("role", "do", "may"),
    [
        pytest.param(role, do, may, id=f"{role} {do}")
        for role, allowed in {
            "viewer": (), "reviewer": ("pause", "roll_back"),
            "maintainer": ("pause", "roll_back", "promote", "set_share"),
        }.items()
        for do in ("pause", "roll_back", "promote", "set_share")
        for may in (do in allowed,)
    ],
)  # fmt: skip
def test_steer__role__may_take_the_safe_direction_first(cast: Cast, role: str, do: str, may: bool) -> None:
    canary, by = open_canary(cast.workspace), cast.actor(role)
    assert (why_not_steer(canary, do, by) == "") is may

    if may:
        act(do, canary, by)
    else:
        with pytest.raises(NotPermitted):
            act(do, canary, by)

    assert (again(canary).state == "running") is (not may or do == "set_share")


@pytest.mark.parametrize("do", list(ACTS))
def test_steer__no_reason__is_refused(cast: Cast, do: str) -> None:
    canary = open_canary(cast.workspace)

    with pytest.raises(ReasonMissing):
        act(do, canary, SYSTEM, reason="  ")

    assert steps_of(canary) == ["open", "start"]


@pytest.mark.parametrize("do", list(STEERS))
@pytest.mark.parametrize("state", CANARY_STATES)
def test_steer__state_without_it__is_refused_and_nothing_is_kept(cast: Cast, do: str, state: str) -> None:
    canary = open_canary(cast.workspace)
    Canary.objects.update(state=state)
    canary = again(canary)
    if state in STEERS[do].states:
        return

    with pytest.raises(Refused):
        act(do, canary, SYSTEM)

    assert (again(canary).state, steps_of(canary)) == (state, ["open", "start"])
    assert why_not_steer(canary, do, SYSTEM)


def test_steer__another_workspace__is_refused(cast: Cast) -> None:
    canary = open_canary(cast.elsewhere)

    with pytest.raises(NotPermitted):
        pause_canary(canary=canary, by=cast.actor("owner"), reason=WHY)


def test_resume__paused_for_days__time_stood_still(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    before = read_stamp(cast.workspace.pk)
    pause_canary(canary=canary, by=cast.actor("reviewer"), reason=WHY)
    assert read_stamp(cast.workspace.pk) == before + 1
    canary.events.filter(kind="pause").update(at=timezone.now() - timedelta(days=2))

    now = resume_canary(canary=canary, by=cast.actor("maintainer"), reason=WHY)

    assert now.state == "running"
    assert canary.ends_at is not None
    assert now.ends_at is not None
    assert timedelta(days=2) <= now.ends_at - canary.ends_at < timedelta(days=2, minutes=5)
    assert steps_of(canary) == ["open", "start", "pause", "resume"]


def test_resume__another_canary_on_the_tool_meanwhile__is_refused(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    pause_canary(canary=canary, by=SYSTEM, reason=WHY)
    open_canary(cast.workspace, name="Other")

    with pytest.raises(Refused, match="is being checked"):
        resume_canary(canary=canary, by=SYSTEM, reason=WHY)


def test_promote__by_a_person__serves_all_but_the_holdout(cast: Cast) -> None:
    canary = open_canary(cast.workspace)

    now = promote_canary(canary=canary, by=cast.actor("maintainer"), reason=WHY)

    assert (now.state, again(canary).rule.status) == ("holdout", "active")
    event = now.events.get(kind="promote")
    assert (event.by, event.by_kind, event.reason) == ("maintainer", "user", WHY)


def test_roll_back__by_a_reviewer__disables_the_rule_and_it_can_be_tried_again(cast: Cast) -> None:
    canary = open_canary(cast.workspace)

    roll_back_canary(canary=canary, by=cast.actor("reviewer"), reason=WHY)
    assert (again(canary).state, again(canary).rule.status) == ("rolled_back", "disabled")
    rule = activate_rule(rule=again(canary).rule, by=SYSTEM)

    assert (rule.status, Canary.objects.live().get(rule=rule).state) == ("canary", "running")


def test_roll_back__waiting_canary__never_served(cast: Cast) -> None:
    open_canary(cast.workspace)
    waiting = open_canary(cast.workspace, name="Other")

    roll_back_canary(canary=waiting, by=cast.actor("reviewer"), reason=WHY)

    assert (again(waiting).state, again(waiting).rule.status) == ("rolled_back", "disabled")


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_set_share__no_part_of_the_tasks__is_refused(cast: Cast, share: float) -> None:
    canary = open_canary(cast.workspace)

    with pytest.raises(Refused, match="share"):
        set_share(canary=canary, share=share, by=SYSTEM, reason=WHY)


def test_set_share__up__keeps_open_control_tasks_where_they_are(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "control", 3, failed=None)

    now = set_share(canary=canary, share=0.3, by=SYSTEM, reason=WHY)

    assert (now.share, now.stage, len(now.kept), steps_of(canary)[-1]) == (3_000, 1, 3, "share")


def test_extend__held_canary__runs_on(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    turn(later=timedelta(days=20))
    assert again(canary).state == "held"

    now = extend_canary(canary=canary, days=5, by=SYSTEM, reason=WHY)

    assert now.state == "running"
    assert now.ends_at is not None
    assert now.ends_at > timezone.now() + timedelta(days=4)


def test_end_holdout__promoted_rule__is_served_to_every_task(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    promote_canary(canary=canary, by=SYSTEM, reason=WHY)

    end_holdout(canary=canary, by=SYSTEM, reason=WHY)

    assert (again(canary).state, again(canary).rule.status) == ("ended", "active")


def test_shadow__draft_nobody_approved__watches_and_cannot_be_promoted(cast: Cast) -> None:
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=INDUCER)
    version = rule.versions.get()

    canary = start_shadow(rule=rule, version=version, by=cast.actor("reviewer"), reason=WHY)

    rule.refresh_from_db()
    assert (canary.state, canary.share, rule.status) == ("shadow", 0, "draft")
    for do in ("promote", "roll_back"):
        with pytest.raises(Refused, match="approved"):
            act(do, canary, SYSTEM)
    pause_canary(canary=canary, by=SYSTEM, reason=WHY)
    assert resume_canary(canary=canary, by=SYSTEM, reason=WHY).state == "shadow"
    assert stop_shadow(canary=canary, by=cast.actor("reviewer"), reason=WHY).state == "ended"


def test_shadow__its_change_is_approved__goes_on_as_a_canary(cast: Cast) -> None:
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=INDUCER)
    shadow = start_shadow(rule=rule, version=rule.versions.get(), by=SYSTEM, reason=WHY)
    expose(shadow, "shadow", 4)

    activate_rule(rule=rule, by=SYSTEM)

    now = again(shadow)
    assert (now.state, now.stage, now.share) == ("running", 1, 1_000)
    assert steps_of(shadow) == ["open", "shadow", "approve", "start"]


def test_shadow__another_version_is_served__ends_it(cast: Cast) -> None:
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=SYSTEM)
    shadow = start_shadow(rule=rule, version=rule.versions.get(), by=SYSTEM, reason=WHY)

    activate_rule(rule=rule, by=SYSTEM)

    assert again(shadow).state == "ended"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda cast: make_rule(cast.workspace), id="served already"),
        pytest.param(lambda cast: open_canary(cast.workspace).rule, id="on trial already"),
    ],
)
def test_shadow__rule_that_has_none__is_refused(cast: Cast, make: Any) -> None:
    rule = make(cast)

    with pytest.raises(Refused):
        start_shadow(rule=rule, version=rule.versions.get(), by=SYSTEM, reason=WHY)


FORGED: dict[str, Callable[[Canary], Publication]] = {
    "another version": lambda canary: Publication(
        canary.rule, Status.ACTIVE, canary.rule.versions.last(), "promote_rule", canary=canary
    ),
    "a rule of another canary": lambda canary: Publication(
        make_rule(canary.workspace), Status.DISABLED, None, "roll_back_rule", canary=canary
    ),
    "nobody approved it": lambda canary: Publication(
        canary.rule, Status.ACTIVE, canary.version, "promote_rule",
        canary=Canary(rule=canary.rule, version=canary.version, state="running"),
    ),
    "it is over": lambda canary: Publication(
        canary.rule, Status.ACTIVE, canary.version, "promote_rule",
        canary=Canary(rule=canary.rule, version=canary.version, change=canary.change, state="ended"),
    ),
    "an edit's rule would be disabled": lambda canary: Publication(
        canary.rule, Status.DISABLED, None, "roll_back_rule", canary=canary
    ),
}  # fmt: skip


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_gate__publication_that_no_decision_covers__is_refused(
    cast: Cast, forged: Callable[[Canary], Publication]
) -> None:
    canary = open_edit(make_rule(cast.workspace), priority=7)

    with pytest.raises(Refused):
        publish([forged(canary)], by=SYSTEM, reason="")

    assert Rule.objects.get(pk=canary.rule_id).live_version_id == canary.baseline_id


def test_gate__reviewer_promotes_past_the_action__is_refused(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    item = Publication(canary.rule, Status.ACTIVE, canary.version, "promote_rule", canary=canary)

    with pytest.raises(NotPermitted):
        publish([item], by=cast.actor("reviewer"), reason="")


@pytest.mark.parametrize(
    ("changes", "is_refused"),
    [
        pytest.param({"start": "never"}, True, id="fewer begin as a canary"),
        pytest.param({"alpha": 0.1}, True, id="more false verdicts"),
        pytest.param({"first_share": 0.2}, True, id="a larger first share"),
        pytest.param({"holdout": 0.01}, True, id="a smaller holdout"),
        pytest.param({"alpha": 0.01}, True, id="rolls back later"),
        pytest.param({"max_days": 1}, True, id="promotes what people wrote sooner"),
        pytest.param({"start": "all", "min_look": 50, "shadow_first": True}, False, id="stricter"),
    ],
)
def test_policy__key_loosens_it__is_refused(cast: Cast, changes: dict[str, Any], is_refused: bool) -> None:
    key = Actor("key", "ci", cast.workspace.pk, scopes=frozenset({Scope.ADMIN}))

    if is_refused:
        with pytest.raises(Refused, match="takes a person"):
            set_canary_policy(workspace_id=cast.workspace.pk, changes=changes, by=key)
        return
    policy = set_canary_policy(workspace_id=cast.workspace.pk, changes=changes, by=key)

    assert {name: getattr(policy, name) for name in changes} == changes


@pytest.mark.parametrize("changes", [{"alpha": 1e-320}, {"alpha": 1e-9}, {"rare_per_day": float("inf")}])
def test_policy__number_no_database_keeps_or_nothing_reaches__is_refused(
    cast: Cast, changes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidPolicyError):
        set_canary_policy(workspace_id=cast.workspace.pk, changes=changes, by=cast.actor("owner"))


def test_shadow__more_than_a_workspace_has_room_for__is_refused(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canary_shadows, "MAX_SHADOWS", 1)
    first, second = (make_rule(cast.workspace, active=False, name=name) for name in "ab")
    start_shadow(rule=first, version=first.versions.get(), by=SYSTEM, reason=WHY)

    with pytest.raises(Refused, match="stop one of them first"):
        start_shadow(rule=second, version=second.versions.get(), by=SYSTEM, reason=WHY)


def test_roll_back__promoted_edit_whose_old_window_has_ended__serves_nothing(cast: Cast) -> None:
    soon = (timezone.now() + timedelta(hours=1)).isoformat()
    canary = open_edit(make_rule(cast.workspace, valid_until=soon), priority=7)
    promote_canary(canary=canary, by=SYSTEM, reason=WHY)
    over = timezone.now() - timedelta(hours=1)
    RuleVersion.objects.filter(pk=canary.baseline_id).update(valid_until=over)

    roll_back_canary(canary=canary, by=SYSTEM, reason=WHY)

    assert (again(canary).state, again(canary).rule.status) == ("rolled_back", "disabled")
