"""Rewrites: ask for one, look at the queue, approve, reject, edit, try again; the workspace's policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import rewrites as actions
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict, Unprocessable
from memory.api.filters import RewriteFilter
from memory.api.idempotency import idempotent
from memory.api.paths import found
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.rewrite_shapes import (
    ApprovalSerializer,
    ApprovedSerializer,
    EditSerializer,
    PolicySerializer,
    RejectionSerializer,
    RetrySerializer,
    RewriteDetailSerializer,
    RewriteRequestSerializer,
    RewriteSerializer,
)
from memory.domain.lifecycle import TransitionError
from memory.domain.rewriting.policy import InvalidPolicyError, safe_policy
from memory.domain.rewriting.proposal import InvalidRewriteError
from memory.models import RewriteProposal, Task
from memory.queries.rewrites import rewrite_rows
from memory.queries.workspaces import get_workspace


class PathRewrites(APIView):
    """Rewrites of one version of a path."""

    actions: ClassVar = {"POST": "request_rewrite"}

    @writes("rewrites", "Ask for a rewrite", {202: RewriteSerializer}, request=RewriteRequestSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """The worker drafts it, after the guard. 409 for a version that is not rewritten."""
        path, form = found(request, uuid), read(RewriteRequestSerializer, request)
        name = form.pop("task", "")
        task = Task.objects.filter(workspace=path.workspace_id, external_id=name).first() if name else None
        if name and task is None:
            detail = "There is no task of this name."
            raise Unprocessable(detail, [{"field": "task", "detail": detail}])
        with refusals():
            proposal = actions.request_rewrite(path=path, task=task, by=actor_of(request), **form)
        return Response(_body(proposal), status=202)


class RewriteList(RowList[RewriteProposal]):
    """Everything that was asked for."""

    actions: ClassVar = {"GET": "look"}
    queryset = RewriteProposal.objects.none()
    serializer_class = RewriteSerializer
    filterset_class = RewriteFilter

    def rows(self) -> QuerySet[RewriteProposal]:
        """The workspace's rewrites."""
        return rewrite_rows(workspace_of(self.request)).defer("transcript")

    @describes("rewrites", "List rewrites", operation_id="rewrites_list")
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class RewriteDetail(APIView):
    """One rewrite."""

    actions: ClassVar = {"GET": "look"}

    @describes("rewrites", "Get a rewrite", {200: RewriteDetailSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With what a model was asked and said."""
        return Response(RewriteDetailSerializer(find(rewrite_rows(workspace_of(request)), uuid)).data)


class ApproveRewrite(APIView):
    """A yes."""

    actions: ClassVar = {"POST": "review_rewrite"}

    @writes("rewrites", "Approve a rewrite", {200: ApprovedSerializer}, request=ApprovalSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Makes the next version. 409 when proposal or path were changed or decided meanwhile."""
        proposal = find(rewrite_rows(workspace_of(request)), uuid)
        form = read(ApprovalSerializer, request)
        with refusals():
            path = actions.approve_rewrite(proposal=proposal, by=actor_of(request), **form)
        decided = find(rewrite_rows(proposal.workspace_id), uuid)
        return Response(ApprovedSerializer({"rewrite": decided, "path": path}).data)


class RejectRewrite(APIView):
    """A no."""

    actions: ClassVar = {"POST": "review_rewrite"}

    @writes("rewrites", "Reject a rewrite", {200: RewriteSerializer}, request=RejectionSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """It needs a reason. 409 when it was changed or decided meanwhile."""
        proposal = find(rewrite_rows(workspace_of(request)), uuid)
        form = read(RejectionSerializer, request)
        with refusals():
            actions.reject_rewrite(proposal=proposal, by=actor_of(request), **form)
        return Response(_body(proposal))


class EditRewrite(APIView):
    """Another document."""

    actions: ClassVar = {"POST": "review_rewrite"}

    @writes("rewrites", "Edit a rewrite", {200: RewriteSerializer}, request=EditSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """It is what an approval makes then. 422 names every wrong field, 409 a stale revision."""
        proposal = find(rewrite_rows(workspace_of(request)), uuid)
        form = read(EditSerializer, request)
        with refusals():
            actions.edit_rewrite(proposal=proposal, by=actor_of(request), **form)
        return Response(_body(proposal))


class RetryRewrite(APIView):
    """Another try."""

    actions: ClassVar = {"POST": "review_rewrite"}

    @writes("rewrites", "Draft a rewrite again", {202: RewriteSerializer}, request=RetrySerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """For what was handed over or given up; it overrules the guard."""
        proposal = find(rewrite_rows(workspace_of(request)), uuid)
        form = read(RetrySerializer, request)
        with refusals():
            actions.retry_rewrite(proposal=proposal, by=actor_of(request), **form)
        return Response(_body(proposal), status=202)


class Policy(APIView):
    """How the workspace rewrites."""

    actions: ClassVar = {"GET": "look", "PATCH": "manage_workspace"}

    @describes("rewrites", "Get the rewrite policy", {200: PolicySerializer})
    def get(self, request: Request) -> Response:
        """The settings, and the defaults of those that nobody set."""
        return Response(msgspec.to_builtins(safe_policy(get_workspace(workspace_of(request)).settings)))

    @writes("rewrites", "Change the rewrite policy", {200: PolicySerializer}, request=PolicySerializer)
    @idempotent
    def patch(self, request: Request) -> Response:
        """What is not sent stays."""
        workspace, form = get_workspace(workspace_of(request)), read(PolicySerializer, request)
        with refusals():
            policy = actions.set_rewrite_policy(workspace=workspace, changes=form, by=actor_of(request))
        return Response(msgspec.to_builtins(policy))


@contextmanager
def refusals() -> Iterator[None]:
    """409 for what was changed or decided meanwhile, 422 for what cannot be done, with the field."""
    try:
        yield
    except (TransitionError, actions.StaleRewriteError, actions.NotRewritableError) as error:
        raise Conflict(str(error)) from error
    except InvalidRewriteError as error:
        rows = [{"field": f"document.{name}", "detail": said} for name, said in error.problems.items()]
        raise Unprocessable("This rewrite cannot be applied.", rows) from error
    except actions.UnknownCarryError as error:
        raise Unprocessable(str(error), [{"field": "carry", "detail": str(error)}]) from error
    except actions.ReasonMissingError as error:
        raise Unprocessable(str(error), [{"field": "reason", "detail": str(error)}]) from error
    except InvalidPolicyError as error:
        raise Unprocessable(str(error), [{"field": "policy", "detail": str(error)}]) from error


def _body(proposal: RewriteProposal) -> dict[str, Any]:
    """The proposal as it is now."""
    return dict(RewriteSerializer(find(rewrite_rows(proposal.workspace_id), proposal.uuid)).data)
