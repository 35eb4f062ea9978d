"""Changed tools: what hangs on them, and deciding about it in bulk."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions.impacts import Decided, decide_impact, undo_impact
from corrections.api.errors import refusals
from corrections.api.impact_shapes import (
    DecideImpactSerializer,
    ImpactDecidedSerializer,
    ImpactSerializer,
    ImpactViewSerializer,
    UndoImpactSerializer,
)
from corrections.models import ToolImpact
from corrections.queries.impacts import get_impact, impact_view, list_impacts
from memory.api.access import actor_of, workspace_of
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, text_filter, text_params, writes
from memory.queries.resources import tool_rows


def find_impact(request: Request, uuid: UUID) -> ToolImpact:
    """The impact in the key's workspace, or 404."""
    impact = get_impact(workspace_id=workspace_of(request), uuid=uuid)
    if impact is None:
        raise Http404
    return impact


class ImpactList(RowList[ToolImpact]):
    """Changed tools of the workspace."""

    actions: ClassVar = {"GET": "look"}
    queryset = ToolImpact.objects.none()
    serializer_class = ImpactSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[ToolImpact]:
        """All, or the open or closed ones."""
        asked = text_params(self.request, "status")["status"]
        is_open = {"open": True, "closed": False}.get(asked)
        return list_impacts(workspace_id=workspace_of(self.request), is_open=is_open)

    @describes(
        "tools", "List changed tools",
        parameters=[text_filter("status", "Those that wait for a decision, or not.", ["open", "closed"])],
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class ToolImpacts(RowList[ToolImpact]):
    """The changes of one tool."""

    actions: ClassVar = {"GET": "look"}
    queryset = ToolImpact.objects.none()
    serializer_class = ImpactSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[ToolImpact]:
        """Those of the tool in the URL."""
        workspace_id = workspace_of(self.request)
        tool = find(tool_rows(workspace_id), self.kwargs["uuid"])
        return list_impacts(workspace_id=workspace_id, tool=tool.uuid)

    @describes("tools", "List the impacts of a tool's changes")
    def get(self, request: Request, uuid: UUID) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class ImpactDetail(APIView):
    """One change of a tool."""

    actions: ClassVar = {"GET": "look"}

    @describes("tools", "Get what a tool's change affects", {200: ImpactViewSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Rules and validators bound to the tool with the changed fields they use; the number of paths."""
        return Response(ImpactViewSerializer(impact_view(find_impact(request, uuid))).data)


class DecideImpact(APIView):
    """One action for all rules."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes(
        "tools", "Decide about a changed tool", {200: ImpactDecidedSerializer, 202: ImpactDecidedSerializer},
        request=DecideImpactSerializer,
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Disable, look again, rebind or keep. 202 while change requests wait; 409 when it was closed."""
        impact, form = find_impact(request, uuid), read(DecideImpactSerializer, request)
        with refusals():
            result = decide_impact(impact=impact, by=actor_of(request), **form)
        return decided_answer(result)


class UndoImpact(APIView):
    """The way back from disabling."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes(
        "tools", "Serve again what was disabled for a changed tool",
        {200: ImpactDecidedSerializer, 202: ImpactDecidedSerializer}, request=UndoImpactSerializer,
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Rules that somebody has touched since are left alone. 409 when there is nothing to take back."""
        impact, form = find_impact(request, uuid), read(UndoImpactSerializer, request)
        with refusals():
            result = undo_impact(impact=impact, by=actor_of(request), **form)
        return decided_answer(result)


def decided_answer(result: Decided) -> Response:
    """200 when all is done, 202 while something waits for an approval."""
    document: dict[str, Any] = {
        "impact": result.impact, "decision": result.decision, "rules": [rule.uuid for rule in result.done],
        "skipped": [{"rule": rule.uuid, "why": why} for rule, why in result.skipped],
        "batch": result.batch, "waits": result.waits,
    }  # fmt: skip
    code = status.HTTP_202_ACCEPTED if result.waits else status.HTTP_200_OK
    return Response(ImpactDecidedSerializer(document).data, status=code)
