"""The audit trail: who did what, newest first."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from memory.models import AuditEvent, Workspace
from memory.queries.paging import Page, newest_first


@dataclass(frozen=True)
class Change:
    """One field before and after; None where it was not there."""

    field: str
    old: Any
    new: Any


def list_events(workspace: Workspace, *, text: str, kind: str, cursor: str) -> Page[AuditEvent]:
    """Narrowed by a word in actor, verb or subject, and by the subject's kind."""
    rows = AuditEvent.objects.filter(workspace_uuid=workspace.uuid)
    if kind:
        rows = rows.filter(subject_type=kind)
    if text:
        words = Q(actor_name__icontains=text) | Q(verb__icontains=text) | Q(subject_name__icontains=text)
        rows = rows.filter(words | Q(subject_uuid=text) | Q(reason__icontains=text))
    return newest_first(rows, cursor)


def changes_of(event: AuditEvent) -> list[Change]:
    """The fields that differ between old and new, in their order."""
    old, new = event.old or {}, event.new or {}
    names = list(dict.fromkeys([*old, *new]))
    return [Change(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]
