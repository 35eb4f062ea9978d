"""Runs of agents as documents: ten tasks of ten calls a batch, about the size and shape of real ones."""

import json
import random
from collections.abc import Iterator
from typing import Any

TASKS, CALLS = 10, 10
KINDS = 40
WORDS = [
    *("order", "flight", "customer", "refund", "invoice", "seat", "city", "total"),
    *("payment", "status", "table", "column", "date", "query"),
]


def make_batch(number: int) -> dict[str, Any]:
    """Batch ``number``: always the same content for the same number; 100 calls, about 70 KB of JSON."""
    rng = random.Random(number)
    return {"experiences": [make_task(rng, f"run-{number}-{n}") for n in range(TASKS)]}


def make_task(rng: random.Random, name: str) -> dict[str, Any]:
    """One finished task; one call in ten fails, one in twenty carries an e-mail address to be redacted."""
    return {
        "external_id": name,
        "goal": _sentence(rng, 16),
        "tags": ["bench", rng.choice(WORDS)],
        "agent": "bench-agent",
        "framework": "bench",
        "env": {"domain": rng.choice(WORDS), "region": "eu"},
        "final": True,
        "outcome": {"result": rng.choice(["success", "failure"]), "reward": 1.0, "by": "environment"},
        "calls": [_call(rng) for _ in range(CALLS)],
    }


def _call(rng: random.Random) -> dict[str, Any]:
    failed = rng.random() < 0.1
    call: dict[str, Any] = {
        "tool": f"tool_{rng.randrange(20)}",
        "tool_version": "1.4",
        "input": {
            "query": f"SELECT {rng.choice(WORDS)} FROM {rng.choice(WORDS)} WHERE id = {rng.randrange(10**6)}",
            "limit": rng.randrange(100),
            "filters": {"city": rng.choice(WORDS), "active": True, "since": "2026-05-01"},
            "note": "write to ann.lee@example.org" if rng.random() < 0.05 else _sentence(rng, 6),
        },
        "output": {"rows": [[rng.randrange(1000), rng.choice(WORDS)] for _ in range(8)], "took": 3},
        "status": "error" if failed else "ok",
        "duration_ms": round(rng.random() * 900, 2),
        "started_at": "2026-05-01T12:00:00Z",
        "reasoning": _sentence(rng, 20),
    }
    if failed:
        call["error"] = {"type": "QueryError", "message": f"Unknown column '{rng.choice(WORDS)}' in 'where'"}
    return call


def _sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words))


def make_bodies(first: int, count: int) -> Iterator[bytes]:
    """The bytes of ``count`` batches, numbered from ``first``: new names around one of ``KINDS`` contents."""
    kinds = [json.dumps(make_batch(kind)).encode() for kind in range(KINDS)]
    for number in range(first, first + count):
        kind = number % KINDS
        yield kinds[kind].replace(b'"run-%d-' % kind, b'"run-%d-' % (number + KINDS))
