"""A workspace's rules as files compare with them."""

from uuid import UUID

from corrections.domain.changes import SERVES
from corrections.domain.rule_files import KeptRule
from corrections.models import Canary, ChangeRequest, Rule

EXPORTED = ("active", "canary", "draft", "disabled", "expired")


def list_kept(workspace_id: int, *, exported: bool = False) -> list[KeptRule]:
    """All rules of the workspace, or those that an export writes (not retired or deleted). Three queries."""
    rows = Rule.objects.filter(workspace_id=workspace_id).select_related("latest_version", "live_version")
    if exported:
        rows = rows.filter(status__in=EXPORTED)
    waiting = _waiting(workspace_id)
    return [_kept(rule, waiting.get(rule.pk, [])) for rule in rows]


def list_of_batch(workspace_id: int, batch: UUID) -> list[ChangeRequest]:
    """The change requests of one batch, oldest first."""
    rows = ChangeRequest.objects.filter(workspace_id=workspace_id, batch=batch)
    return list(rows.select_related("rule", "version").order_by("pk"))


def _waiting(workspace_id: int) -> dict[int, list[ChangeRequest]]:
    found: dict[int, list[ChangeRequest]] = {}
    rows = ChangeRequest.objects.undecided().filter(workspace_id=workspace_id, rule__isnull=False)
    for change in rows.exclude(status="failed"):
        found.setdefault(change.rule_id or 0, []).append(change)
    live = Canary.objects.live().filter(workspace_id=workspace_id).defer("kept")
    for canary in live.select_related("change"):
        if canary.change is not None and canary.baseline_id is not None and canary.state != "holdout":
            found.setdefault(canary.rule_id, []).append(canary.change)
    return found


def _kept(rule: Rule, changes: list[ChangeRequest]) -> KeptRule:
    latest, live = rule.latest_version, rule.live_version
    if latest is None:
        raise LookupError(f"Rule {rule.uuid} has no version.")
    kinds = {change.kind for change in changes if change.kind not in SERVES or change.version_id == latest.pk}
    return KeptRule(
        uuid=str(rule.uuid), name=rule.name, status=rule.status, latest=latest.number,
        latest_body=latest.body, live=live.number if live else None,
        live_body=live.body if live else None, waiting=frozenset(kinds),
    )  # fmt: skip
