"""Rules over the API: the same actions as the pages."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions import rules as actions
from corrections.api.change_shapes import ChangeRequestSerializer, WaitingRuleSerializer
from corrections.api.errors import refusals
from corrections.api.serializers import (
    DiffSerializer,
    DraftSerializer,
    EditSerializer,
    RollbackSerializer,
    RuleDetailSerializer,
    RuleSerializer,
    VersionSerializer,
)
from corrections.domain.lifecycle import LIVE, Status
from corrections.models import ChangeRequest, Rule, RuleVersion
from corrections.queries import rules as queries
from corrections.queries.changes import undecided_of
from memory.api.access import actor_of, workspace_of
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, read, text_filter, text_params, writes
from memory.api.shapes import ReasonSerializer


def find_rule(request: Request, uuid: UUID) -> Rule:
    """The rule in the key's workspace, or 404."""
    rule = queries.get_rule(workspace_id=workspace_of(request), uuid=uuid)
    if rule is None:
        raise Http404
    return rule


class RuleList(RowList[Rule]):
    """All rules of the workspace; new drafts."""

    actions: ClassVar = {"GET": "look", "POST": "draft_rule"}
    queryset = Rule.objects.none()
    serializer_class = RuleSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[Rule]:
        """The filtered list."""
        chosen: dict[str, Any] = text_params(self.request, "status", "tool", "action_type", "q", "needs_look")
        return queries.list_rules(workspace_id=workspace_of(self.request), **chosen)

    @describes(
        "rules",
        "List rules",
        parameters=[
            text_filter("status", "Only rules in this status.", [status.value for status in Status]),
            text_filter("tool", "Only rules whose scope names this tool."),
            text_filter("action_type", "Only rules with this action."),
            text_filter("q", "Looks in name, tool and condition."),
            text_filter("needs_look", "Only rules that ask to be looked at.", ("true",)),
        ],
    )
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()

    @writes("rules", "Write a rule", {201: RuleDetailSerializer}, request=DraftSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """A draft with its change request: nobody is served it before that is approved."""
        form = read(DraftSerializer, request)
        with refusals("document"):
            rule = actions.draft_rule(
                workspace_id=workspace_of(request), document=form["document"], by=actor_of(request),
                pattern_uuids=form.get("patterns", ()), note=form["note"],
            )  # fmt: skip
        return Response(RuleDetailSerializer(rule).data, status=status.HTTP_201_CREATED)


class RuleDetail(APIView):
    """One rule."""

    actions: ClassVar = {"GET": "look", "PATCH": "draft_rule"}

    @describes("rules", "Get a rule", {200: RuleDetailSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With its latest version and patterns."""
        return Response(RuleDetailSerializer(find_rule(request, uuid)).data)

    @writes("rules", "Write the next version of a rule", {200: RuleDetailSerializer}, request=EditSerializer)
    @idempotent
    def patch(self, request: Request, uuid: UUID) -> Response:
        """409 when ``base_version`` is not the latest. What agents are served stays until it is activated."""
        rule, form = find_rule(request, uuid), read(EditSerializer, request)
        with refusals("document"):
            rule = actions.edit_rule(
                rule=rule, document=form.get("document", queries.document_of(rule)), by=actor_of(request),
                base_version=form["base_version"], note=form["note"], pattern_uuids=form.get("patterns"),
            )  # fmt: skip
        return Response(RuleDetailSerializer(rule).data)


class RuleVersions(RowList[RuleVersion]):
    """The history of a rule."""

    actions: ClassVar = {"GET": "look"}
    queryset = RuleVersion.objects.none()
    serializer_class = VersionSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[RuleVersion]:
        """The versions of the rule in the URL."""
        return queries.list_versions(find_rule(self.request, self.kwargs["uuid"]))

    @describes("rules", "List the versions of a rule")
    def get(self, request: Request, uuid: UUID) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class RuleDiff(APIView):
    """Two versions side by side."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "rules",
        "Compare two versions of a rule",
        {200: DiffSerializer},
        parameters=[
            OpenApiParameter("from", OpenApiTypes.INT, required=True, description="The older version."),
            OpenApiParameter("to", OpenApiTypes.INT, required=True, description="The newer version."),
        ],
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """Field by field, in reading order."""
        rule = find_rule(request, uuid)
        old, new = (_number(request.query_params.get(name, "")) for name in ("from", "to"))
        changes = queries.diff_versions(rule, old=old, new=new)
        if changes is None:
            raise Http404
        return Response({"changes": [change.to_dict() for change in changes]})


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


class RuleStep(APIView):
    """A step in a rule's life; the subclass names it."""

    actions: ClassVar = {"POST": "draft_rule"}
    step: ClassVar[str]

    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """200 when it was taken, 202 with the change request when that waits; 409 when it is not possible."""
        rule, form = find_rule(request, uuid), read(ReasonSerializer, request)
        with refusals():
            change = actions.take_step(rule=rule, step=self.step, by=actor_of(request), reason=form["reason"])
        return stepped(request, uuid, change)


def stepped(request: Request, uuid: UUID, change: ChangeRequest | None) -> Response:
    """The rule as it is now; 202, with the request under ``change``, while it waits."""
    body = dict(RuleDetailSerializer(find_rule(request, uuid)).data)
    if change is None or change.status == "published":
        return Response(body)
    waiting = dict(ChangeRequestSerializer(change).data)
    return Response(body | {"change": waiting}, status=status.HTTP_202_ACCEPTED)


def step_schema(summary: str, step: str) -> Any:
    """The OpenAPI entry of a step."""
    answers = {200: RuleDetailSerializer, 202: WaitingRuleSerializer}
    post = writes("rules", summary, answers, request=ReasonSerializer, operation_id=f"rules_{step}")
    return extend_schema_view(post=post)


@step_schema("Serve the latest version of a rule", "activate")
class ActivateRule(RuleStep):
    """Serve the latest version from now on."""

    step = "activate"


@step_schema("Stop serving a rule", "disable")
class DisableRule(RuleStep):
    """Stop serving a rule; it can be activated again."""

    step = "disable"


@step_schema("End a rule for good", "retire")
class RetireRule(RuleStep):
    """End a rule for good; its history stays."""

    step = "retire"


@step_schema("Take a rule out of the lists", "delete")
class DeleteRule(RuleStep):
    """Take a rule out of the lists; its history stays."""

    step = "delete"


class RollBackRule(APIView):
    """The way back."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes(
        "rules", "Go back to an old version",
        {200: RuleDetailSerializer, 202: WaitingRuleSerializer}, request=RollbackSerializer,
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Writes the old body as the next version. 202 while its change request waits."""
        rule, form = find_rule(request, uuid), read(RollbackSerializer, request)
        if queries.get_version(rule, form["to_version"]) is None:
            raise Http404
        with refusals():
            rule = actions.roll_back_rule(rule=rule, by=actor_of(request), **form)
        waiting = [change for change in undecided_of(rule) if change.version_id == rule.latest_version_id]
        return stepped(request, uuid, waiting[0] if waiting and rule.status in LIVE else None)
