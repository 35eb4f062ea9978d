"""What a question, its candidates and its answer look like."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from memory.domain.locating.entries import PathEntry
from memory.domain.locating.prediction import Matrix
from memory.domain.locating.scoring import Weights
from memory.domain.paths.document import PathResult

MIN_SCORE = 0.52
TOP_K = 3

LeftOut = Literal[
    "",
    "below min_score",
    "beyond top_k",
    "another attempt at the same goal",
    "a real path passed",
    "says nothing of it",
]


@dataclass(frozen=True)
class Query:
    """A question. ``vector`` is its unit vector where the embedder ``ranks``, else None."""

    goal: str
    tags: Sequence[str] = ()
    nodes: Sequence[str] = ()
    top_k: int = TOP_K
    min_score: float = MIN_SCORE
    weights: Weights = field(default_factory=Weights)
    vector: Matrix | None = None


@dataclass(frozen=True)
class Candidate:
    """A path that may fit. ``nearness`` is its best cosine in the index, ``vector`` its goal's, if any."""

    id: int
    entry: PathEntry
    tags: Sequence[str] = ()
    result: PathResult = "success"
    reward: float = 0.0
    nearness: float = 0.0
    vector: Matrix | None = None


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate with its score and its parts, all between 0 and 1.

    ``shares`` are the weights as they applied, so ``score`` is the sum of the parts times their shares.
    ``likeness`` is how alike the two goals are, ``agreement`` and ``explained`` what ``semantic`` is made
    of (:mod:`memory.domain.locating.prediction`). ``attempts`` counts the candidates with the same goal and
    fate; ``left_out`` says why the path is not in the answer.
    """

    id: int
    score: float
    tags: float
    semantic: float
    structure: float
    reward: float
    shares: Weights
    likeness: float = 0.0
    agreement: float = 0.0
    explained: float = 0.0
    attempts: int = 1
    left_out: LeftOut = ""


@dataclass(frozen=True)
class Answer:
    """What fits, best first. ``templates`` are there only when nothing real is; all three may be empty.

    ``rest`` are the candidates that were left out, best first, each with the reason.
    """

    found: tuple[Scored, ...] = ()
    avoid: tuple[Scored, ...] = ()
    templates: tuple[Scored, ...] = ()
    rest: tuple[Scored, ...] = ()
