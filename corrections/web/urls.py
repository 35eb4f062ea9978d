"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import (
    change_steps,
    changes,
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
    path("rules/<uuid:uuid>/delete/", steps.rule_delete, name="rule-delete"),
    path("changes/", changes.changes, name="changes"),
    path("changes/policy/", changes.policy, name="change-policy"),
    path("changes/<uuid:uuid>/", changes.change, name="change"),
    path("changes/<uuid:uuid>/approve/", change_steps.approve, name="change-approve"),
    path("changes/<uuid:uuid>/reject/", change_steps.reject, name="change-reject"),
    path("changes/<uuid:uuid>/withdraw/", change_steps.withdraw, name="change-withdraw"),
    path("changes/<uuid:uuid>/reopen/", change_steps.reopen, name="change-reopen"),
    path("changes/<uuid:uuid>/rebase/", change_steps.rebase, name="change-rebase"),
    path("changes/<uuid:uuid>/schedule/", change_steps.schedule, name="change-schedule"),
    path("changes/<uuid:uuid>/comment/", change_steps.comment, name="change-comment"),
    path("simulator/", simulator.simulator, name="simulator"),
]
