"""Conflicts, scans and rulings over the API: the same actions as the pages."""

from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions.arbitration import Said, end_ruling, rule_conflict
from corrections.actions.scanning import scan_everything
from corrections.api.conflict_shapes import (
    AskedRulingSerializer,
    ConflictSerializer,
    EndRulingSerializer,
    RulingSerializer,
    SaidSerializer,
    ScanSerializer,
)
from corrections.api.errors import refusals
from corrections.models import FINDINGS, ChangeRequest, Conflict, Ruling
from corrections.queries import conflicts as queries
from corrections.queries.rulings import get_ruling, list_rulings
from memory.api.access import actor_of, workspace_of
from memory.api.idempotency import idempotent
from memory.api.pagination import NewestFirst
from memory.api.resources import RowList, describes, read, text_filter, text_params, writes
from memory.api.shapes import ReasonSerializer


class MostFrequent(NewestFirst):
    """Proven ones first, the most frequent first, then the newest."""

    ordering = ("-rank", "-id")


class ConflictList(RowList[Conflict]):
    """What the analyser found."""

    actions: ClassVar = {"GET": "look"}
    queryset = Conflict.objects.none()
    serializer_class = ConflictSerializer
    pagination_class = MostFrequent
    filter_backends = ()

    def rows(self) -> QuerySet[Conflict]:
        """The filtered list."""
        asked = text_params(self.request, "status", "kind", "verdict", "tool")
        filters = queries.ConflictFilters(**asked)
        rule = text_params(self.request, "rule")["rule"]
        if rule:
            filters = replace(filters, rule=_uuid(rule))
        return queries.list_conflicts(workspace_of(self.request), filters)

    @describes(
        "conflicts",
        "List conflicts",
        parameters=[
            text_filter("status", "Only those in this status.", list(queries.STATUSES)),
            text_filter("kind", "Only findings of this kind.", list(FINDINGS)),
            text_filter("verdict", "Proven with a witness, or not proven.", list(queries.VERDICTS)),
            text_filter("tool", "Only findings about this tool."),
            text_filter("rule", "Only findings about the rule with this uuid."),
        ],
    )
    def get(self, request: Request) -> Response:
        """Those with a witness first, the most frequent first; cursor-paged."""
        return self.listing()


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None


def find_conflict(request: Request, uuid: UUID) -> Conflict:
    """The finding in the key's workspace, or 404."""
    conflict = queries.get_conflict(workspace_id=workspace_of(request), uuid=uuid)
    if conflict is None:
        raise Http404
    return conflict


class ConflictDetail(APIView):
    """One finding."""

    actions: ClassVar = {"GET": "look"}

    @describes("conflicts", "Get a conflict", {200: ConflictSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With its witness, and what each rule alone and both together make of it."""
        return Response(ConflictSerializer(find_conflict(request, uuid)).data)


class RuleConflict(APIView):
    """A person's word."""

    actions: ClassVar = {"POST": "rule_conflict"}

    @writes(
        "conflicts", "Rule on a conflict", {200: AskedRulingSerializer, 202: AskedRulingSerializer},
        request=SaidSerializer, operation_id="conflicts_rule",
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """200 when the ruling is in force, 202 while its change request waits for approval."""
        conflict, form = find_conflict(request, uuid), read(SaidSerializer, request)
        with refusals():
            change = rule_conflict(conflict=conflict, said=Said(**form), by=actor_of(request))
        return asked(change)


def asked(change: ChangeRequest) -> Response:
    """What became of the wish."""
    done = change.status == "published"
    code = status.HTTP_200_OK if done else status.HTTP_202_ACCEPTED
    return Response(AskedRulingSerializer(change).data, status=code)


class ScanConflicts(APIView):
    """Everything anew."""

    actions: ClassVar = {"POST": "rule_conflict"}

    @writes(
        "conflicts", "Scan all rules for conflicts", {202: ScanSerializer}, request=ReasonSerializer,
        operation_id="conflicts_scan",
    )  # fmt: skip
    @idempotent
    def post(self, request: Request) -> Response:
        """The scan that the worker does in the background; the one under way, if there is one."""
        read(ReasonSerializer, request)
        scan = scan_everything(workspace_id=workspace_of(request), by=actor_of(request))
        return Response(ScanSerializer(scan).data, status=status.HTTP_202_ACCEPTED)


class ScanDetail(APIView):
    """How far a scan is."""

    actions: ClassVar = {"GET": "look"}

    @describes("conflicts", "Get a conflict scan", {200: ScanSerializer}, operation_id="conflicts_scan_get")
    def get(self, request: Request, uuid: UUID) -> Response:
        """``done`` of ``total`` units, and what was found so far."""
        scan = queries.get_scan(workspace_id=workspace_of(request), uuid=uuid)
        if scan is None:
            raise Http404
        return Response(ScanSerializer(scan).data)


class RulingList(RowList[Ruling]):
    """What people decided."""

    actions: ClassVar = {"GET": "look"}
    queryset = Ruling.objects.none()
    serializer_class = RulingSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[Ruling]:
        """The filtered list."""
        asked_for = text_params(self.request, "status")
        return list_rulings(workspace_id=workspace_of(self.request), **asked_for)

    @describes(
        "conflicts",
        "List rulings",
        parameters=[text_filter("status", "Only rulings in this status.", ["proposed", "active", "ended"])],
    )
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class EndRuling(APIView):
    """A ruling is over."""

    actions: ClassVar = {"POST": "rule_conflict"}

    @writes(
        "conflicts", "End a ruling", {200: AskedRulingSerializer, 202: AskedRulingSerializer},
        request=EndRulingSerializer, operation_id="rulings_end",
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """A change request, too: 200 when it is over, 202 while that waits for approval."""
        ruling = get_ruling(workspace_id=workspace_of(request), uuid=uuid)
        if ruling is None:
            raise Http404
        form: dict[str, Any] = read(EndRulingSerializer, request)
        with refusals():
            return asked(end_ruling(ruling=ruling, by=actor_of(request), **form))
