"""Publishing as a canary: who begins as one, what is served meanwhile, and what ends one."""

from typing import Any

import pytest

from corrections.actions.canaries import set_canary_policy
from corrections.actions.changes import approve_change, request_change
from corrections.actions.gate import rollout_of
from corrections.actions.rules import (
    activate_rule,
    delete_rule,
    disable_rule,
    draft_rule,
    edit_rule,
    retire_rule,
)
from corrections.domain.lifecycle import Refused
from corrections.models import Canary, ChangeRequest, Rule
from corrections.queries.rulesets import read_stamp
from memory.domain.access import Actor, Scope
from memory.permissions import SYSTEM
from tests.builders import make_pattern
from tests.conftest import Cast
from tests.corrections.builders import make_rule, serve_at_once, weather_document
from tests.corrections.canaries import INDUCER, again, open_canary, open_edit, steps_of

pytestmark = pytest.mark.django_db


def agent(cast: Cast) -> Actor:
    return Actor("key", "bot", cast.workspace.pk, "4e2a0f3c-6c3b-4a52-9d3e-0a4f3d1f0b11",
                 scopes=frozenset({Scope.RULES_WRITE}))  # fmt: skip


@pytest.mark.parametrize(
    ("start", "author", "status"),
    [
        pytest.param("agents", "agent", "canary", id="an agent's rule is tried"),
        pytest.param("agents", "person", "active", id="a person's rule is served to all"),
        pytest.param("all", "person", "canary", id="everything is tried"),
        pytest.param("never", "agent", "active", id="nothing is tried"),
    ],
)
def test_approval__policy_and_author__decide_how_it_is_published(
    cast: Cast, start: str, author: str, status: str
) -> None:
    serve_at_once(cast.workspace, start=start)
    by = INDUCER if author == "agent" else cast.actor("maintainer")
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=by)

    rule = activate_rule(rule=rule, by=SYSTEM)

    assert (rule.status, Canary.objects.filter(rule=rule).exists()) == (status, status == "canary")


def test_approval__new_rule__begins_with_the_first_share(cast: Cast) -> None:
    before = read_stamp(cast.workspace.pk)

    canary = open_canary(cast.workspace)

    assert (canary.state, canary.share, canary.baseline, canary.stage) == ("running", 1_000, None, 0)
    assert (canary.rule.status, canary.rule.live_version) == ("canary", canary.version)
    assert canary.change is not None
    assert canary.change.status == "published"
    assert [(stage.phase, stage.share) for stage in canary.stages.all()] == [("trial", 1_000)]
    assert steps_of(canary) == ["open", "start"]
    assert read_stamp(cast.workspace.pk) > before


def test_approval__new_version_of_an_active_rule__leaves_the_rule_alone(cast: Cast) -> None:
    rule = make_rule(cast.workspace)

    canary = open_edit(rule, priority=7)

    rule.refresh_from_db()
    assert (rule.status, rule.live_version) == ("active", canary.baseline)
    assert canary.version == rule.latest_version != canary.baseline


def test_approval__another_version__ends_the_canary_and_begins_the_next(cast: Cast) -> None:
    first = open_canary(cast.workspace)

    second = open_edit(first.rule, priority=7)

    assert (again(first).state, second.state, second.rule.status) == ("ended", "running", "canary")
    assert again(first).state_reason == "Another version went on trial."


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(disable_rule, id="disabled"),
        pytest.param(retire_rule, id="retired"),
        pytest.param(delete_rule, id="deleted"),
    ],
)
def test_end_of_a_rule__on_trial__ends_its_canary_with_a_reason(cast: Cast, end: Any) -> None:
    canary = open_canary(cast.workspace)

    end(rule=canary.rule, by=SYSTEM, reason="no more")

    now = again(canary)
    assert (now.state, now.rule.live_version) == ("ended", None)
    assert now.state_reason.startswith("The rule was")
    assert now.stages.get().ended_at is not None


def test_request__version_on_trial__is_refused_unless_for_all(cast: Cast) -> None:
    canary = open_canary(cast.workspace)

    with pytest.raises(Refused, match="on trial already"):
        activate_rule(rule=canary.rule, by=SYSTEM)
    change = request_change(rule=canary.rule, kind="enable", by=cast.actor("maintainer"), rollout="all")
    approve_change(change=change, revision=1, by=cast.actor("reviewer"))

    assert (again(canary).state, again(canary).rule.status) == ("ended", "active")


