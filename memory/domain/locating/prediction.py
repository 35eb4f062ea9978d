"""What should be done about a goal, judged by what was done about the goals nearest to it.

A question and the runs that answer it seldom use the same words ("how many" is COUNT, "oldest" is ORDER BY
... DESC), so comparing them directly confuses questions that merely sound alike. Instead the *actions* that
a goal needs are predicted by kernel ridge regression over the candidates themselves (Saunders et al. 1998):
with the similarity K between candidate goals and k between them and the question,

    a = (K + RIDGE I)^-1 k    and the predicted actions are the sum of a_j times the actions of candidate j.

A word that every neighbour shares thereby explains nothing, one that only the right path has explains it: the
inverse takes apart what plain similarity adds up. A path scores

    agreement   cosine of the predicted actions and its own, 0 to 1
    explained   the share of the question that the path may claim to account for, 0 to 1
    semantic    agreement^2 * sqrt(explained)

All candidates together account for a . k of the question (for Gaussian processes one minus the variance that
is left: Rasmussen & Williams 2006, eq. 2.26). Were that credited to every path, one goal that matches word
for word would vouch for whatever used the same tools. So a path may claim what stays explained when the
*other* goal that explains most is left out (leaving out j takes a_j^2 / [(K + RIDGE I)^-1]_jj, by the
inverse of a partitioned matrix), and no more than its own goal is near: below ``NEAR`` of the nearest
likeness the claim falls with the square.

Something never met leaves most of itself unexplained and so finds nothing, however much one path agrees
with the little that was understood. Rare grams weigh more: idf among the candidates, so no statistics are
kept anywhere.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.domain.locating.entries import SCALE, Bag
from memory.domain.locating.grams import BUCKETS

Matrix = NDArray[np.float32]

RIDGE = 0.05
"""How much of a likeness is taken for noise. Between .02 and .1 the measured ranking hardly changes."""

GOAL_SHARE = 0.05
"""The goal's part in what a path is compared by, so that paths which did the same keep an order."""

NEAR = 0.3
"""A goal this share as like the question as the nearest one is may claim all. Below .4 no rank changes."""

DENSE_SHARE = 0.5
"""The part of an embedding model in the likeness of goals; the rest is character grams."""


@dataclass(frozen=True)
class Likeness:
    """How alike goals and actions are, each between -1 and 1.

    ``goals`` (n, n) among the candidates, ``asked`` (n,) of the question's goal to theirs, ``actions`` (n,
    n).
    """

    goals: Matrix
    asked: Matrix
    actions: Matrix


@dataclass(frozen=True)
class Prediction:
    """For each of n candidates how far it agrees with the predicted actions, and what it explains; 0 to 1."""

    agreement: Matrix
    explained: Matrix

    @property
    def semantic(self) -> Matrix:
        """0 to 1 for each candidate."""
        return _float32(self.agreement**2 * np.sqrt(self.explained))


def likeness(
    asked: Bag,
    goals: Sequence[Bag],
    actions: Sequence[Bag],
    *,
    vector: Matrix | None = None,
    vectors: Sequence[Matrix | None] = (),
) -> Likeness:
    """Compare a question with its candidates and these with each other.

    ``vector`` is the question's unit vector of an embedding model, ``vectors`` those of the candidates' goals
    (None where the model has not embedded one); leave them out to go by characters alone.
    """
    rows, weights = _weighted(goals)
    question = _unit(spread([asked]) * weights)[0]
    among, to_question = rows @ rows.T, rows @ question
    if vector is not None:
        dense, to_dense = _dense(vector, vectors)
        among = (1 - DENSE_SHARE) * among + DENSE_SHARE * dense
        to_question = (1 - DENSE_SHARE) * to_question + DENSE_SHARE * to_dense
    done, _ = _weighted(actions)
    return Likeness(among, to_question, _float32((done @ done.T + GOAL_SHARE * among) / (1 + GOAL_SHARE)))


def predict(alike: Likeness) -> Prediction:
    """Judge every candidate by what all of them did."""
    count = len(alike.asked)
    inverse = np.linalg.inv(alike.goals + RIDGE * np.eye(count, dtype=np.float32))
    shares = inverse @ alike.asked
    toward = shares @ alike.actions
    length = math.sqrt(max(float(shares @ toward), 0.0))
    lengths = length * np.sqrt(_float32(np.diagonal(alike.actions)))
    agreement = np.divide(toward, lengths, out=np.zeros_like(toward), where=lengths > 1e-6)
    explained = _claims(alike.asked, _float32(shares), _float32(np.diagonal(inverse)))
    return Prediction(_float32(np.clip(agreement, 0.0, 1.0)), explained)


def _claims(asked: Matrix, shares: Matrix, precisions: Matrix) -> Matrix:
    """What each candidate may claim of the question: without the other goal that explains most, if near."""
    alone = shares**2 / precisions
    first = int(alone.argmax())
    others = np.full_like(alone, alone[first])
    others[first] = 0.0  # what the rest explains beside it speaks for it
    left = np.clip(shares @ asked - others, 0.0, 1.0)
    nearest = float(asked.max(initial=0.0))
    near = np.clip(asked / (NEAR * nearest), 0.0, 1.0) if nearest > 0 else np.zeros_like(asked)
    return _float32(left * near**2)


def spread(bags: Sequence[Bag]) -> Matrix:
    """The weights of n bags as an (n, BUCKETS) matrix."""
    matrix = np.zeros((len(bags), BUCKETS), dtype=np.float32)
    sizes = [len(bag.weights) for bag in bags]
    rows = np.repeat(np.arange(len(bags)), sizes)
    columns = np.frombuffer(b"".join(bag.buckets for bag in bags), dtype="<u2")
    weights = np.frombuffer(b"".join(bag.weights for bag in bags), dtype=np.uint8)
    matrix[rows, columns] = weights / np.float32(SCALE)
    return matrix


def _weighted(bags: Sequence[Bag]) -> tuple[Matrix, Matrix]:
    matrix = spread(bags)
    occurs = np.count_nonzero(matrix, axis=0)
    weights = (np.log((1 + len(bags)) / (1 + occurs)) + 1).astype(np.float32)
    return _unit(matrix * weights), weights


def _dense(vector: Matrix, vectors: Sequence[Matrix | None]) -> tuple[Matrix, Matrix]:
    missing = np.zeros_like(vector)
    rows = np.stack([missing if other is None else other for other in vectors])
    return rows @ rows.T, rows @ vector


def _unit(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return _float32(rows / np.where(lengths > 0, lengths, 1.0))


def _float32(matrix: NDArray[np.floating]) -> Matrix:
    return np.asarray(matrix, dtype=np.float32)
