"""Alerts: the inbox, and pausing or resuming what a path does by itself."""

from typing import ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import alerts as actions
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict
from memory.api.filters import AlertFilter
from memory.api.idempotency import idempotent
from memory.api.paths import found
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.rewrite_shapes import (
    AlertSerializer,
    AutomaticAnswerSerializer,
    AutomaticSerializer,
    CloseAlertSerializer,
)
from memory.models import Alert
from memory.queries.rewrites import alert_rows


class AlertList(RowList[Alert]):
    """What people should look at."""

    actions: ClassVar = {"GET": "look"}
    queryset = Alert.objects.none()
    serializer_class = AlertSerializer
    filterset_class = AlertFilter

    def rows(self) -> QuerySet[Alert]:
        """The workspace's alerts."""
        return alert_rows(workspace_of(self.request))

    @describes("alerts", "List alerts")
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class CloseAlert(APIView):
    """Somebody looked."""

    actions: ClassVar = {"POST": "handle_alert"}

    @writes("alerts", "Close an alert", {200: AlertSerializer}, request=CloseAlertSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """With `resume`, rewriting of its path goes on. 409 when somebody closed it before."""
        alert = find(alert_rows(workspace_of(request)), uuid)
        form = read(CloseAlertSerializer, request)
        try:
            return Response(
                AlertSerializer(actions.close_alert(alert=alert, by=actor_of(request), **form)).data
            )
        except actions.AlreadyClosedError as error:
            raise Conflict(str(error)) from error


class AutomaticRewriting(APIView):
    """Whether a path may be rewritten without a person."""

    actions: ClassVar = {"POST": "handle_alert"}

    @writes(
        "alerts", "Pause or resume automatic rewriting", {200: AutomaticAnswerSerializer},
        request=AutomaticSerializer,
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Of all versions of the path. Resuming closes its open storm alert."""
        lineage = found(request, uuid).lineage
        form, by = read(AutomaticSerializer, request), actor_of(request)
        if form["paused"]:
            lineage = actions.pause_rewriting(lineage=lineage, reason=form["reason"], by=by)
        else:
            lineage = actions.resume_rewriting(lineage=lineage, reason=form["reason"], by=by)
        return Response({"paused": lineage.automatic_paused_at is not None, "reason": lineage.pause_reason})
