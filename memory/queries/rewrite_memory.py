"""What a rewriter may know of other paths: what worked for the same or a nearby goal, and repairs."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.align import Repair, RewriteMemory
from memory.domain.rewriting.failing import repair_of
from memory.models import Path, PathNode
from memory.queries.path_documents import read_paths
from memory.queries.paths import ids_calling

SAME_GOAL = 20
SAME_TOOL = 120
WALKS = 60
REWRITTEN = 40

Pair = tuple[Path, Path]
Callers = QuerySet[PathNode, Any]


def load_memory(path: Path, tool: str, new_goal: str = "", nearby: Sequence[int] = ()) -> RewriteMemory:
    """Memory for a rewrite of ``path``, which failed at ``tool``. Its own lineage teaches nothing.

    Successes: active paths of the same goal first, then those of ``nearby`` (ids, nearest first), then the
    newest that call the tool. Repairs: detours that ended well, failed paths whose goal succeeded in another
    run, rewrites that were followed by a success. What was seen in the path's own environment
    (``env.domain``) is taken if there is any, else all the rest: what a table or a file is called there says
    nothing about here.
    """
    everywhere = _whole(path)
    domain = path.env.get("domain")
    near = everywhere.filter(env__domain=domain) if isinstance(domain, str) and domain else everywhere
    goals = [goal for goal in (new_goal, path.goal) if goal]
    callers = ids_calling(path.workspace_id, tool)
    successes = _successes(near, goals, callers, nearby) or _successes(everywhere, goals, callers, nearby)
    pairs = _pairs(near, callers) or _pairs(everywhere, callers)
    versions = list(path.lineage.versions.exclude(pk=path.pk).order_by("-version")[:SAME_GOAL])
    documents = _documents([*successes, *versions, *(row for pair in pairs for row in pair)])
    return RewriteMemory(
        successes=tuple(documents[row.pk] for row in successes),
        repairs=tuple(_repairs((documents[one.pk], documents[other.pk]) for one, other in pairs)),
        versions=tuple(documents[row.pk] for row in versions),
    )


def _pairs(rows: QuerySet[Path], callers: Callers) -> list[Pair]:
    return [*_detours(rows, callers), *_second_tries(rows, callers), *_rewrites(rows, callers)]


def _successes(
    among: QuerySet[Path], goals: Sequence[str], callers: Callers, nearby: Sequence[int]
) -> list[Path]:
    rows = among.filter(status="active", result="success")
    found = {row.pk: row for row in rows.filter(goal__in=goals).order_by("-reward", "-pk")[:SAME_GOAL]}
    by_id = rows.in_bulk(list(nearby))
    found |= {pk: by_id[pk] for pk in nearby if pk in by_id and pk not in found}
    newest = rows.filter(pk__in=callers).order_by("-pk")[:SAME_TOOL]
    found |= {row.pk: row for row in newest if row.pk not in found}
    return list(found.values())


def _detours(among: QuerySet[Path], callers: Callers) -> list[Pair]:
    """Walks in which the tool failed and something made it work, each with the way without the detour."""
    rows = among.filter(result="retry", source__isnull=False, pk__in=callers)
    walks = {row.source_id: row for row in rows.order_by("-pk")[:WALKS]}
    clean = among.filter(source__in=walks, result="success", status="active")
    return [(walks[row.source_id], row) for row in clean.order_by("-pk")]


def _second_tries(among: QuerySet[Path], callers: Callers) -> list[Pair]:
    """Failed walks, each with a success of the very same goal."""
    rows = among.filter(result="failure", pk__in=callers).exclude(goal="")
    failed = list(rows.order_by("-pk")[:WALKS])
    goals = {row.goal for row in failed}
    good = among.filter(goal__in=goals, result="success", status="active").order_by("-reward", "-pk")
    best: dict[str, Path] = {}
    for row in good[: 4 * WALKS]:
        best.setdefault(row.goal, row)
    return [(row, best[row.goal]) for row in failed if row.goal in best]


def _rewrites(among: QuerySet[Path], callers: Callers) -> list[Pair]:
    """Versions that were made from a failed one and then succeeded."""
    rows = among.filter(result="success", parent__result__in=("failure", "retry"), pk__in=callers)
    return [
        (row.parent, row) for row in rows.select_related("parent").order_by("-pk")[:REWRITTEN] if row.parent
    ]


def _whole(path: Path) -> QuerySet[Path]:
    """Whole paths of the workspace, of other lineages."""
    rows = Path.objects.whole().filter(workspace=path.workspace_id)
    return rows.exclude(lineage=path.lineage_id)


def _documents(rows: Sequence[Path]) -> dict[int, PathDoc]:
    kept = {row.pk: row for row in rows}
    return dict(zip(kept, read_paths(list(kept.values())), strict=True))


def _repairs(pairs: Iterable[tuple[PathDoc, PathDoc]]) -> Iterable[Repair]:
    for walk, fixed in pairs:
        repair = repair_of(walk, fixed)
        if repair is not None:
            yield repair
