"""The canaries on a rule's page: the one it is in, its last ones with their verdicts, and the shadow run."""

from typing import Any

from django.utils import timezone

from corrections.domain.canaries import LIVE_STATES
from corrections.domain.lifecycle import Status
from corrections.models import Rule
from corrections.queries.canary_pages import canaries_of_rule, count_trying
from corrections.web.buttons import why_not
from corrections.web.canary_pictures import picture_of
from memory.domain.access import Actor, check_may


def canaries_shown(rule: Rule, actor: Actor) -> dict[str, Any]:
    """What ``canaries/of_rule.html`` needs. Three queries."""
    now, live = timezone.now(), count_trying(rule.workspace_id)
    pictures = [picture_of(row, live=live, now=now) for row in canaries_of_rule(rule)]
    is_over = rule.status in (Status.RETIRED, Status.DELETED)
    is_tried = any(one.row.state in LIVE_STATES for one in pictures)
    return {
        "pictures": pictures,
        "may_shadow": not is_over and not is_tried,
        "why_not_shadow": why_not(lambda: check_may(actor, "draft_rule")),
    }
