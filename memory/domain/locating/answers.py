"""The answer to a question, as agents get it: whole paths with the parts of their scores."""

from typing import Any, Literal

import msgspec

from memory.domain.locating.scoring import Weights
from memory.domain.locating.shapes import Scored
from memory.domain.paths.document import PathDoc

MADE_OF = {"semantic": ("agreement", "explained")}

AnswerKind = Literal["found", "template", "nothing"]


class LocatedPath(msgspec.Struct, frozen=True, kw_only=True):
    """A path of an answer. ``parts`` are those that applied to the question (:func:`parts_of`).

    ``uses`` tasks followed it and have ended, ``successes`` of them well. ``went_wrong`` is for failed ones.
    """

    path: str
    key: str
    version: int
    score: float
    parts: dict[str, float]
    goal: str
    tags: list[str]
    result: str
    reward: float
    level: str
    uses: int
    successes: int
    document: PathDoc
    went_wrong: list[str] = []


class LeftOutPath(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that is not in the answer, and why."""

    path: str
    key: str
    goal: str
    result: str
    reward: float
    score: float
    parts: dict[str, float]
    reason: str


class PromptText(msgspec.Struct, frozen=True):
    """The best path as a text for a prompt; ``tokens`` is an estimate."""

    text: str
    tokens: int
    left_out: int = 0


class LocatedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What fits a question.

    ``localization`` names the stored question ("" in the lab). ``paths`` are real ones, best first;
    ``templates`` are there only when none is; ``avoid`` are failed ones near the question. ``weights`` are as
    they applied. ``notes`` say what could not be looked at.
    """

    localization: str
    kind: AnswerKind
    paths: list[LocatedPath]
    avoid: list[LocatedPath]
    templates: list[LocatedPath]
    notes: list[str]
    weights: dict[str, float]
    min_score: float
    embedder: str
    took_ms: float
    prompt: PromptText | None = None


def kind_of(paths: object, templates: object) -> AnswerKind:
    """What an answer with these is."""
    return "found" if paths else "template" if templates else "nothing"


def parts_of(scored: Scored) -> dict[str, float]:
    """The parts of a score that applied, 0 to 1, rounded to what means something.

    Those with a weight add up to the score. Behind ``semantic`` stand the two it is made of, ``agreement``
    and ``explained`` (agreement^2 * sqrt(explained); 1 for the very same goal).
    """
    names: list[str] = []
    for name in shares_of(scored.shares):
        names += (name, *MADE_OF.get(name, ()))
    return {name: round(float(getattr(scored, name)), 4) for name in names}


def shares_of(weights: Weights) -> dict[str, float]:
    """The weights that are not 0, by the name of their part."""
    named = {"tags": weights.tags, "semantic": weights.semantic, "structure": weights.structure}
    return {name: round(value, 4) for name, value in named.items() if value}


def named(path: LocatedPath) -> dict[str, Any]:
    """A path of an answer as its localization keeps it."""
    return {"path": path.path, "score": path.score, "parts": path.parts}
