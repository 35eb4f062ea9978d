"""How well served rules work: outcomes of the calls they changed, and what follows from them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from corrections.domain.effectiveness import MIN_OUTCOMES, Effect, expected, observe_all
from corrections.models import ChangeRequest, ReceiptUse, Rule, RuleProposal
from memory.queries.tools import schema_changed_at

MAX_OUTCOMES = 60
"""The newest outcomes that count; older ones would weigh less than a twentieth."""
ASKED_AGAIN_AFTER = timedelta(days=30)


@dataclass(frozen=True)
class RuleEffect:
    """What a page shows: the posterior over the newest outcomes of the served version, and all counts."""

    effect: Effect
    helped: int
    failed: int

    @property
    def is_known(self) -> bool:
        """Whether there is enough data."""
        return self.effect.outcomes >= MIN_OUTCOMES


def effect_of(rule: Rule) -> RuleEffect:
    """What is known of a rule's effect under the tool's schema of today. Three queries."""
    proposal = RuleProposal.objects.filter(rule=rule).values_list("caught", "hit").first()
    prior = expected(*proposal) if proposal else 0.5
    effect = observe_all(Effect(prior), list_outcomes(rule))
    return RuleEffect(effect, rule.helped_count, rule.failed_count)


def list_outcomes(rule: Rule) -> list[bool]:
    """Whether the calls that the served version changed went well: the newest ones, oldest first.

    What came before the tool's schema last changed is left out.
    """
    if rule.live_version is None:
        return []
    rows = ReceiptUse.objects.filter(
        rule=rule, version=rule.live_version.number, role="applied", receipt__was_applied=True
    )
    changed_at = schema_changed_at(rule.workspace_id, rule.live_version.tool)
    if changed_at is not None:
        rows = rows.filter(receipt__issued_at__gte=changed_at)
    statuses = rows.order_by("-pk").values_list("receipt__body__call_status", flat=True)
    known = statuses.filter(receipt__body__call_status__in=["ok", "error"])[:MAX_OUTCOMES]
    return [status == "ok" for status in reversed(known)]


def list_unjudged(*, since: datetime, limit: int) -> QuerySet[Rule]:
    """Active rules with new outcomes, in workspaces where nothing was judged since a moment."""
    recent = Rule.objects.filter(judged_at__gt=since).values("workspace_id")
    rows = Rule.objects.active().select_related("live_version", "workspace")
    rows = rows.annotate(outcomes=F("helped_count") + F("failed_count"))
    enough = Q(outcomes__gt=F("judged_count"), outcomes__gte=MIN_OUTCOMES)
    return rows.filter(enough).exclude(workspace_id__in=recent).order_by("workspace_id", "pk")[:limit]


def list_doubtful(*, now: datetime, limit: int) -> QuerySet[Rule]:
    """Judged rules that may do no good and that nobody was asked about lately, oldest first."""
    asked = ChangeRequest.objects.filter(
        kind__in=["disable", "retire"], requested_at__gt=now - ASKED_AGAIN_AFTER
    ).values("rule_id")
    rows = Rule.objects.active().select_related("live_version", "workspace")
    low = rows.filter(effectiveness__lt=0.5, judged_count__gte=MIN_OUTCOMES)
    return low.exclude(pk__in=asked).order_by("pk")[:limit]


def list_refuted(*, now: datetime, limit: int) -> list[tuple[Rule, int]]:
    """Served rules whose proposal the inducer took back after it was accepted, because calls that went well
    would be hit; nobody was asked about them lately. With how many such calls, oldest first."""
    asked = ChangeRequest.objects.filter(
        kind__in=["disable", "retire"], requested_at__gt=now - ASKED_AGAIN_AFTER
    ).values("rule_id")
    rows = RuleProposal.objects.filter(
        status="accepted", source="inducer", hit__gt=0, updated_at__gt=F("decided_at"),
        rule__in=Rule.objects.active(),
    ).exclude(rule__in=asked)  # fmt: skip
    return [(row.rule, row.hit) for row in rows.select_related("rule").order_by("pk")[:limit] if row.rule]


def list_effectiveness(workspace_id: int) -> dict[int, float | None]:
    """What is served of it: version id to number (None: not enough data), for active rules once judged."""
    rows = Rule.objects.active().filter(workspace_id=workspace_id, judged_at__isnull=False)
    found = rows.values_list("live_version_id", "effectiveness")
    return {version: value for version, value in found if version is not None}
