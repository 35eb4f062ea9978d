"""Tools: they appear by themselves; people add words."""

from typing import ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.tools import describe_tool
from memory.api.access import actor_of, workspace_of
from memory.api.filters import ToolFilter
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.shapes import ToolDescriptionSerializer, ToolSchemaSerializer, ToolSerializer
from memory.models import Tool, ToolSchema
from memory.queries.resources import schema_rows, tool_rows


class ToolList(RowList[Tool]):
    """Every tool that agents called."""

    actions: ClassVar = {"GET": "look"}
    queryset = Tool.objects.none()
    serializer_class = ToolSerializer
    filterset_class = ToolFilter

    def rows(self) -> QuerySet[Tool]:
        """The workspace's tools."""
        return tool_rows(workspace_of(self.request))

    @describes("tools", "List tools")
    def get(self, request: Request) -> Response:
        """The tool that appeared last first, cursor-paged."""
        return self.listing()


class ToolDetail(APIView):
    """One tool."""

    actions: ClassVar = {"GET": "look", "PATCH": "edit_tool"}

    @describes("tools", "Get a tool", {200: ToolSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With the schema that its good calls show."""
        return Response(ToolSerializer(find(tool_rows(workspace_of(request)), uuid)).data)

    @writes("tools", "Describe a tool", {200: ToolSerializer}, request=ToolDescriptionSerializer)
    @idempotent
    def patch(self, request: Request, uuid: UUID) -> Response:
        """Only the description can be changed; the rest is what was seen."""
        tool = find(tool_rows(workspace_of(request)), uuid)
        form = read(ToolDescriptionSerializer, request)
        return Response(ToolSerializer(describe_tool(tool=tool, by=actor_of(request), **form)).data)


class ToolSchemaList(RowList[ToolSchema]):
    """The versions of a tool's input schema."""

    actions: ClassVar = {"GET": "look"}
    queryset = ToolSchema.objects.none()
    serializer_class = ToolSchemaSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[ToolSchema]:
        """The versions of the tool in the URL."""
        workspace_id = workspace_of(self.request)
        return schema_rows(workspace_id, find(tool_rows(workspace_id), self.kwargs["uuid"]).uuid)

    @describes("tools", "List the schema versions of a tool")
    def get(self, request: Request, uuid: UUID) -> Response:
        """Newest first, with what changed in each."""
        return self.listing()
