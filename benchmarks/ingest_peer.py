"""The peer: nested REST framework serializers and the ORM, as most Django projects would write it.

It validates types and lengths and stores tasks and calls with ``bulk_create``; it does not redact, merge, cap
or digest anything. Only benchmarks load this.
"""

from datetime import UTC, datetime
from typing import Any, ClassVar

from django.db import transaction
from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hgmem_site.urls import urlpatterns as site
from memory.models import Outcome, Task, ToolCall


class CallSerializer(serializers.Serializer[Any]):
    """A call."""

    tool = serializers.CharField(max_length=200)
    tool_version = serializers.CharField(max_length=200, required=False, allow_blank=True)
    input = serializers.JSONField()
    output = serializers.JSONField(required=False, allow_null=True)
    status = serializers.ChoiceField(choices=["unknown", "ok", "error"])
    error = serializers.JSONField(required=False, allow_null=True)
    duration_ms = serializers.FloatField(required=False, allow_null=True, min_value=0)
    started_at = serializers.DateTimeField(required=False, allow_null=True)
    reasoning = serializers.CharField(max_length=20_000, required=False, allow_blank=True)


class OutcomeSerializer(serializers.Serializer[Any]):
    """An outcome."""

    result = serializers.ChoiceField(choices=["unknown", "success", "failure"])
    reward = serializers.FloatField(allow_null=True)
    by = serializers.ChoiceField(choices=["agent", "environment", "evaluator", "human"])


class TaskSerializer(serializers.Serializer[Any]):
    """A task."""

    external_id = serializers.CharField(max_length=200)
    goal = serializers.CharField(max_length=20_000)
    tags = serializers.ListField(child=serializers.CharField(max_length=100))
    agent = serializers.CharField(max_length=200)
    framework = serializers.CharField(max_length=200)
    env = serializers.JSONField()
    final = serializers.BooleanField()
    outcome = OutcomeSerializer()
    calls = CallSerializer(many=True)


class BatchSerializer(serializers.Serializer[Any]):
    """A batch."""

    experiences = TaskSerializer(many=True)


class PeerExperiences(APIView):
    """``POST bench/peer``: the same key, the same action, the same documents."""

    actions: ClassVar = {"POST": "record_experience"}
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        """Validate and store."""
        form = BatchSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        now = datetime.now(UTC)
        with transaction.atomic():
            tasks = Task.objects.bulk_create(
                make_task(request.auth.workspace_id, data, now) for data in form.validated_data["experiences"]
            )
            pairs = list(zip(tasks, form.validated_data["experiences"], strict=True))
            Outcome.objects.bulk_create(
                Outcome(task=task, digest="d", said_at=now, **data["outcome"]) for task, data in pairs
            )
            ToolCall.objects.bulk_create(
                ToolCall(
                    workspace_id=task.workspace_id, task=task, seq=seq, step=seq, digest="d", recorded_at=now,
                    **call,
                )
                for task, data in pairs
                for seq, call in enumerate(data["calls"])
            )  # fmt: skip
        return Response({"results": [{"uuid": task.uuid, "status": "created"} for task in tasks]}, 207)


def make_task(workspace_id: int, data: dict[str, Any], now: datetime) -> Task:
    """A task row."""
    fields = {name: value for name, value in data.items() if name not in {"calls", "outcome"}}
    return Task(
        workspace_id=workspace_id, root_task=data["external_id"], call_count=len(data["calls"]),
        outcome=data["outcome"]["result"], content_digest="d", received_at=now, updated_at=now,
        analysed_at=now, **fields,
    )  # fmt: skip


urlpatterns = [*site, path("bench/peer", PeerExperiences.as_view())]
