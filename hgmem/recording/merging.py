"""Many small documents of one task become few: the calls together, the last word on everything else."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

MAX_CALLS: Final = 400
"""Calls of one document that is sent; the server takes 500 in a request."""
_ENDING: Final = ("final", "outcome", "finished_at")


def merge_documents(documents: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One document for each task, in the order in which the tasks were first met; several for very long ones.

    Of fields that come again the last value that says something counts; ``final`` stays true. The outcome and
    ``final`` go with the last part. A document that cannot be joined with others (steps, calls without a
    place, no task) stays as it is.
    """
    tasks: dict[str, dict[str, Any]] = {}
    for number, document in enumerate(documents):
        if not _can_be_joined(document):
            tasks[f"alone {number}"] = dict(document)
            continue
        task = tasks.setdefault(f"task {document['external_id']}", {"calls": []})
        task["calls"] += document.get("calls") or []
        task |= {key: value for key, value in document.items() if key != "calls" and _says(value)}
    for name, task in tasks.items():
        yield from _parts(task) if name.startswith("task ") else (task,)


def split_document(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each call in a document of its own, then how the task ended: for one that was refused for some call."""
    if not _can_be_joined(document) or len(document.get("calls") or ()) < 2:
        return []
    early = {name: value for name, value in document.items() if name not in (*_ENDING, "calls")}
    parts: list[dict[str, Any]] = [{**early, "calls": [call]} for call in document["calls"]]
    if any(name in document for name in _ENDING):
        parts.append({name: value for name, value in document.items() if name != "calls"})
    return parts


def _can_be_joined(document: Mapping[str, Any]) -> bool:
    calls = document.get("calls") or []
    return (
        isinstance(document.get("external_id"), str)
        and not document.get("steps")
        and isinstance(calls, list)
        and all(isinstance(call, Mapping) and isinstance(call.get("seq"), int) for call in calls)
    )


def _parts(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    calls = sorted(task.pop("calls"), key=lambda call: int(call["seq"]))
    if not calls:
        yield task
        return
    early = {name: value for name, value in task.items() if name not in _ENDING}
    groups = [calls[start : start + MAX_CALLS] for start in range(0, len(calls), MAX_CALLS)]
    for group in groups[:-1]:
        yield {**early, "calls": group}
    yield {**task, "calls": groups[-1]}


def _says(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})
