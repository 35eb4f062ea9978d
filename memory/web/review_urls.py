"""Pages of the review: rewrites queue, alerts, graph explorer, merging of nodes. Under ``/w/<slug>/``."""

from django.urls import path

from memory.web import alerts, explorer, nodes, rewrite_bulk, rewrite_editing, rewrites

urlpatterns = [
    path("rewrites/", rewrites.rewrites, name="rewrites"),
    path("rewrites/decide/", rewrite_bulk.decide, name="rewrites-decide"),
    path("rewrites/<uuid:uuid>/", rewrites.rewrite, name="rewrite"),
    path("rewrites/<uuid:uuid>/approve/", rewrites.approve, name="rewrite-approve"),
    path("rewrites/<uuid:uuid>/reject/", rewrites.reject, name="rewrite-reject"),
    path("rewrites/<uuid:uuid>/retry/", rewrites.retry, name="rewrite-retry"),
    path("rewrites/<uuid:uuid>/edit/", rewrite_editing.edit, name="rewrite-edit"),
    path("alerts/", alerts.alerts, name="alerts"),
    path("alerts/<uuid:uuid>/close/", alerts.close, name="alert-close"),
    path("lineages/<uuid:uuid>/resume/", alerts.resume, name="alert-resume"),
    path("graph/", explorer.graph, name="graph"),
    path("nodes/merge/", nodes.merge, name="node-merge"),
    path("nodes/duplicates/", nodes.duplicates, name="node-duplicates"),
    path("nodes/<uuid:uuid>/unmerge/", nodes.unmerge, name="node-unmerge"),
]
