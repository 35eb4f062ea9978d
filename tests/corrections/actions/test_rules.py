"""Writing, serving and ending rules."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from corrections.actions.rules import (
    StaleEdit,
    activate_rule,
    disable_rule,
    draft_rule,
    edit_rule,
    expire_overdue_rules,
    retire_rule,
    roll_back_rule,
)
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest, Rule, RulesetStamp
from hgmem.rules import RuleError
from memory.domain.access import Actor, NotPermitted, Scope
from memory.models import AuditEvent, ErrorPattern
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document

STEPS = {"activate": activate_rule, "disable": disable_rule, "retire": retire_rule}


def stamp_of(cast: Cast) -> int:
    row = RulesetStamp.objects.filter(workspace=cast.workspace).first()
    return row.version if row else 0


def last_event() -> AuditEvent:
    event = AuditEvent.objects.first()
    assert event is not None
    return event


def make_pattern(cast: Cast, status: str = "open") -> ErrorPattern:
    now = timezone.now()
    return ErrorPattern.objects.create(
        workspace=cast.workspace, fingerprint=f"f{ErrorPattern.objects.count()}", tool="weather_api",
        error_type="ValueError", template="city", title="city is empty", status=status,
        first_seen_at=now, last_seen_at=now,
    )  # fmt: skip


def test_draft__article_document__is_kept_and_not_served(cast: Cast) -> None:
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=cast.actor("reviewer"))
    assert rule.status == "draft"
    assert rule.live_version is None
    assert rule.latest_version.number == 1
    assert rule.latest_version.tool == "weather_api"
    assert rule.latest_version.action_type == "PARAMETER_TRANSFORM"
    assert rule.created_by == "reviewer"
    assert rule.created_by_kind == "human"
    assert stamp_of(cast) == 0
    event = AuditEvent.objects.get(verb="draft_rule")
    assert event.new["document"]["condition"] == weather_document()["condition"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"condition": "input.city =="}, "condition", id="broken condition"),
        pytest.param({"condition": "nobody.knows == 1"}, "condition", id="unknown variable"),
        pytest.param({"action_type": "DANCE"}, "action_type", id="unknown action"),
        pytest.param(
            {"action_detail": {"transform": "set_default"}}, "action_detail", id="incomplete action"
        ),
        pytest.param({"applies_to": 7}, "applies_to", id="scope of a wrong type"),
        pytest.param({"valid_until": "2001-01-01T00:00:00Z"}, "valid_until", id="window that has ended"),
        pytest.param({"surprise": 1}, "surprise", id="unknown field"),
    ],
)
def test_draft__bad_document__names_the_field(cast: Cast, change: dict[str, Any], field: str) -> None:
    with pytest.raises(RuleError) as caught:
        draft_rule(workspace_id=cast.workspace.pk, document=weather_document(**change), by=SYSTEM)
    assert any(fault["field"].startswith(field) for fault in caught.value.errors), caught.value.errors
    assert not Rule.objects.exists()


def test_draft__sender_claims_server_fields__they_are_ignored(cast: Cast) -> None:
    document = weather_document(uuid="x", version=9, created_by="human", effectiveness_score=1.0)
    key = Actor(kind="key", name="k", workspace_id=cast.workspace.pk, scopes=frozenset({Scope.RULES_WRITE}))
    rule = draft_rule(workspace_id=cast.workspace.pk, document=document, by=key)
    assert rule.created_by_kind == "agent"
    assert not {"uuid", "version", "created_by", "effectiveness"} & rule.latest_version.body.keys()


def test_activate__draft__serves_and_stamps(cast: Cast) -> None:
    rule = make_rule(cast.workspace, active=False)
    rule = activate_rule(rule=rule, by=cast.actor("maintainer"), reason="seen it work")
    assert rule.status == "active"
    assert rule.live_version == rule.latest_version
    assert stamp_of(cast) == 1
    event = AuditEvent.objects.get(verb="activate_rule")
    assert (event.verb, event.actor_name, event.reason) == ("activate_rule", "maintainer", "seen it work")
    assert event.old == {"status": "draft", "live_version": None}
    change = ChangeRequest.objects.get(rule=rule)
    assert event.new == {"status": "active", "live_version": 1, "change": str(change.uuid)}


def test_edit__active_rule__serves_the_old_version_until_activated(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    rule = edit_rule(
        rule=rule, document=weather_document(priority=5), base_version=1, by=cast.actor("reviewer")
    )
    assert (rule.live_version.number, rule.latest_version.number, stamp_of(cast)) == (1, 2, 1)
    event = AuditEvent.objects.get(verb="edit_rule")
    assert event.old == {"version": 1, "priority": 0}
    assert event.new == {"version": 2, "priority": 5}
    rule = activate_rule(rule=rule, by=SYSTEM)
    assert (rule.live_version.number, stamp_of(cast)) == (2, 2)


def test_edit__stale_base__is_a_conflict_that_names_the_other(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    edit_rule(rule=rule, document=weather_document(priority=5), base_version=1, by=cast.actor("reviewer"))
    with pytest.raises(StaleEdit, match="reviewer wrote version 2"):
        edit_rule(rule=rule, document=weather_document(priority=6), base_version=1, by=cast.actor("owner"))
    assert rule.versions.count() == 2


def test_edit__same_document__writes_nothing(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    before = AuditEvent.objects.count()
    rule = edit_rule(rule=rule, document=weather_document(), base_version=1, by=SYSTEM)
    assert rule.latest_version.number == 1
    assert AuditEvent.objects.count() == before


def test_version__saved_again__is_refused(cast: Cast) -> None:
    version = make_rule(cast.workspace).latest_version
    version.note = "changed"
    with pytest.raises(TypeError, match="immutable"):
        version.save()


@pytest.mark.parametrize(
    ("done", "step", "possible"),
    [
        pytest.param(["disable"], "activate", True, id="disabled comes back"),
        pytest.param([], "activate", False, id="active again with nothing new"),
        pytest.param(["disable"], "disable", False, id="disabled twice"),
        pytest.param(["retire"], "activate", False, id="retired stays retired"),
        pytest.param(["disable"], "retire", True, id="disabled is retired"),
    ],
)
def test_step__after_others__follows_the_table(
    cast: Cast, done: list[str], step: str, possible: bool
) -> None:
    rule = make_rule(cast.workspace)
    for name in done:
        rule = STEPS[name](rule=rule, by=SYSTEM)
    before = stamp_of(cast)
    if possible:
        STEPS[step](rule=rule, by=SYSTEM)
    else:
        with pytest.raises(Refused):
            STEPS[step](rule=rule, by=SYSTEM)
        assert stamp_of(cast) == before


def test_stamp__only_what_is_served_changes__goes_up(cast: Cast) -> None:
    rule = make_rule(cast.workspace, active=False)
    retired = make_rule(cast.workspace, active=False)
    retire_rule(rule=retired, by=SYSTEM)
    assert stamp_of(cast) == 0
    rule = activate_rule(rule=rule, by=SYSTEM)
    disable_rule(rule=rule, by=SYSTEM)
    assert stamp_of(cast) == 2


def test_roll_back__active_rule__serves_the_old_body_as_a_new_version(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    rule = edit_rule(rule=rule, document=weather_document(priority=5), base_version=1, by=SYSTEM)
    rule = activate_rule(rule=rule, by=SYSTEM)
    rule = roll_back_rule(rule=rule, to_version=1, base_version=2, by=SYSTEM)
    assert (rule.live_version.number, rule.latest_version.number) == (3, 3)
    assert rule.live_version.body == rule.versions.get(number=1).body
    assert rule.versions.count() == 3


def test_roll_back__by_an_author_alone__waits(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    rule = edit_rule(rule=rule, document=weather_document(priority=5), base_version=1, by=SYSTEM)
    rule = activate_rule(rule=rule, by=SYSTEM)
    rule = roll_back_rule(rule=rule, to_version=1, base_version=2, by=cast.actor("maintainer"))
    assert (rule.live_version.number, rule.latest_version.number) == (2, 3)
    assert ChangeRequest.objects.get(rule=rule, status="open").version == rule.latest_version


def test_roll_back__to_what_it_says_already__is_refused(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    with pytest.raises(Refused, match="says the same"):
        roll_back_rule(rule=rule, to_version=1, base_version=1, by=SYSTEM)


def test_expire__clock_passes_the_end__says_so_once(cast: Cast) -> None:
    end = datetime(2099, 1, 1, tzinfo=UTC)
    rule = make_rule(cast.workspace, valid_until=end.isoformat())
    make_rule(cast.workspace)
    assert expire_overdue_rules(now=end - timedelta(seconds=1), by=SYSTEM) == 0
    assert expire_overdue_rules(now=end, by=SYSTEM) == 1
    assert expire_overdue_rules(now=end, by=SYSTEM) == 0
    rule.refresh_from_db()
    assert (rule.status, rule.live_version) == ("expired", None)
    event = last_event()
    assert (event.verb, event.actor_kind) == ("expire_rule", "system")
    assert stamp_of(cast) == 3


def test_step__viewer__is_refused(cast: Cast) -> None:
    rule = make_rule(cast.workspace, active=False)
    with pytest.raises(NotPermitted, match="at least reviewer"):
        activate_rule(rule=rule, by=cast.actor("viewer"))


def test_drafting__viewer__is_refused(cast: Cast) -> None:
    with pytest.raises(NotPermitted, match="at least reviewer"):
        draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=cast.actor("viewer"))


def test_patterns__rule_comes_and_goes__are_covered_and_open(cast: Cast) -> None:
    shared, own = make_pattern(cast), make_pattern(cast)
    ignored = make_pattern(cast, status="ignored")
    every = (str(shared.uuid), str(own.uuid), str(ignored.uuid))
    rule = make_rule(cast.workspace, patterns=every)
    other = make_rule(cast.workspace, patterns=(str(shared.uuid),))
    assert statuses(shared, own, ignored) == ["covered", "covered", "ignored"]
    disable_rule(rule=rule, by=SYSTEM)
    assert statuses(shared, own, ignored) == ["covered", "open", "ignored"]
    retire_rule(rule=other, by=SYSTEM)
    assert statuses(shared, own, ignored) == ["open", "open", "ignored"]


def test_patterns__of_another_workspace__are_left_out(cast: Cast) -> None:
    foreign = make_pattern(cast)
    rule = make_rule(cast.elsewhere, patterns=(str(foreign.uuid), "no uuid"))
    assert not rule.patterns.exists()
    assert statuses(foreign) == ["open"]


def statuses(*patterns: ErrorPattern) -> list[str]:
    for pattern in patterns:
        pattern.refresh_from_db()
    return [pattern.status for pattern in patterns]
