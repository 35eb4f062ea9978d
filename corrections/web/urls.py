"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import (
    editing,
    health,
    overview,
    patterns,
    reminders,
    rule_files,
    rules,
    search,
    simulator,
    steps,
    tasks,
)

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("health/", health.health, name="health"),
    path("search/", search.search, name="search"),
    path("tasks/<uuid:uuid>/", tasks.task, name="task"),
    path("patterns/<uuid:uuid>/", patterns.pattern, name="pattern"),
    path("rules/", rules.rules, name="rules"),
    path("rules/new/", editing.rule_new, name="rule-new"),
    path("rules/files/", rule_files.rule_files, name="rule-files"),
    path("rules/files/export/", rule_files.rule_files_export, name="rule-files-export"),
    path("rules/reminders/", reminders.rule_reminders, name="rule-reminders"),
    path("rules/check/", editing.rule_check, name="rule-check"),
    path("rules/<uuid:uuid>/", rules.rule, name="rule"),
    path("rules/<uuid:uuid>/edit/", editing.rule_edit, name="rule-edit"),
    path("rules/<uuid:uuid>/versions/<int:number>/", rules.rule_version, name="rule-version"),
    path("rules/<uuid:uuid>/diff/", rules.rule_diff, name="rule-diff"),
    path("rules/<uuid:uuid>/activate/", steps.rule_activate, name="rule-activate"),
    path("rules/<uuid:uuid>/disable/", steps.rule_disable, name="rule-disable"),
    path("rules/<uuid:uuid>/retire/", steps.rule_retire, name="rule-retire"),
    path("rules/<uuid:uuid>/review/", reminders.rule_review, name="rule-review"),
    path("rules/<uuid:uuid>/roll-back/", steps.rule_roll_back, name="rule-roll-back"),
    path("simulator/", simulator.simulator, name="simulator"),
]
