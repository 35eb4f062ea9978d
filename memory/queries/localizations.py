"""Localizations: the list, one with the paths it named, a week's sample."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import QuerySet

from memory.domain.locating.review import Marked, SampleFigures, figures_of
from memory.domain.locating.sampling import week_bounds
from memory.domain.rewards import KNOWN_RESULTS
from memory.domain.trends import Rate, rate_of
from memory.models import Localization, Path, PathUse, RewriteProposal, Workspace
from memory.queries.paging import Page, newest_first, newest_matching
from memory.queries.rewrites import OPEN_STATUSES

SAMPLE_PAGE = 20
FIGURES_CAP = 5_000
"""At most so many answers and uses of a week go into its figures, the newest."""
FAILING = 10


@dataclass(frozen=True)
class LocalizationFilters:
    """What the list is narrowed to. Empty means everything."""

    text: str = ""
    kind: str = ""
    outcome: str = ""
    task: str = ""
    sampled: bool = False


@dataclass(frozen=True)
class NamedPath:
    """A path that an answer named: the row (None when it is gone) and what the answer said about it."""

    path: Path | None
    uuid: str
    score: float
    parts: dict[str, float]
    place: int


def localization_rows(workspace_id: int) -> QuerySet[Localization]:
    """Every localization, with the path that was taken and the task it was asked for."""
    return Localization.objects.filter(workspace_id=workspace_id).select_related("taken", "task")


def list_localizations(workspace: Workspace, filters: LocalizationFilters, cursor: str) -> Page[Localization]:
    """Newest first. A filter without an index looks through a window of rows and says where it stopped."""
    rows = localization_rows(workspace.pk)
    if filters.task:
        rows = rows.filter(task_name=filters.task)
    if not (filters.text or filters.kind or filters.outcome or filters.sampled):
        return newest_first(rows, cursor)
    return newest_matching(rows, lambda window: _matching(window, filters), cursor)


def _matching(rows: QuerySet[Localization], filters: LocalizationFilters) -> QuerySet[Localization]:
    if filters.text:
        rows = rows.filter(goal__icontains=filters.text)
    if filters.kind:
        rows = rows.filter(kind=filters.kind)
    if filters.outcome:
        rows = rows.filter(outcome=filters.outcome)
    return rows.filter(sampled=True) if filters.sampled else rows


def named_paths(rows: Sequence[Localization], which: str = "candidates") -> list[list[NamedPath]]:
    """The paths that each answer named (``candidates`` or ``avoid``), best first. One query."""
    wanted = {str(item["path"]) for row in rows for item in getattr(row, which)}
    workspaces = {row.workspace_id for row in rows}
    found = Path.objects.filter(workspace__in=workspaces, uuid__in=wanted) if wanted else ()
    paths = {(path.workspace_id, str(path.uuid)): path for path in found}
    return [
        [_named(item, place, paths.get((row.workspace_id, str(item["path"])))) for place, item in
         enumerate(getattr(row, which), start=1)]
        for row in rows
    ]  # fmt: skip


def _named(item: dict[str, Any], place: int, path: Path | None) -> NamedPath:
    return NamedPath(path, str(item["path"]), float(item.get("score", 0.0)), item.get("parts", {}), place)


def list_uses(localization: Localization) -> list[PathUse]:
    """The paths that were followed after the answer, with what came of each."""
    return list(
        PathUse.objects.filter(localization=localization).select_related("path", "task").order_by("pk")
    )


@dataclass(frozen=True)
class FailingPath:
    """A path whose reuse failed in a week, how often, and the rewrite that is under way already."""

    path: Path
    failures: int
    uses: int
    rewrite: RewriteProposal | None = None


@dataclass(frozen=True)
class WeekFigures:
    """What a week's sample and uses say.

    ``sample`` is from the reviewed answers. ``reuse``: uses that ended well among those that ended.
    ``alone``: sampled questions whose task followed no path, in the same way, to compare with.
    """

    sample: SampleFigures
    reuse: Rate
    alone: Rate


def sample_rows(workspace: Workspace, monday: date) -> QuerySet[Localization]:
    """The sampled answers of a week, newest first."""
    start, end = week_bounds(monday)
    rows = localization_rows(workspace.pk).filter(sampled=True, asked_at__gte=start, asked_at__lt=end)
    return rows.order_by("-asked_at", "-pk")


def sample_page(
    workspace: Workspace, monday: date, *, status: str, number: int
) -> tuple[list[Localization], bool]:
    """A page (from 1) of the week's sample, and whether another follows. ``status``: "" | open | reviewed."""
    rows = sample_rows(workspace, monday)
    if status:
        rows = rows.filter(verdict="") if status == "open" else rows.exclude(verdict="")
    start = (number - 1) * SAMPLE_PAGE
    found = list(rows[start : start + SAMPLE_PAGE + 1])
    return found[:SAMPLE_PAGE], len(found) > SAMPLE_PAGE


def week_figures(workspace: Workspace, monday: date) -> WeekFigures:
    """The figures of a week. Three queries."""
    sampled = list(
        sample_rows(workspace, monday)
        .select_related(None)
        .values_list("candidates", "kind", "relevant", "verdict", "taken", "outcome")[:FIGURES_CAP]
    )
    marked = [
        Marked([str(item["path"]) for item in candidates], relevant, verdict)
        for candidates, _, relevant, verdict, _, _ in sampled
        if verdict
    ]
    alone = [outcome for *_, taken, outcome in sampled if taken is None and outcome in KNOWN_RESULTS]
    used = Counter(_week_uses(workspace, monday).values_list("result", flat=True)[:FIGURES_CAP])
    return WeekFigures(
        figures_of(marked, unreviewed=len(sampled) - len(marked)),
        rate_of(used["success"], used["success"] + used["failure"]),
        rate_of(alone.count("success"), len(alone)),
    )


def _week_uses(workspace: Workspace, monday: date) -> QuerySet[PathUse]:
    start, end = week_bounds(monday)
    rows = PathUse.objects.filter(workspace=workspace, used_at__gte=start, used_at__lt=end)
    return rows.filter(result__in=KNOWN_RESULTS).order_by("-used_at")


def failing_paths(workspace: Workspace, monday: date) -> list[FailingPath]:
    """Active paths whose reuse failed in the week, the most failures first: worth a rewrite."""
    uses = list(_week_uses(workspace, monday).values_list("path", "result")[:FIGURES_CAP])
    failed = Counter(path for path, result in uses if result == "failure")
    total = Counter(path for path, _ in uses)
    worst = [pk for pk, _ in failed.most_common(FAILING * 3)]
    rows = Path.objects.filter(pk__in=worst, status="active").exclude(result="template")
    open_rewrites = RewriteProposal.objects.filter(path__in=worst, status__in=OPEN_STATUSES).order_by("pk")
    under_way = {rewrite.path_id: rewrite for rewrite in open_rewrites}
    found = [FailingPath(path, failed[path.pk], total[path.pk], under_way.get(path.pk)) for path in rows]
    return sorted(found, key=lambda item: (-item.failures, item.path.pk))[:FAILING]
