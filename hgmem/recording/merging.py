"""Many small documents of one task become few: the calls together, the last word on everything else."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

MAX_CALLS: Final = 400
"""Calls of one document that is sent; the server takes 500."""
MAX_BYTES: Final = 2 * 1024 * 1024
_ADDED: Final = ("calls",)
_ENDING: Final = ("final", "outcome", "finished_at")


def merge_documents(documents: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One document for each task, in the order in which the tasks were first met; several for very long ones.

    Of fields that come again the last value that says something counts; ``final`` stays true. The outcome and
    ``final`` go with the last part.
    """
    tasks: dict[str, dict[str, Any]] = {}
    for document in documents:
        name = str(document["external_id"])
        task = tasks.setdefault(name, {"calls": []})
        task["calls"] += document.get("calls") or []
        task |= {key: value for key, value in document.items() if key not in _ADDED and _says(value)}
    for task in tasks.values():
        yield from _parts(task)


def _parts(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    calls = task.pop("calls")
    if not calls:
        yield task
        return
    groups = list(_groups(calls))
    early = {name: value for name, value in task.items() if name not in _ENDING}
    for group in groups[:-1]:
        yield {**early, "calls": group}
    yield {**task, "calls": groups[-1]}


def _groups(calls: list[Any]) -> Iterator[list[Any]]:
    group: list[Any] = []
    size = 0
    for call in calls:
        length = len(json.dumps(call))
        if group and (len(group) >= MAX_CALLS or size + length > MAX_BYTES):
            yield group
            group, size = [], 0
        group.append(call)
        size += length
    yield group


def _says(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})
