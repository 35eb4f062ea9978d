"""What this person may do with a change request now; or why not, in the action's own words."""

from dataclasses import dataclass

from corrections.actions.changes import check_counts
from corrections.domain.changes import check_change
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest
from corrections.web.buttons import why_not
from memory.domain.access import Actor, check_may


@dataclass(frozen=True)
class ChangeButtons:
    """Why each step is not possible; "" when it is."""

    approve: str
    reject: str
    withdraw: str
    reopen: str
    edit: str


def change_buttons(change: ChangeRequest, actor: Actor, *, stale: str) -> ChangeButtons:
    """For the page of one request. ``stale`` says why it is out of date."""
    mine = actor.uuid in change.authors

    def approve() -> None:
        check_may(actor, "review_change")
        check_change(change.status, "approve")
        check_counts(change, actor)
        if stale:
            raise Refused(stale)

    return ChangeButtons(
        approve=why_not(approve),
        reject=why_not(lambda: _check(change, actor, "review_change", "reject")),
        withdraw=why_not(
            lambda: _check(change, actor, "draft_rule" if mine else "review_change", "withdraw")
        ),
        reopen=why_not(lambda: _check(change, actor, "draft_rule", "reopen")),
        edit=why_not(lambda: _check(change, actor, "draft_rule", "edit")),
    )


def _check(change: ChangeRequest, actor: Actor, action: str, step: str) -> None:
    check_may(actor, action)
    check_change(change.status, step)
