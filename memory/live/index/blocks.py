"""The paths of one workspace that one embedder has embedded: columns, and an exact search over them."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from memory.domain.paths.document import PATH_LEVELS, PATH_RESULTS, PATH_STATUSES
from memory.live.index.columns import Column, Words, WordsView
from memory.live.index.question import (
    GOAL_SHARE,
    MAX_TEMPLATES,
    MIN_TAG_OVERLAP,
    TAG_SHARE,
    Filters,
    Neighbour,
    Question,
    Vector,
)

STATUS = {name: code for code, name in enumerate(PATH_STATUSES)}
RESULT = {name: code for code, name in enumerate(PATH_RESULTS)}
LEVEL = {name: code for code, name in enumerate(PATH_LEVELS)}

GATHER_BELOW = 0.15
"""Share of the rows under which copying them out is quicker than comparing with all (measured)."""


KEPT_SELECTIONS = 4  # of a view: a mask and the row numbers, 17 bytes a row each

PLAIN = ("_path_ids", "_walked_at", "_status", "_result", "_level", "_agent")


class BlockRow(msgspec.Struct, frozen=True):
    """A path as the database holds it; vectors of the block's size."""

    path_id: int
    goal: Vector
    actions: Vector
    status: str
    result: str
    level: str
    agent: str
    walked_at: float  # seconds since the epoch
    tags: Sequence[str]
    tools: Sequence[str]


class Block:
    """Appended to by one thread at a time; readers take a :meth:`view`."""

    def __init__(self, embedder: str, dims: int, capacity: int = 64) -> None:
        self.embedder, self.dims = embedder, dims
        width = max(dims, 1)
        self._goal = Column(np.float32, width=width, capacity=capacity if dims else 1)
        self._actions = Column(np.float32, width=width, capacity=capacity if dims else 1)
        self._path_ids = Column(np.int64, capacity=capacity)
        self._walked_at = Column(np.float64, capacity=capacity)
        self._status, self._result = Column(np.int8, capacity=capacity), Column(np.int8, capacity=capacity)
        self._level, self._agent = Column(np.int8, capacity=capacity), Column(np.int32, capacity=capacity)
        self._agents: dict[str, int] = {}
        self._tags, self._tools = Words(), Words()
        self._gone: set[int] = set()

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        columns = (
            self._goal,
            self._actions,
            self._tags,
            self._tools,
            *(getattr(self, name) for name in PLAIN),
        )
        return sum(column.nbytes for column in columns)

    @property
    def size(self) -> int:
        """Rows that are not gone."""
        return self._path_ids.count - len(self._gone)

    @property
    def waste(self) -> int:
        """Rows that are gone and still take room."""
        return len(self._gone)

    def append(self, rows: Sequence[BlockRow]) -> range:
        """Add rows; where they are."""
        first = self._path_ids.count
        if self.dims:
            self._goal.append(np.stack([row.goal for row in rows]))
            self._actions.append(np.stack([row.actions for row in rows]))
        agents = self._agents
        self._agent.append([agents.setdefault(row.agent, len(agents)) for row in rows])
        self._status.append([STATUS[row.status] for row in rows])
        self._result.append([RESULT[row.result] for row in rows])
        self._level.append([LEVEL[row.level] for row in rows])
        self._walked_at.append([row.walked_at for row in rows])
        self._tags.append([row.tags for row in rows])
        self._tools.append([row.tools for row in rows])
        self._path_ids.append([row.path_id for row in rows])
        return range(first, self._path_ids.count)

    def drop(self, row: int) -> None:
        """The row is found no more, from the next view on."""
        self._gone.add(row)

    def view(self) -> "BlockView":
        """What is there now; it stays as it is."""
        alive = np.ones(self._path_ids.count, dtype=bool)
        alive[list(self._gone)] = False
        return BlockView(self, alive)

    def packed(self) -> "Block":
        """A copy without the rows that are gone, in the same order."""
        alive = np.ones(self._path_ids.count, dtype=bool)
        alive[list(self._gone)] = False
        other = Block(self.embedder, self.dims, capacity=max(self.size, 64))
        for name in PLAIN:
            getattr(other, name).append(getattr(self, name).view()[alive])
        if self.dims:
            other._goal.append(self._goal.view()[alive])
            other._actions.append(self._actions.view()[alive])
        other._tags, other._tools = self._tags.packed(alive), self._tools.packed(alive)
        other._agents = self._agents
        return other

    def columns(self) -> dict[str, NDArray[Any]]:
        """The plain columns so far, by name."""
        return {
            "goal": self._goal.view(), "actions": self._actions.view(), "path_id": self._path_ids.view(),
            "status": self._status.view(), "result": self._result.view(), "level": self._level.view(),
            "agent": self._agent.view(), "walked_at": self._walked_at.view(),
        }  # fmt: skip

    def words(self) -> tuple[WordsView, WordsView]:
        """Tags and tools so far."""
        return self._tags.view(), self._tools.view()

    def agent_code(self, agent: str) -> int:
        """The code of an agent's name, -1 for one that is not there."""
        return self._agents.get(agent, -1)


