"""The audit trail."""

from typing import ClassVar

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.access import workspace_of
from memory.api.filters import AuditFilter
from memory.api.resources import RowList, describes
from memory.api.shapes import AuditEventSerializer
from memory.models import AuditEvent
from memory.queries.resources import audit_rows
from memory.queries.workspaces import get_workspace


class AuditTrail(RowList[AuditEvent]):
    """Who did what."""

    actions: ClassVar = {"GET": "see_audit"}
    queryset = AuditEvent.objects.none()
    serializer_class = AuditEventSerializer
    filterset_class = AuditFilter

    def rows(self) -> QuerySet[AuditEvent]:
        """The workspace's events."""
        return audit_rows(get_workspace(workspace_of(self.request)).uuid)

    @describes("audit", "List audit events")
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()