def test_request__key_wants_all_at_once__is_refused(cast: Cast) -> None:
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=agent(cast))

    with pytest.raises(Refused, match="takes a person"):
        request_change(rule=rule, kind="create", by=agent(cast), rollout="all")


@pytest.mark.parametrize(
    ("author", "rollout", "status"),
    [
        pytest.param("agent", "all", "active", id="an agent's rule for all"),
        pytest.param("person", "canary", "canary", id="a person's rule as a canary"),
    ],
)
def test_approver__chooses__and_it_is_published_so(
    cast: Cast, author: str, rollout: str, status: str
) -> None:
    by = INDUCER if author == "agent" else cast.actor("maintainer")
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=by)

    approve_change(change=rule.changes.get(), revision=1, by=cast.actor("reviewer"), rollout=rollout)

    rule.refresh_from_db()
    assert (rule.status, ChangeRequest.objects.get().detail["rollout"]) == (status, rollout)


def test_approver__second_one_makes_it_bolder__is_refused(cast: Cast) -> None:
    cast.workspace.settings = {"changes": {"required_approvals": 2}}
    cast.workspace.save(update_fields=["settings"])
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=INDUCER)
    approve_change(change=rule.changes.get(), revision=1, by=cast.actor("reviewer"))

    with pytest.raises(Refused, match="Others approved this as a canary"):
        approve_change(change=rule.changes.get(), revision=1, by=cast.actor("owner"), rollout="all")


def test_revision__after_a_choice__keeps_the_choice(cast: Cast) -> None:
    rule = draft_rule(
        workspace_id=cast.workspace.pk, document=weather_document(), by=cast.actor("maintainer")
    )
    request_change(rule=rule, kind="create", by=cast.actor("maintainer"), rollout="canary")

    edit_rule(rule=rule, document=weather_document(priority=3), base_version=1, by=cast.actor("maintainer"))

    assert rollout_of(ChangeRequest.objects.select_related("workspace", "version").get()) == "canary"


def test_revision__by_a_program_after_a_bold_choice__begins_as_the_policy_says(cast: Cast) -> None:
    by = cast.actor("maintainer")
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=by)
    request_change(rule=rule, kind="create", by=by, rollout="all")

    edit_rule(rule=rule, document=weather_document(priority=3), base_version=1, by=agent(cast))

    assert rollout_of(ChangeRequest.objects.select_related("workspace", "version").get()) == "canary"


def test_request__key_wants_an_older_version_of_an_agent_for_all__is_refused(cast: Cast) -> None:
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=agent(cast))
    edit_rule(rule=rule, document=weather_document(priority=3), base_version=1, by=cast.actor("maintainer"))

    with pytest.raises(Refused, match="takes a person"):
        request_change(
            rule=rule, kind="create", by=agent(cast), version=rule.versions.get(number=1), rollout="all"
        )


def test_approvals__policy_is_loosened_between_them__stays_a_canary(cast: Cast) -> None:
    cast.workspace.settings = {"changes": {"required_approvals": 2}}
    cast.workspace.save(update_fields=["settings"])
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=INDUCER)
    approve_change(change=rule.changes.get(), revision=1, by=cast.actor("reviewer"))

    owner = cast.actor("owner")
    set_canary_policy(workspace_id=cast.workspace.pk, changes={"start": "never"}, by=owner)
    approve_change(change=rule.changes.get(), revision=1, by=owner)

    rule.refresh_from_db()
    assert rule.status == "canary"


def test_shadow_first__approved_rule__watches_before_it_acts(cast: Cast) -> None:
    serve_at_once(cast.workspace, start="agents", shadow_first=True)

    canary = open_canary(cast.workspace)

    assert (canary.state, canary.rule.status, steps_of(canary)) == ("shadow", "canary", ["open", "shadow"])


def test_linked_patterns__rule_on_trial__are_covered(cast: Cast) -> None:
    pattern = make_pattern(cast.workspace)
    rule = draft_rule(
        workspace_id=cast.workspace.pk, document=weather_document(), by=INDUCER,
        pattern_uuids=[pattern.uuid],
    )  # fmt: skip
    activate_rule(rule=rule, by=SYSTEM)
    pattern.refresh_from_db()
    assert pattern.status == "covered"

    disable_rule(rule=Rule.objects.get(), by=SYSTEM)

    pattern.refresh_from_db()
    assert pattern.status == "open"
