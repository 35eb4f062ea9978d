"""Pages of the memory app, under ``/w/<slug>/``."""

from django.urls import path

from memory.web import (
    audit,
    explorer,
    imports,
    keys,
    members,
    nodes,
    patterns,
    tasks,
    tools,
    validators,
    workspaces,
)

urlpatterns = [
    path("tasks/", tasks.tasks, name="tasks"),
    path("tasks/<uuid:uuid>/judge/", tasks.judge, name="task-judge"),
    path("payloads/<slug:digest>/", tasks.payload, name="payload"),
    path("patterns/", patterns.patterns, name="patterns"),
    path("patterns/<uuid:uuid>/triage/", patterns.triage, name="pattern-triage"),
    path("tools/", tools.tools, name="tools"),
    path("tools/named/", tools.tool_named, name="tool-named"),
    path("tools/<uuid:uuid>/", tools.tool, name="tool"),
    path("validators/", validators.validators, name="validators"),
    path("validators/new/", validators.new, name="validator-new"),
    path("validators/<uuid:uuid>/", validators.validator, name="validator"),
    path("validators/<uuid:uuid>/edit/", validators.edit, name="validator-edit"),
    path("validators/<uuid:uuid>/switch/", validators.switch, name="validator-switch"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<uuid:uuid>/revoke/", keys.revoke, name="key-revoke"),
    path("members/", members.members, name="members"),
    path("members/add/", members.add, name="member-add"),
    path("members/<uuid:uuid>/role/", members.change, name="member-role"),
    path("members/<uuid:uuid>/remove/", members.remove, name="member-remove"),
    path("graph/", explorer.graph, name="graph"),
    path("nodes/merge/", nodes.merge, name="node-merge"),
    path("nodes/duplicates/", nodes.duplicates, name="node-duplicates"),
    path("nodes/<uuid:uuid>/unmerge/", nodes.unmerge, name="node-unmerge"),
    path("audit/", audit.audit, name="audit"),
    path("settings/", workspaces.settings, name="settings"),
    path("imports/", imports.imports, name="imports"),
    path("imports/<uuid:uuid>/", imports.import_job, name="import"),
    path("imports/<uuid:uuid>/apply/", imports.apply_import, name="import-apply"),
    path("imports/<uuid:uuid>/cancel/", imports.cancel_import, name="import-cancel"),
]
