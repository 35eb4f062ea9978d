"""Pages of the memory app, under ``/w/<slug>/``."""

from django.urls import path

from memory.web import audit, imports, keys, members, path_changes, path_editing, paths, patterns, tasks, tools, validators, workspaces

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
    path("paths/", paths.paths, name="paths"),
    path("paths/new/", path_editing.path_new, name="path-new"),
    path("paths/import/", path_editing.path_import, name="path-import"),
    path("paths/<uuid:uuid>/", paths.path, name="path"),
    path("paths/<uuid:uuid>/compare/", paths.path_compare, name="path-compare"),
    path("paths/<uuid:uuid>/export/", paths.path_export, name="path-export"),
    path("paths/<uuid:uuid>/correct/", path_editing.path_correct, name="path-correct"),
    path("paths/<uuid:uuid>/rewrite/", path_changes.path_rewrite, name="path-rewrite"),
    path("paths/<uuid:uuid>/roll-back/", path_changes.path_roll_back, name="path-roll-back"),
    path("paths/<uuid:uuid>/retire/", path_changes.path_retire, name="path-retire"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<uuid:uuid>/revoke/", keys.revoke, name="key-revoke"),
    path("members/", members.members, name="members"),
    path("members/add/", members.add, name="member-add"),
    path("members/<uuid:uuid>/role/", members.change, name="member-role"),
    path("members/<uuid:uuid>/remove/", members.remove, name="member-remove"),
    path("audit/", audit.audit, name="audit"),
    path("settings/", workspaces.settings, name="settings"),
    path("imports/", imports.imports, name="imports"),
    path("imports/<uuid:uuid>/", imports.import_job, name="import"),
    path("imports/<uuid:uuid>/apply/", imports.apply_import, name="import-apply"),
    path("imports/<uuid:uuid>/cancel/", imports.cancel_import, name="import-cancel"),
]
