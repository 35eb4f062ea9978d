"""What another room wants people to find by meaning."""

from collections.abc import Sequence

from django.db import transaction

from memory.writer.texts import TextDraft, write_texts

__all__ = ["TextDraft", "keep_texts"]


@transaction.atomic
def keep_texts(*, workspace_id: int, kind: str, drafts: Sequence[TextDraft]) -> None:
    """Make the texts of these subjects searchable. Housekeeping of the worker, no audit event."""
    write_texts(workspace_id, kind, drafts)
