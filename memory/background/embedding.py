"""Embedding what waits for a vector: in batches, one process at a time, with a rest when nobody answers."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

from memory.background.turns import turn
from memory.live.embedders import Embedder, EmbedderError, get_embedder

log = logging.getLogger(__name__)
M = TypeVar("M", bound=Model)

BATCH = 64
DEADLINE_S = 5.0
PAUSE_S = 60.0  # before an embedder that did not answer is asked again by the background


class EmbeddingBacklog:
    """What one process knows of one kind of backlog. ``name`` is that of its turn, ``noun`` for the log."""

    def __init__(self, name: str, noun: str) -> None:
        self._name, self._noun = name, noun
        self._rests_until = 0.0

    def work_off(
        self, waiting: QuerySet[M], embed: Callable[[list[M], Embedder], None], deadline_s: float
    ) -> int:
        """Hand batches of the rows that wait to ``embed``, until none is left or the time is up; how many."""
        until = time.monotonic() + deadline_s
        if time.monotonic() < self._rests_until or not waiting.exists():
            return 0
        count = 0
        with turn(self._name) as mine:
            for rows in batches(waiting, BATCH) if mine else ():
                try:
                    embed(rows, get_embedder())
                except EmbedderError as error:
                    log.warning("%s wait to be embedded: %s", self._noun, error)
                    self._rests_until = time.monotonic() + PAUSE_S
                    break
                count += len(rows)
                if time.monotonic() > until:
                    break
        return count


def batches(rows: QuerySet[M], size: int) -> Iterator[list[M]]:
    """The rows, oldest first, so many at a time. Each batch is read when the one before is done."""
    after = 0
    while batch := list(rows.filter(pk__gt=after).order_by("pk")[:size]):
        yield batch
        after = batch[-1].pk
