"""From a question to what the ranking says of a workspace's paths: the same for agents and for the lab."""

from dataclasses import dataclass

from memory.domain.locating.policy import LocatePolicy
from memory.domain.locating.question import PathFilters, Question
from memory.domain.locating.ranking import rank
from memory.domain.locating.shapes import Answer, Query
from memory.live.embedders import EmbedderError, get_embedder
from memory.live.index import Filters, embed_question, find_candidates

WHOLE = ("task",)
"""Without a wish for a level, whole tasks are found; their parts come along inside them."""

ONLY_NODES = "Paths are found by goal or tags, and by nodes only ranked: say a goal or tags too."


@dataclass(frozen=True)
class Matched:
    """The ranking's answer in ids of paths, sentences about what was missing, and who embedded the goal."""

    answer: Answer
    notes: tuple[str, ...]
    embedder: str


def match_paths(workspace_id: int, question: Question, policy: LocatePolicy) -> Matched:
    """Find and rank. Asks the database a fixed number of times. Call it outside a transaction."""
    asked = embed_question(workspace_id, question.goal)
    candidates = find_candidates(
        workspace_id=workspace_id, asked=asked, tags=question.tags, filters=_filters(question.filters)
    )
    query = Query(
        goal=question.goal,
        tags=question.tags,
        nodes=question.nodes,
        top_k=question.top_k,
        min_score=policy.min_score if question.min_score is None else question.min_score,
        weights=policy.weights.shares(),
        vector=asked.vector,
    )
    notes = asked.notes if question.goal.strip() or question.tags else (*asked.notes, ONLY_NODES)
    return Matched(rank(query, candidates), notes, _embedder_name())


def _filters(asked: PathFilters) -> Filters:
    return Filters(
        tool=asked.tool,
        tag=asked.tag,
        agent=asked.agent,
        since=asked.since,
        until=asked.until,
        levels=(asked.level,) if asked.level else WHOLE,
    )


def _embedder_name() -> str:
    try:
        return get_embedder().name
    except EmbedderError:
        return ""
