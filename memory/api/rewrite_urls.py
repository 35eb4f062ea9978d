"""Routes of rewriting: proposals, their decisions, alerts, the policy."""

from django.urls import path

from memory.api import alerts, rewrites

urlpatterns = [
    path("paths/<uuid:uuid>/rewrites", rewrites.PathRewrites.as_view(), name="api-path-rewrites"),
    path("paths/<uuid:uuid>/automatic", alerts.AutomaticRewriting.as_view(), name="api-path-automatic"),
    path("rewrites", rewrites.RewriteList.as_view(), name="api-rewrites"),
    path("rewrites/policy", rewrites.Policy.as_view(), name="api-rewrite-policy"),
    path("rewrites/<uuid:uuid>", rewrites.RewriteDetail.as_view(), name="api-rewrite"),
    path("rewrites/<uuid:uuid>/approve", rewrites.ApproveRewrite.as_view(), name="api-rewrite-approve"),
    path("rewrites/<uuid:uuid>/reject", rewrites.RejectRewrite.as_view(), name="api-rewrite-reject"),
    path("rewrites/<uuid:uuid>/edit", rewrites.EditRewrite.as_view(), name="api-rewrite-edit"),
    path("rewrites/<uuid:uuid>/retry", rewrites.RetryRewrite.as_view(), name="api-rewrite-retry"),
    path("alerts", alerts.AlertList.as_view(), name="api-alerts"),
    path("alerts/<uuid:uuid>/close", alerts.CloseAlert.as_view(), name="api-alert-close"),
]
