"""Template paths: every workspace starts with some, and may do without."""

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from memory.domain.access import Actor, check_may
from memory.domain.paths.keys import lineage_key
from memory.domain.paths.starters import STARTERS
from memory.events import record_event
from memory.live.index import draft_entries
from memory.models import Lineage, Path, Workspace
from memory.permissions import SYSTEM
from memory.writer.paths import NewPath, lock_lineage, set_status, store_paths


def load_templates(*, workspace: Workspace) -> list[Path]:
    """The starter templates that the workspace never had. What was retired stays so."""
    keys = {lineage_key("template", name): doc for name, doc in STARTERS.items()}
    known = set(_lineages(workspace).values_list("key", flat=True))
    missing = {key: doc for key, doc in keys.items() if key not in known}
    if not missing:
        return []
    drafts = draft_entries(missing.values())
    with transaction.atomic():
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        known = set(_lineages(workspace).values_list("key", flat=True))
        items = [
            NewPath(lineage_key=key, doc=doc, origin="template", created_by=SYSTEM.name, drafts=drafts)
            for key, doc in missing.items()
            if key not in known
        ]
        return store_paths(workspace.pk, items, now=timezone.now()) if items else []


def load_missing_templates() -> int:
    """The starter templates of every workspace that has none; how many workspaces got them."""
    first = lineage_key("template", next(iter(STARTERS)))
    without = Workspace.objects.filter(~Exists(Lineage.objects.filter(workspace=OuterRef("pk"), key=first)))
    return sum(bool(load_templates(workspace=workspace)) for workspace in without)


@transaction.atomic
def switch_templates(*, workspace: Workspace, are_on: bool, by: Actor) -> int:
    """Retire the starter templates, or bring them back; how many changed. Raises NotPermitted."""
    check_may(by, "manage_workspace", within=workspace.pk)
    now = timezone.now()
    changed = 0
    for lineage in _lineages(workspace):
        lock_lineage(lineage)
        newest = lineage.versions.order_by("-version").first()
        if newest is not None and (newest.status == "active") != are_on:
            set_status(newest, "restore" if are_on else "retire", now=now)
            Lineage.objects.filter(pk=lineage.pk).update(retired_at=None if are_on else now)
            changed += 1
    if changed:
        verb = "enable_templates" if are_on else "disable_templates"
        record_event(by=by, workspace=workspace, verb=verb, subject=workspace, new={"templates": changed})
    return changed


def _lineages(workspace: Workspace) -> QuerySet[Lineage]:
    keys = [lineage_key("template", name) for name in STARTERS]
    return Lineage.objects.filter(workspace=workspace, key__in=keys).order_by("key")
