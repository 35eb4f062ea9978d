"""What is asked of the path index, and what it returns, whatever database is behind it."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

MIN_TAG_OVERLAP = 0.2
MAX_TEMPLATES = 50
TAG_SHARE, GOAL_SHARE = 0.4, 0.6  # of the order in which paths found by tags are taken: the default weights


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Which paths may be found at all; an empty value leaves its column open.

    ``tool`` and ``tag`` must be among the path's; ``since`` and ``until`` (excluded) bound when
    it was written.
    """

    tool: str = ""
    tag: str = ""
    agent: str = ""
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[str, ...] = ("active",)
    levels: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A search in one workspace.

    ``vectors`` are the unit query vectors, float32, by the name of their embedder: rows of an embedder that
    is not among them can be found by tags only. ``tags`` find paths that share at least a fifth of them
    (Jaccard). ``limit`` bounds each of the ways in which a path can be near; of failed paths half as many are
    taken, apart from the others. ``wants_vectors`` asks for the goals' own vectors too.
    """

    workspace_id: int
    vectors: Mapping[str, Vector]
    tags: tuple[str, ...] = ()
    filters: Filters = Filters()
    limit: int = 100
    wants_vectors: bool = False


class Neighbour(msgspec.Struct, frozen=True):
    """A path that may be the one. Cosines are 0 where there is nothing to compare."""

    path_id: int
    goal_cosine: float
    actions_cosine: float
    tag_overlap: float
    embedder: str
    goal_vector: Vector | None = None
