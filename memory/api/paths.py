"""Paths: list, write, read; as a prompt and as a graph."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import paths as actions
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict, Unprocessable, field_rows
from memory.api.filters import MomentField
from memory.api.idempotency import idempotent
from memory.api.path_shapes import NewPathBody, PathGraph, PathPage, PathPrompt
from memory.api.resources import describes, next_address, text_filter, text_params, writes
from memory.domain.graphs.exporting import as_dot, as_graph, as_graphml
from memory.domain.lifecycle import TransitionError
from memory.domain.paths.checking import InvalidPathError
from memory.domain.paths.document import PATH_LEVELS, PATH_ORIGINS, PATH_RESULTS, PATH_STATUSES
from memory.domain.paths.prompt import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, render_prompt
from memory.models import Path
from memory.queries.path_documents import read_path
from memory.queries.path_views import PathDetail, as_json, detail, summarize
from memory.queries.paths import PathFilters, find_path, list_paths
from memory.queries.workspaces import get_workspace

TEXTS = (
    "status",
    "result",
    "level",
    "origin",
    "tool",
    "tag",
    "agent",
    "q",
    "since",
    "until",
    "parts",
    "cursor",
)
LIST_PARAMETERS = [
    text_filter("status", "Only versions in this status.", PATH_STATUSES),
    text_filter("result", "Only paths that ended so.", PATH_RESULTS),
    text_filter("level", "Only this level.", PATH_LEVELS),
    text_filter("origin", "Only paths that came about so.", PATH_ORIGINS),
    text_filter("tool", "Only paths that call this tool."),
    text_filter("tag", "Only paths that carry this tag."),
    text_filter("agent", "Only paths of this agent."),
    text_filter("q", "Looks in goal and key."),
    OpenApiParameter("since", OpenApiTypes.DATETIME, description="Stored at this moment or later."),
    OpenApiParameter("until", OpenApiTypes.DATETIME, description="Stored before this moment."),
    text_filter("parts", "`true`: pieces of other paths too.", ("true", "false")),
    text_filter("cursor", "Where the page starts: follow `next`."),
]
FORMATS = {"graphml": ("application/graphml+xml", as_graphml), "dot": ("text/vnd.graphviz", as_dot)}
TOKENS = OpenApiParameter(
    "tokens",
    OpenApiTypes.INT,
    description=f"Room, {MIN_TOKENS} to {MAX_TOKENS}; {DEFAULT_TOKENS} if left out.",
)


class PathList(APIView):
    """The paths of the workspace."""

    actions: ClassVar = {"GET": "look", "POST": "write_path"}

    @describes("paths", "List paths", {200: PathPage}, parameters=LIST_PARAMETERS, operation_id="paths_list")
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged; pages only go on. Every version is a path of its own."""
        asked = text_params(request, *TEXTS)
        page = list_paths(get_workspace(workspace_of(request)), _filters(asked), asked["cursor"])
        rows = [summarize(path) for path in page.rows]
        answer = PathPage(next_address(request, page.next_cursor), None, page.stopped_early, rows)
        return Response(as_json(answer))

    @writes("paths", "Write a path by hand", {201: PathDetail}, request=NewPathBody)
    @idempotent
    def post(self, request: Request) -> Response:
        """Checked whole: every wrong field is named (422). A key that is taken is a 409."""
        document = _object(request.data)
        with refusals():
            key = document.pop("key", "")
            path = actions.write_path(
                workspace=get_workspace(workspace_of(request)), document=document, by=actor_of(request),
                key=key if isinstance(key, str) else str(key),
            )  # fmt: skip
        return Response(whole_path(path), status=201)


class PathOne(APIView):
    """One version of a path."""

    actions: ClassVar = {"GET": "look"}

    @describes("paths", "Get a path", {200: PathDetail})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With its document (nodes, edges and parts in their order)."""
        return Response(as_json(detail(found(request, uuid))))


class PathPromptText(APIView):
    """A path as text."""

    actions: ClassVar = {"GET": "look"}

    @describes("paths", "Get a path as text for a prompt", {200: PathPrompt}, parameters=[TOKENS])
    def get(self, request: Request, uuid: UUID) -> Response:
        """Within `tokens` (an estimate): first less of each step, then fewer steps, and it says so."""
        asked = text_params(request, "tokens")["tokens"] or str(DEFAULT_TOKENS)
        if not (asked.isascii() and asked.isdigit() and MIN_TOKENS <= int(asked[:9]) <= MAX_TOKENS):
            raise _wrong("tokens", f"A number from {MIN_TOKENS} to {MAX_TOKENS}.")
        prompt = render_prompt(read_path(found(request, uuid)), tokens=int(asked))
        return Response(as_json(PathPrompt(prompt.text, prompt.tokens, prompt.left_out)))


class PathGraphData(APIView):
    """A path to draw."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "paths", "Get a path as a graph",
        {
            (200, "application/json"): PathGraph,
            (200, "application/graphml+xml"): OpenApiTypes.STR,
            (200, "text/vnd.graphviz"): OpenApiTypes.STR,
        },
        parameters=[text_filter("format", "What to answer.", ("json", "graphml", "dot"))],
    )  # fmt: skip
    def get(self, request: Request, uuid: UUID) -> Response | HttpResponse:
        """Nodes and edges as JSON, GraphML or DOT."""
        chosen = text_params(request, "format")["format"] or "json"
        document = read_path(found(request, uuid))
        if chosen == "json":
            return Response(as_graph(document))
        if chosen not in FORMATS:
            raise _wrong("format", "One of json, graphml, dot.")
        media_type, write = FORMATS[chosen]
        answer = HttpResponse(write(document), content_type=f"{media_type}; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="path-{uuid}.{chosen}"'
        return answer


@contextmanager
def refusals() -> Iterator[None]:
    """What path actions raise, as answers."""
    try:
        yield
    except InvalidPathError as error:
        raise Unprocessable("The document is no path.", field_rows(error.errors)) from error
    except (actions.StaleVersionError, TransitionError, actions.PathExistsError) as error:
        raise Conflict(str(error)) from error


def found(request: Request, uuid: UUID) -> Path:
    """The path, or 404: unknown and foreign ones look the same."""
    path = find_path(workspace_of(request), uuid)
    if path is None:
        raise Http404
    return path


def whole_path(path: Path) -> Any:
    """The stored path as every answer about one says it."""
    whole = find_path(path.workspace_id, path.uuid)
    assert whole is not None  # noqa: S101 - it was just written
    return as_json(detail(whole))


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Unprocessable("The body must be a JSON object.")
    return dict(data)


def _wrong(field: str, said: str) -> Unprocessable:
    return Unprocessable(
        "The request has fields that are not acceptable.", [{"field": field, "detail": said}]
    )


def _filters(asked: dict[str, str]) -> PathFilters:
    for name, choices in (
        ("status", PATH_STATUSES), ("result", PATH_RESULTS), ("level", PATH_LEVELS),
        ("origin", PATH_ORIGINS), ("parts", ("true", "false")),
    ):  # fmt: skip
        if asked[name] and asked[name] not in choices:
            raise _wrong(name, f"One of {', '.join(choices)}.")
    texts = {name: asked[name] for name in ("status", "result", "level", "origin", "tool", "tag", "agent")}
    moments = {name: _moment(name, asked[name]) for name in ("since", "until")}
    return PathFilters(text=asked["q"], parts=asked["parts"] == "true", **texts, **moments)


def _moment(name: str, text: str) -> Any:
    try:
        return MomentField(required=False).clean(text)
    except ValidationError as error:
        raise _wrong(name, error.messages[0]) from error
