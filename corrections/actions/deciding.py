"""Deciding on change requests: approve, reject, withdraw, open again, comment."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from corrections.actions.gate import (
    TRIED_REVISION,
    check_approved,
    publication_of,
    rollout_of,
    served_numbers,
    state_of,
)
from corrections.actions.publishing import lock_rules, publish
from corrections.actions.requesting import chosen_rollout
from corrections.actions.rulings import publish_ruling
from corrections.domain.changes import (
    SERVES,
    ChangePolicy,
    check_approver,
    check_change,
    check_current,
    safe_policy,
)
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.models import ChangeApproval, ChangeComment, ChangeRequest, Rule
from corrections.queries.approvals import approvals_of, standing_approvals
from corrections.queries.changes import lacks
from memory.actions import Event, record_event, record_events
from memory.domain.access import Actor, NotPermitted, check_may, may

MAX_TEXT = 5_000
ENDS = ("retire", "delete")


class StaleChange(Refused):
    """What is served is not what the change was written against, or it was edited since it was looked at."""


@transaction.atomic
def approve_change(
    *, change: ChangeRequest, revision: int, by: Actor, note: str = "", rollout: str = ""
) -> ChangeRequest:
    """Let one revision through. With the last approval it needs it is published, unless its time is to come.

    ``revision`` is the one that was looked at; ``rollout`` chooses how it is published ("" leaves it as it
    was asked for). Raises :class:`NotPermitted`, :class:`StaleChange`,
    :class:`Refused`, :class:`memory.domain.lifecycle.TransitionError`, and what :func:`publish` raises; then
    nothing is kept, not even the approval.
    """
    return _approve([change.pk], {change.pk: revision}, by=by, note=note, rollout=rollout)[0]


@transaction.atomic
def approve_batch(*, batch: UUID, by: Actor, note: str = "") -> list[ChangeRequest]:
    """:func:`approve_change` for all open requests of a batch in the actor's workspace: all or none.

    The number of queries does not grow with the requests. Raises as :func:`approve_change`, and
    :class:`Refused` when nothing of the batch is open.
    """
    rows = ChangeRequest.objects.filter(batch=batch, status="open")
    if by.workspace_id is not None:
        rows = rows.filter(workspace_id=by.workspace_id)
    revisions = dict(rows.order_by("pk").values_list("pk", "revision"))
    if not revisions:
        raise Refused("Nothing of this batch is open.")
    return _approve(list(revisions), revisions, by=by, note=note)


def _approve(
    ids: Sequence[int], revisions: Mapping[int, int], *, by: Actor, note: str, rollout: str = ""
) -> list[ChangeRequest]:
    changes, now = lock_changes(ids), timezone.now()
    for change in changes:
        check_may(by, "review_change", within=change.workspace_id)
    served = served_numbers(change.rule for change in changes if change.rule is not None)
    given = approvals_of(changes)
    for change in changes:
        _check_approval(change, revisions[change.pk], given[change.pk], served, by)
        if rollout:
            choose_rollout(change, rollout, given[change.pk], by)
    ChangeApproval.objects.bulk_create([_approval(change, by, note, now) for change in changes])
    standing = standing_approvals(changes)
    record_events(by=by, events=[_decided("approve_change", change, note) for change in changes])
    through = [change for change in changes if not lacks(change, standing[change.pk])]
    _close(through, "approve", by=by, reason=note, now=now)
    ready = [one for one in through if not one.publish_at or one.publish_at <= now]
    _keep_rollouts([one for one in changes if one not in ready])
    put_in_force(ready, by=by, reason=note)
    return changes


def _keep_rollouts(changes: Sequence[ChangeRequest]) -> None:
    """What was approved as a canary stays one, whatever the policy is when it is published."""
    tried = [one for one in changes if one.kind in SERVES and rollout_of(one) == "canary"]
    for change in tried:
        change.detail = change.detail | {TRIED_REVISION: change.revision}
    ChangeRequest.objects.bulk_update(tried, ["detail"])


def choose_rollout(change: ChangeRequest, rollout: str, given: Sequence[ChangeApproval], by: Actor) -> None:
    """Keep an approver's choice with a locked request; what others approved is not made bolder.

    Raises :class:`Refused`.
    """
    if change.rule is None or rollout == rollout_of(change):
        return
    if rollout == "all" and any(one.revision == change.revision for one in given):
        raise Refused("Others approved this as a canary: ask for it anew to serve it to all at once.")
    chosen = chosen_rollout(rollout, change.kind, change.rule, change.version, by)
    old, change.detail = rollout_of(change), change.detail | chosen
    change.save(update_fields=["detail"])
    record_event(
        by=by, workspace=change.workspace, verb="choose_rollout", subject=change, old={"rollout": old},
        new=chosen,
    )  # fmt: skip


def put_in_force(changes: Sequence[ChangeRequest], *, by: Actor, reason: str) -> None:
    """Publish approved requests whose time has come, with their rows locked. Raises as :func:`publish`."""
    if not changes:
        return
    for change in changes:
        check_change(change.status, "publish")
    rulings = [change for change in changes if change.kind == "ruling"]
    standing = standing_approvals(rulings)
    for change in rulings:  # those of rules are checked by the gate
        check_approved(change, standing[change.pk])
    of_rules = [change for change in changes if change.rule is not None]
    wanted = [publication_of(change, change.rule) for change in of_rules if change.rule is not None]
    for change, rule in zip(of_rules, publish(wanted, by=by, reason=reason), strict=True):
        change.rule = rule
    for change in rulings:
        publish_ruling(change=change, by=by)
    now = timezone.now()
    ChangeRequest.objects.filter(pk__in=[change.pk for change in changes]).update(
        status="published", published_at=now, updated_at=now, failure=""
    )
    for change in changes:
        change.status, change.published_at, change.failure = "published", now, ""
    _withdraw_rest([change for change in changes if change.kind in ENDS], by=by, now=now)


@transaction.atomic
def reject_change(*, change: ChangeRequest, by: Actor, reason: str) -> ChangeRequest:
    """Say no, with a reason; it can be opened again.

    Raises :class:`NotPermitted`, :class:`ReasonMissing`, :class:`memory.domain.lifecycle.TransitionError`.
    """
    check_may(by, "review_change", within=change.workspace_id)
    if not reason.strip():
        raise ReasonMissing("Say why it is rejected.")
    return _end(change, "reject", by=by, reason=reason)


@transaction.atomic
def withdraw_change(*, change: ChangeRequest, by: Actor, reason: str = "") -> ChangeRequest:
    """Take a wish back: its authors may, and who may reject it.

    Raises :class:`NotPermitted`, :class:`memory.domain.lifecycle.TransitionError`.
    """
    check_may(by, "draft_rule" if by.uuid in change.authors else "review_change", within=change.workspace_id)
    return _end(change, "withdraw", by=by, reason=reason)


@transaction.atomic
def reopen_change(*, change: ChangeRequest, by: Actor, reason: str = "") -> ChangeRequest:
    """Take up again what was rejected or withdrawn, as a new revision: it is looked at anew.

    Raises :class:`NotPermitted`, :class:`Refused` when another request for the same is undecided,
    :class:`memory.domain.lifecycle.TransitionError`.
    """
    check_may(by, "draft_rule", within=change.workspace_id)
    locked = lock_changes([change.pk])[0]
    locked.status = check_change(locked.status, "reopen")
    _check_alone(locked)
    locked.revision, locked.updated_at, locked.publish_at = locked.revision + 1, timezone.now(), None
    locked.decided_by, locked.decided_at, locked.decision_reason = "", None, ""
    locked.save(
        update_fields=["status", "revision", "updated_at", "publish_at", "decided_by", "decided_at",
                       "decision_reason"]
    )  # fmt: skip
    record_events(by=by, events=[_decided("reopen_change", locked, reason)])
    return locked


@transaction.atomic
def comment_on_change(*, change: ChangeRequest, text: str, by: Actor) -> ChangeComment:
    """Say something under a change; also once it is decided.

    Raises :class:`NotPermitted`, :class:`ReasonMissing` for an empty text.
    """
    check_may(by, "draft_rule" if may(by, "draft_rule") else "review_change", within=change.workspace_id)
    said = text.strip()[:MAX_TEXT]
    if not said:
        raise ReasonMissing("A comment has a text.")
    comment = ChangeComment.objects.create(
        change=change, author_kind=by.kind, author_name=by.name[:200], text=said, at=timezone.now()
    )
    record_event(
        by=by, workspace=change.workspace, verb="comment_on_change", subject=change, new={"text": said}
    )
    return comment


def approves_alone(change: ChangeRequest, by: Actor) -> bool:
    """Whether the actor may approve this change and their approval counts."""
    try:
        check_may(by, "review_change", within=change.workspace_id)
        check_counts(change, by)
    except (NotPermitted, Refused):
        return False
    return True


def check_counts(change: ChangeRequest, by: Actor) -> None:
    """Raise :class:`Refused` when the workspace's policy would not count this actor's approval."""
    check_approver(
        policy_of(change), kind=by.kind, uuid=by.uuid, may_publish=may(by, "publish_rule"),
        authors=change.authors,
    )  # fmt: skip


def policy_of(change: ChangeRequest) -> ChangePolicy:
    """The policy of the change's workspace; the strict default when it cannot be read."""
    return safe_policy(change.workspace.settings)


