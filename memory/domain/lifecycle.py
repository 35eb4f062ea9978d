"""Statuses in memory: one table each, and the diagram drawn from it."""

from collections.abc import Mapping
from typing import NamedTuple


class Transition(NamedTuple):
    """A named step from some statuses to one; ``said`` completes "Only ... can be ..."."""

    sources: tuple[str, ...]
    target: str
    said: str


class TransitionError(ValueError):
    """This status does not allow this transition; the text is the sentence a page shows."""


PATTERN_INITIAL = "open"
PATTERN_TRANSITIONS: Mapping[str, Transition] = {
    "cover": Transition(("open",), "covered", "covered by a rule"),
    "uncover": Transition(("covered",), "open", "opened again because no rule covers it any more"),
    "ignore": Transition(("open", "covered"), "ignored", "ignored"),
    "reopen": Transition(("ignored",), "open", "reopened"),
}

TASK_INITIAL = "running"
TASK_TRANSITIONS: Mapping[str, Transition] = {
    "finish": Transition(("running",), "final", "finished"),
}

PROPOSAL_INITIAL = "queued"
PROPOSAL_TRANSITIONS: Mapping[str, Transition] = {
    "hand_over": Transition(("queued",), "needs_human", "handed over to a person"),
    "propose": Transition(("queued", "needs_human", "given_up"), "proposed", "proposed"),
    "give_up": Transition(("queued",), "given_up", "given up"),
    "retry": Transition(("needs_human", "given_up"), "queued", "queued again"),
    "approve": Transition(("proposed",), "approved", "approved"),
    "reject": Transition(("queued", "needs_human", "given_up", "proposed"), "rejected", "rejected"),
    "supersede": Transition(("queued", "needs_human", "given_up", "proposed"), "superseded", "superseded"),
}

PATH_INITIAL = "active"
PATH_TRANSITIONS: Mapping[str, Transition] = {
    "replace": Transition(("active",), "historical", "replaced by another version"),
    "restore": Transition(("historical", "retired"), "active", "made the active version again"),
    "retire": Transition(("active", "historical"), "retired", "retired"),
}

LIFECYCLES: Mapping[str, tuple[str, Mapping[str, Transition]]] = {
    "pattern": (PATTERN_INITIAL, PATTERN_TRANSITIONS),
    "task": (TASK_INITIAL, TASK_TRANSITIONS),
    "path": (PATH_INITIAL, PATH_TRANSITIONS),
    "rewrite": (PROPOSAL_INITIAL, PROPOSAL_TRANSITIONS),
}


def check_transition(table: Mapping[str, Transition], name: str, status: str) -> str:
    """Return the status that ``name`` leads to from ``status``.

    Raises TransitionError where the table does not allow it, KeyError for a name it does not know.
    """
    transition = table[name]
    if status not in transition.sources:
        sources = " or ".join(transition.sources)
        raise TransitionError(f"Only what is {sources} can be {transition.said}; this is {status}.")
    return transition.target


def can_transition(table: Mapping[str, Transition], name: str, status: str) -> bool:
    """Whether ``check_transition`` would pass."""
    return status in table[name].sources


def statuses(initial: str, table: Mapping[str, Transition]) -> tuple[str, ...]:
    """Every status of a table, the initial one first."""
    found = [initial]
    for transition in table.values():
        found += [*transition.sources, transition.target]
    return tuple(dict.fromkeys(found))


def mermaid(initial: str, table: Mapping[str, Transition]) -> str:
    """The table as a mermaid state diagram."""
    lines = ["stateDiagram-v2", f"    [*] --> {initial}"]
    lines += [
        f"    {source} --> {transition.target}: {name}"
        for name, transition in table.items()
        for source in transition.sources
    ]
    return "\n".join(lines)


PROPOSAL_STATUSES = statuses(PROPOSAL_INITIAL, PROPOSAL_TRANSITIONS)
