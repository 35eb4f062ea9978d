"""Change requests: every change to what agents are served is one. This is what callers import."""

from corrections.actions.deciding import (
    StaleChange,
    approve_batch,
    approve_change,
    approves_alone,
    check_counts,
    comment_on_change,
    reject_change,
    reopen_change,
    withdraw_change,
)
from corrections.actions.policies import set_change_policy
from corrections.actions.rebasing import rebase_change
from corrections.actions.requesting import Wanted, request_change, request_changes
from corrections.actions.scheduling import publish_due_changes, schedule_change

__all__ = [
    "StaleChange", "Wanted", "approve_batch", "approve_change", "approves_alone",
    "check_counts", "comment_on_change", "publish_due_changes", "rebase_change", "reject_change",
    "reopen_change", "request_change", "request_changes", "schedule_change", "set_change_policy",
    "withdraw_change",
]  # fmt: skip