def lock_changes(ids: Sequence[int]) -> list[ChangeRequest]:
    """The requests as they are now, locked behind their rules, with ``rule`` and ``workspace`` loaded."""
    rows = ChangeRequest.objects.filter(pk__in=ids)
    rules = {rule.pk: rule for rule in lock_rules(pk for pk in rows.values_list("rule", flat=True) if pk)}
    changes = list(rows.select_related("workspace", "version").select_for_update(of=("self",)).order_by("pk"))
    for change in changes:
        if change.rule_id is not None:
            change.rule = rules[change.rule_id]
    return changes


def _check_approval(
    change: ChangeRequest, revision: int, given: Sequence[ChangeApproval], served: Mapping[int, int],
    by: Actor,
) -> None:  # fmt: skip
    check_change(change.status, "approve")
    if change.revision != revision:
        raise StaleChange(
            f"You looked at revision {revision}; meanwhile it was edited, and this is revision "
            f"{change.revision}. Look at it again."
        )
    check_counts(change, by)
    who = (change.revision, by.kind, by.uuid)
    if any((one.revision, one.actor_kind, one.actor_uuid) == who for one in given):
        raise Refused("You have approved this revision already.")
    if change.rule is not None:
        check_base(change, change.rule, served)


def check_base(change: ChangeRequest, rule: Rule, served: Mapping[int, int]) -> None:
    """Raise :class:`StaleChange` when the rule moved on since the change was written."""
    try:
        check_current(base=(change.base_version, change.base_status), now=state_of(rule, served))
    except Refused as refusal:
        raise StaleChange(str(refusal)) from refusal


