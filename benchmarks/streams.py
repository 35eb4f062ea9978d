"""Streams of real agent runs: ``NAME.jsonl.gz`` beside ``NAME.labels.jsonl.gz`` in a data folder.

The format is described in docs/benchmarks/preempt.md. Labels are kept apart from the runs on purpose: only
a harness that stands for a person may look at them.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNS = ".jsonl.gz"
LABELS = ".labels.jsonl.gz"


class StreamError(ValueError):
    """A stream cannot be read; the text names the file and the line."""


@dataclass(frozen=True)
class Call:
    """One recorded call: what was asked, and (known only afterwards) how it went."""

    tool: str
    args: dict[str, Any]
    obs: Any
    failed: bool


@dataclass(frozen=True)
class Run:
    """One recorded task of an agent."""

    id: str
    domain: str
    goal: str
    model: str
    calls: tuple[Call, ...]
    success: bool | None
    reward: float | None
    task: int | str | None = None


@dataclass(frozen=True)
class Label:
    """What a person who looked at a failing call would say: the coarse and the fine pattern."""

    coarse: str
    fine: str


@dataclass(frozen=True)
class Stream:
    """All runs of one file in time order, and the labels of their failing calls by (run id, call index)."""

    name: str
    runs: tuple[Run, ...]
    labels: dict[tuple[str, int], Label]


def discover(folder: Path) -> list[Stream]:
    """Every labelled stream in ``folder``, by name. Raises :class:`StreamError`."""
    if not folder.is_dir():
        raise StreamError(f"There is no data folder {folder}.")
    names = sorted(path.name.removesuffix(LABELS) for path in folder.glob(f"*{LABELS}"))
    return [read_stream(folder, name) for name in names if (folder / f"{name}{RUNS}").exists()]


def read_stream(folder: Path, name: str) -> Stream:
    """One stream by its name. Raises :class:`StreamError`."""
    rows = sorted(_rows(folder / f"{name}{RUNS}"), key=lambda row: row.get("order", 0))
    labels = {
        (row["path_id"], row["step"]): Label(coarse=row["sig"], fine=row["fine"])
        for row in _rows(folder / f"{name}{LABELS}")
    }
    return Stream(name=name, runs=tuple(_run(row) for row in rows), labels=labels)


def _run(row: dict[str, Any]) -> Run:
    """``gold`` is not even read."""
    calls = tuple(
        Call(tool=step["tool"], args=_args(step), obs=step.get("obs"), failed=bool(step["error"]))
        for step in row["steps"]
    )
    return Run(
        id=row["path_id"],
        domain=row.get("domain") or "",
        goal=row.get("goal") or "",
        model=row.get("model") or "",
        calls=calls,
        success=row.get("success"),
        reward=row.get("reward"),
        task=row.get("task_id"),
    )


def _args(step: dict[str, Any]) -> dict[str, Any]:
    args = step.get("args")
    if isinstance(args, dict):
        return args
    return {} if args is None else {"value": args}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise StreamError(f"{path.name}, line {number}: {error}") from error
            if not isinstance(row, dict):
                raise StreamError(f"{path.name}, line {number}: not an object")
            yield row
