"""``judge_task``: somebody says how a task ended, after the fact."""

import msgspec
from django.db import transaction

from memory.actions.record import ItemResult, store_documents
from memory.domain.access import Actor, NotPermitted, check_may
from memory.domain.experience import ExperienceDoc, OutcomeDoc
from memory.events import record_event
from memory.models import Task


@transaction.atomic
def judge_task(*, task: Task, outcome: OutcomeDoc, by: Actor) -> ItemResult:
    """Append an outcome to the task; the strongest source counts (human > evaluator > environment > agent).

    A member always speaks as ``human``; a key says on whose behalf it speaks. Saying the same again changes
    nothing. ``task`` is refreshed. Raises NotPermitted.
    """
    check_may(by, "judge_task")
    if by.workspace_id not in (None, task.workspace_id):
        raise NotPermitted("This task belongs to another workspace.")
    if by.kind == "user":
        outcome = msgspec.structs.replace(outcome, by="human")
    old = {"outcome": task.outcome, "reward": task.reward, "by": task.outcome_by}
    document = ExperienceDoc(external_id=task.external_id, outcome=outcome)
    [result] = store_documents(workspace_id=task.workspace_id, documents=[document], by=by)
    task.refresh_from_db()
    if result.status == "updated" and outcome.by == "human":
        new = {"outcome": task.outcome, "reward": task.reward, "by": task.outcome_by}
        record_event(by=by, workspace=task.workspace, verb="judge_task", subject=task, old=old, new=new)
    return result
