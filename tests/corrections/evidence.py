"""Recorded and analysed runs from which something can be learnt."""

from collections.abc import Sequence
from typing import Any

from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.models import Workspace
from memory.permissions import SYSTEM

Call = tuple[dict[str, Any], str]
"""The input of a call and the error it met, "" for a good one."""


def record_runs(
    workspace: Workspace, runs: Sequence[Sequence[Call]], *, name: str = "run", tool: str = "query"
) -> None:
    """Finished tasks, recorded and analysed. The same name again is the same task with its calls."""
    documents = [
        {
            "external_id": f"{name}-{at}",
            "goal": "List things",
            "env": {"domain": "shop"},
            "final": True,
            "calls": [_call(tool, seq, *call) for seq, call in enumerate(run)],
        }
        for at, run in enumerate(runs)
    ]
    results = record_experience(workspace_id=workspace.pk, documents=documents, by=SYSTEM)
    assert all(result.status in ("created", "updated", "unchanged") for result in results), results
    while analyse_backlog():
        pass


def _call(tool: str, seq: int, call_input: dict[str, Any], error: str) -> dict[str, Any]:
    call: dict[str, Any] = {"seq": seq, "tool": tool, "input": call_input, "status": "ok"}
    return {**call, "status": "error", "error": error} if error else call


def table_runs(bad: str = "clients", *, failing: int = 3, good: int = 7) -> list[list[Call]]:
    """Runs that end with asking for a table that does not exist, and runs that went well."""
    wrong: list[Call] = [({"sql": f"SELECT a FROM {bad}"}, f"Table '{bad}' does not exist")]
    return [*([wrong] * failing), *([({"sql": f"SELECT {n} FROM goods"}, "")] for n in range(good))]
