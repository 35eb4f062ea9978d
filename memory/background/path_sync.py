"""Writing the paths of finished tasks: new ones, and what is said anew about those that are there.

Evidence is only read. A lineage whose active version a person or a rewrite made is left alone.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from django.db.models import F

from memory.domain.paths.building import Variant
from memory.domain.paths.document import path_digest
from memory.domain.paths.keys import lineage_key
from memory.models import Path, Task
from memory.writer.entries import EntryDraft
from memory.writer.paths import (
    NewPath,
    active_version,
    add_version,
    lock_lineage,
    restate,
    set_status,
    store_paths,
)


class Built(msgspec.Struct, frozen=True):
    """A task, the paths that its run yields, and their index entries."""

    task: Task
    variants: Sequence[Variant]
    drafts: Mapping[str, EntryDraft] = {}


def sync_paths(built: Sequence[Built], now: datetime) -> None:
    """Make the stored paths of these tasks what their runs say. Inside a transaction; repeatable."""
    groups: dict[int, list[Built]] = defaultdict(list)
    for item in built:
        groups[item.task.workspace_id].append(item)
    for workspace_id, items in sorted(groups.items()):
        _sync_workspace(workspace_id, items, now)


def _sync_workspace(workspace_id: int, built: Sequence[Built], now: datetime) -> None:
    stored = _stored(workspace_id, built)
    fresh: list[NewPath] = []
    for item in built:
        for variant in item.variants:
            new = NewPath(
                lineage_key=variant.key,
                doc=variant.doc,
                origin="run",
                source_id=item.task.pk,
                drafts=item.drafts,
            )
            versions = stored.pop(variant.key, [])
            if versions:
                _sync_lineage(versions, new, now)
            else:
                fresh.append(new)
    store_paths(workspace_id, fresh, now=now)
    for versions in stored.values():
        _retire(versions, now)
    _nest(workspace_id, built)


def _stored(workspace_id: int, built: Sequence[Built]) -> dict[str, list[Path]]:
    """Versions by lineage key, oldest first, of every lineage that a run of these tasks could have."""
    keys = [lineage_key(kind, item.task.external_id) for item in built for kind in ("task", "success")]
    rows = Path.objects.filter(lineage__workspace=workspace_id, lineage__key__in=keys)
    found: dict[str, list[Path]] = defaultdict(list)
    for row in rows.select_related("lineage").order_by("version"):
        found[row.lineage.key].append(row)
    return found


def _sync_lineage(versions: Sequence[Path], new: NewPath, now: datetime) -> None:
    """The same walk: say anew how it ended. Another walk: a new version, unless somebody changed the path."""
    lineage = lock_lineage(versions[0].lineage)
    versions = list(lineage.versions.select_related("lineage").order_by("version"))  # as they are by now
    own = [path for path in versions if path.origin == "run"]
    if own and own[-1].digest == path_digest(new.doc):
        if own[-1].status == "retired" and not lineage.retired_at:
            set_status(own[-1], "restore", now=now)
        restate(own[-1], new.doc, task_id=new.source_id, now=now)
    elif len(own) == len(versions) and not lineage.retired_at:
        new = msgspec.structs.replace(new, parent_id=own[-1].pk)
        add_version(lineage=lineage, new=new, now=now)


def _retire(versions: Sequence[Path], now: datetime) -> None:
    """The run does not yield this path any more: its task turned out to have failed."""
    if any(path.origin == "run" and path.status == "active" for path in versions):
        active = active_version(lock_lineage(versions[0].lineage))
        if active is not None and active.origin == "run":
            set_status(active, "retire", now=now)


def _nest(workspace_id: int, built: Sequence[Built]) -> None:
    """Link the paths of nested tasks to the path of their root, whichever of them was built first."""
    names = {item.task.external_id: item.task.root_task for item in built}
    roots = Task.objects.filter(workspace=workspace_id, root_task__in=names.keys())
    nested = dict(roots.exclude(external_id=F("root_task")).values_list("external_id", "root_task"))
    nested |= {name: root for name, root in names.items() if name != root}
    if not nested:
        return
    keys = [lineage_key("task", name) for name in {*nested, *nested.values()}]
    rows = Path.objects.active().filter(lineage__workspace=workspace_id, lineage__key__in=keys)
    paths = {row.lineage.key: row for row in rows.select_related("lineage")}
    for name, root in nested.items():
        path, whole = paths.get(lineage_key("task", name)), paths.get(lineage_key("task", root))
        if path and whole and path.container_id is None and whole.container_id is None:
            Path.objects.filter(pk=path.pk).update(container=whole)
