"""Change requests and time: when one is published, and what happens when that is not possible any more."""

import logging
from datetime import datetime

from django.db import DatabaseError, transaction
from django.utils import timezone

from corrections.actions.deciding import lock_changes, put_in_force
from corrections.actions.requesting import revise
from corrections.domain.changes import check_change
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest
from hgmem.rules import RuleError
from memory.actions import record_event
from memory.actions.alerts import raise_alert
from memory.domain.access import Actor, check_may, may

log = logging.getLogger(__name__)
ALERT = "change_failed"


@transaction.atomic
def schedule_change(*, change: ChangeRequest, publish_at: datetime | None, by: Actor) -> ChangeRequest:
    """Say when a change is published once it is approved; None: as soon as it is approved.

    That is an edit, so earlier approvals stop counting; who sets the time does not become an author.
    Raises :class:`NotPermitted`, :class:`Refused`, :class:`memory.domain.lifecycle.TransitionError`.
    """
    check_may(by, "draft_rule" if may(by, "draft_rule") else "review_change", within=change.workspace_id)
    now = timezone.now()
    if publish_at is not None and publish_at <= now:
        raise Refused("The moment of publication has passed.")
    locked = lock_changes([change.pk])[0]
    if locked.publish_at == publish_at and locked.status != "failed":
        return locked
    old = locked.publish_at
    revise(locked, by=None, now=now)
    locked.publish_at = publish_at
    locked.save(update_fields=["status", "revision", "updated_at", "failure", "publish_at"])
    record_event(
        by=by, workspace=locked.workspace, verb="schedule_change", subject=locked,
        old={"publish_at": _moment(old)}, new={"publish_at": _moment(publish_at)},
    )  # fmt: skip
    return locked


def publish_due_changes(*, now: datetime, by: Actor) -> int:
    """The clock: publish what is approved and due, each by itself; returns how many.

    Any number of workers may do this at once. What cannot be published any more (the rule changed, an
    approval no longer counts, a ruling would be broken) is marked as failed, and people are alerted. A fault
    nobody foresaw in one holds up no other; where the database was away, the next turn tries again.
    """
    check_may(by, "publish_rule")
    due = ChangeRequest.objects.due(now).order_by("publish_at", "pk")
    return sum(_publish_due(pk, now, by) for pk in list(due.values_list("pk", flat=True)))


def _publish_due(pk: int, now: datetime, by: Actor) -> bool:
    try:
        with transaction.atomic():
            change = _due(pk, now)
            if change is None:
                return False
            put_in_force([change], by=by, reason=change.description)
            record_event(by=by, workspace=change.workspace, verb="publish_change", subject=change)
            return True
    except (Refused, RuleError) as refusal:
        _fail(pk, now, by, str(refusal))
    except DatabaseError:
        log.exception("A due change could not be published; the next turn tries again.")
    except Exception:
        log.exception("A due change could not be published.")
        _fail(pk, now, by, "Something went wrong that nobody foresaw: the server's log says what.")
    return False


@transaction.atomic
def _fail(pk: int, now: datetime, by: Actor, why: str) -> None:
    change = _due(pk, now)
    if change is None:
        return
    change.status, change.failure, change.updated_at = check_change(change.status, "fail"), why, now
    change.save(update_fields=["status", "failure", "updated_at"])
    record_event(by=by, workspace=change.workspace, verb="fail_change", subject=change, reason=why)
    raise_alert(
        workspace_id=change.workspace_id, kind=ALERT, dedupe=f"{ALERT}:{change.uuid}", by=by,
        title=f"Not published as scheduled: {change.title}",
        detail={"change": str(change.uuid), "reason": why},
    )  # fmt: skip


def _due(pk: int, now: datetime) -> ChangeRequest | None:
    """The request, locked, if it is still due: another worker or an edit may have been faster."""
    change = lock_changes([pk])[0]
    is_due = change.status == "approved" and change.publish_at is not None and change.publish_at <= now
    return change if is_due else None


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
