"""Paths with vectors that a test knows, and the brute force an index is compared with."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.live.index import Filters, Neighbour, Question, find_near
from memory.models import Path, Workspace
from memory.writer.entries import EntryDraft, write_entries
from tests.builders import make_path

NAME = "test-16/1"
DIMS = 16
REAL = ("success", "failure", "retry", "pending")
ROUNDED = 2e-3  # PostgreSQL keeps half floats

Matrix = NDArray[np.float32]


def make_vectors(count: int, seed: int = 1) -> Matrix:
    """Unit rows."""
    rows = np.random.default_rng(seed).standard_normal((count, DIMS)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def place(path: Path, goal: Matrix, actions: Matrix | None = None, name: str = NAME) -> Path:
    """Give a path its vectors."""
    other = goal if actions is None else actions
    draft = EntryDraft(entry=b"", embedder=name, goal_vector=goal.tobytes(), actions_vector=other.tobytes())
    write_entries(path.workspace_id, {path.pk: draft})
    return path


def make_placed(
    workspace: Workspace, goal_vector: Matrix, actions_vector: Matrix | None = None, **fields: Any
) -> Path:
    """A path with these vectors."""
    return place(make_path(workspace, **fields), goal_vector, actions_vector)


def near(
    workspace: Workspace, vector: Matrix | None, *, limit: int = 10, **wanted: Any
) -> dict[int, Neighbour]:
    """What the index finds, by path; without the templates that every workspace has."""
    wanted.setdefault("results", REAL)
    tags: Sequence[str] = wanted.pop("tags", ())
    vectors = {} if vector is None else {NAME: vector}
    filters = Filters(**wanted)
    question = Question(
        workspace_id=workspace.pk, vectors=vectors, tags=tuple(tags), limit=limit, filters=filters
    )
    return {found.path_id: found for found in find_near(question)}
