"""Searching texts by meaning and by letter: a workspace's vectors and words in this process's memory.

The first search of a workspace reads all its texts; later ones read what was written since.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.text_search import (
    NEAR_BY_LETTERS,
    NEAR_BY_MEANING,
    Words,
    least_score,
    read_question,
    weigh_words,
)
from memory.live.embedders import Embedder, EmbedderError, get_embedder
from memory.queries.texts import TextRow, read_texts

SLACK = timedelta(seconds=10)
"""Rows may be committed a little later than they say they were written."""
KEPT_WORKSPACES = 8
KINDS = frozenset(("rule", "pattern"))
Scores = NDArray[np.float32]


@dataclass(frozen=True)
class TextHit:
    """One text found. ``score`` is 0..1; ``by``: ``letters`` when it holds all words, or ``meaning``."""

    kind: str
    subject: UUID
    title: str
    score: float
    by: str


@dataclass(frozen=True)
class TextAnswer:
    """What was found, best first. ``waiting`` texts have no vector yet and are found by their letters only.

    ``by_meaning`` is false when the embedder did not answer.
    """

    hits: list[TextHit]
    waiting: int
    by_meaning: bool


class TextIndex:
    """The texts of one workspace: a row of the matrix each, in the order in which they came."""

    def __init__(self, workspace_id: int, embedder: Embedder) -> None:
        self._workspace_id, self._embedder = workspace_id, embedder
        self._lock = threading.Lock()
        self._seen: datetime | None = None
        self._places: dict[tuple[str, UUID], int] = {}
        self._keys: list[tuple[str, UUID]] = []
        self._titles: list[str] = []
        self._folded: list[tuple[str, str]] = []
        self._matrix: Scores = np.zeros((0, embedder.dims), dtype=np.float32)
        self._has_vector: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)

    def search(self, question: Words, vector: Scores | None, kinds: frozenset[str], limit: int) -> TextAnswer:
        """The texts near the question: of each of these kinds at most ``limit``."""
        with self._lock:
            self._refresh()
            share, floor = self._letters(question)
            score = self._scores(vector, share, floor)
            left = dict.fromkeys(kinds, limit)
            hits: list[TextHit] = []
            near = np.flatnonzero(score)
            for place in near[np.argsort(-score[near], kind="stable")]:
                kind, subject = self._keys[place]
                if left.get(kind, 0) > 0:
                    left[kind] -= 1
                    by = "letters" if floor[place] > 0 else "meaning"
                    rounded = round(float(score[place]), 3)
                    hits.append(TextHit(kind, subject, self._titles[place], rounded, by))
            waiting = len(self._keys) - int(self._has_vector.sum())
            return TextAnswer(hits, waiting, vector is not None)

    def _scores(self, vector: Scores | None, share: Scores, floor: Scores) -> Scores:
        """0 for what is not near. What holds the words rises from its least score with the meaning."""
        count = len(self._keys)
        meaning = np.zeros(count, dtype=np.float32)
        if vector is not None:
            meaning = np.clip(self._matrix[:count] @ vector, 0, 1)
        ranks = self._embedder.ranks and vector is not None
        mixed = meaning if ranks else (meaning + share) / 2
        near = np.where(mixed >= (NEAR_BY_MEANING if ranks else NEAR_BY_LETTERS), mixed, 0)
        held = np.where(floor > 0, floor + (1 - floor) * meaning / 2, 0)
        return np.asarray(np.maximum(near, held), dtype=np.float32)

    def _letters(self, question: Words) -> tuple[Scores, Scores]:
        """Of each text, the share of the question's words that it holds, by weight; and its least score."""
        count = len(self._folded)
        held = np.zeros((len(question.words), count), dtype=np.bool_)
        for row, word in enumerate(question.words):
            held[row] = [word in text for _, text in self._folded]
        weights = np.asarray(weigh_words([int(n) for n in held.sum(axis=1)], count), dtype=np.float32)
        total = float(weights.sum())
        share = (weights @ held) / total if total > 0 else np.zeros(count, dtype=np.float32)
        floor = np.zeros(count, dtype=np.float32)
        candidates = np.flatnonzero(held.all(axis=0)) if question.words else range(count)
        for place in candidates:
            title, text = self._folded[place]
            floor[place] = least_score(
                in_title=question.whole in title,
                in_text=question.whole in text,
                all_words=bool(question.words),
            )
        return np.asarray(share, dtype=np.float32), floor

    def _refresh(self) -> None:
        since = self._seen - SLACK if self._seen else None
        for row in read_texts(self._workspace_id, since=since):
            self._put(row)
            self._seen = row.written_at if self._seen is None else max(self._seen, row.written_at)

    def _put(self, row: TextRow) -> None:
        key = row.kind, row.subject
        place = self._places.setdefault(key, len(self._keys))
        if place == len(self._keys):
            self._keys.append(key)
            self._titles.append("")
            self._folded.append(("", ""))
            self._grow(place + 1)
        self._titles[place] = row.title
        title = " ".join(row.title.casefold().split())
        self._folded[place] = title, title + "\n" + " ".join(row.text.casefold().split())
        fits = row.vector is not None and row.embedder == self._embedder.name
        self._has_vector[place] = fits
        self._matrix[place] = np.frombuffer(row.vector or b"", dtype="<f4") if fits else 0

    def _grow(self, count: int) -> None:
        room = len(self._has_vector)
        if count > room:
            more = max(256, room)
            self._matrix = np.vstack([self._matrix, np.zeros((more, self._embedder.dims), dtype=np.float32)])
            self._has_vector = np.concatenate([self._has_vector, np.zeros(more, dtype=np.bool_)])


_indexes: OrderedDict[tuple[int, str], TextIndex] = OrderedDict()
_lock = threading.Lock()


def search_texts(
    workspace_id: int, text: str, *, kinds: frozenset[str] = KINDS, limit: int = 10
) -> TextAnswer:
    """The texts near a question, best first, at most ``limit`` of each kind; none if none is near.

    A text that holds the question, or all its words, comes before those that only mean something like it.
    """
    embedder = get_embedder()
    question = read_question(text)
    vector = None
    try:
        vector = embedder.embed_queries([text])[0] if question.words else None
    except EmbedderError:
        vector = None
    return _index_of(workspace_id, embedder).search(question, vector, kinds, limit)


def forget_texts() -> None:
    """Drop what this process keeps in memory (tests)."""
    with _lock:
        _indexes.clear()


def _index_of(workspace_id: int, embedder: Embedder) -> TextIndex:
    with _lock:
        key = workspace_id, embedder.name
        index = _indexes.setdefault(key, TextIndex(workspace_id, embedder))
        _indexes.move_to_end(key)
        if len(_indexes) > KEPT_WORKSPACES:
            _indexes.popitem(last=False)
        return index
