"""Changes to stored paths: correct, import, roll back, retire, switch templates."""

from collections import Counter
from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import path_imports
from memory.actions import paths as actions
from memory.actions.path_templates import switch_templates
from memory.api.access import actor_of, workspace_of
from memory.api.idempotency import idempotent
from memory.api.path_shapes import (
    CorrectionSerializer,
    PathImport,
    PathImportSerializer,
    RetireSerializer,
    TemplatesSerializer,
    TemplatesSwitched,
)
from memory.api.paths import found, refusals, whole_path
from memory.api.resources import describes, read, writes
from memory.api.shapes import ReasonSerializer
from memory.queries.path_views import PathDetail, PathVersions, as_json, summarize
from memory.queries.paths import list_versions
from memory.queries.workspaces import get_workspace


class PathVersionList(APIView):
    """The versions of a path."""

    actions: ClassVar = {"GET": "look", "POST": "write_path"}

    @describes("paths", "List the versions of a path", {200: PathVersions})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Oldest first, of the lineage that this version belongs to."""
        lineage = found(request, uuid).lineage
        versions = [summarize(path) for path in list_versions(lineage)]
        return Response(as_json(PathVersions(lineage.uuid, lineage.key, lineage.retired_at, versions)))

    @writes("paths", "Correct a path", {201: PathDetail}, request=CorrectionSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """The document becomes the next version, active. 409 when `base_version` is not the active one."""
        path, form = found(request, uuid), read(CorrectionSerializer, request)
        with refusals():
            made = actions.correct_path(path=path, by=actor_of(request), **form)
        return Response(whole_path(made), status=201)


class RollBackPath(APIView):
    """A version back into use."""

    actions: ClassVar = {"POST": "roll_back_path"}

    @writes("paths", "Roll back to a version", {200: PathDetail}, request=ReasonSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """This version becomes the active one again; nothing is deleted. Doing it twice changes nothing."""
        path, form = found(request, uuid), read(ReasonSerializer, request)
        with refusals():
            return Response(whole_path(actions.roll_back_path(path=path, by=actor_of(request), **form)))


class RetirePath(APIView):
    """A path out of use."""

    actions: ClassVar = {"POST": "roll_back_path"}

    @writes("paths", "Retire a path", {200: PathDetail}, request=RetireSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """No version of it is recalled until one is rolled back to. Doing it twice changes nothing."""
        path, form = found(request, uuid), read(RetireSerializer, request)
        with refusals():
            return Response(whole_path(actions.retire_lineage(path=path, by=actor_of(request), **form)))


class ImportPaths(APIView):
    """Many paths at once."""

    actions: ClassVar = {"POST": "write_path"}

    @writes("paths", "Import paths", {200: PathImport}, request=PathImportSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """A result for each: `new`, `changed` (a known key: the next version), `same`, or `invalid`.

        With `plan` nothing is stored. Importing the same twice changes nothing.
        """
        form = read(PathImportSerializer, request)
        work = path_imports.plan_path_import if form["plan"] else path_imports.import_paths
        with refusals():
            results = work(
                workspace=get_workspace(workspace_of(request)), documents=form["paths"], by=actor_of(request)
            )
        counts = dict(Counter(item.status for item in results))
        return Response(as_json(PathImport(results, counts, not form["plan"])))


class SwitchTemplates(APIView):
    """The starter templates."""

    actions: ClassVar = {"POST": "manage_workspace"}

    @writes("paths", "Switch the starter templates on or off", {200: TemplatesSwitched},
            request=TemplatesSerializer)  # fmt: skip
    @idempotent
    def post(self, request: Request) -> Response:
        """Off: all of them are retired; on: restored. Doing it twice changes nothing."""
        are_on = read(TemplatesSerializer, request)["enabled"]
        workspace = get_workspace(workspace_of(request))
        changed = switch_templates(workspace=workspace, are_on=are_on, by=actor_of(request))
        return Response(as_json(TemplatesSwitched(are_on, changed)))
