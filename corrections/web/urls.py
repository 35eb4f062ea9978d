"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import (
    editing,
    health,
    inbox,
    inbox_deciding,
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
    path("review/", inbox.inbox, name="inbox"),
    path("review/decide/", inbox_deciding.inbox_decide, name="inbox-decide"),
    path("review/<slug:kind>/<uuid:uuid>/", inbox.inbox_item, name="inbox-item"),
    path("review/<slug:kind>/<uuid:uuid>/decide/", inbox_deciding.inbox_decide_one, name="inbox-decide-one"),
    path("review/<slug:kind>/<uuid:uuid>/comment/", inbox.inbox_comment, name="inbox-comment"),
    path("review/<slug:kind>/<uuid:uuid>/assign/", inbox.inbox_assign, name="inbox-assign"),
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
    path("simulator/", simulator.simulator, name="simulator"),
]
