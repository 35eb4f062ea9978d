"""One word over tasks, patterns, paths and tools: bounded, a handful of each."""

from dataclasses import dataclass

from django.db.models import Q

from memory.models import ErrorPattern, Path, Task, Tool, Workspace
from memory.queries.paths import PathFilters, list_paths
from memory.queries.tasks import TaskFilters, list_tasks

SHOWN = 10


@dataclass(frozen=True)
class Found:
    """What matches, each kind with its own best order. ``more_tasks``: only the newest were looked at.

    The same for ``more_paths``.
    """

    tasks: list[Task]
    patterns: list[ErrorPattern]
    tools: list[Tool]
    more_tasks: bool
    paths: list[Path]
    more_paths: bool


def search_memory(workspace: Workspace, text: str) -> Found:
    """A task by its exact id first, then by words in id or goal; patterns by message; tools by name.

    Paths by words in goal or key: of each the active version.
    """
    exact = list(Task.objects.filter(workspace=workspace, external_id=text))
    page = list_tasks(workspace, TaskFilters(text=text), "")
    tasks = exact + [task for task in page.rows if task not in exact]
    words = Q(title__icontains=text) | Q(template__icontains=text) | Q(identifier__icontains=text)
    patterns = ErrorPattern.objects.filter(words, workspace=workspace).order_by("-occurrence_count", "-pk")
    tools = Tool.objects.filter(workspace=workspace, name__icontains=text).order_by("-call_count", "name")
    more = len(tasks) > SHOWN or bool(page.next_cursor)
    paths = list_paths(workspace, PathFilters(text=text, status="active"), "")
    more_paths = len(paths.rows) > SHOWN or bool(paths.next_cursor)
    found = list(patterns[:SHOWN]), list(tools[:SHOWN])
    return Found(tasks[:SHOWN], *found, more, paths.rows[:SHOWN], more_paths)
