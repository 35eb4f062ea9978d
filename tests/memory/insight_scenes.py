"""Counted insights for pages, the API and browsers: tasks recorded, analysed and counted for real."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.background.insights.counting import count_backlog
from memory.models import Workspace
from memory.permissions import SYSTEM

NO_SEAT = {"message": "No seat 7 on this flight", "type": "SeatError"}


def insight_call(
    tool: str, ms: float | None = 10.0, *, ok: bool = True, at: datetime | None = None, **given: Any
) -> dict[str, Any]:
    """One call of a document, now unless told otherwise."""
    more = {"status": "ok"} if ok else {"status": "error", "error": NO_SEAT}
    began = (at or timezone.now().astimezone(UTC)).isoformat()
    return {"tool": tool, "input": given, "duration_ms": ms, "started_at": began, **more}


def count_tasks(workspace: Workspace, *tasks: list[dict[str, Any]], prefix: str = "t", **fields: Any) -> None:
    """Record finished tasks of these calls and let the worker do everything about them."""
    documents = [
        {
            "external_id": f"{prefix}{number}", "goal": "Book", "calls": calls, "final": True,
            "outcome": {"result": "success", "by": "environment"}, **fields,
        }
        for number, calls in enumerate(tasks)
    ]  # fmt: skip
    record_experience(workspace_id=workspace.pk, documents=documents, by=SYSTEM)
    while analyse_backlog() or count_backlog():
        pass


def build_insights(workspace: Workspace, tasks: int = 30, *, prefix: str = "t", tool: str = "book") -> None:
    """``tasks`` that look first, then book; every third fails once and tries again. Two days of them."""
    now = timezone.now().astimezone(UTC)
    documents = []
    for number in range(tasks):
        at = now - timedelta(days=number % 2)
        calls = [insight_call("find", 20.0 + number, at=at, q="x" * (number * 20))]
        if number % 3 == 0:
            calls.append(insight_call(tool, 80.0, ok=False, at=at, id=7))
        calls.append(insight_call(tool, 100.0 + number, at=at, id=number))
        documents.append(calls)
    count_tasks(workspace, *documents, prefix=prefix, tags=["flight"], env={"domain": "airline"})
