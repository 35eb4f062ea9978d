"""Paths by hand: write one, correct one (a new version), take a version back into use, retire a lineage."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.domain.access import Actor, check_may
from memory.domain.intake import FieldError
from memory.domain.lifecycle import TransitionError
from memory.domain.paths.checking import InvalidPathError, read_path_document, write_path_document
from memory.domain.paths.document import PathDoc
from memory.domain.paths.keys import lineage_key
from memory.events import record_event
from memory.live.index import draft_entries
from memory.models import Lineage, Path, RewardChange, Workspace
from memory.queries.path_documents import read_path
from memory.writer.paths import (
    NewPath,
    StaleVersionError,
    active_version,
    add_version,
    change_reward,
    lock_lineage,
    set_status,
    store_paths,
)
from memory.writer.redactors import scrub_for

__all__ = ["InvalidPathError", "PathExistsError", "StaleVersionError", "correct_path", "write_path"]

MAX_KEY = 180


class PathExistsError(ValueError):
    """The key is taken. ``path`` is the newest version under it."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"There is a path under this key already: {path.key}. Correct that one.")
        self.path = path


def write_path(*, workspace: Workspace, document: Mapping[str, Any], by: Actor, key: str = "") -> Path:
    """A new path by hand, as version 1 of its own lineage. ``key`` names it; without one it gets a name.

    Raises NotPermitted, :class:`InvalidPathError`, :class:`PathExistsError`.
    """
    check_may(by, "write_path", within=workspace.pk)
    doc = accepted(workspace.pk, document)
    full_key = lineage_key("path", checked_key(key) or uuid4().hex)
    drafts = draft_entries([doc])
    new = NewPath(lineage_key=full_key, doc=doc, origin="hand", created_by=by.name, drafts=drafts)
    _refuse_taken(workspace.pk, full_key)
    try:
        with transaction.atomic():
            path = store_paths(workspace.pk, [new], now=timezone.now())[0]
            record_event(by=by, workspace=workspace, verb="write_path", subject=path, new=facts_of(path))
    except IntegrityError:  # somebody took the key in this moment
        _refuse_taken(workspace.pk, full_key)
        raise
    return path


def correct_path(
    *, path: Path, document: Mapping[str, Any], base_version: int, by: Actor, reason: str = ""
) -> Path:
    """Another document for a path: the next version of its lineage, active. The old one is kept.

    ``base_version`` is the version that was read: it must be the active one. A document that says what the
    base says changes nothing and returns the base. Raises NotPermitted, :class:`InvalidPathError`,
    :class:`StaleVersionError`.
    """
    check_may(by, "write_path", within=path.workspace_id)
    doc = accepted(path.workspace_id, document)
    base = _base(path, base_version)
    if read_path(base) == msgspec.structs.replace(doc, span=read_path(base).span):
        return base
    drafts = draft_entries([doc])
    with transaction.atomic():
        new = NewPath(
            doc=doc, origin="hand", source_id=base.source_id, created_by=by.name, drafts=drafts,
            rewrite_count=base.rewrite_count,
        )  # fmt: skip
        made = add_version(lineage=base.lineage, new=new, base=base, now=timezone.now())
        record_event(
            by=by, workspace=path.workspace, verb="correct_path", subject=made, old=facts_of(base),
            new=facts_of(made), reason=reason,
        )  # fmt: skip
    return made


def relabel_path(
    *, path: Path, goal: str, tags: Sequence[str], base_version: int, by: Actor, reason: str = ""
) -> Path:
    """Another goal or other tags: a new version with the same steps. Raises like :func:`correct_path`."""
    doc = msgspec.structs.replace(read_path(path), goal=goal, tags=tuple(tags), span=None)
    document = write_path_document(doc)
    return correct_path(path=path, document=document, base_version=base_version, by=by, reason=reason)


