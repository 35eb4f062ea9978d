"""Dependencies between rules that people know of, beside those that read and write sets tell."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from corrections.domain.lifecycle import Refused
from corrections.models import ManualDependency, Rule
from memory.actions import record_event
from memory.domain.access import Actor, check_may

MAX_REASON = 500


def add_dependency(*, rule: Rule, depends_on: Rule, reason: str, by: Actor) -> ManualDependency:
    """Say that ``rule`` needs ``depends_on``.

    Raises :class:`NotPermitted`, and :class:`Refused` without a reason, for a rule and itself, for rules of
    two workspaces, and for what was said before.
    """
    check_may(by, "draft_rule", within=rule.workspace_id)
    said = reason.strip()
    if not said:
        raise Refused("Say why the rule needs the other one.")
    if len(said) > MAX_REASON:
        raise Refused(f"The reason has at most {MAX_REASON} characters.")
    if rule.pk == depends_on.pk:
        raise Refused("A rule cannot need itself.")
    if rule.workspace_id != depends_on.workspace_id:
        raise Refused("Both rules must be of this workspace.")
    try:
        return _add(rule, depends_on, said, by)
    except IntegrityError:
        raise Refused("That dependency is there already.") from None


@transaction.atomic
def _add(rule: Rule, depends_on: Rule, reason: str, by: Actor) -> ManualDependency:
    dependency = ManualDependency.objects.create(
        workspace_id=rule.workspace_id, rule=rule, depends_on=depends_on, reason=reason,
        created_by=by.name[:200], created_at=timezone.now(),
    )  # fmt: skip
    record_event(
        by=by, workspace=rule.workspace, verb="add_dependency", subject=rule,
        new={"depends_on": str(depends_on.uuid), "name": depends_on.name}, reason=reason,
    )  # fmt: skip
    return dependency


@transaction.atomic
def remove_dependency(*, dependency: ManualDependency, by: Actor, reason: str = "") -> None:
    """Take a dependency back. Removing one that is gone already changes nothing.

    Raises :class:`NotPermitted`.
    """
    check_may(by, "draft_rule", within=dependency.workspace_id)
    deleted, _ = ManualDependency.objects.filter(pk=dependency.pk).delete()
    if not deleted:
        return
    other = dependency.depends_on
    record_event(
        by=by, workspace=dependency.rule.workspace, verb="remove_dependency", subject=dependency.rule,
        old={"depends_on": str(other.uuid), "name": other.name, "reason": dependency.reason}, reason=reason,
    )  # fmt: skip
