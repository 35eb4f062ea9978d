"""What is said about an answer afterwards: which path was taken, and whether the answer was right.

Which path an agent took is evidence, not a governed change: it writes no audit row. A reviewer's verdict
does.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memory.domain.access import Actor, check_may
from memory.domain.intake import FieldError
from memory.domain.locating.question import InvalidQuestionError
from memory.domain.locating.review import VERDICTS
from memory.domain.plain_json import storable
from memory.domain.rewards import KNOWN_RESULTS
from memory.events import record_event
from memory.models import Localization, Path, PathUse, Task
from memory.writer.redactors import scrub_for

MAX_RELEVANT = 100
MAX_NOTE = 2_000


@transaction.atomic
def report_reuse(
    *,
    localization: Localization,
    taken: UUID | None,
    by: Actor,
    task: str = "",
    result: str = "unknown",
    reward: float | None = None,
) -> PathUse | None:
    """The agent says which path of an answer it followed; None for none of them.

    ``task`` is the external id of the task, the localization's own unless given. ``result`` and ``reward``
    are the agent's word on how the path itself did; the task's outcome is taken from its experience when it
    comes. Saying the same twice changes nothing; each path an agent went on to is a use of its own.
    ``localization`` is refreshed. Raises NotPermitted, and InvalidQuestionError naming the field.
    """
    check_may(by, "report_reuse", within=localization.workspace_id)
    locked = Localization.objects.select_for_update(no_key=True).get(pk=localization.pk)
    name = storable(task or locked.task_name)
    path = _path_of(locked, taken)
    _check_report(path, name, result, reward)
    ended = Task.objects.filter(workspace=locked.workspace_id, external_id=name).first() if name else None
    locked.taken = path
    locked.task_name = locked.task_name or name
    if ended is not None and ended.external_id == locked.task_name and ended.outcome in KNOWN_RESULTS:
        locked.task, locked.outcome = ended, ended.outcome
    locked.save(update_fields=["taken", "task_name", "task", "outcome"])
    localization.refresh_from_db()
    return _write_use(locked, path, name, ended, result, reward) if path else None


def _path_of(localization: Localization, taken: UUID | None) -> Path | None:
    if taken is None:
        return None
    path = Path.objects.filter(workspace=localization.workspace_id, uuid=taken).first()
    if path is None:
        raise InvalidQuestionError(FieldError("taken", "There is no such path in this workspace."))
    return path


def _check_report(path: Path | None, name: str, result: str, reward: float | None) -> None:
    errors = []
    if path is not None and not name:
        errors.append(FieldError("task", "Say the external id of the task that followed the path."))
    if path is None and result != "unknown":
        errors.append(FieldError("result", "Only a path that was taken has a result."))
    if result not in ("unknown", *KNOWN_RESULTS):
        errors.append(FieldError("result", "One of unknown, success, failure."))
    if reward is not None and not 0 <= reward <= 1:
        errors.append(FieldError("reward", "Between 0 and 1."))
    if reward is not None and result == "unknown":
        errors.append(FieldError("result", "A reward needs a result."))
    if errors:
        raise InvalidQuestionError(*errors)


def _write_use(
    localization: Localization, path: Path, name: str, task: Task | None, result: str, reward: float | None
) -> PathUse:
    """One row a path and task. What is new is marked for the worker."""
    use, is_new = PathUse.objects.select_for_update().get_or_create(
        path=path,
        task_name=name,
        defaults={
            "workspace_id": localization.workspace_id,
            "localization": localization,
            "used_at": timezone.now(),
        },
    )
    said_more = result != "unknown" and (result, reward) != (use.said_result, use.said_reward)
    has_ended = task is not None and task.outcome in KNOWN_RESULTS and use.task_id is None
    if said_more:
        use.said_result, use.said_reward = result, reward
    if is_new or use.task_id is None:
        use.task = task
    use.is_due = use.is_due or said_more or has_ended
    use.save(update_fields=["said_result", "said_reward", "task", "is_due"])
    return use


@transaction.atomic
def review_localization(
    *, localization: Localization, verdict: str, relevant: Sequence[UUID], by: Actor, note: str = ""
) -> Localization:
    """A person says whether an answer of the sample was right, and which paths would have been.

    ``relevant`` may name paths that the answer missed. A later word replaces the earlier one; the audit
    trail has both. Raises NotPermitted, and InvalidQuestionError naming the field.
    """
    check_may(by, "review_sample", within=localization.workspace_id)
    locked = Localization.objects.select_for_update(no_key=True).get(pk=localization.pk)
    chosen = list(dict.fromkeys(str(uuid) for uuid in relevant))
    _check_review(locked, verdict, chosen)
    old = {"verdict": locked.verdict, "relevant": locked.relevant, "note": locked.review_note}
    locked.verdict, locked.relevant = verdict, chosen
    locked.review_note = scrub_for(locked.workspace_id).redactor.redact(storable(note.strip()[:MAX_NOTE]))[0]
    locked.reviewed_by, locked.reviewed_at = by.name[:200], timezone.now()
    locked.save(update_fields=["verdict", "relevant", "review_note", "reviewed_by", "reviewed_at"])
    new = {"verdict": verdict, "relevant": chosen, "note": locked.review_note}
    if new != old:
        record_event(
            by=by, workspace=locked.workspace, verb="review_localization", subject=locked, old=old, new=new
        )
    return locked


def _check_review(localization: Localization, verdict: str, relevant: list[str]) -> None:
    if not localization.sampled:
        raise InvalidQuestionError(FieldError("", "Only answers of the weekly sample are reviewed."))
    if verdict not in VERDICTS:
        raise InvalidQuestionError(FieldError("verdict", "One of right, wrong, unsure."))
    if len(relevant) > MAX_RELEVANT:
        raise InvalidQuestionError(FieldError("relevant", f"At most {MAX_RELEVANT} paths."))
    answered = {str(item["path"]) for item in (*localization.candidates, *localization.avoid)}
    strange = set(relevant) - answered
    known = Path.objects.filter(workspace=localization.workspace_id, uuid__in=strange).count()
    if known < len(strange):
        raise InvalidQuestionError(FieldError("relevant", "There is no such path in this workspace."))
