"""Nodes of path memory: what agents did, and which of it is the same."""

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.nodes import MAX_MERGED, MergeError, merge_nodes, undo_merge
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Unprocessable
from memory.api.idempotency import idempotent
from memory.api.resources import describes, find, next_address, read, text_filter, text_params, writes
from memory.api.shapes import ReasonSerializer
from memory.domain.paths.document import NODE_KINDS, PATH_RESULTS
from memory.models import Node
from memory.queries.nodes import (
    NodeFilters,
    Place,
    find_nodes,
    list_nodes,
    list_places,
    node_rows,
    same_nodes,
)

MERGED = ("yes", "no")
LIST_PARAMETERS = [
    text_filter("tool", "Only this tool."),
    text_filter("kind", "Only this kind.", NODE_KINDS),
    text_filter("merged", "Only nodes that are the same as another one, or only the others.", MERGED),
    text_filter("q", "Looks in content and tool."),
    text_filter("cursor", "Where the page starts: follow `next`."),
]


class NodeSerializer(serializers.ModelSerializer[Node]):
    """A node. ``merged_into`` is the node that people said is the same and that is drawn for it."""

    kind = serializers.ChoiceField(choices=NODE_KINDS, read_only=True)
    merged_into = serializers.UUIDField(source="merged_into.uuid", default=None, allow_null=True)

    class Meta:
        model = Node
        fields: tuple[str, ...] = (
            "uuid", "key", "kind", "tool", "content", "params", "observation", "occurred_at", "merged_into",
            "created_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class NodePageSerializer(serializers.Serializer[Any]):
    """One page of nodes; ``next`` is the address of the next one."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True, help_text="Always null: pages only go on.")
    results = NodeSerializer(many=True)


class NodePlaceSerializer(serializers.Serializer[Any]):
    """A path through the node, and what came back there."""

    path = serializers.UUIDField(source="path.uuid")
    key = serializers.CharField(source="path.key")
    goal = serializers.CharField(source="path.goal")
    result = serializers.ChoiceField(choices=PATH_RESULTS, source="path.result")
    position = serializers.IntegerField(source="step.position")
    observation = serializers.JSONField(source="step.observation", allow_null=True)
    details = serializers.JSONField(source="step.details")


class NodeDetailSerializer(NodeSerializer):
    """A node with the nodes that are the same and the newest paths through any of them."""

    same_as = serializers.ListField(child=serializers.UUIDField(), read_only=True)
    places = NodePlaceSerializer(many=True, read_only=True)

    class Meta(NodeSerializer.Meta):
        fields: tuple[str, ...] = (*NodeSerializer.Meta.fields, "same_as", "places")
        read_only_fields: tuple[str, ...] = fields


class MergeSerializer(serializers.Serializer[Any]):
    """Which nodes are the same as which."""

    keep = serializers.UUIDField(help_text="The node that is drawn for all of them.")
    nodes = serializers.ListField(
        child=serializers.UUIDField(), allow_empty=False, max_length=MAX_MERGED, help_text="The others."
    )
    reason = serializers.CharField(required=False, allow_blank=True, max_length=2_000, default="")


class MergedSerializer(serializers.Serializer[Any]):
    """The node that is kept, and those that were moved to it (none where they were the same already)."""

    keep = NodeSerializer()
    moved = serializers.ListField(child=serializers.UUIDField())


class NodeList(APIView):
    """What agents did, decided or met."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "nodes", "List nodes", {200: NodePageSerializer}, parameters=LIST_PARAMETERS,
        operation_id="nodes_list",
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Newest first. A page may be short, or empty, and yet have a ``next``: a search goes on there."""
        asked = text_params(request, "tool", "kind", "merged", "q", "cursor")
        filters = NodeFilters(
            tool=asked["tool"], kind=asked["kind"], text=asked["q"],
            merged=asked["merged"] if asked["merged"] in MERGED else "",
        )  # fmt: skip
        page = list_nodes(workspace_of(request), filters, asked["cursor"])
        results = NodeSerializer(page.rows, many=True).data
        following = next_address(request, page.next_cursor)
        return Response({"next": following, "previous": None, "results": results})


class NodeDetail(APIView):
    """One node."""

    actions: ClassVar = {"GET": "look"}

    @describes("nodes", "Get a node", {200: NodeDetailSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With the nodes that are the same, and the newest paths through any of them."""
        return Response(_detail(find(node_rows(workspace_of(request)), uuid)))


class MergeNodes(APIView):
    """People say which nodes are the same."""

    actions: ClassVar = {"POST": "merge_nodes"}

    @writes("nodes", "Merge nodes that are the same", {200: MergedSerializer}, request=MergeSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Paths do not change; what is the same already changes nothing. Undo it with `unmerge`."""
        form = read(MergeSerializer, request)
        keep = find(node_rows(workspace_of(request)), form["keep"])
        others = find_nodes(workspace_of(request), form["nodes"])
        if len(others) < len(set(form["nodes"])):
            raise Unprocessable(
                "Some of the nodes do not exist.", [{"field": "nodes", "detail": "Unknown node."}]
            )
        try:
            merge = merge_nodes(keep=keep, others=others, by=actor_of(request), reason=form["reason"])
        except MergeError as error:
            raise Unprocessable(str(error), [{"field": "nodes", "detail": str(error)}]) from error
        moved = [str(node.uuid) for node in merge.moved]
        return Response({"keep": NodeSerializer(merge.keep).data, "moved": moved})


class UnmergeNode(APIView):
    """People take a merge back."""

    actions: ClassVar = {"POST": "merge_nodes"}

    @writes(
        "nodes",
        "Let a merged node stand alone again",
        {200: NodeDetailSerializer},
        request=ReasonSerializer,
    )
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """A node that stands alone stays as it is."""
        form = read(ReasonSerializer, request)
        rows = node_rows(workspace_of(request))
        undo_merge(nodes=[find(rows, uuid)], by=actor_of(request), reason=form["reason"])
        return Response(_detail(find(rows, uuid)))


def _detail(node: Node) -> dict[str, Any]:
    same = same_nodes(node)
    places: list[Place] = list_places(same)
    others = [str(one.uuid) for one in same if one.pk != node.pk]
    return {
        **NodeSerializer(node).data,
        "same_as": others,
        "places": NodePlaceSerializer(places, many=True).data,
    }
