"""The one way in which paths are written: shared nodes, versions in lineages, pieces with their whole.

A part that has a span is a piece of its container: it is stored, replaced, retired and restored with it,
under the same version number. Everything here runs inside the caller's transaction.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import uuid4

import msgspec
from django.db.models import Max
from msgspec import structs

from memory.domain.lifecycle import PATH_TRANSITIONS, check_transition
from memory.domain.paths.document import PathDoc, path_digest
from memory.domain.paths.keys import part_key, path_key
from memory.models import Lineage, Path, PathEdge, PathNode, RewardChange
from memory.writer.entries import EntryDraft, bare_draft, touch_entries, write_entries
from memory.writer.nodes import node_ids
from memory.writer.tables import Table, identifier, moment

LINEAGES = Table(
    Lineage,
    ("uuid", "workspace", "key", "fruitless_rewrites", "automatic_paused_at", "pause_reason", "retired_at",
     "created_at"),
)  # fmt: skip
BATCH = 500


class StaleVersionError(Exception):
    """Somebody made another version in the meantime. ``active`` is the version that counts now, if any."""

    def __init__(self, active: Path | None) -> None:
        name = f"version {active.version} is the active one" if active else "no version is active"
        super().__init__(f"The path was changed in the meantime: {name} now.")
        self.active = active


class NewPath(msgspec.Struct, frozen=True, kw_only=True):
    """A document on its way into the lineage ``lineage_key``, as that ``version`` of it.

    ``parent_id`` is the version it was made from, ``source_id`` the task that walked it. ``drafts`` are its
    index entries and those of its pieces (:func:`memory.live.index.draft_entries`, asked before the
    transaction); what is missing there is embedded later by the background.
    """

    doc: PathDoc
    origin: str
    lineage_key: str = ""
    version: int = 1
    source_id: int | None = None
    parent_id: int | None = None
    rewrite_count: int = 0
    created_by: str = ""
    drafts: Mapping[str, EntryDraft] = {}


class _Record(msgspec.Struct):
    """One path row to be: a whole path or a piece."""

    item: NewPath
    doc: PathDoc
    key: str
    container: "_Record | None" = None
    place: int = 0
    row: Path | None = None


def store_paths(workspace_id: int, items: Sequence[NewPath], *, now: datetime) -> list[Path]:
    """Store new versions as the active ones, with nodes, edges, pieces; the whole paths, in order.

    The lineage of each must have no active version: :func:`add_version` sees to that. Raises IntegrityError
    where two writers make the same version.
    """
    levels = _levels(items)
    records = [record for level in levels for record in level]
    lineages = lineage_ids(workspace_id, [record.key for record in records], now)
    for level in levels:
        rows = [_path_row(workspace_id, record, lineages[record.key], now) for record in level]
        for record, row in zip(level, Path.objects.bulk_create(rows, batch_size=BATCH), strict=True):
            record.row = row
    _store_steps(workspace_id, records, now)
    write_entries(
        workspace_id, {record.row.pk: _entry(record, record.row) for record in records if record.row}
    )
    return [record.row for record in levels[0] if record.row] if levels else []


def add_version(*, lineage: Lineage, new: NewPath, now: datetime, base: Path | None = None) -> Path:
    """The next version of a lineage, active; the one before becomes historical.

    ``new`` needs neither key nor version. With ``base`` (its parent, unless ``new`` names another) the active
    version must still be that one: raises :class:`StaleVersionError`. The Lineage row is locked.
    """
    locked = lock_lineage(lineage)
    active = active_version(locked)
    if base is not None and (active is None or active.pk != base.pk):
        raise StaleVersionError(active)
    if active is not None:
        set_status(active, "replace", now=now)
    latest = locked.versions.aggregate(newest=Max("version"))["newest"] or 0
    parent_id = new.parent_id or (base.pk if base else None)
    item = structs.replace(new, lineage_key=locked.key, version=latest + 1, parent_id=parent_id)
    return store_paths(locked.workspace_id, [item], now=now)[0]


def lock_lineage(lineage: Lineage) -> Lineage:
    """The row, locked: whoever adds or switches a version holds it."""
    return Lineage.objects.select_for_update(no_key=True).get(pk=lineage.pk)


def active_version(lineage: Lineage) -> Path | None:
    """The version that is recalled, or None."""
    return lineage.versions.filter(status="active").first()


def set_status(path: Path, step: str, *, now: datetime) -> None:
    """Move a version and its pieces by one step of the path lifecycle.

    Raises :class:`memory.domain.lifecycle.TransitionError`. Hold the lineage's lock.
    """
    path.status = check_transition(PATH_TRANSITIONS, step, path.status)
    path.updated_at = now
    ids = [path.pk, *piece_ids([path.pk])]
    Path.objects.filter(pk__in=ids).update(status=path.status, updated_at=now)
    touch_entries(path.workspace_id, ids)


def piece_ids(path_ids: Iterable[int]) -> list[int]:
    """Ids of the pieces of paths, down to the last level."""
    found: list[int] = []
    level = list(path_ids)
    while level:
        rows = Path.objects.filter(container__in=level, span_start__isnull=False)
        level = list(rows.values_list("pk", flat=True))
        found += level
    return found


def change_reward(
    path: Path, new: float, *, cause: str, now: datetime, reason: str = "", task_id: int | None = None
) -> None:
    """Set a path's reward (clamped to 0..1) and say why; nothing when it is that already."""
    new = min(1.0, max(0.0, new))
    if new == path.reward:
        return
    RewardChange.objects.create(
        path=path, old=path.reward, new=new, cause=cause, reason=reason[:2_000], task_id=task_id,
        changed_at=now,
    )  # fmt: skip
    path.reward, path.updated_at = new, now
    path.save(update_fields=["reward", "updated_at"])


