"""Rules as files over the API: export, plan, apply."""

from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions.rule_files import Applied, StalePlan, apply_rule_files, plan_rule_files
from corrections.api.errors import refusals
from corrections.api.serializers import ChangeSerializer
from corrections.domain.rule_files import FORMATS, Plan, RuleFileError, SourceFile, write_rule_file
from corrections.domain.rule_files.planning import VERBS
from corrections.queries.rule_files import list_kept
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict, Unprocessable
from memory.api.idempotency import idempotent
from memory.api.resources import describes, read, text_filter, text_params, writes

TYPES = {"yaml": "application/yaml", "json": "application/json"}
MAX_FILE = 2_000_000


class RuleFileSerializer(serializers.Serializer[Any]):
    """One file."""

    name = serializers.CharField(max_length=300, help_text="`.json` is read as JSON, others as YAML.")
    text = serializers.CharField(max_length=MAX_FILE, allow_blank=True, trim_whitespace=False)


class PlanSerializer(serializers.Serializer[Any]):
    """Files, and whether rules that none of them names are to be retired."""

    files = serializers.ListField(child=RuleFileSerializer(), min_length=1, max_length=5_000)
    prune = serializers.BooleanField(default=False)


class ApplySerializer(PlanSerializer):
    """The files of a plan, and what tells that it still holds."""

    digest = serializers.CharField(max_length=64, help_text="Of the plan that was looked at.")
    base = serializers.DictField(
        child=serializers.CharField(max_length=300),
        required=False,
        help_text="The plan's: to say what moved.",
    )
    reason = serializers.CharField(max_length=5_000, required=False, allow_blank=True, default="")


class PlannedSerializer(serializers.Serializer[Any]):
    """What would become of one rule."""

    verb = serializers.ChoiceField(choices=VERBS)
    rule = serializers.UUIDField(allow_null=True, help_text="Null for a new one.")
    name = serializers.CharField()
    tool = serializers.CharField()
    place = serializers.CharField(allow_blank=True, help_text="File and line.")
    status = serializers.CharField(help_text="What the file wants.")
    changes = ChangeSerializer(many=True)


class PlannedListSerializer(serializers.Serializer[Any]):
    """A plan. Rules that are right already are only counted."""

    digest = serializers.CharField()
    nothing_to_do = serializers.BooleanField()
    counts = serializers.DictField(child=serializers.IntegerField())
    changes = PlannedSerializer(many=True)
    base = serializers.DictField(child=serializers.CharField())


class BatchChangeSerializer(serializers.Serializer[Any]):
    """One change request of the batch."""

    uuid = serializers.UUIDField()
    kind = serializers.CharField()
    status = serializers.CharField()
    title = serializers.CharField()
    rule = serializers.UUIDField(source="rule.uuid")


class AppliedSerializer(serializers.Serializer[Any]):
    """What was asked for, in one batch."""

    batch = serializers.UUIDField(allow_null=True, help_text="Null when there was nothing to ask for.")
    published = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Change requests that wait for an approval.")
    changes = BatchChangeSerializer(many=True)


class ExportRules(APIView):
    """All rules as one file."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "rules",
        "Export all rules as a file",
        {(200, media_type): OpenApiTypes.OBJECT for media_type in TYPES.values()},
        parameters=[text_filter("format", "The format; YAML unless told otherwise.", FORMATS)],
    )
    def get(self, request: Request) -> HttpResponse:
        """In an order that stays, without what is retired."""
        kind = text_params(request, "format")["format"] or "yaml"
        if kind not in FORMATS:
            fault = {"field": "format", "detail": "must be yaml or json"}
            raise Unprocessable("There is no such format.", [fault])
        text = write_rule_file(list_kept(workspace_of(request), exported=True), kind)
        return HttpResponse(text, content_type=f"{TYPES[kind]}; charset=utf-8")


class PlanRules(APIView):
    """What files would change."""

    actions: ClassVar = {"POST": "draft_rule"}

    @describes("rules", "Plan an import of rules", {200: PlannedListSerializer}, request=PlanSerializer)
    def post(self, request: Request) -> Response:
        """Writes nothing. 422 lists every fault of every file."""
        form = read(PlanSerializer, request)
        try:
            plan = plan_rule_files(workspace_id=workspace_of(request), by=actor_of(request), **_asked(form))
        except RuleFileError as error:
            raise _faults(error) from error
        return Response(_plan_body(plan))


class ApplyRules(APIView):
    """Make the rules what the files say."""

    actions: ClassVar = {"POST": "draft_rule"}

    @writes("rules", "Apply an import of rules", {200: AppliedSerializer}, request=ApplySerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Change requests in one batch, all or none; 409 when the plan no longer holds."""
        form = read(ApplySerializer, request)
        more = {"digest": form["digest"], "base": form.get("base"), "reason": form["reason"]}
        try:
            with refusals():
                applied = apply_rule_files(
                    workspace_id=workspace_of(request), by=actor_of(request), **_asked(form), **more
                )
        except RuleFileError as error:
            raise _faults(error) from error
        except StalePlan as error:
            raise Conflict(str(error)) from error
        return Response(_applied_body(applied))


def _asked(form: dict[str, Any]) -> dict[str, Any]:
    files = [SourceFile(file["name"], file["text"]) for file in form["files"]]
    return {"files": files, "prune": form["prune"]}


def _faults(error: RuleFileError) -> Unprocessable:
    rows = [{"field": fault.field or "files", "detail": str(fault)} for fault in error.faults]
    return Unprocessable("The files have faults.", rows)


def _plan_body(plan: Plan) -> dict[str, Any]:
    counts = {verb: getattr(plan.counts, verb) for verb in VERBS}
    shown = [change.to_dict() for change in plan.changes if change.verb != "keep"]
    return {
        "digest": plan.digest, "nothing_to_do": not plan.work, "counts": counts, "changes": shown,
        "base": plan.base,
    }  # fmt: skip


def _applied_body(applied: Applied) -> dict[str, Any]:
    return {
        "batch": applied.batch, "published": applied.published, "waiting": applied.waiting,
        "changes": BatchChangeSerializer(applied.changes, many=True).data,
    }  # fmt: skip
