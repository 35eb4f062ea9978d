"""Texts that people search by meaning: rules and error patterns, as vectors."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace


class TextEntry(models.Model):
    """One searchable text. ``kind`` and ``subject`` (a uuid) say what it is about.

    ``vector`` holds ``dims`` float32 numbers, little endian; null until the worker has embedded
    the text with ``embedder``. ``digest`` is of the text: what did not change is not embedded again.
    ``updated_at`` is the stamp the subject had when it was read: one that has another is read again.
    ``written_at`` moves with every write, so that readers fetch only what is new.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10)  # rule | pattern
    subject = models.UUIDField()
    title = models.CharField(max_length=500)
    text = models.TextField()
    digest = models.CharField(max_length=64)
    embedder = models.CharField(max_length=100, blank=True)
    dims = models.PositiveIntegerField(default=0)
    vector = models.BinaryField(null=True)
    updated_at = models.DateTimeField()
    written_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "kind", "subject"], name="text_entry_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "written_at"], name="text_entry_news"),
            models.Index(fields=["id"], condition=Q(embedder=""), name="text_entry_unembedded"),
        ]

    def __str__(self) -> str:
        return self.text[:60]
