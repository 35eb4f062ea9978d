"""Tool sequences of a workspace: which go with success, which with failure."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from memory.domain.insights.sequences import split_kind
from memory.models import Path, SequenceKind, Task, ToolSequence
from memory.queries.paging import Page, most_first

PER_PAGE = 30
MOST_TAGS = 5
VERDICTS = ("winning", "losing", "all")
KINDS_SHOWN = 200


@dataclass(frozen=True)
class SequenceFilters:
    """What the list is narrowed to. ``kind`` is "" for all tasks; ``least`` tasks a sequence was in."""

    verdict: str = "winning"
    kind: str = ""
    least: int = 0


@dataclass(frozen=True)
class Example:
    """A task that held a sequence."""

    uuid: UUID
    name: str
    goal: str
    won: bool


@dataclass(frozen=True)
class ShownSequence:
    """A sequence with its numbers. ``support`` is its share of the kind's successful tasks.

    ``most_tasks`` is in how many tasks it was at most; it is more than ``tasks`` only where rare sequences
    had to be dropped. ``template`` is the path that was made of it.
    """

    row: ToolSequence
    support: float
    share_won: float
    examples: list[Example]
    template: Path | None = None

    @property
    def most_tasks(self) -> int:
        """The upper bound of its tasks."""
        return self.row.tasks + self.row.missed


def find_kind(workspace_id: int, name: str) -> SequenceKind | None:
    """The tasks of a kind; None where none ended yet."""
    return SequenceKind.objects.filter(workspace=workspace_id, name=name).first()


def list_kinds(workspace_id: int) -> list[SequenceKind]:
    """The kinds with most tasks, all tasks first."""
    rows = SequenceKind.objects.filter(workspace=workspace_id).annotate(size=F("won") + F("lost"))
    return list(rows.filter(size__gt=0).order_by("-size", "name")[:KINDS_SHOWN])


def sequence_rows(workspace_id: int) -> QuerySet[ToolSequence]:
    """Every sequence that is counted, with its kind."""
    return ToolSequence.objects.filter(workspace=workspace_id).select_related("kind")


def list_sequences(workspace_id: int, filters: SequenceFilters, cursor: str) -> Page[ToolSequence]:
    """One page: the surest first, or (``all``) the most frequent first. Only closed ones."""
    kind = find_kind(workspace_id, filters.kind)
    if kind is None:
        return Page([])
    rows = sequence_rows(workspace_id).filter(kind=kind, is_closed=True)
    if filters.least:
        rows = rows.filter(tasks__gte=filters.least)
    if filters.verdict == "all":
        return most_first(rows, "tasks", cursor, size=PER_PAGE)
    return most_first(rows.filter(verdict=filters.verdict), "strength", cursor, size=PER_PAGE)


def find_sequence(workspace_id: int, uuid: UUID) -> ToolSequence | None:
    """The sequence, or None for an unknown or foreign one."""
    return sequence_rows(workspace_id).filter(uuid=uuid).first()


def show_sequences(workspace_id: int, rows: list[ToolSequence], keys: dict[int, str]) -> list[ShownSequence]:
    """With example tasks and the templates made of them (by the key of their lineage). Two queries."""
    names = {UUID(str(task)) for row in rows for task, _won in row.examples}
    fields = ("uuid", "external_id", "goal")
    tasks = {
        task.uuid: task for task in Task.objects.filter(workspace=workspace_id, uuid__in=names).only(*fields)
    }
    made = Path.objects.filter(workspace=workspace_id, lineage__key__in=keys.values()).order_by("version")
    templates = {path.lineage.key: path for path in made.select_related("lineage")}
    return [
        ShownSequence(
            row,
            support=row.won / row.kind.won if row.kind.won else 0.0,
            share_won=row.won / row.tasks if row.tasks else 0.0,
            examples=[
                Example(task.uuid, task.external_id, task.goal, bool(won))
                for uuid, won in row.examples
                if (task := tasks.get(UUID(str(uuid)))) is not None
            ],
            template=templates.get(keys.get(row.pk, "")),
        )
        for row in rows
    ]


def tags_of_examples(row: ToolSequence) -> list[str]:
    """The tags that most of its successful example tasks have; the tag of its own kind first."""
    uuids = [task for task, won in row.examples if won]
    tasks = Task.objects.filter(workspace=row.workspace_id, uuid__in=uuids)
    counts: Counter[Any] = Counter(
        tag for tags in tasks.values_list("tags", flat=True) for tag in dict.fromkeys(tags)
    )
    common = [tag for tag, count in counts.most_common() if 2 * count > len(uuids)]
    sort, word = split_kind(row.kind.name)
    return list(dict.fromkeys([*([word] if sort == "tag" else []), *common]))[:MOST_TAGS]
