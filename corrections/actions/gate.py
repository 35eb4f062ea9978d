"""The gate to agents: what stands between a wish and what is served."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from corrections.domain.canaries import LIVE_STATES, ROLLOUTS, Rollout, default_rollout, safe_canary_policy
from corrections.domain.changes import SERVES, check_current, missing_approvals, safe_policy, step_of
from corrections.domain.lifecycle import LIVE, Refused, Status, check_step
from corrections.models import Canary, ChangeApproval, ChangeRequest, Rule, RuleVersion
from corrections.queries.approvals import standing_approvals
from memory.domain.access import Actor, check_may

TRIED_REVISION = "canary_revision"
"""In a request's detail: the revision that somebody approved while it was to begin as a canary."""


@dataclass(frozen=True)
class Publication:
    """What is to be served of a rule: ``version`` (None: nothing), and the status the rule gets.

    ``trial`` is the version that goes on trial with it. ``change`` is the approved request it comes from,
    ``canary`` the locked canary that it decides about; only the system publishes without either.
    """

    rule: Rule
    status: Status
    version: RuleVersion | None
    verb: str
    change: ChangeRequest | None = None
    trial: RuleVersion | None = None
    canary: Canary | None = None


def rollout_of(change: ChangeRequest) -> Rollout:
    """How a change that serves a version is published: as somebody chose, else by the workspace's policy.

    A policy that was loosened since somebody approved it makes it no bolder.
    """
    chosen = change.detail.get("rollout")
    if chosen in ROLLOUTS:
        return cast(Rollout, chosen)
    if change.detail.get(TRIED_REVISION) == change.revision:
        return "canary"
    author = change.version.created_by_kind if change.version else "human"
    return default_rollout(safe_canary_policy(change.workspace.settings), author)


def publication_of(change: ChangeRequest, rule: Rule) -> Publication:
    """What publishing a change means for its rule; :class:`Refused` when the rule's status forbids it.

    A new version of an active rule goes on trial beside the one that is served.
    """
    step, version = step_of(change.kind), change.version
    if change.kind in SERVES and rollout_of(change) == "canary":
        if rule.status == Status.ACTIVE:
            return Publication(rule, Status.ACTIVE, rule.live_version, "try_rule", change, version)
        return Publication(rule, check_step(rule.status, "try"), version, "try_rule", change, version)
    status = check_step(rule.status, step)
    return Publication(
        rule, status, change.version if change.kind in SERVES else None, f"{step}_rule", change
    )


def check_let_through(
    publications: Sequence[Publication], rules: Mapping[int, Rule], served: Mapping[int, int], by: Actor
) -> None:
    """Raise :class:`Refused` unless every publication was approved for the rules as they are now, locked.

    ``served`` are the numbers of live versions by id. A few queries, however many there are.
    """
    changes = _locked(publications)
    approvals = standing_approvals(list(changes.values()))
    for publication in publications:
        rule = rules[publication.rule.pk]
        if publication.canary is not None:
            check_decided(publication, publication.canary, rule, by)
            continue
        if publication.change is None:
            if by.kind != "system" or publication.status in LIVE:
                raise Refused("A rule changes only through an approved change request.")
            continue
        change = changes.get(publication.change.pk)
        if change is None or change.rule_id != rule.pk or change.status != "approved":
            raise Refused("Only an approved change request is published.")
        asked = publication_of(change, rule)
        if _said(publication) != _said(asked):
            raise Refused("This is not what the change request asks for.")
        check_approved(change, approvals.get(change.pk, ()))
        check_current(base=(change.base_version, change.base_status), now=state_of(rule, served))


def _said(item: Publication) -> tuple[Status, int | None, int | None]:
    served, tried = (version.pk if version else None for version in (item.version, item.trial))
    return item.status, served, tried


def check_decided(publication: Publication, canary: Canary, rule: Rule, by: Actor) -> None:
    """Raise :class:`Refused` unless a decision about a live canary may serve this.

    That is: its version, when its change was published; the version that was served before; or nothing of a
    rule that was new, or that was promoted and has no way back. Raises :class:`NotPermitted`.
    """
    is_promotion = publication.verb == "promote_rule"
    check_may(by, "steer_canary" if is_promotion else "stop_canary", within=rule.workspace_id)
    if canary.rule_id != rule.pk or canary.state not in LIVE_STATES:
        raise Refused("This canary is over.")
    change = canary.change
    if change is None or change.status != "published" or change.version_id != canary.version_id:
        raise Refused("Nobody approved this version: its change request comes first.")
    wanted = publication.version.pk if publication.version else None
    allowed: set[tuple[str, int | None]] = set()
    if is_promotion:
        allowed.add((Status.ACTIVE, canary.version_id))
    elif canary.baseline_id:
        allowed.add((Status.ACTIVE, canary.baseline_id))
    if not is_promotion and (canary.baseline_id is None or canary.state == "holdout"):
        allowed.add((check_step(rule.status, "disable"), None))
    if (publication.status, wanted) not in allowed:
        raise Refused("This is not what the canary is about.")


def check_approved(change: ChangeRequest, approvals: Iterable[ChangeApproval]) -> None:
    """Raise :class:`Refused` while approvals are missing under the policy as it is now.

    ``approvals`` are those of actors who may still review.
    """
    policy = safe_policy(change.workspace.settings)
    if change.is_urgent and change.kind == "disable" and policy.urgent_disable:
        return
    missing = missing_approvals(policy, approvals=approvals, revision=change.revision, authors=change.authors)
    if missing:
        raise Refused(f"This lacks {missing} more approval{'s' if missing > 1 else ''}.")


def state_of(rule: Rule, served: Mapping[int, int]) -> tuple[int | None, str]:
    """The number of the version that is served (None: none) and the status."""
    return (served[rule.live_version_id] if rule.live_version_id else None, str(rule.status))


def served_numbers(rules: Iterable[Rule]) -> dict[int, int]:
    """Numbers of the live versions by their ids. One query."""
    ids = [rule.live_version_id for rule in rules if rule.live_version_id]
    return dict(RuleVersion.objects.filter(pk__in=ids).values_list("pk", "number")) if ids else {}


def _locked(publications: Sequence[Publication]) -> dict[int, ChangeRequest]:
    ids = [item.change.pk for item in publications if item.change is not None]
    if not ids:
        return {}
    rows = ChangeRequest.objects.select_related("workspace", "version").filter(pk__in=ids).order_by("pk")
    return {change.pk: change for change in rows.select_for_update(of=("self",))}
