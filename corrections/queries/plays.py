"""What the page of the demo's player shows."""

from corrections.models import DemoPlay, Rule, RuleProposal
from memory.models import Workspace

DEMO = "demo"
SHOWN = 8


def is_demo(workspace: Workspace) -> bool:
    """Whether the scripted agent may play there: the first run's demo, or one begun from its page."""
    return workspace.slug == DEMO or (
        workspace.slug.startswith(f"{DEMO}-") and DemoPlay.objects.filter(workspace=workspace).exists()
    )


def get_play(workspace_id: int) -> DemoPlay | None:
    """How far it is; None before the first start."""
    return DemoPlay.objects.filter(workspace=workspace_id).first()


def rules_by_uuid(workspace_id: int, uuids: set[str]) -> dict[str, Rule]:
    """The rules that spoke up, by uuid."""
    rows = Rule.objects.filter(workspace=workspace_id, uuid__in=uuids)
    return {str(rule.uuid): rule for rule in rows}


def newest_proposals(workspace_id: int) -> list[RuleProposal]:
    """What came of the newest failures: proposals, the newest first, with their error patterns."""
    rows = RuleProposal.objects.filter(workspace=workspace_id, status__in=("proposed", "accepted"))
    return list(rows.select_related("rule").prefetch_related("patterns").order_by("-pk")[:SHOWN])
