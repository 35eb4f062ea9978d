"""Builders of counted sequences and weak spots."""

from itertools import count
from typing import Any

from memory.domain.insights.sequences import kinds_of, sequence_digest
from memory.models import (
    ErrorPattern,
    SequenceKind,
    Task,
    ToolSequence,
    WeakSpot,
    WeakSpotMember,
    WeakSpotScan,
    Workspace,
)
from tests.builders import NOW, make_call, make_failure, make_pattern, make_task

_numbers = count(1)


def share(task: str, tools: str, *, won: bool = True, tags: tuple[str, ...] = (), domain: str = "") -> Any:
    """What a task with one tool for each letter adds, as it is stored."""
    kinds = list(kinds_of(tags, domain))
    return {"task": task, "won": won, "kinds": kinds, "steps": list(tools)}


def make_kind(workspace: Workspace, name: str = "", *, won: int = 60, lost: int = 40) -> SequenceKind:
    """The tasks of a kind."""
    given = {"won": won, "lost": lost, "is_stale": False, "ranked_at": NOW}
    return SequenceKind.objects.get_or_create(workspace=workspace, name=name, defaults=given)[0]


def make_sequence(
    workspace: Workspace, *tools: str, held_by: tuple[Task, ...] = (), **fields: Any
) -> ToolSequence:
    """A winning sequence of all tasks."""
    chain = list(tools) or [f"find-{next(_numbers)}", "book"]
    kind = fields.pop("kind", None) or make_kind(workspace)
    examples = [[str(task.uuid), task.outcome == "success"] for task in held_by]
    given = {
        "won": 20, "lost": 2, "tasks": 22, "lift": 1.5, "lift_low": 1.2, "lift_high": 1.8,
        "verdict": "winning", "strength": 1.2, "examples": examples, **fields,
    }  # fmt: skip
    digest = sequence_digest(tuple(chain))
    return ToolSequence.objects.create(workspace=workspace, kind=kind, digest=digest, tools=chain, **given)


def make_spot(workspace: Workspace, *patterns: ErrorPattern, **fields: Any) -> WeakSpot:
    """An open spot of two patterns of two tools, with a failure of each."""
    number = next(_numbers)
    title = fields.pop("title", f"No such user {number}")
    members = patterns or tuple(
        make_pattern(workspace, title, tool=f"{tool}-{number}") for tool in ("a", "b")
    )
    tools = list(dict.fromkeys(pattern.tool for pattern in members))
    one, other = members[0], members[-1]
    given = {
        "title": title, "tools": tools, "tool_count": len(tools), "pattern_count": len(members),
        "failures": 5, "lately": 1, "bonds": {"alike": 1, "identifier": 1, "burst": 1}, "words": ["user_id"],
        "burst_hours": [490_000, 490_001],
        "edges": [[str(one.uuid), str(other.uuid), "identifier", 1.0, "user_id"]],
        "first_seen_at": NOW, "last_seen_at": NOW, "found_at": NOW, **fields,
    }  # fmt: skip
    spot = WeakSpot.objects.create(workspace=workspace, **given)
    for pattern in members:
        WeakSpotMember.objects.create(spot=spot, pattern=pattern, failures=2)
        make_failure(make_call(make_task(workspace), tool=pattern.tool), pattern)
    WeakSpotScan.objects.get_or_create(workspace=workspace, defaults={"scanned_at": NOW, "patterns": 2})
    return spot
