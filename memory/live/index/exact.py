"""The index of the embedded profile: all vectors of a workspace in this process's memory, searched exactly.

A workspace is read when it is first asked about. After that every search compares one number, the newest
revision, and reads only what changed. Each process holds its own.
"""

import logging
import threading
import time
from collections import OrderedDict

import msgspec
import numpy as np
from django.conf import settings

from memory.live.index.blocks import Block, BlockRow, BlockView
from memory.live.index.question import Neighbour, Question
from memory.queries.entries import (
    FollowedRow,
    count_entries,
    newest_revision,
    path_ids_of,
    rows_after,
)

log = logging.getLogger(__name__)

RECOUNT_S = 30.0
"""How old the last count of rows may be: a row that was deleted outright raises no revision."""

WASTE_FROM, WASTE_SHARE = 1_000, 0.25  # dead rows at which a block is packed


class WorkspaceView(msgspec.Struct, frozen=True):
    """One moment of a workspace's index."""

    revision: int
    blocks: tuple[BlockView, ...]
    embedders: list[str]

    def search(self, question: Question) -> list[Neighbour]:
        """All that is near, in no order."""
        return [found for block in self.blocks for found in block.search(question)]


class WorkspaceIndex:
    """Follows one workspace. Any thread may ask for the current view; one at a time brings it up to date."""

    def __init__(self, workspace_id: int) -> None:
        self.workspace_id = workspace_id
        self._lock = threading.Lock()
        self._blocks: dict[tuple[str, int], Block] = {}
        self._places: dict[int, tuple[Block, int]] = {}
        self._view: WorkspaceView | None = None
        self._counted_at = 0.0

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, roughly: the columns and the map from paths to their rows."""
        return sum(block.nbytes for block in self._blocks.values()) + 200 * len(self._places)

    def current(self) -> tuple[WorkspaceView, bool]:
        """What the database holds now, and whether it had to be read."""
        view = self._view
        if view is not None and self._is_current(view):
            return view, False
        with self._lock:
            view = self._view
            if view is not None and self._is_current(view):
                return view, False
            self._view = self._follow(view)
            return self._view, True

    def _is_current(self, view: WorkspaceView) -> bool:
        fresh = time.monotonic() - self._counted_at < RECOUNT_S
        return fresh and view.revision == newest_revision(self.workspace_id)

    def _follow(self, view: WorkspaceView | None) -> WorkspaceView:
        seen = view.revision if view else 0
        if view is None or newest_revision(self.workspace_id) < seen:  # never, or a rolled back database
            self._blocks, self._places, seen = {}, {}, 0
        for rows in rows_after(self.workspace_id, seen):
            self._take(rows)
            seen = rows[-1].revision
        self._drop_deleted()
        self._pack()
        blocks = tuple(block.view() for block in self._blocks.values())
        return WorkspaceView(
            seen, blocks, sorted({block.embedder for block in self._blocks.values() if block.size})
        )

    def _take(self, rows: list[FollowedRow]) -> None:
        by_block: dict[tuple[str, int], list[BlockRow]] = {}
        for row in rows:
            self._forget(row.path_id)
            read = _block_row(row)
            by_block.setdefault((row.embedder if len(read.goal) else "", len(read.goal)), []).append(read)
        for key, group in by_block.items():
            block = self._block(key, len(group))
            for added, at in zip(group, block.append(group), strict=True):
                self._places[added.path_id] = (block, at)

    def _block(self, key: tuple[str, int], first: int) -> Block:
        if key not in self._blocks:
            known = not self._places and first >= 1_000
            self._blocks[key] = Block(*key, capacity=count_entries(self.workspace_id) if known else 64)
        return self._blocks[key]

    def _forget(self, path_id: int) -> None:
        block, at = self._places.pop(path_id, (None, 0))
        if block is not None:
            block.drop(at)

    def _drop_deleted(self) -> None:
        self._counted_at = time.monotonic()
        if count_entries(self.workspace_id) != len(self._places):
            for path_id in self._places.keys() - set(path_ids_of(self.workspace_id)):
                self._forget(path_id)

    def _pack(self) -> None:
        for key, block in list(self._blocks.items()):
            if block.waste > max(WASTE_FROM, WASTE_SHARE * (block.size + block.waste)):
                packed = self._blocks[key] = block.packed()
                ids = packed.columns()["path_id"].tolist()
                self._places.update((path_id, (packed, at)) for at, path_id in enumerate(ids))


class ExactIndex:
    """The workspaces this process was asked about, bounded by ``HGMEM_INDEX_MB``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workspaces: OrderedDict[int, WorkspaceIndex] = OrderedDict()  # least recently used first

    def search(self, question: Question) -> list[Neighbour]:
        """All that is near, in no order. Reads the database only for what changed since the last time."""
        return self._current(question.workspace_id).search(question)

    def embedders(self, workspace_id: int) -> list[str]:
        """The embedders that have embedded any of the workspace's paths; "" for paths without vectors."""
        return self._current(workspace_id).embedders

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, roughly."""
        return sum(workspace.nbytes for workspace in list(self._workspaces.values()))

    def forget(self) -> None:
        """Drop everything (tests)."""
        with self._lock:
            self._workspaces.clear()

    def _current(self, workspace_id: int) -> WorkspaceView:
        with self._lock:
            workspace = self._workspaces.pop(workspace_id, None) or WorkspaceIndex(workspace_id)
            self._workspaces[workspace_id] = workspace
        view, was_read = workspace.current()
        if was_read:
            self._evict()
        return view

    def _evict(self) -> None:
        """Drop the workspaces that were not asked about for longest; the newest always stays."""
        allowed = settings.INDEX_MB * 1024 * 1024
        with self._lock:
            while len(self._workspaces) > 1 and self.nbytes > allowed:
                workspace_id, _ = self._workspaces.popitem(last=False)
                log.info("The index of workspace %s is dropped from memory to make room.", workspace_id)


def _block_row(row: FollowedRow) -> BlockRow:
    goal = np.frombuffer(row.goal_vector, dtype="<f4")
    actions = np.frombuffer(row.actions_vector, dtype="<f4")
    return BlockRow(
        row.path_id, goal, actions, row.status, row.result, row.level, row.agent, row.walked_at,
        tuple(dict.fromkeys(row.tags)), tuple(dict.fromkeys(row.tools)),
    )  # fmt: skip
