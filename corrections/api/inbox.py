"""The review inbox over the API: the same list and the same decisions as the page."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions.deciding import comment_on_change
from corrections.actions.inbox import NoSuchMemberError, assign_items, comment_on_item
from corrections.actions.inbox_decisions import Refusal, decide_items, verbs_of
from corrections.api.inbox_shapes import (
    AssignedSerializer,
    AssignItemsSerializer,
    DecidedSerializer,
    DecideItemsSerializer,
    ItemCommentSerializer,
    ItemPageSerializer,
    ItemSerializer,
    SayCommentSerializer,
)
from corrections.models import ChangeRequest
from corrections.queries.inbox import (
    InboxFilters,
    comments_on,
    count_items,
    find_item,
    find_items,
    list_items,
)
from corrections.queries.inbox_kinds import KINDS, Item
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Unprocessable
from memory.api.idempotency import idempotent
from memory.api.resources import describes, next_address, read, text_filter, text_params, writes


class ItemList(APIView):
    """What waits for a person."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "review",
        "List what waits for a person",
        {200: ItemPageSerializer},
        parameters=[
            text_filter("kind", "Only items of this kind.", list(KINDS)),
            text_filter("assigned", "`nobody`: only items that nobody looks at yet.", ["nobody"]),
            text_filter("q", "Looks in the titles."),
            text_filter("cursor", "Where the page before ended."),
        ],
    )
    def get(self, request: Request) -> Response:
        """Newest first: rewrites, proposals, changes, conflicts, alerts, changed tools, stale rules."""
        asked, workspace_id = (
            text_params(request, "kind", "assigned", "q", "cursor"),
            workspace_of(request),
        )
        if asked["kind"] and asked["kind"] not in KINDS:
            detail = f"One of {', '.join(KINDS)}."
            raise Unprocessable("There is no such kind.", [{"field": "kind", "detail": detail}])
        assigned = "nobody" if asked["assigned"] == "nobody" else ""
        filters = InboxFilters(kind=asked["kind"], assigned=assigned, q=asked["q"][:200])
        page = list_items(workspace_id, filters, asked["cursor"])
        answer: dict[str, Any] = {"next": next_address(request, page.next_cursor)}
        answer |= {"results": ItemSerializer(page.rows, many=True).data, "counts": count_items(workspace_id)}
        return Response(answer)


class DecideItems(APIView):
    """Several items at once."""

    actions: ClassVar = {"POST": "sort_inbox"}

    @writes("review", "Decide on several items", {200: DecidedSerializer}, request=DecideItemsSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Each by itself, all with the one reason. What is refused comes back, the rest is done."""
        form, workspace_id = read(DecideItemsSerializer, request), workspace_of(request)
        seen = {(row["kind"], row["uuid"]): row["revision"] for row in form["items"]}
        found = find_items(workspace_id, list(seen))
        able = [(item, seen[item.kind, item.uuid]) for item in found if form["do"] in verbs_of(item)]
        refused = decide_items(items=able, do=form["do"], by=actor_of(request), reason=form["reason"])
        kept = {(item.kind, item.uuid) for item, _revision in able}
        rows = [
            {"kind": kind, "uuid": uuid, "detail": "It does not wait here, or is decided on its own page."}
            for kind, uuid in seen
            if (kind, uuid) not in kept
        ]
        rows += [refusal_row(refusal) for refusal in refused]
        return Response({"decided": len(able) - len(refused), "refused": rows})


def refusal_row(refusal: Refusal) -> dict[str, Any]:
    """An item that was refused, as the answer lists it."""
    return {"kind": refusal.item.kind, "uuid": refusal.item.uuid, "detail": refusal.why}


class AssignItems(APIView):
    """Who looks at what."""

    actions: ClassVar = {"POST": "sort_inbox"}

    @writes("review", "Give items to a member", {200: AssignedSerializer}, request=AssignItemsSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Items that do not wait any more are left out."""
        form = read(AssignItemsSerializer, request)
        chosen = [(row["kind"], row["uuid"]) for row in form["items"]]
        try:
            items = assign_items(
                workspace_id=workspace_of(request), chosen=chosen, assignee=form["assignee"],
                by=actor_of(request),
            )  # fmt: skip
        except NoSuchMemberError as error:
            raise Unprocessable(str(error), [{"field": "assignee", "detail": str(error)}]) from error
        return Response({"assigned": len(items)})


class ItemComments(APIView):
    """What people said about an item."""

    actions: ClassVar = {"GET": "look", "POST": "sort_inbox"}

    @describes("review", "List the comments on an item", {200: ItemCommentSerializer(many=True)})
    def get(self, request: Request, kind: str, uuid: UUID) -> Response:
        """Oldest first."""
        item = item_of(request, kind, uuid)
        rows = comments_on(workspace_of(request), item)
        return Response(ItemCommentSerializer(rows, many=True).data)

    @writes(
        "review", "Comment on an item", {201: ItemCommentSerializer(many=True)}, request=SayCommentSerializer
    )
    @idempotent
    def post(self, request: Request, kind: str, uuid: UUID) -> Response:
        """All comments, the new one last."""
        item, form = item_of(request, kind, uuid), read(SayCommentSerializer, request)
        text, by = form["text"], actor_of(request)
        try:
            if isinstance(item.row, ChangeRequest):
                comment_on_change(change=item.row, text=text, by=by)
            else:
                comment_on_item(item=item, workspace_id=workspace_of(request), text=text, by=by)
        except ValueError as error:  # an empty text, as either action says it
            raise Unprocessable(str(error), [{"field": "text", "detail": str(error)}]) from error
        rows = comments_on(workspace_of(request), item)
        return Response(ItemCommentSerializer(rows, many=True).data, status=status.HTTP_201_CREATED)


def item_of(request: Request, kind: str, uuid: UUID) -> Item:
    """The item that still waits in the key's workspace, or 404."""
    item = find_item(workspace_of(request), kind, uuid)
    if item is None:
        raise Http404
    return item
