"""What people and rules do to an error pattern's status."""

from collections.abc import Mapping

from django.db import transaction

from memory.domain.access import Actor, check_may
from memory.domain.lifecycle import PATTERN_TRANSITIONS, check_transition
from memory.events import Event, record_event, record_events
from memory.models import ErrorPattern


@transaction.atomic
def triage_pattern(*, pattern: ErrorPattern, step: str, by: Actor, reason: str = "") -> ErrorPattern:
    """A person sets a pattern aside or takes it up again (``ignore``, ``reopen``).

    Raises :class:`NotPermitted`, :class:`memory.domain.lifecycle.TransitionError`, KeyError.
    """
    check_may(by, "triage_pattern", within=pattern.workspace_id)
    locked = ErrorPattern.objects.select_for_update().get(pk=pattern.pk)
    _move(locked, step, by=by, reason=reason)
    return locked


def set_pattern_status(*, pattern: ErrorPattern, status: str, by: Actor, reason: str = "") -> ErrorPattern:
    """:func:`triage_pattern` by the status that is wanted; the status it has already changes nothing.

    Raises :class:`NotPermitted`, :class:`memory.domain.lifecycle.TransitionError`, and ValueError for a
    status that people do not set (``covered`` follows from the rules that are served).
    """
    steps = {"ignored": "ignore", "open": "reopen"}
    if status not in steps:
        raise ValueError(f"Nobody sets a pattern to {status}.")
    check_may(by, "triage_pattern", within=pattern.workspace_id)
    if pattern.status == status:
        return pattern
    return triage_pattern(pattern=pattern, step=steps[status], by=by, reason=reason)


@transaction.atomic
def cover_patterns(*, reasons: Mapping[int, str], by: Actor) -> int:
    """Rules that handle these patterns are served now: the open ones are covered. Returns how many.

    ``reasons`` says why, by the pattern's id. The number of queries does not grow with the patterns.
    """
    return _move_all(reasons, "open", "cover", by=by)


@transaction.atomic
def uncover_patterns(*, reasons: Mapping[int, str], by: Actor) -> int:
    """No served rule handles these patterns any more: the covered ones are open again. Returns how many."""
    return _move_all(reasons, "covered", "uncover", by=by)


def _move_all(reasons: Mapping[int, str], status: str, step: str, *, by: Actor) -> int:
    if not reasons:
        return 0
    rows = ErrorPattern.objects.select_related("workspace").select_for_update(of=("self",))
    patterns = list(rows.filter(pk__in=list(reasons), status=status).order_by("pk"))
    if not patterns:
        return 0
    target = check_transition(PATTERN_TRANSITIONS, step, status)
    ErrorPattern.objects.filter(pk__in=[pattern.pk for pattern in patterns]).update(status=target)
    record_events(
        by=by,
        events=[
            Event(
                workspace=pattern.workspace,
                verb=f"{step}_pattern",
                subject=pattern,
                old={"status": status},
                new={"status": target},
                reason=reasons[pattern.pk],
            )
            for pattern in patterns
        ],
    )
    return len(patterns)


def _move(pattern: ErrorPattern, step: str, *, by: Actor, reason: str) -> None:
    old = pattern.status
    pattern.status = check_transition(PATTERN_TRANSITIONS, step, old)
    pattern.save(update_fields=["status"])
    record_event(
        by=by, workspace=pattern.workspace, verb=f"{step}_pattern", subject=pattern,
        old={"status": old}, new={"status": pattern.status}, reason=reason,
    )  # fmt: skip