def _approval(change: ChangeRequest, by: Actor, note: str, now: datetime) -> ChangeApproval:
    return ChangeApproval(
        change=change, revision=change.revision, actor_kind=by.kind, actor_uuid=by.uuid,
        actor_name=by.name[:200], note=note.strip()[:MAX_TEXT], at=now,
    )  # fmt: skip


def _close(changes: Sequence[ChangeRequest], step: str, *, by: Actor, reason: str, now: datetime) -> None:
    """Set the status after a decision, who took it and why."""
    if not changes:
        return
    reason = reason.strip()[:MAX_TEXT]
    (status,) = {check_change(change.status, step) for change in changes}
    ChangeRequest.objects.filter(pk__in=[change.pk for change in changes]).update(
        status=status, decided_by=by.name[:200], decided_at=now, decision_reason=reason, updated_at=now
    )
    for change in changes:
        change.status, change.decided_by, change.decided_at = status, by.name[:200], now
        change.decision_reason, change.updated_at = reason, now


def _end(change: ChangeRequest, step: str, *, by: Actor, reason: str) -> ChangeRequest:
    locked = lock_changes([change.pk])
    _close(locked, step, by=by, reason=reason, now=timezone.now())
    record_events(by=by, events=[_decided(f"{step}_change", locked[0], reason)])
    return locked[0]


def _withdraw_rest(ended: Sequence[ChangeRequest], *, by: Actor, now: datetime) -> None:
    """Of a rule that is over for good nothing else can be asked. What is scheduled fails loudly by itself."""
    if not ended:
        return
    rest = ChangeRequest.objects.select_related("workspace").filter(
        rule__in=[change.rule_id for change in ended], status__in=("open", "failed")
    )
    kept = [change for change in rest if change.kind != "delete"]
    _close_each(kept, by=by, now=now)


def _close_each(changes: Sequence[ChangeRequest], *, by: Actor, now: datetime) -> None:
    reason = "The rule is not used any more."
    _close(changes, "withdraw", by=by, reason=reason, now=now)
    record_events(by=by, events=[_decided("withdraw_change", change, reason) for change in changes])


def _check_alone(change: ChangeRequest) -> None:
    from_same = ChangeRequest.objects.undecided().filter(rule=change.rule_id).exclude(pk=change.pk)
    if change.rule_id is not None and any(_same(other.kind, change.kind) for other in from_same):
        raise Refused("Another request for the same rule is undecided: decide on it first.")


def _same(one: str, other: str) -> bool:
    return one == other or {one, other} <= SERVES


def _decided(verb: str, change: ChangeRequest, reason: str) -> Event:
    return Event(
        workspace=change.workspace, verb=verb, subject=change,
        new={"kind": change.kind, "revision": change.revision}, reason=reason.strip()[:MAX_TEXT],
    )  # fmt: skip
