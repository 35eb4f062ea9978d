"""Writes that are answered once: the same ``Idempotency-Key`` gets the same answer for a day."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.domain.access import Actor
from memory.models import StoredAnswer

KEPT = timedelta(hours=24)


class KeyReused(ValueError):
    """The key was sent before with another request."""


@dataclass(frozen=True)
class Answer:
    """An HTTP status and a JSON body. ``is_replay`` says that nothing was done this time."""

    status: int
    body: Any
    is_replay: bool = False


def answer_once(*, key: str, digest: str, by: Actor, produce: Callable[[], Answer]) -> Answer:
    """Run ``produce`` and keep its answer, or give back the kept one.

    The write and its answer are committed together: a crash leaves both or neither, and of two requests at
    once the second waits and then gets the first one's answer. An exception keeps nothing, so the caller may
    try again. Raises :class:`KeyReused`, and whatever ``produce`` raises.
    """
    try:
        with transaction.atomic():
            row = _claim(key=key, digest=digest, by=by)
            answer = produce()
            StoredAnswer.objects.filter(pk=row.pk).update(status=answer.status, body=answer.body)
            return answer
    except _Taken as taken:
        row = taken.row
    if row.digest != digest:
        raise KeyReused("This Idempotency-Key was used for another request. Take a new one.")
    return Answer(row.status, row.body, is_replay=True)


class _Taken(Exception):
    """Somebody has this key already."""

    def __init__(self, row: StoredAnswer) -> None:
        super().__init__(row.key)
        self.row = row


def _claim(*, key: str, digest: str, by: Actor) -> StoredAnswer:
    now = timezone.now()
    StoredAnswer.objects.filter(answered_at__lt=now - KEPT).delete()
    mine = {"workspace_id": by.workspace_id, "actor_uuid": by.uuid, "key": key}
    try:
        with transaction.atomic():
            return StoredAnswer.objects.create(**mine, digest=digest, answered_at=now)
    except IntegrityError:
        raise _Taken(StoredAnswer.objects.get(**mine)) from None
