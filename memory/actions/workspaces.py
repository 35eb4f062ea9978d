"""The settings of a workspace."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction

from memory.domain.access import Actor, check_may
from memory.domain.redaction import Redactor
from memory.events import record_event
from memory.models import Workspace


@transaction.atomic
def set_redaction(
    *, workspace: Workspace, fields: list[str], patterns: dict[str, str], allow: list[str], by: Actor
) -> Workspace:
    """What is redacted beside the built-in kinds, for what is recorded from now on.

    Raises :class:`NotPermitted`; InvalidPatternError for a name or an expression that is not accepted.
    """
    check_may(by, "manage_workspace", within=workspace.pk)
    Redactor(fields=fields, patterns=patterns, allow=allow)
    locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
    old = locked.settings.get("redaction", {})
    new: dict[str, Any] = {"fields": fields, "patterns": patterns, "allow": allow}
    locked.settings = locked.settings | {"redaction": new}
    locked.save(update_fields=["settings"])
    record_event(by=by, workspace=locked, verb="set_redaction", subject=locked, old=old, new=new)
    return locked


@transaction.atomic
def rename_workspace(*, workspace: Workspace, name: str, by: Actor) -> Workspace:
    """A new name; the address stays."""
    check_may(by, "manage_workspace", within=workspace.pk)
    locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
    old, locked.name = locked.name, name
    locked.save(update_fields=["name"])
    record_event(
        by=by,
        workspace=locked,
        verb="rename_workspace",
        subject=locked,
        old={"name": old},
        new={"name": name},
    )
    return locked


@transaction.atomic
def store_section(
    *,
    workspace_id: int,
    section: str,
    change: Callable[[Mapping[str, Any]], dict[str, Any]],
    verb: str,
    by: Actor,
) -> dict[str, Any]:
    """Replace one section of a workspace's settings; what is stored now.

    ``change`` makes the new section from all settings as they are, locked, and may raise. The same again
    changes nothing. Raises :class:`NotPermitted`.
    """
    check_may(by, "manage_workspace", within=workspace_id)
    locked = Workspace.objects.select_for_update().get(pk=workspace_id)
    old, new = locked.settings.get(section, {}), change(locked.settings)
    if new != old:
        locked.settings = locked.settings | {section: new}
        locked.save(update_fields=["settings"])
        record_event(by=by, workspace=locked, verb=verb, subject=locked, old=old, new=new)
    return new
