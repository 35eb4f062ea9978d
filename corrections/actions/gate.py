"""The gate to agents: what stands between a wish and what is served."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from corrections.domain.changes import SERVES, check_current, missing_approvals, safe_policy, step_of
from corrections.domain.lifecycle import LIVE, Refused, Status, check_step
from corrections.models import ChangeApproval, ChangeRequest, Rule, RuleVersion
from corrections.queries.approvals import standing_approvals
from memory.domain.access import Actor


@dataclass(frozen=True)
class Publication:
    """What is to be served of a rule: ``version`` (None: nothing), and the status the rule gets.

    ``change`` is the approved request it comes from; only the system publishes without one.
    """

    rule: Rule
    status: Status
    version: RuleVersion | None
    verb: str
    change: ChangeRequest | None = None


def publication_of(change: ChangeRequest, rule: Rule) -> Publication:
    """What publishing a change means for its rule; :class:`Refused` when the rule's status forbids it."""
    step = step_of(change.kind)
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
        if publication.change is None:
            if by.kind != "system" or publication.status in LIVE:
                raise Refused("A rule changes only through an approved change request.")
            continue
        change = changes.get(publication.change.pk)
        if change is None or change.rule_id != rule.pk or change.status != "approved":
            raise Refused("Only an approved change request is published.")
        asked = publication_of(change, rule)
        wanted = publication.version.pk if publication.version else None
        if (publication.status, wanted) != (asked.status, change.version_id if asked.version else None):
            raise Refused("This is not what the change request asks for.")
        check_approved(change, approvals.get(change.pk, ()))
        check_current(base=(change.base_version, change.base_status), now=state_of(rule, served))


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
