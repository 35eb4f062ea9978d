"""Decisions on items of the review inbox: each goes to the one action that its own page uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from corrections.actions.arbitration import Said, rule_conflict
from corrections.actions.canaries import promote_canary, roll_back_canary
from corrections.actions.deciding import approve_change, reject_change, reopen_change
from corrections.actions.impacts import decide_impact
from corrections.actions.proposals import accept_proposal, propose_again, reject_proposal
from corrections.actions.staleness import review_rule
from corrections.domain.lifecycle import ReasonMissing
from corrections.queries.inbox_kinds import Item
from memory.actions.alerts import close_alert
from memory.actions.paths import roll_back_path
from memory.actions.rewrites import approve_rewrite, reject_rewrite
from memory.domain.access import Actor, NotPermitted, check_may

ACCEPTED_FOR = timedelta(days=90)
"""How long a conflict that was accepted in the inbox stays accepted: then somebody looks again."""


NOT_APPROVABLE = frozenset(("needs_human", "given_up", "failed"))
"""Statuses in which there is nothing to approve yet: somebody has to write, or to take a new base, first."""


class NotDecidableError(ValueError):
    """This kind of item is not decided in this way; the text says where it is."""


@dataclass(frozen=True)
class Verb:
    """A decision that an item takes: ``run(row, by, reason, revision)``, and whether it needs a reason."""

    permission: str
    run: Callable[[Any, Actor, str, int | None], object]
    needs_reason: bool = False


@dataclass(frozen=True)
class Refusal:
    """An item that was not decided, and why."""

    item: Item
    why: str


def _approve_rewrite(row: Any, by: Actor, reason: str, revision: int | None) -> object:
    return approve_rewrite(proposal=row, by=by, revision=revision, reason=reason)


def _reject_rewrite(row: Any, by: Actor, reason: str, revision: int | None) -> object:
    return reject_rewrite(proposal=row, by=by, revision=revision, reason=reason)


def _approve_change(row: Any, by: Actor, reason: str, revision: int | None) -> object:
    if revision is None:
        raise NotDecidableError("Say which revision you looked at: an approval is for one revision.")
    return approve_change(change=row, revision=revision, by=by, note=reason)


def _accept_conflict(row: Any, by: Actor, reason: str, _revision: int | None) -> object:
    said = Said("accept", reason, expires_at=timezone.now() + ACCEPTED_FOR)
    return rule_conflict(conflict=row, said=said, by=by)


def _promote_canary(row: Any, by: Actor, reason: str, _revision: int | None) -> object:
    return promote_canary(canary=row, by=by, reason=reason)


def _roll_back_canary(row: Any, by: Actor, reason: str, _revision: int | None) -> object:
    return roll_back_canary(canary=row, by=by, reason=reason)


def _keep_rules(row: Any, by: Actor, reason: str, _revision: int | None) -> object:
    return decide_impact(impact=row, decision="keep", reason=reason, by=by)


VERBS: Mapping[str, Mapping[str, Verb]] = {
    "rewrite": {
        "approve": Verb("review_rewrite", _approve_rewrite),
        "reject": Verb("review_rewrite", _reject_rewrite, needs_reason=True),
    },
    "change": {
        "approve": Verb("review_change", _approve_change),
        "reject": Verb(
            "review_change",
            lambda row, by, reason, _seen: reject_change(change=row, by=by, reason=reason),
            needs_reason=True,
        ),
    },
    "proposal": {
        "approve": Verb(
            "review_change", lambda row, by, reason, _seen: accept_proposal(proposal=row, by=by, note=reason)
        ),
        "reject": Verb(
            "review_change",
            lambda row, by, reason, _seen: reject_proposal(proposal=row, by=by, reason=reason),
            needs_reason=True,
        ),
    },
    "conflict": {"reject": Verb("rule_conflict", _accept_conflict, needs_reason=True)},
    "alert": {
        "reject": Verb(
            "handle_alert",
            lambda row, by, reason, _seen: close_alert(alert=row, by=by, note=reason),
            needs_reason=True,
        )
    },
    "impact": {"reject": Verb("draft_rule", _keep_rules, needs_reason=True)},
    "canary": {
        "approve": Verb("steer_canary", _promote_canary, needs_reason=True),
        "reject": Verb("stop_canary", _roll_back_canary, needs_reason=True),
    },
    "stale": {
        "approve": Verb(
            "review_rule", lambda row, by, reason, _seen: review_rule(rule=row, by=by, note=reason)
        )
    },
}
"""What may be decided in the inbox, by kind. ``reject`` closes an alert or a changed tool, and accepts a
conflict as it is; ``approve`` says that a rule that seemed stale is still right, and promotes a canary that
``reject`` rolls back."""

UNDO: Mapping[tuple[str, str], Callable[[Any, Actor], object]] = {
    ("rewrite", "approve"): lambda row, by: roll_back_path(path=row.path, by=by, reason="Taken back."),
    ("change", "reject"): lambda row, by: reopen_change(change=row, by=by, reason="Taken back."),
    ("proposal", "reject"): lambda row, by: propose_again(proposal=row, by=by, reason="Taken back."),
}
"""Which decisions have a way back that leaves everything as it was. The others say where to go instead."""


def verbs_of(item: Item) -> dict[str, Verb]:
    """The decisions that this item takes in the state it is in."""
    verbs = dict(VERBS.get(item.kind, {}))
    if item.kind in ("rewrite", "change") and getattr(item.row, "status", "") in NOT_APPROVABLE:
        verbs.pop("approve", None)
    return verbs


def decide_item(*, item: Item, do: str, by: Actor, reason: str = "", revision: int | None = None) -> object:
    """Decide on one item; what its own action returns.

    ``revision`` is the one that was seen. Raises :class:`NotPermitted`, :class:`ReasonMissing`,
    :class:`NotDecidableError`, and what the action of the kind raises (a ValueError with a sentence).
    """
    verb = verbs_of(item).get(do)
    if verb is None:
        raise NotDecidableError("This is decided on its own page.")
    check_may(by, verb.permission)
    said = reason.strip()
    if verb.needs_reason and not said:
        raise ReasonMissing("Say why.")
    return verb.run(item.row, by, said, revision)


def decide_items(
    *, items: Sequence[tuple[Item, int | None]], do: str, by: Actor, reason: str
) -> list[Refusal]:
    """Decide on several, each in a transaction of its own, with one reason; those that were refused.

    Raises :class:`ReasonMissing`: what is decided together always has its reason.
    """
    if not reason.strip():
        raise ReasonMissing("Say why: what is decided together needs its reason.")
    refused: list[Refusal] = []
    for item, revision in items:
        try:
            decide_item(item=item, do=do, by=by, reason=reason, revision=revision)
        except (ValueError, NotPermitted) as refusal:
            refused.append(Refusal(item, str(refusal)))
    return refused


def undo_decision(*, kind: str, do: str, row: Any, by: Actor) -> None:
    """Take a decision back.

    Raises :class:`NotPermitted`, :class:`NotDecidableError` where there is no way back, and what the action
    of the kind raises (a ValueError with a sentence).
    """
    back = UNDO.get((kind, do))
    if back is None:
        raise NotDecidableError("This decision has no way back here.")
    back(row, by)
