"""Which approvals count: those of people and keys that may still give them."""

from collections.abc import Collection, Iterable

from corrections.models import ChangeApproval, ChangeRequest
from memory.queries.members import who_still_may


def approvals_of(changes: Collection[ChangeRequest]) -> dict[int, list[ChangeApproval]]:
    """All approvals of some changes by the change's id, oldest first. One query."""
    found: dict[int, list[ChangeApproval]] = {change.pk: [] for change in changes}
    if found:
        for approval in ChangeApproval.objects.filter(change__in=list(found)):
            found[approval.change_id].append(approval)
    return found


def standing_approvals(changes: Collection[ChangeRequest]) -> dict[int, list[ChangeApproval]]:
    """:func:`approvals_of` without those of whoever may not review any more.

    The number of queries does not grow with the changes of a workspace.
    """
    given = approvals_of(changes)
    for workspace_id in sorted({change.workspace_id for change in changes}):
        mine = [change.pk for change in changes if change.workspace_id == workspace_id]
        standing = _standing(workspace_id, [approval for pk in mine for approval in given[pk]])
        for pk in mine:
            given[pk] = [approval for approval in given[pk] if approval.pk in standing]
    return given


def _standing(workspace_id: int, approvals: Iterable[ChangeApproval]) -> set[int]:
    givers = {approval.pk: (approval.actor_kind, approval.actor_uuid) for approval in approvals}
    able = who_still_may("review_change", workspace_id=workspace_id, actors=givers.values())
    return {pk for pk, giver in givers.items() if giver in able}
