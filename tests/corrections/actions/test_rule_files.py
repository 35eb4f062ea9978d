"""Files made true: in one batch, as the policy says, all or nothing, and only once."""

from typing import Any

import pytest

from corrections.actions.changes import approve_batch, set_change_policy
from corrections.actions.rule_files import Applied, StalePlan, apply_rule_files, plan_rule_files
from corrections.actions.rules import disable_rule as disable
from corrections.actions.rules import edit_rule
from corrections.domain.rule_files import RuleFileError, SourceFile, write_rule_file
from corrections.models import ChangeRequest, Rule, RulesetStamp, RuleVersion
from corrections.queries.rule_files import list_kept
from memory.domain.access import Actor, NotPermitted
from memory.models import AuditEvent
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document


def exported(cast: Cast) -> str:
    return write_rule_file(list_kept(cast.workspace.pk, exported=True), "yaml")


def apply(cast: Cast, text: str, by: Actor = SYSTEM, **more: Any) -> Applied:
    files = [SourceFile("rules.yaml", text)]
    prune = bool(more.get("prune"))
    plan = plan_rule_files(workspace_id=cast.workspace.pk, files=files, by=by, prune=prune)
    return apply_rule_files(workspace_id=cast.workspace.pk, files=files, digest=plan.digest, by=by, **more)


def statuses() -> dict[str, str]:
    return dict(Rule.objects.values_list("name", "status"))


def test_apply__export_of_the_workspace__does_nothing(cast: Cast) -> None:
    make_rule(cast.workspace)
    make_rule(cast.workspace, active=False, name="second")
    before = AuditEvent.objects.count()
    assert apply(cast, exported(cast), prune=True).plan.work == ()
    assert AuditEvent.objects.count() == before


def test_apply__everything_at_once__is_published_with_one_stamp(cast: Cast) -> None:
    for name in ("edited", "disabled", "pruned"):
        make_rule(cast.workspace, name=name)
    disable(rule=make_rule(cast.workspace, name="enabled"), by=SYSTEM)
    stamp = RulesetStamp.objects.get(workspace=cast.workspace).version
    parts = exported(cast).split("  - uuid: ")
    edited = {
        "edited": lambda text: text.replace("Shanghai", "Beijing"),
        "disabled": lambda text: text.replace("status: active", "status: disabled"),
        "enabled": lambda text: text.replace("status: disabled", "status: active"),
    }
    text = parts[0]
    for part in parts[1:]:
        name = part.split("name: ")[1].split("\n")[0]
        if name in edited:
            text += "  - uuid: " + edited[name](part)
    new = parts[1].split("\n", 1)[1].replace("name: disabled", "name: created")
    text += "  - " + new.lstrip()

    applied = apply(cast, text, prune=True)

    assert statuses() == {
        "edited": "active", "disabled": "disabled", "pruned": "retired", "enabled": "active",
        "created": "active",
    }  # fmt: skip
    assert (applied.published, applied.waiting, len({change.batch for change in applied.changes})) == (
        5,
        0,
        1,
    )
    assert RulesetStamp.objects.get(workspace=cast.workspace).version == stamp + 1
    live = Rule.objects.get(name="edited").live_version
    assert live is not None
    assert live.body["action_detail"]["operations"][0]["default_value"] == "Beijing"
    assert apply(cast, text, prune=True).plan.work == ()


def test_apply__an_author_whose_approval_does_not_count__waits_and_is_asked_once(cast: Cast) -> None:
    make_rule(cast.workspace)
    text = exported(cast).replace("Shanghai", "Beijing")
    applied = apply(cast, text, by=cast.actor("reviewer"))
    assert (applied.published, applied.waiting) == (0, 1)
    again = apply(cast, text, by=cast.actor("reviewer"))
    assert (again.plan.work, again.plan.counts.wait) == ((), 1)
    assert RuleVersion.objects.count() == 2
    assert applied.batch is not None
    approve_batch(batch=applied.batch, by=cast.actor("maintainer"))
    assert apply(cast, text, by=cast.actor("reviewer")).plan.counts.keep == 1


def test_apply__self_approval_allowed__is_in_force(cast: Cast) -> None:
    set_change_policy(workspace_id=cast.workspace.pk, changes={"self_approval": True}, by=cast.actor("owner"))
    cast.workspace.refresh_from_db()
    make_rule(cast.workspace)
    text = exported(cast).replace("Shanghai", "Beijing")
    assert apply(cast, text, by=cast.actor("maintainer")).published == 1


def test_apply__the_rule_moved_meanwhile__is_refused_and_says_how(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    files = [SourceFile("rules.yaml", exported(cast).replace("Shanghai", "Beijing"))]
    plan = plan_rule_files(workspace_id=cast.workspace.pk, files=files, by=SYSTEM)
    edit_rule(rule=rule, document=weather_document(priority=7), base_version=1, by=SYSTEM)
    with pytest.raises(
        StalePlan, match="was active, version 1, version 1 is served; now it is active, version 2"
    ):
        apply_rule_files(
            workspace_id=cast.workspace.pk, files=files, digest=plan.digest, base=plan.base, by=SYSTEM
        )
    assert RuleVersion.objects.count() == 2


def test_apply__another_workspaces_rule__is_made_anew_and_theirs_stays(cast: Cast) -> None:
    theirs = make_rule(cast.elsewhere)
    text = write_rule_file(list_kept(cast.elsewhere.pk), "yaml").replace("Shanghai", "Beijing")
    assert apply(cast, text).plan.counts.create == 1
    theirs.refresh_from_db()
    assert theirs.latest_version is not None
    assert theirs.latest_version.number == 1
    assert Rule.objects.get(workspace=cast.workspace).uuid != theirs.uuid


def test_apply__a_disabled_rule_edited__serves_nothing_and_asks_nobody(cast: Cast) -> None:
    disable(rule=make_rule(cast.workspace), by=SYSTEM)
    before = ChangeRequest.objects.count()
    applied = apply(cast, exported(cast).replace("Shanghai", "Beijing"))
    assert (applied.changes, [rule.status for rule in applied.written]) == ([], ["disabled"])
    assert ChangeRequest.objects.count() == before


def test_apply__a_draft_edited__revises_its_request(cast: Cast) -> None:
    make_rule(cast.workspace, active=False)
    apply(cast, exported(cast).replace("Shanghai", "Beijing"))
    change = ChangeRequest.objects.get()
    assert (change.status, change.revision, change.version.number if change.version else 0) == ("open", 2, 2)


def test_plan__window_that_has_ended__is_a_fault(cast: Cast) -> None:
    make_rule(cast.workspace)
    text = exported(cast).rstrip("\n") + '\n    valid_until: "2001-01-01T00:00:00Z"\n'
    with pytest.raises(RuleFileError, match="valid_until: This moment has passed"):
        apply(cast, text)


def test_apply__a_viewer__may_not(cast: Cast) -> None:
    with pytest.raises(NotPermitted):
        apply(cast, "[]", by=cast.actor("viewer"))


def test_apply__more_rules__hardly_more_queries(cast: Cast, django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        make_rule(cast.workspace, name=f"rule {number}")
    text = exported(cast).replace("status: active", "status: disabled")
    with django_assert_max_num_queries(60):
        assert apply(cast, text).published == 30
