"""Which of the candidates answer a question: whole paths, each with every part of its score."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memory.domain.locating.entries import bag_of, goal_key
from memory.domain.locating.prediction import Likeness, likeness, predict
from memory.domain.locating.scoring import Weights, jaccard, structure_similarity
from memory.domain.locating.shapes import Answer, Candidate, Query, Scored

MAX_RANKED = 200
"""Goals that are compared with each other; of more, those with most tags and the nearest vectors."""


def rank(query: Query, candidates: Sequence[Candidate]) -> Answer:
    """Score the candidates and divide them into what to follow, what to avoid and what is left.

    Paths that failed are judged among themselves: a goal near to what failed before is warned of, whether
    or not anything worked. Of several attempts at one goal the best rewarded stands for all. Templates pass
    without a threshold, but only when no real path passes it.
    """
    fates: dict[str, list[Candidate]] = {"failure": [], "template": [], "real": []}
    for candidate in candidates:
        fates[candidate.result if candidate.result in fates else "real"].append(candidate)
    found, rest = _pass(query, _judge(query, fates["real"]))
    avoid, others = _pass(query, _judge(query, fates["failure"]))
    templates, unused = _pass(replace(query, min_score=0.0), _judge(query, fates["template"]))
    if found:
        unused = [replace(scored, left_out="a real path passed") for scored in (*templates, *unused)]
        templates = []
    left = sorted([*rest, *others, *unused], key=lambda scored: (-scored.score, scored.id))
    return Answer(tuple(found), tuple(avoid), tuple(templates), tuple(left))


def _judge(query: Query, candidates: Sequence[Candidate]) -> list[list[Scored]]:
    """The attempts at each goal, best first; the goals, best first."""
    goals: dict[bytes, list[Candidate]] = {}
    for candidate in candidates:
        goals.setdefault(candidate.entry.goal_key, []).append(candidate)
    groups = sorted(goals.values(), key=lambda group: _distance(query, group))[:MAX_RANKED]
    if not groups:
        return []
    for group in groups:
        group.sort(key=lambda one: (-one.reward, -jaccard(query.tags, one.tags), -one.nearness, -one.id))
    firsts = [group[0] for group in groups]
    alike = _likeness(query, firsts)
    prediction = predict(alike)
    semantic, asked = prediction.semantic, goal_key(query.goal)
    judged = []
    for place, group in enumerate(groups):
        found = Scored(
            id=0,
            score=0.0,
            tags=0.0,
            semantic=1.0 if firsts[place].entry.goal_key == asked else float(semantic[place]),
            structure=0.0,
            reward=0.0,
            shares=_shares(query),
            likeness=float(np.clip(alike.asked[place], 0.0, 1.0)),
            agreement=float(prediction.agreement[place]),
            explained=prediction.explained,
            attempts=len(group),
        )
        judged.append([_score(query, candidate, found) for candidate in group])
    return sorted(judged, key=lambda group: (-group[0].score, -group[0].likeness, -group[0].id))


def _distance(query: Query, group: Sequence[Candidate]) -> tuple[float, int]:
    nearness = max(one.nearness + jaccard(query.tags, one.tags) for one in group)
    return -nearness, -max(one.id for one in group)


def _shares(query: Query) -> Weights:
    return query.weights.over(tags=bool(query.tags), semantic=bool(query.goal), structure=bool(query.nodes))


def _likeness(query: Query, chosen: Sequence[Candidate]) -> Likeness:
    return likeness(
        bag_of(query.goal),
        [candidate.entry.goal for candidate in chosen],
        [candidate.entry.actions for candidate in chosen],
        vector=query.vector,
        vectors=[candidate.vector for candidate in chosen],
    )


def _score(query: Query, candidate: Candidate, found: Scored) -> Scored:
    """``found`` is what the goal's attempts share."""
    tags = jaccard(query.tags, candidate.tags)
    structure = structure_similarity(query.nodes, candidate.entry) if query.nodes else 0.0
    shares = found.shares
    return replace(
        found,
        id=candidate.id,
        score=shares.tags * tags + shares.semantic * found.semantic + shares.structure * structure,
        tags=tags,
        structure=structure,
        reward=candidate.reward,
    )


def _pass(query: Query, judged: Sequence[Sequence[Scored]]) -> tuple[list[Scored], list[Scored]]:
    """The best attempts at the best ``top_k`` goals from the threshold on; the rest with the reason."""
    passed: list[Scored] = []
    rest: list[Scored] = []
    for group in judged:
        for place, scored in enumerate(group):
            if scored.score < query.min_score:
                rest.append(replace(scored, left_out="below min_score"))
            elif place:
                rest.append(replace(scored, left_out="another attempt at the same goal"))
            elif len(passed) == query.top_k:
                rest.append(replace(scored, left_out="beyond top_k"))
            else:
                passed.append(scored)
    return passed, rest
