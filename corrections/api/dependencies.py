"""Dependencies between rules: the graph, what people know of, and who may break."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions.dependencies import add_dependency, remove_dependency
from corrections.api.dependency_shapes import (
    DependencyGraphSerializer,
    DependentsSerializer,
    ManualDependencySerializer,
    NewDependencySerializer,
)
from corrections.api.errors import refusals
from corrections.api.rules import find_rule
from corrections.models import Rule
from corrections.queries.dependencies import RuleGraph, dependents_of, get_manual, rule_graph
from corrections.queries.rules import get_rule
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Unprocessable
from memory.api.idempotency import idempotent
from memory.api.resources import describes, read, text_filter, text_params, writes


class Dependencies(APIView):
    """The graph of the workspace's rules; new edges that people know of."""

    actions: ClassVar = {"GET": "look", "POST": "draft_rule"}

    @describes(
        "rules",
        "Get the dependencies between rules",
        {200: DependencyGraphSerializer},
        parameters=[
            text_filter("tool", "Only rules that the calls of this tool meet, or that lead to it."),
            OpenApiParameter("served", OpenApiTypes.BOOL, description="Only rules that agents are served."),
        ],
    )
    def get(self, request: Request) -> Response:
        """Rules that have an edge, every edge with its reason, and the circles."""
        asked = text_params(request, "tool", "served")
        found = rule_graph(
            workspace_id=workspace_of(request), tool=asked["tool"], served_only=asked["served"] == "true"
        )
        return Response(DependencyGraphSerializer(graph_document(found)).data)

    @writes(
        "rules", "Say that a rule needs another one", {201: ManualDependencySerializer},
        request=NewDependencySerializer,
    )  # fmt: skip
    @idempotent
    def post(self, request: Request) -> Response:
        """409 when that was said before."""
        form = read(NewDependencySerializer, request)
        rule, other = (_rule(request, form, name) for name in ("rule", "depends_on"))
        with refusals():
            row = add_dependency(rule=rule, depends_on=other, reason=form["reason"], by=actor_of(request))
        return Response(ManualDependencySerializer(row).data, status=status.HTTP_201_CREATED)


class DependencyDetail(APIView):
    """One edge that somebody said."""

    actions: ClassVar = {"DELETE": "draft_rule"}

    @writes("rules", "Take a dependency back", {204: None}, request=None)
    @idempotent
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Computed edges cannot be taken back: they follow from what the rules read and write."""
        row = get_manual(workspace_id=workspace_of(request), uuid=uuid)
        if row is None:
            raise Http404
        remove_dependency(dependency=row, by=actor_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class RuleDependents(APIView):
    """Who needs a rule."""

    actions: ClassVar = {"GET": "look"}

    @describes("rules", "List the rules that need this one", {200: DependentsSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Who may break when it is disabled or changed, and why; with a call that shows it where one does."""
        found = dependents_of(find_rule(request, uuid), now=timezone.now())
        return Response(DependentsSerializer({"dependents": [one.to_dict() for one in found]}).data)


def graph_document(found: RuleGraph) -> dict[str, Any]:
    """The graph as JSON."""
    graph = found.graph
    rules = [
        {
            "uuid": rule.uuid, "name": rule.name, "status": rule.status, "tool": rule.tool,
            "point": rule.point, "in_cycle": rule.uuid in graph.in_cycle,
        }
        for rule in graph.rules
    ]  # fmt: skip
    edges = [
        {
            "provider": edge.provider, "dependent": edge.dependent, "kind": edge.kind,
            "fields_shared": list(edge.fields), "tool": edge.tool, "reason": edge.reason,
            "manual": edge.manual or None,
        }
        for edge in graph.edges
    ]  # fmt: skip
    return {
        "rules": rules, "edges": edges, "cycles": [list(cycle) for cycle in graph.cycles],
        "complete": not (graph.left_out or found.is_cut), "unreadable": found.unreadable,
    }  # fmt: skip


def _rule(request: Request, form: dict[str, Any], name: str) -> Rule:
    rule = get_rule(workspace_id=workspace_of(request), uuid=form[name])
    if rule is None:
        raise Unprocessable(
            "There is no such rule.", [{"field": name, "detail": "There is no such rule in this workspace."}]
        )
    return rule
