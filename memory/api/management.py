"""Routes of the management API: tools, patterns, validators, keys, members, nodes, webhooks, audit."""

from django.urls import path

from memory.api import audit, keys, members, nodes, patterns, tools, validators, webhooks

urlpatterns = [
    path("me", keys.Me.as_view(), name="api-me"),
    path("tools", tools.ToolList.as_view(), name="api-tools"),
    path("tools/<uuid:uuid>", tools.ToolDetail.as_view(), name="api-tool"),
    path("tools/<uuid:uuid>/schemas", tools.ToolSchemaList.as_view(), name="api-tool-schemas"),
    path("patterns", patterns.PatternList.as_view(), name="api-patterns"),
    path("patterns/<uuid:uuid>", patterns.PatternDetail.as_view(), name="api-pattern"),
    path("patterns/<uuid:uuid>/failures", patterns.PatternFailures.as_view(), name="api-pattern-failures"),
    path("patterns/<uuid:uuid>/status", patterns.PatternStatus.as_view(), name="api-pattern-status"),
    path("validators", validators.ValidatorList.as_view(), name="api-validators"),
    path("validators/try", validators.TryValidator.as_view(), name="api-validator-try"),
    path("validators/<uuid:uuid>", validators.ValidatorDetail.as_view(), name="api-validator"),
    path("keys", keys.KeyList.as_view(), name="api-keys"),
    path("keys/<uuid:uuid>/revoke", keys.RevokeKey.as_view(), name="api-key-revoke"),
    path("members", members.MemberList.as_view(), name="api-members"),
    path("members/<uuid:uuid>", members.MemberDetail.as_view(), name="api-member"),
    path("nodes", nodes.NodeList.as_view(), name="api-nodes"),
    path("nodes/merge", nodes.MergeNodes.as_view(), name="api-node-merge"),
    path("nodes/<uuid:uuid>", nodes.NodeDetail.as_view(), name="api-node"),
    path("nodes/<uuid:uuid>/unmerge", nodes.UnmergeNode.as_view(), name="api-node-unmerge"),
    path("webhooks", webhooks.WebhookList.as_view(), name="api-webhooks"),
    path("webhooks/<uuid:uuid>", webhooks.WebhookDetail.as_view(), name="api-webhook"),
    path("webhooks/<uuid:uuid>/secret", webhooks.WebhookSecret.as_view(), name="api-webhook-secret"),
    path("webhooks/<uuid:uuid>/test", webhooks.TryWebhook.as_view(), name="api-webhook-test"),
    path(
        "webhooks/<uuid:uuid>/deliveries",
        webhooks.WebhookDeliveries.as_view(),
        name="api-webhook-deliveries",
    ),
    path("webhook-deliveries/<uuid:uuid>/again", webhooks.SendAgain.as_view(), name="api-delivery-again"),
    path("audit", audit.AuditTrail.as_view(), name="api-audit"),
]
