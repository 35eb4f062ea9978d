"""Paths: the list with its filters, and everything that belongs to one of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.models import Failure, Lineage, Path, PathNode, PathUse, RewardChange, Task, Workspace
from memory.queries.json_lists import holding
from memory.queries.paging import Page, newest_first, newest_matching

SHOWN = 50


@dataclass(frozen=True)
class PathFilters:
    """What the list is narrowed to. Empty means everything; pieces of other paths only with ``parts``."""

    status: str = ""
    result: str = ""
    level: str = ""
    origin: str = ""
    tool: str = ""
    tag: str = ""
    agent: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None
    parts: bool = False

    @property
    def needs_scan(self) -> bool:
        """Whether a filter is set that no index answers."""
        scanned = (
            self.level,
            self.origin,
            self.tool,
            self.tag,
            self.agent,
            self.text,
            self.since,
            self.until,
        )
        rare_status = self.status not in ("", "active") and not self.result
        return any(scanned) or rare_status or bool(self.result and not self.status)


def list_paths(workspace: Workspace, filters: PathFilters, cursor: str) -> Page[Path]:
    """Newest first. A filter without an index looks through a window of them and says where it stopped."""
    rows = Path.objects.filter(workspace=workspace)
    rows = rows.select_related("lineage", "source", "container", "parent")
    if not filters.parts:
        rows = rows.whole()
    if filters.status and filters.result:
        rows = rows.filter(status=filters.status, result=filters.result)
    if not filters.needs_scan:
        return newest_first(rows.filter(status=filters.status) if filters.status else rows, cursor)
    return newest_matching(rows, lambda window: _matching(window, filters), cursor)


def find_path(workspace_id: int, uuid: UUID) -> Path | None:
    """The path with what it belongs to, or None for an unknown or foreign one."""
    rows = Path.objects.filter(workspace_id=workspace_id, uuid=uuid)
    return rows.select_related("workspace", "lineage", "source", "container", "parent").first()


def list_versions(lineage: Lineage) -> list[Path]:
    """All versions, oldest first, each with the version it was made from."""
    return list(
        lineage.versions.order_by("version").select_related("lineage", "parent", "source", "container")
    )


def list_parts(path: Path) -> list[Path]:
    """The next level down, in the order in which it was walked, then the paths of nested tasks."""
    rows = path.parts.select_related("lineage", "source", "container", "parent")
    return sorted(rows, key=lambda part: (part.span_start is None, part.part_position, part.pk))


def list_uses(path: Path, *, limit: int = SHOWN) -> list[PathUse]:
    """The tasks that followed it, newest first."""
    return list(path.uses.select_related("task", "localization").order_by("-id")[:limit])


def reward_history(path: Path, *, limit: int = 500) -> list[RewardChange]:
    """Why its reward is what it is, oldest first."""
    return list(reversed(path.reward_changes.select_related("task").order_by("-id")[:limit]))


def failures_met(path: Path, *, limit: int = SHOWN) -> list[Failure]:
    """Failures of the task it came from and of the tasks that followed it, newest first."""
    followers = list(path.uses.order_by("-id").values_list("task", flat=True)[:limit])
    tasks = {task for task in (path.source_id, *followers) if task is not None}
    rows = Failure.objects.filter(task__in=tasks).select_related("pattern", "task", "call").defer("context")
    return list(rows.order_by("-id")[:limit])


def paths_of_task(task: Task) -> list[Path]:
    """The whole paths that were made from a task, every version, newest first."""
    rows = Path.objects.whole().filter(source=task)
    return list(rows.order_by("-pk")[:SHOWN])


def list_path_agents(workspace: Workspace, *, look_at: int = 500) -> list[str]:
    """Agents of the newest paths, for the filter's suggestions."""
    rows = Path.objects.filter(workspace=workspace).order_by("-pk").values_list("agent", flat=True)[:look_at]
    return sorted({agent for agent in rows if agent})


def ids_calling(workspace_id: int, tool: str) -> QuerySet[PathNode, Any]:
    """Paths with a node of this tool, for ``pk__in``: the index of nodes finds them. None without a tool."""
    steps = PathNode.objects.filter(node__workspace=workspace_id, node__tool=tool).values("path")
    return steps if tool else steps.none()


def _matching(rows: QuerySet[Path], filters: PathFilters) -> QuerySet[Path]:
    """The filters that have to look at each row."""
    for name in ("status", "result", "level", "origin", "agent"):
        if value := getattr(filters, name):
            rows = rows.filter(**{name: value})
    if filters.since:
        rows = rows.filter(created_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(created_at__lt=filters.until)
    if filters.tool:
        rows = holding(rows, "tools", filters.tool)
    if filters.tag:
        rows = holding(rows, "tags", filters.tag)
    if filters.text:
        rows = rows.filter(Q(goal__icontains=filters.text) | Q(key__icontains=filters.text))
    return rows
