"""What became of a path: its versions, its reward, who followed it, what failed on it."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from memory.models import Failure, Path, PathUse, RewardChange, RewriteProposal, Workspace

SHOWN_VERSIONS = 200
SHOWN_CHANGES = 100
SHOWN_USES = 100
SHOWN_FAILURES = 20
SHOWN_PARTS = 100
SHOWN_REWRITES = 10


@dataclass(frozen=True)
class Version:
    """A version in the tree of its lineage: ``depth`` steps below the first one."""

    path: Path
    depth: int

    @property
    def indent(self) -> int:
        """How far it is moved in; a long chain does not leave the page."""
        return min(self.depth, 6)


def list_versions(path: Path) -> list[Version]:
    """The versions of the path's lineage as a tree, every one after its parent. One query."""
    rows = list(path.lineage.versions.order_by("version")[:SHOWN_VERSIONS])
    known = {row.pk for row in rows}
    children: dict[int | None, list[Path]] = defaultdict(list)
    for row in rows:
        children[row.parent_id if row.parent_id in known else None].append(row)
    found: list[Version] = []
    waiting = [(row, 0) for row in reversed(children[None])]
    while waiting:
        row, depth = waiting.pop()
        found.append(Version(row, depth))
        waiting += [(child, depth + 1) for child in reversed(children[row.pk])]
    return found


def find_version(workspace: Workspace, uuid: str) -> Path | None:
    """The path of that uuid, or None for an unknown, foreign or malformed one."""
    try:
        return Path.objects.filter(workspace=workspace, uuid=UUID(uuid)).first()
    except ValueError:
        return None


def list_reward_changes(path: Path) -> list[RewardChange]:
    """The newest changes of the path's reward, oldest first."""
    return list(path.reward_changes.order_by("-pk").select_related("task")[:SHOWN_CHANGES])[::-1]


def list_uses(path: Path) -> list[PathUse]:
    """The newest tasks that followed the path, oldest first."""
    return list(PathUse.objects.filter(path=path).order_by("-pk").select_related("task")[:SHOWN_USES])[::-1]


def list_parts(path: Path) -> QuerySet[Path]:
    """The sub-paths, in the order in which they were walked."""
    return path.parts.order_by("part_position", "pk")[:SHOWN_PARTS]


def list_met_failures(path: Path, seqs: set[int]) -> list[Failure]:
    """The failures of the calls that the path is made of (``seqs``), in order, with call and pattern.

    Without any seq known, those of the whole task. A path without a task met none.
    """
    if path.source_id is None:
        return []
    rows = Failure.objects.filter(task=path.source_id)
    if seqs:
        rows = rows.filter(call__seq__in=sorted(seqs))
    return list(rows.select_related("call", "pattern", "task").order_by("call__seq", "pk")[:SHOWN_FAILURES])


def list_rewrites_of(path: Path) -> list[RewriteProposal]:
    """The newest proposals to rewrite any version of the path."""
    return list(RewriteProposal.objects.filter(lineage=path.lineage_id).order_by("-pk")[:SHOWN_REWRITES])


def call_numbers(details: list[dict[str, Any]]) -> set[int]:
    """The ``seq`` of the calls that the details of nodes name."""
    found: set[int] = set()
    for one in details:
        seq = one.get("seq")
        numbers = seq if isinstance(seq, list) else [seq]
        found |= {number for number in numbers if isinstance(number, int) and not isinstance(number, bool)}
    return found
