"""The life of a rule: one table of what may follow what, and the sentences that refuse the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """What a rule is. An active rule is served to agents, one on trial ("canary") to some of the tasks."""

    DRAFT = "draft"
    CANARY = "canary"
    ACTIVE = "active"
    DISABLED = "disabled"
    EXPIRED = "expired"
    RETIRED = "retired"
    DELETED = "deleted"


CHOICES = [(status.value, status.value) for status in Status]
"""For forms and for the API's description."""


class Refused(ValueError):
    """The step is not possible now. ``str()`` is the sentence that the page and the API show."""


class ReasonMissing(ValueError):
    """This needs a sentence that says why."""


@dataclass(frozen=True)
class Transition:
    """A named step: where it may start, where it ends (None: the status stays), and its words."""

    sources: tuple[Status, ...]
    target: Status | None
    what: str


IDLE = (Status.DRAFT, Status.DISABLED, Status.EXPIRED)
"""Statuses of a rule that can be served again."""

TRANSITIONS: Mapping[str, Transition] = {
    "edit": Transition(
        (Status.DRAFT, Status.CANARY, Status.ACTIVE, Status.DISABLED, Status.EXPIRED), None, "be edited"
    ),
    "try": Transition((*IDLE, Status.CANARY), Status.CANARY, "be tried"),
    "activate": Transition((*IDLE, Status.CANARY, Status.ACTIVE), Status.ACTIVE, "be activated"),
    "disable": Transition((Status.ACTIVE, Status.CANARY), Status.DISABLED, "be disabled"),
    "expire": Transition((Status.ACTIVE, Status.CANARY), Status.EXPIRED, "expire"),
    "retire": Transition((*IDLE, Status.CANARY, Status.ACTIVE), Status.RETIRED, "be retired"),
    "delete": Transition((*IDLE, Status.CANARY, Status.RETIRED), Status.DELETED, "be deleted"),
}
"""Every step there is. Activating an active rule publishes a newer version of it, trying a rule that is on
trial tries a newer version of it; activating that one serves it to all tasks. A new version of an active rule
is tried without a step: the rule stays active."""

LIVE = frozenset({Status.ACTIVE, Status.CANARY})
"""Agents are served such a rule, or some of them."""


def check_step(status: str, step: str) -> Status:
    """The status after ``step``; raises :class:`Refused` when it may not start at ``status``."""
    transition = TRANSITIONS[step]
    now = Status(status)
    if now not in transition.sources:
        allowed = " or ".join(source.value for source in transition.sources)
        raise Refused(f"A rule that is {now.value} cannot {transition.what}: it would have to be {allowed}.")
    return transition.target or now


def can_step(status: str, step: str) -> bool:
    """The bool twin of :func:`check_step`."""
    try:
        check_step(status, step)
    except Refused:
        return False
    return True


def check_publishes(status: str, *, live: int | None, latest: int) -> None:
    """Raise :class:`Refused` when activating would change nothing: the latest version is live already."""
    if status == Status.ACTIVE and live == latest:
        raise Refused(f"Version {latest} is live already.")


def mermaid() -> str:
    """The table as a mermaid state diagram, for the documentation."""
    lines = ["stateDiagram-v2", f"    [*] --> {Status.DRAFT.value}: draft"]
    for name, step in TRANSITIONS.items():
        for source in step.sources:
            lines.append(f"    {source.value} --> {(step.target or source).value}: {name}")
    lines.append(f"    {Status.DELETED.value} --> [*]")
    return "\n".join(lines) + "\n"
