"""Which of the candidates answer a question: whole paths, each with every part of its score."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from memory.domain.locating.entries import bag_of, goal_key
from memory.domain.locating.general import MIN_SAID, share_said
from memory.domain.locating.prediction import Likeness, likeness, predict
from memory.domain.locating.scoring import Weights, jaccard, structure_similarity
from memory.domain.locating.shapes import Answer, Candidate, LeftOut, Query, Scored

MAX_RANKED = 200
"""Goals that are compared with each other; of more, those with most tags and the nearest vectors."""


class _Found(NamedTuple):
    """What all attempts at a goal share."""

    shares: Weights
    semantic: float
    likeness: float
    agreement: float
    explained: float
    attempts: int


def rank(query: Query, candidates: Sequence[Candidate]) -> Answer:
    """Score the candidates and divide them into what to follow, what to avoid and what is left.

    Paths that failed are judged among themselves: a goal near to what failed before is warned of, whether
    or not anything worked. Of several attempts at one goal the best rewarded stands for all. Templates pass
    when they say some of the question or share a tag, but only when no real path passes the threshold.
    """
    fates: dict[str, list[Candidate]] = {"failure": [], "template": [], "real": []}
    for candidate in candidates:
        fates[candidate.result if candidate.result in fates else "real"].append(candidate)
    found, rest = _pass(query, _judge(query, fates["real"]))
    avoid, others = _pass(query, _judge(query, fates["failure"]))
    templates, unused = _general(query, fates["template"], is_wanted=not found)
    left = sorted([*rest, *others, *unused], key=lambda scored: (-scored.score, scored.id))
    return Answer(tuple(found), tuple(avoid), tuple(templates), tuple(left))


def _general(
    query: Query, candidates: Sequence[Candidate], *, is_wanted: bool
) -> tuple[list[Scored], list[Scored]]:
    """The templates to answer with, and the others with the reason."""
    judged = _judge(query, candidates)
    if not is_wanted:
        return [], _left_out([one for group in judged for one in group], "a real path passed")
    fitting = {one.id for one in candidates if _says_something(query, one)}
    groups = [[one for one in group if one.id in fitting] for group in judged]
    templates, unused = _pass(replace(query, min_score=0.0), groups)
    mute = [one for group in judged for one in group if one.id not in fitting]
    return templates, [*unused, *_left_out(mute, "says nothing of it")]


def _left_out(ranked: Sequence[Scored], reason: LeftOut) -> list[Scored]:
    return [msgspec.structs.replace(scored, left_out=reason) for scored in ranked]


def _says_something(query: Query, template: Candidate) -> bool:
    entry = template.entry
    if query.goal.strip() and entry.goal_key == goal_key(query.goal):
        return True
    if jaccard(query.tags, template.tags) > 0:
        return True
    return share_said(query.goal, entry, template.tags) >= MIN_SAID


def _judge(query: Query, candidates: Sequence[Candidate]) -> list[list[Scored]]:
    """The attempts at each goal, best first; the goals, best first."""
    goals: dict[object, list[Candidate]] = {}
    for candidate in candidates:
        has_goal = bool(candidate.entry.goal.weights)
        goals.setdefault(candidate.entry.goal_key if has_goal else candidate.id, []).append(candidate)
    groups = sorted(goals.values(), key=lambda group: _distance(query, group))[:MAX_RANKED]
    if not groups:
        return []
    for group in groups:
        group.sort(key=lambda one: (-one.reward, -jaccard(query.tags, one.tags), -one.nearness, -one.id))
    firsts = [group[0] for group in groups]
    alike = _likeness(query, firsts)
    prediction = predict(alike)
    semantic, agreement = prediction.semantic.tolist(), prediction.agreement.tolist()
    explained = prediction.explained.tolist()
    alikeness, asked = alike.asked.clip(0.0, 1.0).tolist(), goal_key(query.goal)
    shares = _shares(query)
    judged = []
    for place, group in enumerate(groups):
        known = 1.0 if group[0].entry.goal_key == asked else semantic[place]
        found = _Found(shares, known, alikeness[place], agreement[place], explained[place], len(group))
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


def _score(query: Query, candidate: Candidate, found: _Found) -> Scored:
    tags = jaccard(query.tags, candidate.tags) if query.tags else 0.0
    structure = structure_similarity(query.nodes, candidate.entry) if query.nodes else 0.0
    shares = found.shares
    return Scored(
        id=candidate.id,
        score=shares.tags * tags + shares.semantic * found.semantic + shares.structure * structure,
        tags=tags,
        semantic=found.semantic,
        structure=structure,
        reward=candidate.reward,
        shares=shares,
        likeness=found.likeness,
        agreement=found.agreement,
        explained=found.explained,
        attempts=found.attempts,
    )


def _pass(query: Query, judged: Sequence[Sequence[Scored]]) -> tuple[list[Scored], list[Scored]]:
    """The best attempts at the best ``top_k`` goals from the threshold on; the rest with the reason."""
    passed: list[Scored] = []
    rest: list[Scored] = []
    for group in judged:
        standing = next((scored for scored in group if scored.score >= query.min_score), None)
        if standing is not None and len(passed) < query.top_k:
            passed.append(standing)
        else:
            standing = None
        rest += [
            msgspec.structs.replace(scored, left_out=_reason(query, scored, standing))
            for scored in group
            if scored is not standing
        ]
    return passed, rest


def _reason(query: Query, scored: Scored, standing: Scored | None) -> LeftOut:
    if scored.score < query.min_score:
        return "below min_score"
    return "beyond top_k" if standing is None else "another attempt at the same goal"
