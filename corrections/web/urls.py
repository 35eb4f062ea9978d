"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import (
    conflicts,
    editing,
    health,
    overview,
    patterns,
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
    path("rules/check/", editing.rule_check, name="rule-check"),
    path("rules/<uuid:uuid>/", rules.rule, name="rule"),
    path("rules/<uuid:uuid>/edit/", editing.rule_edit, name="rule-edit"),
    path("rules/<uuid:uuid>/versions/<int:number>/", rules.rule_version, name="rule-version"),
    path("rules/<uuid:uuid>/diff/", rules.rule_diff, name="rule-diff"),
    path("rules/<uuid:uuid>/activate/", steps.rule_activate, name="rule-activate"),
    path("rules/<uuid:uuid>/disable/", steps.rule_disable, name="rule-disable"),
    path("rules/<uuid:uuid>/retire/", steps.rule_retire, name="rule-retire"),
    path("rules/<uuid:uuid>/roll-back/", steps.rule_roll_back, name="rule-roll-back"),
    path("rules/<uuid:uuid>/conflicts/", conflicts.rule_conflicts, name="rule-conflicts"),
    path("conflicts/", conflicts.conflicts, name="conflicts"),
    path("conflicts/scan/", conflicts.conflicts_scan, name="conflicts-scan"),
    path("conflicts/<uuid:uuid>/", conflicts.conflict, name="conflict"),
    path("conflicts/<uuid:uuid>/rule/", conflicts.conflict_rule, name="conflict-rule"),
    path("rulings/", conflicts.rulings, name="rulings"),
    path("rulings/<uuid:uuid>/end/", conflicts.ruling_end, name="ruling-end"),
    path("simulator/", simulator.simulator, name="simulator"),
]
