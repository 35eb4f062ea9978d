"""Routes of the corrections API, under ``/api/v1/``."""

from django.urls import path

from corrections.api import changes, proposals, rules, trying
from corrections.api.changes import CommentOnChange, ScheduleChange, WithdrawChange
from corrections.api.query import QueryCorrections

urlpatterns = [
    path("corrections/query", QueryCorrections.as_view(), name="api-corrections-query"),
    path("rules", rules.RuleList.as_view(), name="api-rules"),
    path("rules/proposals", proposals.ProposalList.as_view(), name="api-rule-proposals"),
    path("rules/proposals/draft", proposals.AskModel.as_view(), name="api-rule-proposals-draft"),
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
    path("rules/<uuid:uuid>", rules.RuleDetail.as_view(), name="api-rule"),
    path("rules/<uuid:uuid>/versions", rules.RuleVersions.as_view(), name="api-rule-versions"),
    path("rules/<uuid:uuid>/diff", rules.RuleDiff.as_view(), name="api-rule-diff"),
    path("rules/<uuid:uuid>/activate", rules.ActivateRule.as_view(), name="api-rule-activate"),
    path("rules/<uuid:uuid>/disable", rules.DisableRule.as_view(), name="api-rule-disable"),
    path("rules/<uuid:uuid>/retire", rules.RetireRule.as_view(), name="api-rule-retire"),
    path("rules/<uuid:uuid>/delete", rules.DeleteRule.as_view(), name="api-rule-delete"),
    path("change-requests", changes.ChangeList.as_view(), name="api-changes"),
    path("change-requests/policy", changes.ChangePolicy.as_view(), name="api-change-policy"),
    path("change-requests/<uuid:uuid>", changes.ChangeDetail.as_view(), name="api-change"),
    path("change-requests/<uuid:uuid>/approve", changes.ApproveChange.as_view(), name="api-change-approve"),
    path("change-requests/<uuid:uuid>/reject", changes.RejectChange.as_view(), name="api-change-reject"),
    path("change-requests/<uuid:uuid>/withdraw", WithdrawChange.as_view(), name="api-change-withdraw"),
    path("change-requests/<uuid:uuid>/reopen", changes.ReopenChange.as_view(), name="api-change-reopen"),
    path("change-requests/<uuid:uuid>/rebase", changes.RebaseChange.as_view(), name="api-change-rebase"),
    path("change-requests/<uuid:uuid>/schedule", ScheduleChange.as_view(), name="api-change-schedule"),
    path("change-requests/<uuid:uuid>/comments", CommentOnChange.as_view(), name="api-change-comments"),
    path("rules/<uuid:uuid>/rollback", rules.RollBackRule.as_view(), name="api-rule-rollback"),
]
