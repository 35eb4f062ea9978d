"""Runs of agents for the insights benchmark: fifty tools of a dozen shapes over ninety days.

Agents have habits: each task follows one of sixty ways of ten calls, and leaves it at one call in ten.
"""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

TOOLS, DAYS, CALLS, HABITS = 50, 90, 10, 60
TAGS = ("flight", "hotel", "refund", "invoice", "order", "status")
DOMAINS = tuple(f"site_{number}" for number in range(8))
NAMES = [f"tool_{number:02}" for number in range(TOOLS)]
WEIGHTS = [1 / (place + 3) for place in range(TOOLS)]
ERRORS = ("Unknown column 'name'", "No seat on this flight", "Timeout while reading", "Permission denied")


def make_tasks(count: int, now: datetime) -> Iterator[dict[str, Any]]:
    """Finished tasks of ten calls, oldest first; one call in ten fails, and half of those are tried again."""
    rng = random.Random(17)
    habits = [rng.choices(NAMES, WEIGHTS, k=CALLS) for _ in range(HABITS)]
    for number in range(count):
        at = now - timedelta(days=DAYS * (1 - number / count) * 0.999)
        yield {
            "external_id": f"task-{number}",
            "goal": "Book what was asked for",
            "tags": sorted(rng.sample(TAGS, 2)),
            "agent": f"agent-{number % 3}",
            "env": {"domain": rng.choice(DOMAINS)},
            "final": True,
            "outcome": {"result": rng.choice(["success", "success", "failure"]), "by": "environment"},
            "calls": list(_calls(rng, at, habits[min(int(rng.expovariate(0.1)), HABITS - 1)])),
        }


def _calls(rng: random.Random, at: datetime, habit: list[str]) -> Iterator[dict[str, Any]]:
    tool, again = "", False
    for usual in habit:
        if not again:
            tool = usual if rng.random() < 0.9 else rng.choice(NAMES)
        failed = rng.random() < 0.1
        again = failed and rng.random() < 0.5
        yield _call(rng, tool, failed=failed, at=at)


def _call(rng: random.Random, tool: str, *, failed: bool, at: datetime) -> dict[str, Any]:
    given: dict[str, Any] = {"query": "x" * rng.choice((20, 300, 3_000))}
    if rng.random() < 0.5:
        given["limit"] = rng.choice((5, 50))
    ms = round(rng.lognormvariate(4 + int(tool[-2:]) / 25, 0.8), 2)
    call = {
        "tool": tool, "input": given, "output": {"rows": rng.randrange(100)}, "status": "ok",
        "duration_ms": ms, "started_at": at.isoformat(),
    }  # fmt: skip
    if failed:
        call |= {"status": "error", "error": {"type": "ToolError", "message": rng.choice(ERRORS)}}
    return call
