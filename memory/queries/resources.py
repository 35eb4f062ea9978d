"""The rows behind the management API, as querysets of one workspace: the caller filters and pages."""

from uuid import UUID

from django.db.models import QuerySet

from memory.models import (
    ApiKey,
    AuditEvent,
    ErrorPattern,
    Failure,
    Member,
    Tool,
    ToolCall,
    ToolSchema,
    Validator,
    Webhook,
    WebhookDelivery,
)


def tool_rows(workspace_id: int) -> QuerySet[Tool]:
    """Every tool that was seen."""
    return Tool.objects.filter(workspace_id=workspace_id)


def schema_rows(workspace_id: int, tool_uuid: UUID) -> QuerySet[ToolSchema]:
    """The versions of a tool's input schema."""
    return ToolSchema.objects.filter(tool__workspace_id=workspace_id, tool__uuid=tool_uuid)


def validator_rows(workspace_id: int) -> QuerySet[Validator]:
    """Every validator, enabled or not."""
    return Validator.objects.filter(workspace_id=workspace_id)


def key_rows(workspace_id: int) -> QuerySet[ApiKey]:
    """Every key, the revoked ones too."""
    return ApiKey.objects.filter(workspace_id=workspace_id)


def webhook_rows(workspace_id: int) -> QuerySet[Webhook]:
    """Every webhook, enabled or not."""
    return Webhook.objects.filter(workspace_id=workspace_id)


def delivery_rows(workspace_id: int) -> QuerySet[WebhookDelivery]:
    """Messages to webhooks, with their webhook."""
    return WebhookDelivery.objects.filter(webhook__workspace_id=workspace_id).select_related("webhook")


def member_rows(workspace_id: int) -> QuerySet[Member]:
    """Members with their users."""
    return Member.objects.filter(workspace_id=workspace_id).select_related("user")


def audit_rows(workspace_uuid: UUID) -> QuerySet[AuditEvent]:
    """The audit trail."""
    return AuditEvent.objects.filter(workspace_uuid=workspace_uuid)


def pattern_rows(workspace_id: int) -> QuerySet[ErrorPattern]:
    """Every error pattern."""
    return ErrorPattern.objects.filter(workspace_id=workspace_id)


def failure_rows(pattern: ErrorPattern) -> QuerySet[Failure]:
    """The times a mistake was made, with task and call."""
    return Failure.objects.filter(pattern=pattern).select_related("task", "call")


def call_rows(workspace_id: int, task_uuid: UUID) -> QuerySet[ToolCall]:
    """The calls of one task."""
    return ToolCall.objects.filter(workspace_id=workspace_id, task__uuid=task_uuid)
