"""Writing validators, and switching them on and off."""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from django.db import transaction

from memory.domain.access import Actor, check_may
from memory.domain.plain_json import storable
from memory.domain.validators import CompiledValidator, InvalidValidatorError, compile_validator
from memory.events import record_event
from memory.models import Validator, Workspace
from memory.queries.validators import spec_of


class StaleEdit(ValueError):
    """Somebody else changed the validator meanwhile."""


@dataclass(frozen=True)
class ValidatorDraft:
    """What a person wrote. ``source`` is a JSON Schema or a CEL check, ``target`` is for schemas."""

    name: str
    tool: str
    kind: Literal["json_schema", "cel"]
    source: str
    target: Literal["input", "output"] = "output"
    message: str = ""

    def body(self) -> dict[str, Any]:
        """The document that is stored. Raises msgspec.DecodeError when a schema is not JSON."""
        if self.kind == "cel":
            return {"check": self.source}
        return {"schema": storable(msgspec.json.decode(self.source)), "target": self.target}


@transaction.atomic
def create_validator(*, workspace: Workspace, draft: ValidatorDraft, by: Actor) -> Validator:
    """A new, enabled validator: it runs on every call that is analysed from now on.

    Raises :class:`NotPermitted`, InvalidValidatorError; IntegrityError when the name is taken.
    """
    check_may(by, "edit_validator", within=workspace.pk)
    validator = Validator(workspace=workspace, created_by=by.name)
    _fill(validator, draft)
    validator.save(force_insert=True)
    record_event(
        by=by, workspace=workspace, verb="create_validator", subject=validator, new=facts_of(validator)
    )
    return validator


@transaction.atomic
def edit_validator(*, validator: Validator, draft: ValidatorDraft, revision: int, by: Actor) -> Validator:
    """Change a validator that is still at ``revision``; what could not be checked is counted anew.

    Raises :class:`NotPermitted`, :class:`StaleEdit`, InvalidValidatorError; IntegrityError when the name is
    taken.
    """
    check_may(by, "edit_validator", within=validator.workspace_id)
    locked = Validator.objects.select_for_update().get(pk=validator.pk)
    if locked.revision != revision:
        raise StaleEdit("Somebody else changed this validator meanwhile. Reload, compare and save again.")
    old = facts_of(locked)
    _fill(locked, draft)
    locked.revision = revision + 1
    locked.error_count, locked.last_error = 0, ""  # they were about what it said before
    locked.save()
    record_event(
        by=by,
        workspace=locked.workspace,
        verb="edit_validator",
        subject=locked,
        old=old,
        new=facts_of(locked),
    )
    return locked


@transaction.atomic
def set_validator_enabled(*, validator: Validator, is_enabled: bool, by: Actor) -> Validator:
    """Switch it on or off. What it found stays. Saying it twice changes nothing."""
    check_may(by, "edit_validator", within=validator.workspace_id)
    changed = Validator.objects.filter(pk=validator.pk, is_enabled=not is_enabled).update(
        is_enabled=is_enabled
    )
    if changed:
        verb = "enable_validator" if is_enabled else "disable_validator"
        record_event(by=by, workspace=validator.workspace, verb=verb, subject=validator)
    validator.refresh_from_db()
    return validator


def facts_of(validator: Validator) -> dict[str, Any]:
    """What the audit trail keeps of a validator."""
    names = ("name", "tool", "kind", "body", "message", "revision")
    return {name: getattr(validator, name) for name in names}


def compile_draft(draft: ValidatorDraft) -> CompiledValidator:
    """The draft ready to run. Raises InvalidValidatorError, a ValueError that says what is wrong."""
    try:
        body = draft.body()
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InvalidValidatorError(f"Not JSON: {problem}.") from problem
    row = Validator(name=draft.name, tool=draft.tool, kind=draft.kind, body=body, message=draft.message)
    return compile_validator(spec_of(row))


def _fill(validator: Validator, draft: ValidatorDraft) -> None:
    compile_draft(draft)
    validator.name, validator.tool, validator.kind = draft.name, draft.tool, draft.kind
    validator.message, validator.body = draft.message, draft.body()


@transaction.atomic
def delete_validator(*, validator: Validator, by: Actor) -> None:
    """Remove it. The failures it found stay, and so does this event. Raises :class:`NotPermitted`."""
    check_may(by, "edit_validator", within=validator.workspace_id)
    locked = Validator.objects.select_for_update().select_related("workspace").get(pk=validator.pk)
    record_event(
        by=by, workspace=locked.workspace, verb="delete_validator", subject=locked, old=facts_of(locked)
    )
    locked.delete()
