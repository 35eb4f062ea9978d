"""What rules tell a model while it plans, before it chooses a tool."""

from typing import Any

from hgmem.api.errors import NoDecision
from hgmem.guarding import wording
from hgmem.guarding.tasks import Task, current_task
from hgmem.runtime.verdict import Verdict


def plan_hints(task: Task | None = None, **asked: Any) -> list[str]:
    """The texts of rules at the point ``planning`` for a task: for the system prompt. Raises nothing.

    ``asked`` adds to the question: ``tool`` for a plan that is about one, ``input``, ``env``.
    """
    task = task or current_task()
    try:
        return _texts(task.client.decide(_question(task, asked)))
    except NoDecision:
        return []


async def aplan_hints(task: Task | None = None, **asked: Any) -> list[str]:
    """:func:`plan_hints`, without holding the event loop."""
    task = task or current_task()
    try:
        return _texts(await task.client.adecide(_question(task, asked)))
    except NoDecision:
        return []


def _question(task: Task, asked: dict[str, Any]) -> dict[str, Any]:
    return {
        "point": "planning", "task": task.describe(), "env": task.env, "history": task.history, **asked,
    }  # fmt: skip


def _texts(verdict: Verdict) -> list[str]:
    steps = [
        wording.call_first(str(step["tool"]), step["arguments"], str(step.get("reason") or ""))
        for step in verdict.insert_steps
    ]
    return [*(str(hint["text"]) for hint in verdict.hints), *steps]
