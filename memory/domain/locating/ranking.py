"""Which of the candidates answer a question: whole paths, each with every part of its score."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from memory.domain.locating.entries import bag_of, goal_key
from memory.domain.locating.prediction import Likeness, likeness, predict
from memory.domain.locating.scoring import jaccard, structure_similarity
from memory.domain.locating.shapes import Answer, Candidate, Query, Scored

MAX_RANKED = 240
"""Candidates that are compared with each other; of more, those with most tags and the nearest vectors."""

MIN_TAG_OVERLAP = 0.2
"""Jaccard index from which tags alone make a path a candidate."""


def rank(query: Query, candidates: Sequence[Candidate]) -> Answer:
    """Score every candidate and divide them into what to follow, what to avoid and what is left.

    Paths that failed are judged among themselves: a goal near to what failed before is warned of, whether
    or not anything worked. Of several attempts at one goal the best rewarded stands for all. Templates pass
    without a threshold, but only when no real path passes it.
    """
    chosen = _nearest(query, candidates)
    if not chosen:
        return Answer()
    alike = _likeness(query, chosen)
    real = [
        place for place, candidate in enumerate(chosen) if candidate.result not in ("failure", "template")
    ]
    failed = [place for place, candidate in enumerate(chosen) if candidate.result == "failure"]
    templates = [place for place, candidate in enumerate(chosen) if candidate.result == "template"]
    found, rest = _pass(query, _best_attempts(query, chosen, alike, real))
    avoid, others = _pass(query, _best_attempts(query, chosen, alike, failed))
    patterns, unused = _pass(replace(query, min_score=0.0), _best_attempts(query, chosen, alike, templates))
    if found:
        unused = [replace(scored, left_out="a real path passed") for scored in (*patterns, *unused)]
        patterns = []
    left = sorted([*rest, *others, *unused], key=lambda scored: (-scored.score, scored.id))
    return Answer(tuple(found), tuple(avoid), tuple(patterns), tuple(left))


def _nearest(query: Query, candidates: Sequence[Candidate]) -> list[Candidate]:
    def near(candidate: Candidate) -> tuple[float, int]:
        return (-candidate.nearness - jaccard(query.tags, candidate.tags), candidate.id)

    return sorted(candidates, key=near)[:MAX_RANKED]


def _likeness(query: Query, chosen: Sequence[Candidate]) -> Likeness:
    return likeness(
        bag_of(query.goal),
        [candidate.entry.goal for candidate in chosen],
        [candidate.entry.actions for candidate in chosen],
        vector=query.vector,
        vectors=[candidate.vector for candidate in chosen],
    )


def _best_attempts(
    query: Query, chosen: Sequence[Candidate], alike: Likeness, places: Sequence[int]
) -> list[tuple[Scored, bool]]:
    """The candidates at ``places``, best first; each with whether it is the best attempt at its goal.

    Attempts at one goal are equally near to the question, so they share the best semantic part among them.
    """
    if not places:
        return []
    prediction = predict(alike, np.array(places))
    semantic = prediction.semantic
    goals: dict[bytes, list[int]] = {}
    for place in places:
        goals.setdefault(chosen[place].entry.goal_key, []).append(place)
    asked = goal_key(query.goal)
    ordered: list[list[Scored]] = []
    for key, attempts in goals.items():
        best = 1.0 if key == asked else float(max(semantic[place] for place in attempts))
        scored = [
            replace(
                _score(query, chosen[place], best),
                likeness=float(np.clip(alike.asked[place], 0.0, 1.0)),
                agreement=float(prediction.agreement[place]),
                explained=prediction.explained,
                attempts=len(attempts),
            )
            for place in attempts
        ]
        ordered.append(sorted(scored, key=lambda one: (-one.reward, -one.score, -one.agreement, -one.id)))
    ordered.sort(key=lambda group: (-max(one.score for one in group), -group[0].likeness, -group[0].id))
    return [(one, first) for group in ordered for one, first in _flagged(group)]


def _flagged(group: Iterable[Scored]) -> list[tuple[Scored, bool]]:
    return [(one, place == 0) for place, one in enumerate(group)]


def _score(query: Query, candidate: Candidate, semantic: float) -> Scored:
    tags = jaccard(query.tags, candidate.tags)
    structure = structure_similarity(query.nodes, candidate.entry) if query.nodes else 0.0
    shares = query.weights.over(tags=bool(query.tags), semantic=bool(query.goal), structure=bool(query.nodes))
    score = shares.tags * tags + shares.semantic * semantic + shares.structure * structure
    return Scored(
        id=candidate.id,
        score=score,
        tags=tags,
        semantic=semantic,
        structure=structure,
        reward=candidate.reward,
        shares=shares,
    )


def _pass(query: Query, ordered: Sequence[tuple[Scored, bool]]) -> tuple[list[Scored], list[Scored]]:
    """The best ``top_k`` goals at or above the threshold, and the rest with the reason."""
    passed: list[Scored] = []
    rest: list[Scored] = []
    for scored, is_best in ordered:
        if scored.score < query.min_score:
            rest.append(replace(scored, left_out="below min_score"))
        elif not is_best:
            rest.append(replace(scored, left_out="another attempt at the same goal"))
        elif len(passed) == query.top_k:
            rest.append(replace(scored, left_out="beyond top_k"))
        else:
            passed.append(scored)
    return passed, rest
