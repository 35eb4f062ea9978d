"""From a question to candidates that a ranking can judge."""

import logging
from collections.abc import Sequence

import msgspec

from memory.domain.locating.entries import EntryError, decode_entry
from memory.domain.locating.shapes import Candidate
from memory.live.embedders import Embedder, EmbedderError, get_embedder
from memory.live.embedders.builtin import BuiltinEmbedder
from memory.live.index.drafting import entry_name
from memory.live.index.question import Filters, Neighbour, Question, Vector
from memory.live.index.searching import find_near, list_embedders
from memory.queries.entries import StoredEntry, load_entries

log = logging.getLogger(__name__)

LIMIT = 100
"""Of each way to be near: at most 350 candidates and the templates, more than a ranking compares."""

EMBEDDER_AWAY = "The embedder does not answer: paths were found by tags only."
NOT_SEARCHED = "Paths of an earlier embedder were found by tags only: run manage.py reindex."
REINDEXING = "The index is being rebuilt: some paths were compared by their earlier vectors."


class Asked(msgspec.Struct, frozen=True):
    """A question's goal as vectors, by the name of their index rows.

    ``vector`` is the one that a ranking may compare with the candidates' (None where the embedder does not
    rank), ``notes`` sentences for whoever asked.
    """

    vectors: dict[str, Vector]
    vector: Vector | None = None
    notes: tuple[str, ...] = ()


def embed_question(workspace_id: int, goal: str) -> Asked:
    """Embed a goal as the workspace's paths are embedded. Never fails: ``notes`` say what is missing."""
    if not goal.strip():
        return Asked({})
    vectors: dict[str, Vector] = {}
    notes: list[str] = []
    ranking: Vector | None = None
    try:
        wanted = get_embedder()
        vectors[entry_name(wanted)] = asked = wanted.embed_queries([goal])[0]
        ranking = asked if wanted.ranks else None
    except EmbedderError as error:
        log.warning("A question could not be embedded: %s", error)
        notes.append(EMBEDDER_AWAY)
    behind = set(list_embedders(workspace_id)) - set(vectors)
    builtin: Embedder = BuiltinEmbedder()
    if entry_name(builtin) in behind:
        vectors[entry_name(builtin)] = builtin.embed_queries([goal])[0]
        notes.append(REINDEXING)
    if behind - set(vectors) and not notes:
        notes.append(NOT_SEARCHED)
    return Asked(vectors, ranking, tuple(notes))


def find_candidates(
    *, workspace_id: int, asked: Asked, tags: Sequence[str], filters: Filters, limit: int = LIMIT
) -> list[Candidate]:
    """The paths that may answer, with all that a ranking compares, in no order."""
    question = Question(
        workspace_id=workspace_id,
        vectors=asked.vectors,
        tags=tuple(tags),
        filters=filters,
        limit=limit,
        wants_vectors=asked.vector is not None,
    )
    near = find_near(question)
    stored = load_entries([found.path_id for found in near])
    made = (_candidate(found, stored.get(found.path_id), asked) for found in near)
    return [candidate for candidate in made if candidate is not None]


def _candidate(near: Neighbour, stored: StoredEntry | None, asked: Asked) -> Candidate | None:
    """None for a path that went away in between, or whose entry is of another release."""
    if stored is None:
        return None
    try:
        entry = decode_entry(stored.entry)
    except EntryError:
        return None
    is_comparable = asked.vectors.get(near.embedder) is asked.vector
    return Candidate(
        id=near.path_id,
        entry=entry,
        tags=stored.tags,
        result=stored.result,  # type: ignore[arg-type]
        reward=stored.reward,
        nearness=max(near.goal_cosine, near.actions_cosine),
        vector=near.goal_vector if is_comparable else None,
    )
