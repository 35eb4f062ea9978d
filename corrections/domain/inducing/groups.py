"""Failing calls that are one mistake, with what is proposed about them."""

from dataclasses import dataclass, field

from corrections.domain.inducing.calls import ObservedCall
from corrections.domain.inducing.dividing import Mended, Parts
from corrections.domain.inducing.edits import Edit
from corrections.domain.inducing.features import Atom
from corrections.domain.inducing.ledger import Book
from corrections.domain.inducing.recovering import Recovery

MAX_KEPT = 1_000


@dataclass(frozen=True)
class Seen:
    """A call: the facts about its input (``atoms``), those about its form and surroundings (``more``)."""

    call: ObservedCall
    atoms: frozenset[Atom]
    more: frozenset[Atom] = frozenset()

    @property
    def facts(self) -> frozenset[Atom]:
        """Everything that is true of the call."""
        return self.atoms | self.more


@dataclass(frozen=True)
class Mistake:
    """What makes failing calls one group: tool, scope, and what the error blames (or says).

    ``is_family``: all failing calls of the tool in the scope whose errors say the same, whatever they blame.
    """

    tool: str
    scope: tuple[str, str]
    blamed: tuple[Atom, ...] = ()
    lacking: tuple[Atom, ...] = ()
    template: str = ""
    is_family: bool = False

    @property
    def book(self) -> Book:
        """Where the good calls are that it is compared with."""
        return self.tool, self.scope[1]


@dataclass
class Group:
    """The failing calls of a mistake by id (the last ``MAX_KEPT``), and what is known about them."""

    failing: dict[str, Seen] = field(default_factory=dict)
    edits: dict[str, Edit | None] = field(default_factory=dict)
    recoveries: dict[str, tuple[Recovery, ...]] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)
    """What is proposed: each action with its conditions."""
    message: str | None = None
    """What was said first; None while no error has blamed the mistake."""
    blamed: set[str] = field(default_factory=set)
    """The calls of which the error said so; of others only their run's repair did."""
    members: dict[Mistake, None] = field(default_factory=dict)
    saved: dict[str, Seen] = field(default_factory=dict)
    """Calls that went well after a step which a rule asked for, as they stood without it."""

    def add(self, seen: Seen, *, is_blamed: bool = True) -> None:
        """One more failing call; the oldest is forgotten when there are too many."""
        if is_blamed:
            self.blamed.add(seen.call.id)
            self.message = seen.call.message if self.message is None else self.message
        self.failing[seen.call.id] = seen
        if len(self.failing) > MAX_KEPT:
            oldest = next(iter(self.failing))
            for kept in (self.failing, self.edits, self.recoveries):
                kept.pop(oldest, None)
            self.blamed.discard(oldest)

    def save(self, seen: Seen) -> None:
        """One more call that a step saved; the oldest is forgotten when there are too many."""
        self.saved[seen.call.id] = seen
        if len(self.saved) > MAX_KEPT:
            del self.saved[next(iter(self.saved))]

    def needed(self, tool: str) -> int:
        """How many failing calls went well once that tool had been called first."""
        shown = (any(one.kind == "insert" and one.tool == tool for one in some)
                 for some in self.recoveries.values())  # fmt: skip
        return sum(shown)

    def mended(self) -> list[Mended]:
        """The failing calls with the edit of each."""
        return [
            Mended(seen.call.run, seen.atoms, name in self.edits, self.edits.get(name), name in self.blamed)
            for name, seen in self.failing.items()
        ]

    def holds(self, facts: frozenset[Atom]) -> bool:
        """Whether any of its conditions holds of a call."""
        return any(clause.holds(facts) for clauses in self.parts.values() for clause in clauses)
