"""Shapes of requests and answers about paths."""

from typing import Any

import msgspec
from rest_framework import serializers

from memory.actions.path_imports import MAX_PATHS, ImportItem
from memory.domain.paths.document import PathDoc
from memory.queries.path_views import PathSummary

DOCUMENT_HELP = "A path document (the schema PathDoc)."


class PathPage(msgspec.Struct, frozen=True):
    """A page of paths, newest first. ``stopped_early``: `next` looks for matches among older paths."""

    next: str | None
    previous: str | None
    stopped_early: bool
    results: list[PathSummary]


class PathPrompt(msgspec.Struct, frozen=True):
    """A path as text for a prompt. ``tokens`` is an estimate; ``left_out`` steps had no room."""

    text: str
    tokens: int
    left_out: int


class GraphNode(msgspec.Struct, frozen=True):
    """A node to draw."""

    id: str
    position: int
    kind: str
    label: str
    tool: str
    params: dict[str, Any]
    observation: Any
    details: dict[str, Any]


class GraphEdge(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}):
    """An edge to draw, by node ids."""

    source: str
    target: str
    condition: str
    label: str


class PathGraph(msgspec.Struct, frozen=True):
    """Nodes and edges in their order."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


class PathImport(msgspec.Struct, frozen=True):
    """What became of each document, in order, and how many there are of each status."""

    results: list[ImportItem]
    counts: dict[str, int]
    stored: bool


class NewPathBody(PathDoc, frozen=True, kw_only=True):
    """A path document, and a name for its lineage (``key``) that is not taken; without one it gets one."""

    key: str = ""


class CorrectionSerializer(serializers.Serializer[Any]):
    """Another document for a path."""

    document = serializers.DictField(help_text=DOCUMENT_HELP)
    base_version = serializers.IntegerField(min_value=1, help_text="The version you have read.")
    reason = serializers.CharField(required=False, allow_blank=True, max_length=2_000, default="")


class RetireSerializer(serializers.Serializer[Any]):
    """Why the path is not to be recalled any more."""

    reason = serializers.CharField(max_length=2_000)


class TemplatesSerializer(serializers.Serializer[Any]):
    """Whether the starter templates are recalled."""

    enabled = serializers.BooleanField()


class TemplatesSwitched(msgspec.Struct, frozen=True):
    """What is so now, and how many templates that changed."""

    enabled: bool
    changed: int


class PathImportSerializer(serializers.Serializer[Any]):
    """Paths to import."""

    paths = serializers.ListField(
        child=serializers.DictField(),
        max_length=MAX_PATHS,
        help_text=f"{DOCUMENT_HELP} Each may have a `key`.",
    )
    plan = serializers.BooleanField(
        required=False, default=False, help_text="Only say what would happen; store nothing."
    )
