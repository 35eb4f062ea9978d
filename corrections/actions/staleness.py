"""Looking again at a rule, and when a workspace wants to be reminded."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from corrections.actions.publishing import lock_rule
from corrections.domain.staleness import SECTION, StalePolicy, check_stale_policy, stale_policy
from corrections.models import Rule
from memory.actions import record_event
from memory.actions.workspaces import store_section
from memory.domain.access import Actor, check_may


@transaction.atomic
def review_rule(*, rule: Rule, by: Actor, note: str = "") -> Rule:
    """Say that a rule is still right: its reminders are gone until there is a new reason.

    Raises :class:`NotPermitted`.
    """
    check_may(by, "review_rule", within=rule.workspace_id)
    rule = lock_rule(rule)
    reasons = [reason["kind"] for reason in rule.stale_reasons]
    rule.reviewed_at, rule.reviewed_error_count = timezone.now(), rule.error_count
    rule.stale_since, rule.stale_reasons = None, []
    rule.save(update_fields=["reviewed_at", "reviewed_error_count", "stale_since", "stale_reasons"])
    record_event(
        by=by, workspace=rule.workspace, verb="review_rule", subject=rule, old={"reasons": reasons},
        new={"reasons": []}, reason=note,
    )  # fmt: skip
    return rule


def set_stale_policy(*, workspace_id: int, changes: Mapping[str, Any], by: Actor) -> StalePolicy:
    """Change after how many days people are reminded; the policy as it is now.

    ``changes`` are fields of :class:`StalePolicy`. Raises :class:`NotPermitted`, and
    :class:`corrections.domain.staleness.InvalidStalePolicyError` naming the field.
    """
    check_may(by, "manage_workspace", within=workspace_id)

    def renew(settings: Mapping[str, Any]) -> dict[str, Any]:
        old = stale_policy(settings)
        policy = check_stale_policy(
            {name: getattr(old, name) for name in old.__struct_fields__} | dict(changes)
        )
        return {name: getattr(policy, name) for name in policy.__struct_fields__}

    return check_stale_policy(
        store_section(
            workspace_id=workspace_id, section=SECTION, change=renew, verb="set_stale_policy", by=by
        )
    )
