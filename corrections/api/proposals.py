"""Rule proposals over the API: propose one, look at them, decide."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions import proposals as actions
from corrections.actions.asking_model import ask_model
from corrections.actions.proposing import UnknownCallError, propose_rule
from corrections.api.errors import refusals
from corrections.api.proposal_shapes import (
    ACTION_NAMES,
    AcceptSerializer,
    AskModelSerializer,
    ProposalDetailSerializer,
    ProposalSerializer,
    ProposeSerializer,
    RejectSerializer,
)
from corrections.domain.lifecycle import LIVE
from corrections.domain.proposing import PROPOSAL_STATUSES, SOURCES
from corrections.models import RuleProposal
from corrections.queries.proposals import PARTS, ProposalFilters, find_proposal, list_proposals
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Unprocessable
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, read, text_filter, text_params, writes
from memory.api.shapes import ReasonSerializer

STATUS_HELP = (
    "Only proposals in this status. `waiting` and `once` are the parts of `proposed`: a person is to "
    "decide, or the inducer met it in one task only."
)


def proposal_of(request: Request, uuid: UUID) -> RuleProposal:
    """The proposal in the key's workspace, or 404."""
    found = find_proposal(workspace_id=workspace_of(request), uuid=uuid)
    if found is None:
        raise Http404
    return found


def detail(proposal: RuleProposal) -> dict[str, Any]:
    """The proposal as it is now."""
    row = find_proposal(workspace_id=proposal.workspace_id, uuid=proposal.uuid)
    return dict(ProposalDetailSerializer(row).data)


class ProposalList(RowList[RuleProposal]):
    """What was proposed; proposing."""

    actions: ClassVar = {"GET": "look", "POST": "draft_rule"}
    queryset = RuleProposal.objects.none()
    serializer_class = ProposalSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[RuleProposal]:
        """The filtered list."""
        asked = text_params(self.request, "status", "tool", "source", "action_type", "q", "min_caught")
        least = asked.pop("min_caught")
        filters = ProposalFilters(**asked, min_caught=_number(least))
        return list_proposals(workspace_id=workspace_of(self.request), filters=filters)

    @describes(
        "rule proposals",
        "List rule proposals",
        operation_id="rule_proposals_list",
        parameters=[
            text_filter("status", STATUS_HELP, [*PROPOSAL_STATUSES, *PARTS]),
            text_filter("tool", "Only proposals for this tool."),
            text_filter("source", "Only proposals of this origin.", SOURCES),
            text_filter("action_type", "Only proposals with this action.", ACTION_NAMES),
            text_filter("q", "Looks in name, tool and condition."),
            OpenApiParameter(
                "min_caught", OpenApiTypes.INT, description="Catches at least so many failures."
            ),
        ],
    )
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()

    @writes(
        "rule proposals",
        "Propose a rule",
        {201: ProposalDetailSerializer, 200: ProposalDetailSerializer},
        request=ProposeSerializer,
        operation_id="rule_proposals_create",
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """It waits for a person. 200: the same rule was proposed before. 409: it is a rule already."""
        form = read(ProposeSerializer, request)
        places = [(place["task"], place["seq"]) for place in form["evidence"]]
        try:
            with refusals("document"):
                made = propose_rule(
                    workspace_id=workspace_of(request), document=form["document"], reason=form["reason"],
                    evidence=places, by=actor_of(request),
                )  # fmt: skip
        except UnknownCallError as error:
            row = {"field": f"evidence.{error.index}", "detail": str(error)}
            raise Unprocessable(str(error), [row]) from error
        return Response(detail(made.proposal), status=201 if made.is_new else 200)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


class ProposalDetail(APIView):
    """One proposal."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "rule proposals",
        "Get a rule proposal",
        {200: ProposalDetailSerializer},
        operation_id="rule_proposals_retrieve",
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """With its document and the calls of its backtest."""
        return Response(detail(proposal_of(request, uuid)))


class AcceptProposal(APIView):
    """A yes."""

    actions: ClassVar = {"POST": "review_change"}

    @writes(
        "rule proposals",
        "Accept a rule proposal",
        {200: ProposalDetailSerializer, 202: ProposalDetailSerializer},
        request=AcceptSerializer,
        operation_id="rule_proposals_accept",
    )
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Makes the rule and its change request. 200: it is served now. 202: it waits for approval."""
        proposal, form = proposal_of(request, uuid), read(AcceptSerializer, request)
        with refusals("document"):
            made = actions.accept_proposal(
                proposal=proposal, by=actor_of(request), document=form.get("document"), note=form["note"]
            )
        return Response(detail(made.proposal), status=200 if made.rule.status in LIVE else 202)


class RejectProposal(APIView):
    """A no."""

    actions: ClassVar = {"POST": "review_change"}

    @writes(
        "rule proposals",
        "Reject a rule proposal",
        {200: ProposalDetailSerializer},
        request=RejectSerializer,
        operation_id="rule_proposals_reject",
    )
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """It needs a reason. 409 when it was decided meanwhile."""
        proposal, form = proposal_of(request, uuid), read(RejectSerializer, request)
        with refusals():
            actions.reject_proposal(proposal=proposal, by=actor_of(request), reason=form["reason"])
        return Response(detail(proposal))


class AskModel(APIView):
    """A draft by a language model."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes(
        "rule proposals",
        "Ask a language model for a rule",
        {202: ProposalDetailSerializer},
        request=AskModelSerializer,
        operation_id="rule_proposals_draft",
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """From the calls of an error pattern. The worker drafts it; 409 where no model is configured."""
        form = read(AskModelSerializer, request)
        try:
            with refusals():
                row = ask_model(
                    workspace_id=workspace_of(request), pattern=form["pattern"], by=actor_of(request)
                )
        except LookupError as error:
            raise Unprocessable(str(error), [{"field": "pattern", "detail": str(error)}]) from error
        return Response(detail(row), status=202)


class ReopenProposal(APIView):
    """Another thought."""

    actions: ClassVar = {"POST": "review_change"}

    @writes(
        "rule proposals",
        "Open a rejected rule proposal again",
        {200: ProposalDetailSerializer},
        request=ReasonSerializer,
        operation_id="rule_proposals_reopen",
    )
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Also one that was withdrawn. 409 when it waits already or was accepted."""
        proposal, form = proposal_of(request, uuid), read(ReasonSerializer, request)
        with refusals():
            actions.propose_again(proposal=proposal, by=actor_of(request), reason=form["reason"])
        return Response(detail(proposal))
