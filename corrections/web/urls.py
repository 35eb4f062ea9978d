"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import (
    dependencies,
    editing,
    health,
    impacts,
    overview,
    patterns,
    rules,
    search,
    simulator,
    steps,
    tasks,
    tools,
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
    path("rules/<uuid:uuid>/dependents/", dependencies.rule_dependents, name="rule-dependents"),
    path("dependencies/", dependencies.dependencies, name="dependencies"),
    path("dependencies/add/", dependencies.dependency_add, name="dependency-add"),
    path("dependencies/<uuid:uuid>/remove/", dependencies.dependency_remove, name="dependency-remove"),
    path("tools/<uuid:uuid>/", tools.tool, name="tool"),
    path("impacts/", impacts.impacts, name="impacts"),
    path("impacts/<uuid:uuid>/", impacts.impact, name="impact"),
    path("impacts/<uuid:uuid>/decide/", impacts.impact_decide, name="impact-decide"),
    path("impacts/<uuid:uuid>/undo/", impacts.impact_undo, name="impact-undo"),
    path("simulator/", simulator.simulator, name="simulator"),
]
