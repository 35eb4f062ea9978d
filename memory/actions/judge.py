"""``judge_task``: somebody says how a task ended, after the fact."""

import msgspec
from django.db import transaction
from django.utils import timezone

from memory.background.bell import ring
from memory.domain.access import Actor, check_may
from memory.domain.experience import OutcomeDoc
from memory.events import record_event
from memory.models import Task
from memory.writer.outcomes import append_outcome


@transaction.atomic
def judge_task(*, task: Task, outcome: OutcomeDoc, by: Actor) -> bool:
    """Append an outcome to the task; the strongest source counts (human > evaluator > environment > agent).

    A member always speaks as ``human``; a key says on whose behalf it speaks, and needs a scope of its own to
    speak for a person, whose word outranks all others. A source that says again what
    it said last changes nothing (False). ``task`` is refreshed. Raises NotPermitted.
    """
    check_may(by, "judge_task", within=task.workspace_id)
    if by.kind == "user":
        outcome = msgspec.structs.replace(outcome, by="human")
    if outcome.by == "human":
        check_may(by, "speak_for_people")
    old = {"outcome": task.outcome, "reward": task.reward, "by": task.outcome_by}
    has_changed = append_outcome(task_id=task.pk, said=outcome, actor=by.name, now=timezone.now())
    task.refresh_from_db()
    if has_changed and outcome.by == "human":
        new = {"outcome": task.outcome, "reward": task.reward, "by": task.outcome_by}
        record_event(by=by, workspace=task.workspace, verb="judge_task", subject=task, old=old, new=new)
    if has_changed:
        transaction.on_commit(ring)
    return has_changed