def restate(path: Path, doc: PathDoc, *, task_id: int | None, now: datetime) -> None:
    """Say anew how a stored walk ended, on it and its pieces. Its nodes and edges stay as they are.

    A reward that reuse has shaped since is kept, unless the result turned.
    """
    whole = NewPath(lineage_key=path.lineage.key, doc=doc, origin=path.origin)
    docs = {record.key: record.doc for level in _levels([whole]) for record in level}
    rows = Path.objects.filter(pk__in=[path.pk, *piece_ids([path.pk])]).select_related("lineage")
    for row in rows:
        said = docs[row.lineage.key]
        if row.result == said.result and (row.use_count or row.status != "active"):
            continue
        change_reward(row, said.reward, cause="built", now=now, reason=said.result, task_id=task_id)
        if row.result != said.result:
            row.result = said.result
            row.save(update_fields=["result"])
            touch_entries(row.workspace_id, [row.pk])
        last = row.steps.order_by("-position").first()
        if last is not None and last.details != said.nodes[-1].details:
            PathNode.objects.filter(pk=last.pk).update(details=said.nodes[-1].details)


def lineage_ids(workspace_id: int, keys: Sequence[str], now: datetime) -> dict[str, int]:
    """Ids of the lineages of these keys; what is missing is made (in one order for every writer)."""
    wanted = sorted(set(keys))
    found: dict[str, int] = {}
    for start in range(0, len(wanted), BATCH):
        some = wanted[start : start + BATCH]
        rows = [
            (identifier(uuid4()), workspace_id, key, 0, None, "", None, moment(now))
            for key in some
        ]  # fmt: skip
        made = LINEAGES.append_returning(rows, unique="workspace_id, key", key="key")
        there = Lineage.objects.filter(workspace=workspace_id, key__in=[k for k in some if k not in made])
        found |= made | dict(there.values_list("key", "pk"))
    return found


def _levels(items: Sequence[NewPath]) -> list[list[_Record]]:
    """The whole paths, then their pieces, then theirs."""
    levels: list[list[_Record]] = []
    level = [_Record(item, item.doc, item.lineage_key) for item in items]
    while level:
        levels.append(level)
        level = [
            _Record(record.item, part, part_key(record.key, place), record, place)
            for record in level
            for place, part in enumerate(record.doc.parts, start=1)
        ]
    return levels


def _path_row(workspace_id: int, record: _Record, lineage_id: int, now: datetime) -> Path:
    item, doc = record.item, record.doc
    start, end = doc.span or (None, None)
    return Path(
        workspace_id=workspace_id,
        lineage_id=lineage_id,
        version=item.version,
        key=path_key(record.key, item.version),
        parent_id=item.parent_id if record.container is None else None,
        container=record.container.row if record.container else None,
        part_position=record.place,
        span_start=start,
        span_end=end,
        goal=doc.goal,
        tags=list(doc.tags),
        agent=doc.agent,
        env=doc.env,
        tools=list(doc.tools),
        level=doc.level,
        origin=item.origin,
        result=doc.result,
        reward=doc.reward,
        rewrite_count=item.rewrite_count,
        node_count=len(doc.nodes),
        source_id=item.source_id,
        digest=path_digest(doc),
        created_at=now,
        created_by=item.created_by[:200],
        updated_at=now,
    )


def _entry(record: _Record, row: Path) -> EntryDraft:
    return record.item.drafts.get(row.digest) or bare_draft(record.doc)


def _store_steps(workspace_id: int, records: Sequence[_Record], now: datetime) -> None:
    nodes = node_ids(workspace_id, (node for record in records for node in record.doc.nodes), now)
    steps = [
        PathNode(
            path=record.row,
            position=position,
            name=node.name,
            node_id=nodes[id(node)],
            observation=node.observation,
            details=node.details,
            occurred_at=node.occurred_at,
        )
        for record in records
        for position, node in enumerate(record.doc.nodes)
    ]
    PathNode.objects.bulk_create(steps, batch_size=BATCH)
    places = {(step.path_id, step.name): step for step in steps}
    edges = [
        PathEdge(
            path=record.row,
            position=position,
            source=places[record.row.pk, edge.source],
            target=places[record.row.pk, edge.target],
            condition=edge.condition,
            label=edge.label,
        )
        for record in records
        if record.row
        for position, edge in enumerate(record.doc.edges)
    ]
    PathEdge.objects.bulk_create(edges, batch_size=BATCH)
