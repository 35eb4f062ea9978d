"""Rules judged by how the calls went that they changed: what is served for ordering, and whom to doubt."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from corrections.actions.changes import request_change
from corrections.actions.publishing import stamp_ruleset
from corrections.domain.effectiveness import USEFUL, Verdict, served
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest, Rule
from corrections.queries.effects import RuleEffect, effect_of, list_doubtful, list_refuted, list_unjudged
from corrections.queries.uplifts import uplift_of
from memory.domain.access import Actor, check_may

EVERY = timedelta(minutes=1)
"""A workspace's rules are judged, and served anew, at most this often."""
MAX_RULES = 500
JUDGED = ("effectiveness", "effectiveness_score", "uplift", "judged_count", "judged_at")
MAX_DOUBTED = 20
TAKEN_BACK = (
    "The inducer, which proposed this rule, takes it back: by now {hits} calls that went well without it "
    "would be hit by it."
)


def judge_rules(*, now: datetime, by: Actor) -> int:
    """The clock: write the effectiveness and the uplift of rules with new outcomes; how many were judged.

    What agents are served is stamped once a workspace, and only when a number changed. Raises
    :class:`NotPermitted`.
    """
    check_may(by, "publish_rule")
    by_workspace: dict[int, list[Rule]] = {}
    for rule in list_unjudged(since=now - EVERY, limit=MAX_RULES):
        by_workspace.setdefault(rule.workspace_id, []).append(rule)
    for workspace_id, rules in by_workspace.items():
        _judge(workspace_id, rules, now)
    return sum(map(len, by_workspace.values()))


@transaction.atomic
def _judge(workspace_id: int, rules: list[Rule], now: datetime) -> None:
    # The marks go first: what is marked anew while this looks waits for this transaction, and is kept.
    Rule.objects.filter(pk__in=_locked(rules)).update(score_due=False)
    changed = False
    for rule in rules:
        effect = effect_of(rule).effect
        old, rule.effectiveness = rule.effectiveness, served(effect)
        rule.effectiveness_score = None if rule.effectiveness is None else round(effect.mean, 3)
        uplift = uplift_of(rule)
        rule.uplift = uplift.to_dict() if uplift else None
        rule.judged_count, rule.judged_at = rule.helped_count + rule.failed_count, now
        changed = changed or rule.effectiveness != old
    Rule.objects.bulk_update(rules, JUDGED)
    if changed:
        stamp_ruleset(workspace_id)


def _locked(rules: list[Rule]) -> list[int]:
    rows = Rule.objects.filter(pk__in=[rule.pk for rule in rules]).order_by("pk")
    return list(rows.select_for_update().values_list("pk", flat=True))


def doubt_rules(*, now: datetime, by: Actor) -> list[ChangeRequest]:
    """The clock: ask people to disable rules whose effect says that they do no good.

    Never disables by itself: it opens a change request with the figures as its reason, and does not ask about
    the same rule again for a month. Doubted as well: a rule that the inducer proposed and would not propose
    any more. Raises :class:`NotPermitted`.
    """
    check_may(by, "publish_rule")
    judged = [(rule, effect_of(rule)) for rule in list_doubtful(now=now, limit=MAX_DOUBTED)]
    doubted = [(rule, reason_of(known)) for rule, known in judged if known.effect.verdict is Verdict.RETIRE]
    doubted += [
        (rule, TAKEN_BACK.format(hits=hits)) for rule, hits in list_refuted(now=now, limit=MAX_DOUBTED)
    ]
    opened = []
    for rule, reason in doubted:
        try:
            opened.append(request_change(rule=rule, kind="disable", by=by, reason=reason))
        except Refused:  # it was changed just now; it is looked at again when it has new outcomes
            continue
    return opened


def reason_of(known: RuleEffect) -> str:
    """The figures, for the person who decides."""
    effect = known.effect
    return (
        f"{known.failed} of {known.helped + known.failed} calls that this rule changed failed afterwards. "
        f"Of its last {effect.outcomes}: expected to help in {effect.mean:.0%}, with 90% probability in less "
        f"than {effect.upper:.0%}; below {USEFUL:.0%} a rule does more harm than the plain error. "
        f"Judged on {timezone.now():%Y-%m-%d}."
    )
