"""Texts that people search: written when their subject changed, embedded later."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from memory.models import TextEntry

MAX_TEXT = 4_000


@dataclass(frozen=True)
class TextDraft:
    """What is to be found: the subject's uuid, its title, and all that tells what it is about.

    ``changed_at`` is the stamp that the subject had when it was read.
    """

    subject: UUID
    title: str
    text: str
    changed_at: datetime


def write_texts(workspace_id: int, kind: str, drafts: Sequence[TextDraft]) -> None:
    """Make the entries say this, in the caller's transaction. A text that is the same keeps its vector."""
    rows = TextEntry.objects.filter(workspace_id=workspace_id, kind=kind)
    known = dict(rows.filter(subject__in=[each.subject for each in drafts]).values_list("subject", "digest"))
    entries = [_entry(workspace_id, kind, draft) for draft in drafts]
    same = [entry for entry in entries if known.get(entry.subject) == entry.digest]
    other = [entry for entry in entries if known.get(entry.subject) != entry.digest]
    _upsert(same, ["updated_at"])
    _upsert(other, ["title", "text", "digest", "embedder", "dims", "vector", "updated_at", "written_at"])


def _upsert(entries: list[TextEntry], fields: list[str]) -> None:
    TextEntry.objects.bulk_create(
        entries, update_conflicts=True, unique_fields=["workspace", "kind", "subject"], update_fields=fields
    )


def _entry(workspace_id: int, kind: str, draft: TextDraft) -> TextEntry:
    text = draft.text[:MAX_TEXT]
    digest = hashlib.sha256(f"{draft.title}\0{text}".encode()).hexdigest()
    return TextEntry(
        workspace_id=workspace_id, kind=kind, subject=draft.subject, title=draft.title[:500],
        text=text, digest=digest, updated_at=draft.changed_at, written_at=timezone.now(),
    )  # fmt: skip
