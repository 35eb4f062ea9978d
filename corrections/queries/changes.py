"""Change requests: lists, and one with everything a decision needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from corrections.domain.changes import SERVES, UNDECIDED, check_current, missing_approvals, safe_policy
from corrections.domain.diff import Change, diff_documents
from corrections.domain.lifecycle import Refused
from corrections.domain.threeway import Side, compare_three
from corrections.models import ChangeApproval, ChangeComment, ChangeRequest, Rule, RuleVersion
from corrections.queries.approvals import standing_approvals


def change_rows(workspace_id: int) -> QuerySet[ChangeRequest]:
    """Every request of a workspace with its rule and versions, newest first."""
    rows = ChangeRequest.objects.filter(workspace_id=workspace_id)
    return rows.select_related("workspace", "rule", "rule__live_version", "rule__latest_version", "version")


def list_changes(
    *, workspace_id: int, status: str = "", kind: str = "", rule: UUID | None = None,
    requested_by: str = "", q: str = "", batch: UUID | None = None,
) -> QuerySet[ChangeRequest]:  # fmt: skip
    """The filtered list. ``status`` is one, ``undecided`` for what waits, ``scheduled``, or "" for all.

    ``requested_by`` is a name; ``q`` looks in titles.
    """
    rows = change_rows(workspace_id)
    if status == "undecided":
        rows = rows.filter(status__in=UNDECIDED)
    elif status == "scheduled":
        rows = rows.filter(status="approved", publish_at__isnull=False)
    elif status:
        rows = rows.filter(status=status)
    if kind:
        rows = rows.filter(kind=kind)
    if rule is not None:
        rows = rows.filter(rule__uuid=rule)
    if requested_by:
        rows = rows.filter(requested_by=requested_by)
    if batch is not None:
        rows = rows.filter(batch=batch)
    return rows.filter(Q(title__icontains=q)) if q else rows


def get_change(*, workspace_id: int, uuid: UUID) -> ChangeRequest | None:
    """One request of the workspace, or None."""
    return change_rows(workspace_id).filter(uuid=uuid).first()


def undecided_of(rule: Rule) -> list[ChangeRequest]:
    """What is asked of a rule and not decided yet, newest first."""
    return list(change_rows(rule.workspace_id).filter(rule=rule, status__in=UNDECIDED))


def list_failed(workspace_id: int, *, limit: int = 5) -> list[ChangeRequest]:
    """Scheduled changes that could not be published, newest first."""
    return list(ChangeRequest.objects.filter(workspace_id=workspace_id, status="failed")[:limit])


@dataclass(frozen=True)
class ChangePicture:
    """A request as a person decides on it.

    ``changes`` lead from what is served (or was, when it was published) to what would be. ``stale`` says why
    it cannot be published as it is ("" when it can); ``sides`` are the three documents then.
    """

    change: ChangeRequest
    old: dict[str, Any]
    new: dict[str, Any]
    changes: list[Change]
    approvals: list[ChangeApproval]
    comments: list[ChangeComment]
    missing: int
    stale: str
    sides: list[Side]


def picture_of(change: ChangeRequest) -> ChangePicture:
    """Everything about one request. A constant number of queries."""
    rule = change.rule
    numbers = [change.base_version] if change.base_version else []
    bases = {version.number: version for version in _versions(rule, numbers)}
    base = bases.get(change.base_version or 0)
    old = base.body if base else {}
    new = change.version.body if change.version else {}
    stale = why_stale(change)
    served = rule.live_version.body if rule and rule.live_version else old  # only the status moved
    approvals, comments = list(change.approvals.all()), list(change.comments.all())
    return ChangePicture(
        change=change, old=old, new=new,
        changes=diff_documents(old, new) if change.kind in SERVES else [],
        approvals=approvals, comments=comments, missing=lacks(change), stale=stale,
        sides=compare_three(old, served, new) if stale and change.kind in SERVES else [],
    )  # fmt: skip


def why_stale(change: ChangeRequest) -> str:
    """Why an undecided request is not for what is served now; "" when it is."""
    rule = change.rule
    if rule is None or change.status not in UNDECIDED:
        return ""
    live = rule.live_version.number if rule.live_version else None
    try:
        check_current(base=(change.base_version, change.base_status), now=(live, str(rule.status)))
    except Refused as refusal:
        return str(refusal)
    return ""


def lacks(change: ChangeRequest, standing: Sequence[ChangeApproval] | None = None) -> int:
    """How many approvals the present revision lacks under the policy as it is now.

    ``standing`` are those of actors who may still review; read when they are not given.
    """
    approvals = standing_approvals([change])[change.pk] if standing is None else standing
    policy = safe_policy(change.workspace.settings)
    return missing_approvals(policy, approvals=approvals, revision=change.revision, authors=change.authors)


def _versions(rule: Rule | None, numbers: Sequence[int]) -> list[RuleVersion]:
    return list(rule.versions.filter(number__in=numbers)) if rule and numbers else []
