"""Routes of the corrections API, under ``/api/v1/``."""

from django.urls import path

from corrections.api import (
    conflicts,
    dependencies,
    impacts,
    inbox,
    proposals,
    reviewing,
    rule_files,
    rules,
    trying,
)
from corrections.api.query import QueryCorrections
from corrections.api.search import SearchTexts

urlpatterns = [
    path("corrections/query", QueryCorrections.as_view(), name="api-corrections-query"),
    path("review/items", inbox.ItemList.as_view(), name="api-review-items"),
    path("review/decide", inbox.DecideItems.as_view(), name="api-review-decide"),
    path("review/assign", inbox.AssignItems.as_view(), name="api-review-assign"),
    path("review/<slug:kind>/<uuid:uuid>/comments", inbox.ItemComments.as_view(), name="api-review-comments"),
    path("search", SearchTexts.as_view(), name="api-search"),
    path("conflicts", conflicts.ConflictList.as_view(), name="api-conflicts"),
    path("conflicts/scan", conflicts.ScanConflicts.as_view(), name="api-conflicts-scan"),
    path("conflicts/scans/<uuid:uuid>", conflicts.ScanDetail.as_view(), name="api-conflict-scan"),
    path("conflicts/<uuid:uuid>", conflicts.ConflictDetail.as_view(), name="api-conflict"),
    path("conflicts/<uuid:uuid>/rule", conflicts.RuleConflict.as_view(), name="api-conflict-rule"),
    path("rulings", conflicts.RulingList.as_view(), name="api-rulings"),
    path("rulings/<uuid:uuid>/end", conflicts.EndRuling.as_view(), name="api-ruling-end"),
    path("rules", rules.RuleList.as_view(), name="api-rules"),
    path("rules/proposals", proposals.ProposalList.as_view(), name="api-rule-proposals"),
    path("rules/proposals/<uuid:uuid>", proposals.ProposalDetail.as_view(), name="api-rule-proposal"),
    path(
        "rules/proposals/<uuid:uuid>/accept",
        proposals.AcceptProposal.as_view(),
        name="api-rule-proposal-accept",
    ),
    path(
        "rules/proposals/<uuid:uuid>/reject",
        proposals.RejectProposal.as_view(),
        name="api-rule-proposal-reject",
    ),
    path(
        "rules/proposals/<uuid:uuid>/reopen",
        proposals.ReopenProposal.as_view(),
        name="api-rule-proposal-reopen",
    ),
    path("rules/check", trying.CheckRule.as_view(), name="api-rules-check"),
    path("rules/simulate", trying.SimulateRules.as_view(), name="api-rules-simulate"),
    path("rules/backtest", trying.BacktestRule.as_view(), name="api-rules-backtest"),
    path("rules/export", rule_files.ExportRules.as_view(), name="api-rules-export"),
    path("rules/import/plan", rule_files.PlanRules.as_view(), name="api-rules-import-plan"),
    path("rules/import/apply", rule_files.ApplyRules.as_view(), name="api-rules-import-apply"),
    path("rules/<uuid:uuid>", rules.RuleDetail.as_view(), name="api-rule"),
    path("rules/<uuid:uuid>/versions", rules.RuleVersions.as_view(), name="api-rule-versions"),
    path("rules/<uuid:uuid>/diff", rules.RuleDiff.as_view(), name="api-rule-diff"),
    path("rules/<uuid:uuid>/activate", rules.ActivateRule.as_view(), name="api-rule-activate"),
    path("rules/<uuid:uuid>/disable", rules.DisableRule.as_view(), name="api-rule-disable"),
    path("rules/<uuid:uuid>/retire", rules.RetireRule.as_view(), name="api-rule-retire"),
    path("rules/<uuid:uuid>/review", reviewing.ReviewRule.as_view(), name="api-rule-review"),
    path("rules/<uuid:uuid>/rollback", rules.RollBackRule.as_view(), name="api-rule-rollback"),
    path("rules/<uuid:uuid>/dependents", dependencies.RuleDependents.as_view(), name="api-rule-dependents"),
    path("impacts", impacts.ImpactList.as_view(), name="api-impacts"),
    path("impacts/<uuid:uuid>", impacts.ImpactDetail.as_view(), name="api-impact"),
    path("impacts/<uuid:uuid>/decide", impacts.DecideImpact.as_view(), name="api-impact-decide"),
    path("impacts/<uuid:uuid>/undo", impacts.UndoImpact.as_view(), name="api-impact-undo"),
    path("tools/<uuid:uuid>/impacts", impacts.ToolImpacts.as_view(), name="api-tool-impacts"),
    path("dependencies", dependencies.Dependencies.as_view(), name="api-dependencies"),
    path("dependencies/<uuid:uuid>", dependencies.DependencyDetail.as_view(), name="api-dependency"),
]
