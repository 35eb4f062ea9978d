"""No action is done by somebody of another workspace, however they came by the row."""

from collections.abc import Callable
from typing import Any

import pytest

from corrections.actions import rules
from memory.actions import accounts, imports, judge, members, patterns, record, tools, validators, workspaces
from memory.actions.validators import ValidatorDraft
from memory.domain.access import Actor, NotPermitted, Role
from memory.domain.experience import OutcomeDoc
from memory.models import AuditEvent, ImportJob
from memory.permissions import SYSTEM, member_actor
from tests.builders import make_pattern, make_task, make_tool, make_validator
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document

DRAFT = ValidatorDraft(name="n", tool="*", kind="cel", source="true")
Attempt = Callable[[Cast, Actor], Any]


def make_import(cast: Cast) -> ImportJob:
    """A planned import."""
    return ImportJob.objects.create(workspace=cast.workspace, file_name="a", stored_as="a", format="runs")


ATTEMPTS: dict[str, Attempt] = {
    "set_member": lambda cast, by: accounts.set_member(
        workspace=cast.workspace, user=cast.viewer, role=Role.OWNER, by=by
    ),
    "create_key": lambda cast, by: accounts.create_key(workspace=cast.workspace, name="x", scopes=[], by=by),
    "revoke_key": lambda cast, by: accounts.revoke_key(
        key=accounts.create_key(workspace=cast.workspace, name="x", scopes=[], by=SYSTEM)[0], by=by
    ),
    "add_member": lambda cast, by: members.add_member(
        workspace=cast.workspace, username="new", role=Role.OWNER, by=by
    ),
    "plan_import": lambda cast, by: imports.plan_import(
        workspace=cast.workspace, file=None, file_name="a", by=by
    ),
    "apply_import": lambda cast, by: imports.apply_import(job=make_import(cast), by=by),
    "cancel_import": lambda cast, by: imports.cancel_import(job=make_import(cast), by=by),
    "judge_task": lambda cast, by: judge.judge_task(
        task=make_task(cast.workspace), outcome=OutcomeDoc(result="success"), by=by
    ),
    "triage_pattern": lambda cast, by: patterns.triage_pattern(
        pattern=make_pattern(cast.workspace), step="ignore", by=by
    ),
    "set_pattern_status": lambda cast, by: patterns.set_pattern_status(
        pattern=make_pattern(cast.workspace), status="open", by=by
    ),
    "record_experience": lambda cast, by: record.record_experience(
        workspace_id=cast.workspace.pk, documents=[], by=by
    ),
    "describe_tool": lambda cast, by: tools.describe_tool(
        tool=make_tool(cast.workspace), description="mine", by=by
    ),
    "create_validator": lambda cast, by: validators.create_validator(
        workspace=cast.workspace, draft=DRAFT, by=by
    ),
    "edit_validator": lambda cast, by: validators.edit_validator(
        validator=make_validator(cast.workspace), draft=DRAFT, revision=1, by=by
    ),
    "set_validator_enabled": lambda cast, by: validators.set_validator_enabled(
        validator=make_validator(cast.workspace), is_enabled=False, by=by
    ),
    "delete_validator": lambda cast, by: validators.delete_validator(
        validator=make_validator(cast.workspace), by=by
    ),
    "set_redaction": lambda cast, by: workspaces.set_redaction(
        workspace=cast.workspace, fields=[], patterns={}, allow=[], by=by
    ),
    "rename_workspace": lambda cast, by: workspaces.rename_workspace(
        workspace=cast.workspace, name="mine", by=by
    ),
    "draft_rule": lambda cast, by: rules.draft_rule(
        workspace_id=cast.workspace.pk, document=weather_document(), by=by
    ),
    "edit_rule": lambda cast, by: rules.edit_rule(
        rule=make_rule(cast.workspace), document=weather_document(name="x"), base_version=1, by=by
    ),
    "roll_back_rule": lambda cast, by: rules.roll_back_rule(
        rule=make_rule(cast.workspace), to_version=1, base_version=1, by=by
    ),
    "activate_rule": lambda cast, by: rules.activate_rule(
        rule=make_rule(cast.workspace, active=False), by=by
    ),
    "disable_rule": lambda cast, by: rules.disable_rule(rule=make_rule(cast.workspace), by=by),
    "retire_rule": lambda cast, by: rules.retire_rule(rule=make_rule(cast.workspace), by=by),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_action__owner_of_another_workspace__is_refused(cast: Cast, name: str) -> None:
    outsider = member_actor(cast.outsider, cast.elsewhere)
    assert outsider is not None

    with pytest.raises(NotPermitted, match="in another workspace"):
        ATTEMPTS[name](cast, outsider)

    assert not AuditEvent.objects.filter(actor_uuid=outsider.uuid).exists()
