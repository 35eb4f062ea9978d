"""Change requests over the API: the same actions as the pages."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from corrections.actions import changes as actions
from corrections.api.change_shapes import (
    AskSerializer,
    ChangePictureSerializer,
    ChangePolicySerializer,
    ChangeRequestSerializer,
    CommentSerializer,
    NoSerializer,
    RevisionSerializer,
    SaySerializer,
    WhenSerializer,
    YesSerializer,
)
from corrections.api.errors import refusals
from corrections.api.rules import find_rule
from corrections.domain.changes import CHANGE_STATUSES, KINDS, safe_policy
from corrections.models import ChangeRequest
from corrections.queries import changes as queries
from memory.api.access import actor_of, workspace_of
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, text_filter, text_params, writes
from memory.api.shapes import ReasonSerializer
from memory.queries.workspaces import get_workspace


def find_change(request: Request, uuid: UUID) -> ChangeRequest:
    """The request in the key's workspace, or 404."""
    return find(queries.change_rows(workspace_of(request)), uuid)


def body_of(change: ChangeRequest) -> dict[str, Any]:
    """The request as it is now."""
    return dict(ChangeRequestSerializer(find(queries.change_rows(change.workspace_id), change.uuid)).data)


class ChangeList(RowList[ChangeRequest]):
    """All change requests of the workspace; new wishes."""

    actions: ClassVar = {"GET": "look", "POST": "draft_rule"}
    queryset = ChangeRequest.objects.none()
    serializer_class = ChangeRequestSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[ChangeRequest]:
        """The filtered list."""
        asked = text_params(self.request, "status", "kind", "rule", "mine", "q")
        mine = actor_of(self.request).name if asked.pop("mine") in ("1", "true") else ""
        rule = asked.pop("rule")
        try:
            chosen = UUID(rule) if rule else None
        except ValueError:
            return ChangeRequest.objects.none()
        return queries.list_changes(
            workspace_id=workspace_of(self.request), rule=chosen, requested_by=mine, **asked
        )

    @describes(
        "change-requests",
        "List change requests",
        parameters=[
            text_filter("status", "One status, or what waits.", [*CHANGE_STATUSES, "undecided", "scheduled"]),
            text_filter("kind", "Only this kind.", KINDS),
            text_filter("rule", "Only of the rule with this uuid."),
            text_filter("mine", "true: only those this key asked for."),
            text_filter("q", "Looks in titles."),
        ],
    )
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()

    @writes("change-requests", "Ask for a change", {201: ChangeRequestSerializer}, request=AskSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """A wish; a request for the same that is undecided is found, not doubled."""
        form = read(AskSerializer, request)
        rule = find_rule(request, form.pop("rule"))
        with refusals():
            change = actions.request_change(rule=rule, by=actor_of(request), **form)
        return Response(body_of(change), status=status.HTTP_201_CREATED)


class ChangeDetail(APIView):
    """One change request."""

    actions: ClassVar = {"GET": "look"}

    @describes("change-requests", "Get a change request", {200: ChangePictureSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With the difference it makes, its approvals and comments, and three documents when it is stale."""
        return Response(ChangePictureSerializer(queries.picture_of(find_change(request, uuid))).data)


class ChangeStep(APIView):
    """One decision; ``take`` does it."""

    def decide(
        self, request: Request, uuid: UUID, act: Callable[..., Any], shape: type[Serializer[Any]]
    ) -> Response:
        """Call the action; 409 with the three documents when the request is out of date."""
        change, form = find_change(request, uuid), read(shape, request)
        with refusals(change=change):
            act(change=change, by=actor_of(request), **form)
        return Response(body_of(change))


class ApproveChange(ChangeStep):
    """A yes."""

    actions: ClassVar = {"POST": "review_change"}

    @writes("change-requests", "Approve a change", {200: ChangeRequestSerializer}, request=YesSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Published with the last approval it needs, unless its time is to come. 409 when it is stale."""
        return self.decide(request, uuid, actions.approve_change, YesSerializer)


class RejectChange(ChangeStep):
    """A no."""

    actions: ClassVar = {"POST": "review_change"}

    @writes("change-requests", "Reject a change", {200: ChangeRequestSerializer}, request=NoSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """It needs a reason."""
        return self.decide(request, uuid, actions.reject_change, NoSerializer)


class WithdrawChange(ChangeStep):
    """Taken back."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes("change-requests", "Withdraw a change", {200: ChangeRequestSerializer}, request=ReasonSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """By its authors, and by who may reject it."""
        return self.decide(request, uuid, actions.withdraw_change, ReasonSerializer)


class ReopenChange(ChangeStep):
    """Taken up again."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes("change-requests", "Reopen a change", {200: ChangeRequestSerializer}, request=ReasonSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """What was rejected or withdrawn, as a new revision."""
        return self.decide(request, uuid, actions.reopen_change, ReasonSerializer)


class RebaseChange(ChangeStep):
    """Brought up to date."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes("change-requests", "Rebase a change", {200: ChangeRequestSerializer}, request=RevisionSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """On top of what is served now, keeping what it wants; a new revision."""
        return self.decide(request, uuid, actions.rebase_change, RevisionSerializer)


class ScheduleChange(ChangeStep):
    """Given a time."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes("change-requests", "Schedule a change", {200: ChangeRequestSerializer}, request=WhenSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """When it is published once approved; null: at once. Earlier approvals stop counting."""
        return self.decide(request, uuid, actions.schedule_change, WhenSerializer)


class CommentOnChange(APIView):
    """A word about a change."""

    actions: ClassVar = {"POST": "review_change"}

    @writes("change-requests", "Comment on a change", {201: CommentSerializer}, request=SaySerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Shown under the change."""
        change, form = find_change(request, uuid), read(SaySerializer, request)
        with refusals():
            comment = actions.comment_on_change(change=change, by=actor_of(request), **form)
        return Response(CommentSerializer(comment).data, status=status.HTTP_201_CREATED)


class ChangePolicy(APIView):
    """How the workspace approves changes."""

    actions: ClassVar = {"GET": "look", "PATCH": "manage_workspace"}

    @describes("change-requests", "Get the policy of changes", {200: ChangePolicySerializer})
    def get(self, request: Request) -> Response:
        """The settings, and the defaults of those that nobody set."""
        return Response(msgspec.to_builtins(safe_policy(get_workspace(workspace_of(request)).settings)))

    @writes(
        "change-requests", "Change the policy of changes", {200: ChangePolicySerializer},
        request=ChangePolicySerializer,
    )  # fmt: skip
    @idempotent
    def patch(self, request: Request) -> Response:
        """What is not sent stays. A key may make it stricter, not looser."""
        form = read(ChangePolicySerializer, request)
        with refusals():
            policy = actions.set_change_policy(
                workspace_id=workspace_of(request), changes=form, by=actor_of(request)
            )
        return Response(msgspec.to_builtins(policy))
