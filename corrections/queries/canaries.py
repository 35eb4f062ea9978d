"""Canaries for pages and API: the list, one with its stages and events, and the tasks exposed to it."""

from uuid import UUID

from django.db.models import QuerySet

from corrections.domain.canaries import LIVE_STATES
from corrections.models import Canary, CanaryEvent, CanaryLook, CanaryStage, Exposure, Rule

LIVE = "live"
"""The filter for all that are not over."""


def canary_rows(workspace_id: int) -> QuerySet[Canary]:
    """All canaries of a workspace, newest first, with rule and versions. The control tasks that a ramp left
    where they are stay behind."""
    rows = Canary.objects.filter(workspace_id=workspace_id).defer("kept")
    return rows.select_related("workspace", "rule", "version", "baseline", "change").order_by("-pk")


def list_canaries(
    *, workspace_id: int, state: str = "", rule: UUID | None = None, q: str = ""
) -> QuerySet[Canary]:
    """Newest first. ``state``: one of them, ``live`` for all that are not over, "" for all."""
    rows = canary_rows(workspace_id)
    if state:
        rows = rows.filter(state__in=LIVE_STATES) if state == LIVE else rows.filter(state=state)
    if rule is not None:
        rows = rows.filter(rule__uuid=rule)
    return rows.filter(rule__name__icontains=q) if q else rows


def get_canary(*, workspace_id: int, uuid: UUID) -> Canary | None:
    """One canary of the workspace, or None."""
    return canary_rows(workspace_id).filter(uuid=uuid).first()


def trial_of(rule: Rule) -> Canary | None:
    """The canary of a rule that is not over, if its version is approved and not promoted yet."""
    rows = Canary.objects.live().filter(rule=rule, change__isnull=False).exclude(state="holdout")
    return rows.defer("kept").first()


def live_canary_of(rule: Rule) -> Canary | None:
    """The canary of a rule that is not over, a shadow run and a holdout included."""
    rows = Canary.objects.live().filter(rule=rule).defer("kept")
    return rows.select_related("version", "baseline").first()


def list_exposures(canary: Canary, *, arm: str = "", stage: int | None = None) -> QuerySet[Exposure]:
    """The tasks exposed, newest first, with the task where it is recorded."""
    rows = Exposure.objects.filter(canary=canary).select_related("task", "receipt").order_by("-pk")
    if arm:
        rows = rows.filter(arm=arm)
    return rows.filter(stage=stage) if stage is not None else rows


def list_events(canary: Canary, *, limit: int = 200) -> list[CanaryEvent]:
    """What was decided, oldest first; the newest ``limit``."""
    return list(reversed(canary.events.order_by("-pk")[:limit]))


def list_stages(canary: Canary) -> list[CanaryStage]:
    """Its stages in order."""
    return list(canary.stages.order_by("number"))


def list_looks(canary: Canary, *, limit: int = 400) -> list[CanaryLook]:
    """What looks at the evidence saw, oldest first; the newest ``limit``."""
    return list(reversed(canary.looks.order_by("-pk")[:limit]))
