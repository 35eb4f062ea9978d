"""How well served rules work: outcomes of the calls they changed, and what follows from them.

A rule that changes calls is judged by these calls. Any other (a hint, a check, a step) changes none, so it is
judged by the tasks that met it while it was on trial or had a holdout. Either number orders rules that
compete for the same calls; whether a rule helps is what its uplift says (:mod:`corrections.queries.uplifts`).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from corrections.domain.effectiveness import MIN_OUTCOMES, Effect, expected, observe_all
from corrections.models import ChangeRequest, Exposure, ReceiptUse, Rule, RuleProposal, RuleVersion
from memory.queries.tools import periods_like_now

MAX_OUTCOMES = 60
"""The newest outcomes that count; older ones would weigh less than a twentieth."""
CHANGING = ("PARAMETER_TRANSFORM", "TOOL_SWITCH")
"""Actions that change a call: only of these does the call's outcome say whether they help."""
ASKED_AGAIN_AFTER = timedelta(days=30)


@dataclass(frozen=True)
class RuleEffect:
    """What a page shows: the posterior over the newest outcomes of the served version, and all counts.

    ``of_tasks``: the outcomes are those of tasks, for a rule that changes no call.
    """

    effect: Effect
    helped: int
    failed: int
    of_tasks: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is enough data."""
        return self.effect.outcomes >= MIN_OUTCOMES


def effect_of(rule: Rule) -> RuleEffect:
    """What is known of a rule's effect under the tool's schema of today. Three queries."""
    proposal = RuleProposal.objects.filter(rule=rule).values_list("caught", "hit").first()
    prior = expected(*proposal) if proposal else 0.5
    outcomes = list_outcomes(rule)
    effect = observe_all(Effect(prior), outcomes)
    if rule.live_version is None or rule.live_version.action_type in CHANGING:
        return RuleEffect(effect, rule.helped_count, rule.failed_count)
    return RuleEffect(effect, sum(outcomes), len(outcomes) - sum(outcomes), of_tasks=True)


def list_outcomes(rule: Rule) -> list[bool]:
    """Whether what the served version took part in went well: the newest outcomes, oldest first.

    What happened while the tool had another schema than today's is left out; a schema that came back brings
    back what was known under it. Two queries.
    """
    version = rule.live_version
    if version is None:
        return []
    return _of_calls(rule, version) if version.action_type in CHANGING else _of_tasks(rule, version)


def _of_calls(rule: Rule, version: RuleVersion) -> list[bool]:
    rows = ReceiptUse.objects.filter(
        rule=rule, version=version.number, role="applied", receipt__was_applied=True
    )
    rows = rows.filter(_under_this_schema(rule, version, "receipt__issued_at"))
    statuses = rows.order_by("-pk").values_list("receipt__body__call_status", flat=True)
    known = statuses.filter(receipt__body__call_status__in=["ok", "error"])[:MAX_OUTCOMES]
    return [status == "ok" for status in reversed(known)]


def _of_tasks(rule: Rule, version: RuleVersion) -> list[bool]:
    rows = Exposure.objects.filter(canary__rule=rule, canary__version=version, arm="canary")
    rows = rows.filter(_under_this_schema(rule, version, "exposed_at"), failed__isnull=False)
    return [
        not failed
        for failed in reversed(rows.order_by("-pk").values_list("failed", flat=True)[:MAX_OUTCOMES])
    ]


def _under_this_schema(rule: Rule, version: RuleVersion, moment: str) -> Q:
    """What happened while the tool's schema was today's; all of it for a tool that nobody knows."""
    within = Q()
    for period in periods_like_now(rule.workspace_id, version.tool):
        since = Q(**{f"{moment}__gte": period.since}) if period.since else ~Q(pk=None)
        within |= since & Q(**{f"{moment}__lt": period.until}) if period.until else since
    return within


def list_unjudged(*, since: datetime, limit: int) -> QuerySet[Rule]:
    """Live rules with new outcomes, in workspaces where nothing was judged since a moment."""
    recent = Rule.objects.filter(judged_at__gt=since).values("workspace_id")
    rows = Rule.objects.live().select_related("live_version", "workspace")
    rows = rows.annotate(outcomes=F("helped_count") + F("failed_count"))
    enough = Q(outcomes__gt=F("judged_count"), outcomes__gte=MIN_OUTCOMES)
    return (
        rows.filter(enough | Q(score_due=True))
        .exclude(workspace_id__in=recent)
        .order_by("workspace_id", "pk")[:limit]
    )


def list_doubtful(*, now: datetime, limit: int) -> QuerySet[Rule]:
    """Judged live rules that may do no good and that nobody was asked about lately, oldest first.

    On trial, too: a repair of calls that fail anyway does no harm that the controller would see.
    """
    asked = ChangeRequest.objects.filter(
        kind__in=["disable", "retire"], requested_at__gt=now - ASKED_AGAIN_AFTER
    ).values("rule_id")
    rows = Rule.objects.live().select_related("live_version", "workspace")
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
    """What is served of it: version id to number (None: not enough data), for live rules once judged."""
    rows = Rule.objects.live().filter(workspace_id=workspace_id, judged_at__isnull=False)
    found = rows.values_list("live_version_id", "effectiveness")
    return {version: value for version, value in found if version is not None}
