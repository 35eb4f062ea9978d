"""Locks and the stamp: what everything that changes what agents are served has in common."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from corrections.live.announcing import announce_change
from corrections.models import Rule, RulesetStamp


def stamp_ruleset(workspace_id: int) -> None:
    """Say, in this transaction, that what the workspace's agents are served has changed."""
    RulesetStamp.objects.get_or_create(workspace_id=workspace_id, defaults={"changed_at": timezone.now()})
    RulesetStamp.objects.filter(workspace_id=workspace_id).update(
        version=F("version") + 1, changed_at=timezone.now()
    )
    transaction.on_commit(lambda: announce_change(workspace_id), robust=True)


def lock_stamp(workspace_id: int) -> None:
    """Wait for whoever else changes what the workspace serves, behind the locks of the rules.

    Rulings and rules are judged together: neither may change between the judgement and the commit.
    """
    RulesetStamp.objects.get_or_create(workspace_id=workspace_id, defaults={"changed_at": timezone.now()})
    RulesetStamp.objects.select_for_update().get(workspace_id=workspace_id)


def lock_rules(ids: Iterable[int]) -> list[Rule]:
    """The rules as they are now, locked until the transaction ends, always in the same order.

    Locked without joins: PostgreSQL would look for the new row's version among those of before the wait.
    """
    return list(
        Rule.objects.prefetch_related("workspace", "live_version")
        .select_for_update()
        .filter(pk__in=list(ids))
        .order_by("pk")
    )


def lock_rule(rule: Rule) -> Rule:
    """:func:`lock_rules` for one."""
    return Rule.objects.select_for_update().get(pk=rule.pk)
