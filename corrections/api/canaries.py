"""Canaries over the API: the same actions as the pages."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from corrections.actions import canaries as actions
from corrections.api.canary_shapes import (
    CanaryDetailSerializer,
    CanaryPolicySerializer,
    CanarySerializer,
    ExposureSerializer,
    ExtendSerializer,
    ShadowSerializer,
    ShareSerializer,
    SteerSerializer,
)
from corrections.api.errors import refusals
from corrections.api.rules import find_rule
from corrections.domain.canaries import ARMS, CANARY_STATES, safe_canary_policy
from corrections.models import Canary, Exposure
from corrections.queries import canaries as queries
from corrections.queries.rules import get_version
from memory.api.access import actor_of, workspace_of
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, text_filter, text_params, writes
from memory.queries.workspaces import get_workspace


def find_canary(request: Request, uuid: UUID) -> Canary:
    """The canary in the key's workspace, or 404."""
    return find(queries.canary_rows(workspace_of(request)), uuid)


def detail_of(canary: Canary) -> dict[str, Any]:
    """The canary as it is now."""
    now = find(queries.canary_rows(canary.workspace_id), canary.uuid)
    return dict(CanaryDetailSerializer(now).data)


class CanaryList(RowList[Canary]):
    """All canaries of the workspace."""

    actions: ClassVar = {"GET": "look"}
    queryset = Canary.objects.none()
    serializer_class = CanarySerializer
    filter_backends = ()

    def rows(self) -> QuerySet[Canary]:
        """The filtered list."""
        asked = text_params(self.request, "state", "rule", "q")
        try:
            rule = UUID(asked["rule"]) if asked["rule"] else None
        except ValueError:
            return Canary.objects.none()
        return queries.list_canaries(
            workspace_id=workspace_of(self.request), state=asked["state"], rule=rule, q=asked["q"]
        )

    @describes(
        "canaries",
        "List canaries",
        parameters=[
            text_filter("state", "One state, or all that are not over.", [queries.LIVE, *CANARY_STATES]),
            text_filter("rule", "Only of the rule with this uuid."),
            text_filter("q", "Looks in names of rules."),
        ],
    )
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class CanaryDetail(APIView):
    """One canary."""

    actions: ClassVar = {"GET": "look"}

    @describes("canaries", "Get a canary", {200: CanaryDetailSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With its stages, the decisions with the numbers they saw, and the looks at its evidence."""
        return Response(CanaryDetailSerializer(find_canary(request, uuid)).data)


class CanaryExposures(RowList[Exposure]):
    """The tasks of a canary."""

    actions: ClassVar = {"GET": "look"}
    queryset = Exposure.objects.none()
    serializer_class = ExposureSerializer
    filter_backends = ()

    def rows(self) -> QuerySet[Exposure]:
        """Those of the canary in the URL."""
        arm = text_params(self.request, "arm")["arm"]
        return queries.list_exposures(find_canary(self.request, self.kwargs["uuid"]), arm=arm)

    @describes(
        "canaries", "List the tasks exposed to a canary",
        parameters=[text_filter("arm", "Only this arm.", ARMS)],
    )  # fmt: skip
    def get(self, request: Request, uuid: UUID) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class SteerCanary(APIView):
    """One thing done to a canary; ``steer`` does it."""

    def steer(
        self, request: Request, uuid: UUID, act: Callable[..., Canary], shape: type[Serializer[Any]]
    ) -> Response:
        """Call the action; 409 when it is not possible now."""
        canary, form = find_canary(request, uuid), read(shape, request)
        with refusals():
            act(canary=canary, by=actor_of(request), **form)
        return Response(detail_of(canary))


class PauseCanary(SteerCanary):
    """Stop it for now."""

    actions: ClassVar = {"POST": "stop_canary"}

    @writes("canaries", "Pause a canary", {200: CanaryDetailSerializer}, request=SteerSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Nobody is served the version; its time stands still."""
        return self.steer(request, uuid, actions.pause_canary, SteerSerializer)


class ResumeCanary(SteerCanary):
    """Go on."""

    actions: ClassVar = {"POST": "steer_canary"}

    @writes("canaries", "Resume a canary", {200: CanaryDetailSerializer}, request=SteerSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Where it was paused. 409 while another canary disturbs it."""
        return self.steer(request, uuid, actions.resume_canary, SteerSerializer)


class PromoteCanary(SteerCanary):
    """Serve it to all."""

    actions: ClassVar = {"POST": "steer_canary"}

    @writes("canaries", "Promote a canary", {200: CanaryDetailSerializer}, request=SteerSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """To all tasks but the holdout, whatever the evidence says."""
        return self.steer(request, uuid, actions.promote_canary, SteerSerializer)


class RollBackCanary(SteerCanary):
    """Serve it no more."""

    actions: ClassVar = {"POST": "stop_canary"}

    @writes("canaries", "Roll a canary back", {200: CanaryDetailSerializer}, request=SteerSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """A new rule is disabled; of an edit the version before stays or comes back."""
        return self.steer(request, uuid, actions.roll_back_canary, SteerSerializer)


class ExtendCanary(SteerCanary):
    """More time."""

    actions: ClassVar = {"POST": "steer_canary"}

    @writes("canaries", "Give a canary more time", {200: CanaryDetailSerializer}, request=ExtendSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """From now on, or from its end where that is later."""
        return self.steer(request, uuid, actions.extend_canary, ExtendSerializer)


class ShareOfCanary(SteerCanary):
    """Another share."""

    actions: ClassVar = {"POST": "steer_canary"}

    @writes("canaries", "Set the share of a canary", {200: CanaryDetailSerializer}, request=ShareSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """As a stage of its own."""
        return self.steer(request, uuid, actions.set_share, ShareSerializer)


class EndHoldout(SteerCanary):
    """The last tasks, too."""

    actions: ClassVar = {"POST": "steer_canary"}

    @writes("canaries", "End the holdout of a canary", {200: CanaryDetailSerializer}, request=SteerSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """The promoted rule is served to every task from now on."""
        return self.steer(request, uuid, actions.end_holdout, SteerSerializer)


class StopShadow(SteerCanary):
    """End a shadow run."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes("canaries", "Stop a shadow run", {200: CanaryDetailSerializer}, request=SteerSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """What it saw stays."""
        return self.steer(request, uuid, actions.stop_shadow, SteerSerializer)


class StartShadow(APIView):
    """A rule's version in shadow."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes(
        "canaries", "Run a version of a rule in shadow", {201: CanaryDetailSerializer},
        request=ShadowSerializer,
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """What it would do is counted, and it never acts. No approval is needed."""
        rule, form = find_rule(request, uuid), read(ShadowSerializer, request)
        version = get_version(rule, form["version"])
        if version is None:
            raise Http404
        with refusals():
            canary = actions.start_shadow(
                rule=rule, version=version, by=actor_of(request), reason=form["reason"]
            )
        return Response(detail_of(canary), status=status.HTTP_201_CREATED)


class CanaryPolicy(APIView):
    """How the workspace runs canaries."""

    actions: ClassVar = {"GET": "look", "PATCH": "manage_workspace"}

    @describes("canaries", "Get the policy of canaries", {200: CanaryPolicySerializer})
    def get(self, request: Request) -> Response:
        """The settings, and the defaults of those that nobody set."""
        return Response(
            msgspec.to_builtins(safe_canary_policy(get_workspace(workspace_of(request)).settings))
        )

    @writes(
        "canaries", "Change the policy of canaries", {200: CanaryPolicySerializer},
        request=CanaryPolicySerializer,
    )  # fmt: skip
    @idempotent
    def patch(self, request: Request) -> Response:
        """What is not sent stays. A key may make it stricter, not looser."""
        form = read(CanaryPolicySerializer, request)
        with refusals():
            policy = actions.set_canary_policy(
                workspace_id=workspace_of(request), changes=form, by=actor_of(request)
            )
        return Response(msgspec.to_builtins(policy))
