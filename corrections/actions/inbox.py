"""Sorting the review inbox: who looks at what, and what people say about an item."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from corrections.models import Assignment, ItemComment
from corrections.queries.inbox import find_items
from corrections.queries.inbox_kinds import Item
from memory.actions import record_event
from memory.domain.access import Actor, check_may
from memory.queries.members import find_member
from memory.queries.workspaces import get_workspace

MAX_CHOSEN = 50
MAX_COMMENT = 4_000


class NoSuchMemberError(ValueError):
    """Items can only be given to members of the workspace."""


class EmptyCommentError(ValueError):
    """A comment says something."""


@transaction.atomic
def assign_items(
    *, workspace_id: int, chosen: Sequence[tuple[str, UUID]], assignee: UUID | None, by: Actor
) -> list[Item]:
    """Give items to a member (the uuid of the user), or to nobody; those that were still there.

    At most ``MAX_CHOSEN`` at a time. Raises :class:`NotPermitted`, :class:`NoSuchMemberError`.
    """
    check_may(by, "sort_inbox", within=workspace_id)
    member = find_member(workspace_id=workspace_id, user=assignee) if assignee else None
    if assignee and member is None:
        raise NoSuchMemberError("There is no such member in this workspace.")
    items = find_items(workspace_id, chosen[:MAX_CHOSEN])
    workspace, now = get_workspace(workspace_id), timezone.now()
    for item in items:
        where: dict[str, Any] = {"workspace": workspace, "item_kind": item.kind, "item_uuid": item.uuid}
        if member is None:
            Assignment.objects.filter(**where).delete()
        else:
            given = {"assignee": member, "assigned_by": by.name[:200], "assigned_at": now}
            Assignment.objects.update_or_create(**where, defaults=given)
        record_event(
            by=by, workspace=workspace, verb="assign_item", subject=item.row,
            old={"assignee": item.assignee},
            new={"assignee": member.user.get_username() if member else "", "kind": item.kind},
        )  # fmt: skip
    return items


@transaction.atomic
def comment_on_item(*, item: Item, workspace_id: int, text: str, by: Actor) -> None:
    """Say something about an item; it decides nothing. Raises :class:`NotPermitted`, EmptyCommentError."""
    check_may(by, "sort_inbox", within=workspace_id)
    said = text.strip()[:MAX_COMMENT]
    if not said:
        raise EmptyCommentError("Write what you want to say.")
    workspace = get_workspace(workspace_id)
    ItemComment.objects.create(
        workspace=workspace, item_kind=item.kind, item_uuid=item.uuid, author_name=by.name[:200], text=said,
        at=timezone.now(),
    )  # fmt: skip
    record_event(by=by, workspace=workspace, verb="comment_on_item", subject=item.row, new={"text": said})
