"""Decisions on items of the review inbox: each goes to the one action that its own page uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corrections.queries.inbox_kinds import Item
from memory.actions.alerts import close_alert
from memory.actions.rewrites import approve_rewrite, reject_rewrite
from memory.domain.access import Actor, NotPermitted, check_may


class ReasonMissingError(ValueError):
    """A decision that needs a reason came without one."""


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


def _close_alert(row: Any, by: Actor, reason: str, _revision: int | None) -> object:
    return close_alert(alert=row, by=by, note=reason)


VERBS: Mapping[str, Mapping[str, Verb]] = {
    "rewrite": {
        "approve": Verb("review_rewrite", _approve_rewrite),
        "reject": Verb("review_rewrite", _reject_rewrite, needs_reason=True),
    },
    "alert": {"reject": Verb("handle_alert", _close_alert, needs_reason=True)},
}
"""What may be decided in the inbox, by kind. For an alert, ``reject`` closes it."""


def verbs_of(item: Item) -> dict[str, Verb]:
    """The decisions that this item takes in the state it is in."""
    verbs = dict(VERBS.get(item.kind, {}))
    if item.kind == "rewrite" and item.brief.state != "proposed":
        verbs.pop("approve", None)
    return verbs


def decide_item(*, item: Item, do: str, by: Actor, reason: str = "", revision: int | None = None) -> object:
    """Decide on one item; what its own action returns.

    ``revision`` is the one that was seen. Raises :class:`NotPermitted`, :class:`ReasonMissingError`,
    :class:`NotDecidableError`, and what the action of the kind raises (a ValueError with a sentence).
    """
    verb = verbs_of(item).get(do)
    if verb is None:
        raise NotDecidableError("This is decided on its own page.")
    check_may(by, verb.permission)
    said = reason.strip()
    if verb.needs_reason and not said:
        raise ReasonMissingError("Say why.")
    return verb.run(item.row, by, said, revision)


def decide_items(
    *, items: Sequence[tuple[Item, int | None]], do: str, by: Actor, reason: str
) -> list[Refusal]:
    """Decide on several, each in a transaction of its own, with one reason; those that were refused.

    Raises :class:`ReasonMissingError`: what is decided together always has its reason.
    """
    if not reason.strip():
        raise ReasonMissingError("Say why: what is decided together needs its reason.")
    refused: list[Refusal] = []
    for item, revision in items:
        try:
            decide_item(item=item, do=do, by=by, reason=reason, revision=revision)
        except (ValueError, NotPermitted) as refusal:
            refused.append(Refusal(item, str(refusal)))
    return refused
