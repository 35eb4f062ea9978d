"""Change requests: what may be asked, what may follow what, and who may let it through. Pure tables."""

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Protocol

import msgspec

from corrections.domain.lifecycle import Refused
from memory.domain.lifecycle import Transition, check_transition, statuses

KINDS = ("create", "edit", "enable", "disable", "retire", "delete", "ruling")
"""What a change request asks for. ``create`` and ``edit`` serve a version, ``enable`` serves one again."""
WISHES = tuple(kind for kind in KINDS if kind != "ruling")
"""What may be asked for by itself; a ruling is made on its conflict."""
SERVES = frozenset(("create", "edit", "enable"))
"""Kinds after which a version is served."""
SECTION = "changes"
"""Where a workspace keeps its policy, in ``Workspace.settings``."""

CHANGE_INITIAL = "open"
CHANGE_TRANSITIONS: Mapping[str, Transition] = {
    "edit": Transition(("open", "approved", "failed"), "open", "edited"),
    "approve": Transition(("open",), "approved", "approved"),
    "publish": Transition(("approved",), "published", "published"),
    "fail": Transition(("approved",), "failed", "marked as failed"),
    "reject": Transition(("open", "approved", "failed"), "rejected", "rejected"),
    "withdraw": Transition(("open", "approved", "failed"), "withdrawn", "withdrawn"),
    "reopen": Transition(("rejected", "withdrawn"), "open", "opened again"),
}
CHANGE_STATUSES = statuses(CHANGE_INITIAL, CHANGE_TRANSITIONS)
UNDECIDED = ("open", "approved", "failed")
"""Statuses in which somebody still has to do something, or the clock has."""


class ChangePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """``Workspace.settings["changes"]``: how many people a change needs, and what goes without them.

    ``self_approval``: who wrote a change may count among its approvers when they may publish.
    ``key_approval``: API keys may approve; otherwise an approval is a person's. ``urgent_disable``: who may
    publish may disable a rule at once, and others look at it afterwards.
    """

    required_approvals: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1
    self_approval: bool = False
    key_approval: bool = False
    urgent_disable: bool = False


class InvalidPolicyError(ValueError):
    """A policy that cannot be kept; the text names the field."""


def read_policy(settings: Mapping[str, Any]) -> ChangePolicy:
    """The policy in a workspace's settings; the strict default where nothing is set.

    Raises InvalidPolicyError.
    """
    try:
        return msgspec.convert(settings.get(SECTION, {}), ChangePolicy)
    except msgspec.ValidationError as error:
        raise InvalidPolicyError(str(error)) from error


def safe_policy(settings: Mapping[str, Any]) -> ChangePolicy:
    """:func:`read_policy`, and the strict default for settings that cannot be read."""
    try:
        return read_policy(settings)
    except InvalidPolicyError:
        return ChangePolicy()


def check_approver(
    policy: ChangePolicy, *, kind: str, uuid: str, may_publish: bool, authors: Collection[str]
) -> None:
    """Raise :class:`Refused` when this actor's approval would not count.

    ``kind`` is the actor's (user, key, system), ``authors`` the uuids of all who wrote the change.
    """
    if kind == "system":
        return
    if not uuid:
        raise Refused("An approval is somebody's: this actor cannot be told from the authors.")
    if kind == "key" and not policy.key_approval:
        raise Refused("An approval is a person's: this workspace does not let API keys approve changes.")
    if uuid in authors and not (policy.self_approval and may_publish):
        raise Refused("You wrote this change: somebody else has to approve it.")


def check_change(status: str, step: str) -> str:
    """The status after ``step``; raises :class:`memory.domain.lifecycle.TransitionError`."""
    return check_transition(CHANGE_TRANSITIONS, step, status)


class Given(Protocol):
    """An approval as it is stored."""

    revision: int
    actor_kind: str
    actor_uuid: str


def missing_approvals(
    policy: ChangePolicy, *, approvals: Iterable[Given], revision: int, authors: Collection[str]
) -> int:
    """How many approvals ``revision`` still lacks under the policy as it is now; 0 when it has enough.

    The system's approval is enough by itself. What the policy no longer lets count does not.
    """
    people: set[tuple[str, str]] = set()
    for given in approvals:
        if given.revision != revision:
            continue
        if given.actor_kind == "system":
            return 0
        if given.actor_kind == "key" and not policy.key_approval:
            continue
        if given.actor_uuid in authors and not policy.self_approval:
            continue
        people.add((given.actor_kind, given.actor_uuid))
    return max(policy.required_approvals - len(people), 0)


def serving_kind(status: str) -> str:
    """What asking to serve a rule in this status is: ``create``, ``edit`` or ``enable``."""
    if status == "draft":
        return "create"
    return "edit" if status in ("active", "canary") else "enable"


def step_of(kind: str) -> str:
    """The step of the rule's life that a change takes when it is published."""
    return "activate" if kind in SERVES else kind


def check_current(*, base: tuple[int | None, str], now: tuple[int | None, str]) -> None:
    """Raise :class:`Refused` when what is served is not what the change was written against.

    Both are the number of the version served (None: none) and the status of the rule.
    """
    if base == now:
        return
    then, today = (_served(*state) for state in (base, now))
    raise Refused(f"The rule has changed since this was asked for: then it was {then}, now it is {today}.")


def _served(version: int | None, status: str) -> str:
    return f"{status} with version {version}" if version else status


def check_loosening(old: ChangePolicy, new: ChangePolicy) -> None:
    """Raise :class:`Refused` when ``new`` lets more through than ``old``: only a person may decide that."""
    looser = new.required_approvals < old.required_approvals or any(
        getattr(new, name) and not getattr(old, name)
        for name in ("self_approval", "key_approval", "urgent_disable")
    )
    if looser:
        raise Refused("An API key may make this policy stricter, not looser: that takes a person.")


TITLES: Mapping[str, str] = {
    "create": "Serve a new rule: {}",
    "edit": "Serve a new version of {}",
    "enable": "Serve {} again",
    "disable": "Disable {}",
    "retire": "Retire {}",
    "delete": "Delete {}",
    "ruling": "Rule on {}",
}
"""What a change of each kind is called; the name goes into the braces."""
