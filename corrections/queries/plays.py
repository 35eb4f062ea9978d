"""What the page of the demo's player shows."""

from corrections.domain.proposing import cursor_of
from corrections.models import DemoPlay, Induction, Rule, RuleProposal
from memory.queries.finished import newest_by_workspace
from memory.queries.health import is_analysis_waiting

DEMO = "demo"
SHOWN = 8


def is_demo(workspace_id: int, slug: str) -> bool:
    """Whether the scripted agent may play there: the first run's demo, or one begun from its page."""
    if slug == DEMO:
        return True
    return slug.startswith(f"{DEMO}-") and DemoPlay.objects.filter(workspace=workspace_id).exists()


def get_play(workspace_id: int) -> DemoPlay | None:
    """How far it is; None before the first start."""
    return DemoPlay.objects.filter(workspace=workspace_id).first()


def is_read(workspace_id: int) -> bool:
    """Whether the worker is done with everything recorded: analysed, and read there by the inducer."""
    newest = newest_by_workspace().get(workspace_id)
    cursor = Induction.objects.filter(workspace=workspace_id).values_list("cursor", flat=True).first()
    return not is_analysis_waiting() and (newest is None or cursor_of(newest) <= (cursor or 0))


def rules_by_uuid(workspace_id: int, uuids: set[str]) -> dict[str, Rule]:
    """The rules that spoke up, by uuid."""
    rows = Rule.objects.filter(workspace=workspace_id, uuid__in=uuids)
    return {str(rule.uuid): rule for rule in rows}


def newest_proposals(workspace_id: int) -> list[RuleProposal]:
    """What came of the newest failures: proposals, the newest first, with their error patterns."""
    rows = RuleProposal.objects.filter(workspace=workspace_id, status__in=("proposed", "accepted"))
    return list(rows.select_related("rule").prefetch_related("patterns").order_by("-pk")[:SHOWN])