class Selection(msgspec.Struct, frozen=True):
    """The rows that pass some filters: as a mask, and as row numbers by what became of them."""

    allowed: NDArray[np.bool_]
    rows: NDArray[np.intp]
    worked: NDArray[np.intp]
    failed: NDArray[np.intp]
    templates: NDArray[np.intp]


class BlockView:
    """One moment of a block, for any number of threads."""

    def __init__(self, block: Block, alive: NDArray[np.bool_]) -> None:
        self._block = block
        self.embedder, self.dims = block.embedder, block.dims
        self._alive = alive
        self._columns = block.columns()
        self._tags, self._tools = block.words()
        self._selections: dict[Filters, Selection] = {}

    def search(self, question: Question) -> list[Neighbour]:
        """The rows that are near in any way: goal, actions, tags; and the templates. In no order."""
        selection = self._select(question.filters)
        if not len(selection.rows):
            return []
        query = question.vectors.get(self.embedder)
        if query is not None and len(query) != self.dims:
            query = None
        goal, actions = self._cosines(selection.rows, query)
        overlap = self._tags.jaccard(question.tags)
        picks = [selection.templates[:MAX_TEMPLATES]]
        if query is not None:
            picks.append(_top(goal, selection.worked, question.limit))
            picks.append(_top(actions, selection.worked, question.limit))
            picks.append(_top(goal, selection.failed, question.limit // 2))
        if question.tags:
            tagged = np.flatnonzero((overlap >= MIN_TAG_OVERLAP) & selection.allowed)
            picks.append(_top(TAG_SHARE * overlap + GOAL_SHARE * goal, tagged, question.limit))
        chosen = np.unique(np.concatenate(picks))
        wanted = question.wants_vectors and query is not None
        return [
            Neighbour(path_id, near, done, tags, self.embedder, self._columns["goal"][at] if wanted else None)
            for path_id, near, done, tags, at in zip(
                self._columns["path_id"][chosen].tolist(), goal[chosen].tolist(), actions[chosen].tolist(),
                overlap[chosen].tolist(), chosen.tolist(), strict=True,
            )
        ]  # fmt: skip

    def _select(self, filters: Filters) -> Selection:
        """Most questions come with the same filters, so the last few selections are kept."""
        found = self._selections.get(filters)
        if found is None:
            allowed = self._allowed(filters)
            result = self._columns["result"]
            failed, template = result == RESULT["failure"], result == RESULT["template"]
            found = Selection(
                allowed,
                np.flatnonzero(allowed),
                np.flatnonzero(allowed & ~failed & ~template),
                np.flatnonzero(allowed & failed),
                np.flatnonzero(allowed & template),
            )
            if len(self._selections) >= KEPT_SELECTIONS:
                self._selections = {}
            self._selections[filters] = found
        return found

    def _allowed(self, filters: Filters) -> NDArray[np.bool_]:
        allowed = self._alive.copy()
        for name, codes, values in (
            ("status", STATUS, filters.statuses),
            ("level", LEVEL, filters.levels),
            ("result", RESULT, filters.results),
        ):
            if values:
                allowed &= np.isin(self._columns[name], [codes[value] for value in values if value in codes])
        if filters.agent:
            allowed &= self._columns["agent"] == self._block.agent_code(filters.agent)
        if filters.since:
            allowed &= self._columns["walked_at"] >= filters.since.timestamp()
        if filters.until:
            allowed &= self._columns["walked_at"] < filters.until.timestamp()
        for words, word in ((self._tags, filters.tag), (self._tools, filters.tool)):
            if word:
                allowed &= words.has(word)
        return allowed

    def _cosines(
        self, rows: NDArray[np.intp], query: Vector | None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """For every row of the block; 0 where it was not asked for."""
        goal, actions = self._columns["goal"], self._columns["actions"]
        count = len(self._alive)
        if query is not None and len(rows) > GATHER_BELOW * count:
            return goal @ query, actions @ query
        near, done = np.zeros(count, dtype=np.float32), np.zeros(count, dtype=np.float32)
        if query is not None:
            near[rows], done[rows] = goal[rows] @ query, actions[rows] @ query
        return near, done


def _top(scores: NDArray[Any], rows: NDArray[np.intp], limit: int) -> NDArray[np.intp]:
    """Of these rows the ``limit`` with the highest scores, in no order."""
    if len(rows) <= limit:
        return rows
    return rows[np.argpartition(scores[rows], len(rows) - limit)[len(rows) - limit :]]
