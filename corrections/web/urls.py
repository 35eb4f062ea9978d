"""Pages of the corrections app, and those that span both apps, under ``/w/<slug>/``."""

from django.urls import path

from corrections.web import (
    editing,
    health,
    overview,
    patterns,
    proposal_bulk,
    proposals,
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
    path("patterns/<uuid:uuid>/ask-model/", proposals.ask, name="pattern-ask-model"),
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
    path("rule-proposals/", proposals.proposals, name="proposals"),
    path("rule-proposals/decide/", proposal_bulk.decide, name="proposals-decide"),
    path("rule-proposals/<uuid:uuid>/", proposals.proposal, name="proposal"),
    path("rule-proposals/<uuid:uuid>/accept/", proposals.accept, name="proposal-accept"),
    path("rule-proposals/<uuid:uuid>/reject/", proposals.reject, name="proposal-reject"),
    path("rule-proposals/<uuid:uuid>/retry/", proposals.retry, name="proposal-retry"),
    path("rule-proposals/<uuid:uuid>/reopen/", proposals.reopen, name="proposal-reopen"),
    path("simulator/", simulator.simulator, name="simulator"),
]
