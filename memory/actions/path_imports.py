"""Many paths at once from a JSON document: first what would happen, then each by itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID, uuid4

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.actions.paths import accepted, checked_key, facts_of, newest_under
from memory.domain.access import Actor, check_may
from memory.domain.intake import FieldError
from memory.domain.paths.checking import InvalidPathError, count_nodes
from memory.domain.paths.document import PathDoc, path_digest
from memory.domain.paths.keys import lineage_key
from memory.events import record_event
from memory.live.index import draft_entries
from memory.models import Path, Workspace
from memory.writer.entries import EntryDraft
from memory.writer.paths import NewPath, add_version, store_paths

MAX_PATHS = 200
MAX_NODES = 10_000
RETIRED = "The path of this key is retired: roll back to a version of it first."
ImportStatus = Literal["new", "changed", "same", "invalid"]


class ImportItem(msgspec.Struct, frozen=True):
    """What becomes of one document.

    ``new``: its own lineage; ``changed``: the next version of the lineage of its key; ``same``: what is there
    says this already; ``invalid``: ``errors`` name the fields. ``uuid`` is of the stored path, if any.
    """

    index: int
    status: ImportStatus
    key: str = ""
    goal: str = ""
    uuid: UUID | None = None
    errors: tuple[FieldError, ...] = ()


class _Read(msgspec.Struct, frozen=True):
    item: ImportItem
    doc: PathDoc | None = None


def plan_path_import(*, workspace: Workspace, documents: Sequence[Any], by: Actor) -> list[ImportItem]:
    """What importing these documents would do; nothing is stored.

    Each is a path document, with an optional ``key`` that names its lineage. Raises NotPermitted, and
    :class:`InvalidPathError` for too many.
    """
    return [read.item for read in _read(workspace, documents, by)]


def import_paths(*, workspace: Workspace, documents: Sequence[Any], by: Actor) -> list[ImportItem]:
    """Store them, each in its own transaction; importing the same twice changes nothing.

    A document under a known key that says something else becomes the next version there. Raises like
    :func:`plan_path_import`; what is wrong with one document does not stop the others.
    """
    reads = _read(workspace, documents, by)
    wanted = [read.doc for read in reads if read.doc is not None and read.item.status in ("new", "changed")]
    drafts = draft_entries(wanted)
    return [_store(workspace, read, by, drafts) for read in reads]


def _read(workspace: Workspace, documents: Sequence[Any], by: Actor) -> list[_Read]:
    check_may(by, "write_path", within=workspace.pk)
    if len(documents) > MAX_PATHS:
        raise InvalidPathError([FieldError("paths", f"At most {MAX_PATHS} paths at once.")])
    reads = [_read_one(workspace, index, value) for index, value in enumerate(documents)]
    if sum(count_nodes(read.doc) for read in reads if read.doc) > MAX_NODES:
        raise InvalidPathError([FieldError("paths", f"At most {MAX_NODES:,} nodes at once.")])
    return list(_told_apart(reads))


def _told_apart(reads: Iterable[_Read]) -> Iterator[_Read]:
    """Of several documents under one key the first counts; of several that say the same, too."""
    keys: set[str] = set()
    said: set[tuple[str, str, float]] = set()
    for read in reads:
        item, says = read.item, _says(read.doc) if read.doc else None
        if item.key and item.key in keys:
            error = FieldError("key", "Another document here has the same key.")
            yield _Read(ImportItem(item.index, "invalid", item.key, item.goal, errors=(error,)))
        elif says and not item.key and says in said:
            yield _Read(msgspec.structs.replace(item, status="same"))
        else:
            yield read
        keys.add(item.key)
        if says and not item.key:
            said.add(says)


def _read_one(workspace: Workspace, index: int, value: Any) -> _Read:
    try:
        if not isinstance(value, Mapping):
            raise InvalidPathError([FieldError("", "A path is a JSON object.")])
        given = value.get("key", "")
        if not isinstance(given, str):
            raise InvalidPathError([FieldError("key", "A key is text.")])
        key = checked_key(given)
        doc = accepted(workspace.pk, {name: item for name, item in value.items() if name != "key"})
    except InvalidPathError as error:
        return _Read(ImportItem(index, "invalid", errors=error.errors))
    return _Read(_item(index, key, doc, _known(workspace.pk, key, doc)), doc)


def _known(workspace_id: int, key: str, doc: PathDoc) -> Path | None:
    """The newest version under the key; without one, an active path that says the same."""
    if key:
        return newest_under(workspace_id, lineage_key("path", key))
    rows = Path.objects.active().whole().filter(workspace=workspace_id, digest=path_digest(doc))
    return rows.filter(result=doc.result, reward=doc.reward).first()


def _status(known: Path | None, doc: PathDoc) -> ImportStatus:
    if known is None:
        return "new"
    if known.lineage.retired_at is not None:
        return "invalid"
    is_same = (known.digest, known.result, known.reward) == _says(doc)
    return "same" if is_same and known.status == "active" else "changed"


def _says(doc: PathDoc) -> tuple[str, str, float]:
    """What was done and how it ended."""
    return path_digest(doc), doc.result, doc.reward


def _item(index: int, key: str, doc: PathDoc, known: Path | None) -> ImportItem:
    status = _status(known, doc)
    errors = (FieldError("key", RETIRED),) if status == "invalid" else ()
    return ImportItem(index, status, key, doc.goal[:200], known.uuid if known else None, errors)


def _store(workspace: Workspace, read: _Read, by: Actor, drafts: Mapping[str, EntryDraft]) -> ImportItem:
    item, doc = read.item, read.doc
    if doc is None or item.status in ("same", "invalid"):
        return item
    try:
        return _store_version(workspace, item, doc, by, drafts)
    except IntegrityError:  # somebody took the key in this moment
        return _store_version(workspace, item, doc, by, drafts)


@transaction.atomic
def _store_version(
    workspace: Workspace, planned: ImportItem, doc: PathDoc, by: Actor, drafts: Mapping[str, EntryDraft]
) -> ImportItem:
    """The first version under its key, or the next one; nothing where another import was faster."""
    Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)  # one import after the other
    known = _known(workspace.pk, planned.key, doc)
    item = _item(planned.index, planned.key, doc, known)
    if item.status not in ("new", "changed"):
        return item
    key = lineage_key("path", item.key or uuid4().hex)
    new = NewPath(lineage_key=key, doc=doc, origin="import", created_by=by.name, drafts=drafts)
    now = timezone.now()
    if known is None:
        path = store_paths(workspace.pk, [new], now=now)[0]
    else:
        new = msgspec.structs.replace(new, parent_id=known.pk)
        path = add_version(lineage=known.lineage, new=new, now=now)
    record_event(by=by, workspace=workspace, verb="import_path", subject=path, new=facts_of(path))
    return msgspec.structs.replace(item, uuid=path.uuid)