@transaction.atomic
def roll_back_path(*, path: Path, by: Actor, reason: str = "") -> Path:
    """Make a historical or retired version the active one again. Nothing is deleted; doing it twice is once.

    What a rewrite took off its reward it gets back. Raises NotPermitted, and TransitionError for a piece,
    which goes with its whole.
    """
    check_may(by, "roll_back_path", within=path.workspace_id)
    now = timezone.now()
    lineage = lock_lineage(path.lineage)
    target = Path.objects.select_related("workspace", "lineage").get(pk=path.pk)
    refuse_piece(target)
    active = active_version(lineage)
    if active is not None and active.pk == target.pk:
        return target
    if active is not None:
        set_status(active, "replace", now=now)
    old = {"active": active.key if active else "", "reward": target.reward}
    set_status(target, "restore", now=now)
    change_reward(target, _before_penalty(target), cause="rollback", now=now, reason=reason)
    Lineage.objects.filter(pk=lineage.pk).update(retired_at=None)
    record_event(
        by=by, workspace=target.workspace, verb="roll_back_path", subject=target, old=old,
        new={"active": target.key, "reward": target.reward}, reason=reason,
    )  # fmt: skip
    return target


@transaction.atomic
def retire_lineage(*, path: Path, by: Actor, reason: str) -> Path:
    """No version of the path is recalled any more, until one is rolled back to. Doing it twice is once.

    Raises NotPermitted, TransitionError for a piece, ValueError without a reason.
    """
    check_may(by, "roll_back_path", within=path.workspace_id)
    if not reason.strip():
        raise ValueError("Say why the path is retired.")
    lineage = lock_lineage(path.lineage)
    refuse_piece(path)
    now = timezone.now()
    active = active_version(lineage)
    if active is not None:
        set_status(active, "retire", now=now)
        Lineage.objects.filter(pk=lineage.pk).update(retired_at=now)
        record_event(
            by=by, workspace=path.workspace, verb="retire_path", subject=active,
            old={"status": "active"}, new={"status": "retired"}, reason=reason,
        )  # fmt: skip
    path.refresh_from_db()
    return path


def accepted(workspace_id: int, document: Mapping[str, Any]) -> PathDoc:
    """A document that may be stored: checked, and without secrets. Raises :class:`InvalidPathError`."""
    doc = read_path_document(document)
    redacted, counts = scrub_for(workspace_id).redactor.redact(write_path_document(doc))
    if not counts:
        return doc
    return read_path_document(redacted)


def checked_key(key: str) -> str:
    """A name for a lineage. Raises :class:`InvalidPathError`."""
    name = key.strip()
    if len(name) > MAX_KEY or not (name.isprintable() or not name):
        detail = f"A key has 1 to {MAX_KEY} printable characters."
        raise InvalidPathError([FieldError("key", detail)])
    return name


def newest_under(workspace_id: int, key: str) -> Path | None:
    """The newest version in the lineage of this key."""
    rows = Path.objects.filter(lineage__workspace=workspace_id, lineage__key=key)
    return rows.select_related("lineage").order_by("-version").first()


def _refuse_taken(workspace_id: int, key: str) -> None:
    taken = newest_under(workspace_id, key)
    if taken is not None:
        raise PathExistsError(taken)


def facts_of(path: Path) -> dict[str, Any]:
    """What the audit trail keeps of a version."""
    names = ("version", "goal", "tags", "result", "reward", "node_count", "digest")
    return {name: getattr(path, name) for name in names}


def refuse_piece(path: Path) -> None:
    """Raise TransitionError for a piece of another path: its versions are those of its whole."""
    if path.is_piece:
        raise TransitionError("This is a part of another path: change that one.")


def _base(path: Path, version: int) -> Path:
    """The version that a person or program read, if it is active still."""
    refuse_piece(path)
    active = active_version(path.lineage)
    if active is None or active.version != version:
        raise StaleVersionError(active)
    return active


def _before_penalty(path: Path) -> float:
    """Its reward with what the rewrite that is undone now took off; what tasks said since then is kept."""
    changes = RewardChange.objects.filter(path=path, cause__in=["penalty", "rollback"])
    last = changes.order_by("-id").first()
    if last is None or last.cause != "penalty":
        return path.reward
    return last.old if path.reward == last.new else min(1.0, path.reward + last.old - last.new)
