"""What the inducer proposes: a rule document with the calls that speak for it and against it."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from corrections.domain.inducing.covering import Clause
from corrections.domain.inducing.features import Atom, Place
from corrections.domain.inducing.wording import condition_of
from hgmem.rules.limits import MAX_CONDITION_CHARS, MAX_NAME_CHARS

JOINED_KINDS = frozenset(("is", "number", "word"))
MAX_JOINED = 40
MAX_SAID = 400


@dataclass(frozen=True)
class Backtest:
    """What the condition would have done so far: failures caught, good calls hit (ids), of how many."""

    caught: tuple[str, ...]
    failures: int
    hit: tuple[str, ...]
    good: int


@dataclass(frozen=True)
class Proposal:
    """A rule that nobody has approved yet. Same tool, condition and action, same ``key``."""

    key: str
    tool: str
    condition: str
    action_type: str
    action_detail: dict[str, Any]
    name: str
    backtest: Backtest
    runs: int
    priority: int = 0

    def document(self) -> dict[str, Any]:
        """The rule as a document that ``Rule.from_document`` reads when a ``uuid`` is added."""
        return {
            "name": self.name,
            "applies_to": {"point": "before", "tool": self.tool},
            "condition": self.condition,
            "action_type": self.action_type,
            "action_detail": self.action_detail,
            "created_by": "agent",
            "author": "inducer",
            "priority": self.priority,
        }


@dataclass(frozen=True)
class Changes:
    """What became of the proposals since they were last asked for. ``updated`` gained or lost evidence."""

    proposed: tuple[Proposal, ...] = ()
    updated: tuple[Proposal, ...] = ()
    withdrawn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Action:
    """What a rule does, hashable: the detail is JSON."""

    type: str
    detail: str
    name: str
    priority: int = 0
    """A repair goes before a question: what it repairs need not be asked about."""


@dataclass(frozen=True)
class Joined:
    """Clauses that differ in one value: the same facts, and any one of these."""

    all_of: frozenset[Atom]
    none_of: frozenset[Atom]
    any_of: tuple[Atom, ...] = ()

    def holds(self, atoms: frozenset[Atom]) -> bool:
        """Whether it holds of a call."""
        one = not self.any_of or any(atom in atoms for atom in self.any_of)
        return one and Clause(self.all_of, self.none_of).holds(atoms)


@dataclass
class Evidence:
    """The calls on which a proposal is tried: failing ones with their runs, how many good ones, those hit."""

    failing: list[tuple[str, str, frozenset[Atom]]] = field(default_factory=list)
    good: int = 0
    hit: tuple[str, ...] = ()


def ask_first(message: str, *, is_certain: bool = False) -> Action:
    """Stop before a call that is known to fail, with the error's own words; refuse one that surely fails."""
    said = " ".join(message.split())[:MAX_SAID].replace("{{", "{ {")
    verdict = "block" if is_certain else "ask"
    detail = json.dumps(
        {"on_failure": verdict, "message": f"Such a call failed before: {said}"},
        ensure_ascii=False,
        sort_keys=True,
    )
    return Action("PRE_CALL_VALIDATION", detail, said[: MAX_NAME_CHARS - 10] or "failing call")


def join(clauses: Iterable[Clause]) -> list[Joined]:
    """Clauses that differ in one value of one place become one with a list of values."""
    left = sorted(set(clauses), key=_order)
    joined: list[Joined] = []
    while left:
        first, rest = left[0], left[1:]
        same = max((_alike(first, atom, rest) for atom in _joinable(first)), key=len, default=[])
        alike = [clause for clause, _atom in same][: MAX_JOINED - 1]
        if alike:
            shared = first.all_of & alike[0].all_of
            values = [*(first.all_of - shared), *(atom for _clause, atom in same[: MAX_JOINED - 1])]
            joined.append(Joined(shared, first.none_of, tuple(sorted(values, key=repr))))
        else:
            joined.append(Joined(first.all_of, first.none_of))
        left = [clause for clause in rest if clause not in alike]
    return joined


def _order(clause: Clause) -> tuple[list[str], list[str]]:
    return sorted(map(repr, clause.all_of)), sorted(map(repr, clause.none_of))


def _joinable(clause: Clause) -> list[Atom]:
    return sorted((atom for atom in clause.all_of if atom.kind in JOINED_KINDS), key=repr)


def _alike(clause: Clause, atom: Atom, others: Sequence[Clause]) -> list[tuple[Clause, Atom]]:
    """The clauses that have another value in place of this one and are otherwise the same."""
    rest = clause.all_of - {atom}
    found = []
    for other in others:
        extra = other.all_of - rest
        if other.none_of == clause.none_of and rest < other.all_of and len(extra) == 1:
            (value,) = extra
            if (value.place, value.kind) == (atom.place, atom.kind):
                found.append((other, value))
    return found


def propose(
    tool: str,
    scope: tuple[str, str],
    joined: Joined,
    action: Action,
    evidence: Evidence,
    always_text: frozenset[Place],
) -> Proposal | None:
    """The proposal with its backtest; None where the engine would not take the rule."""
    condition = condition_of(scope, joined.all_of, joined.none_of, joined.any_of, always_text)
    if len(condition) > MAX_CONDITION_CHARS:
        return None
    caught = [(name, run) for name, run, atoms in evidence.failing if joined.holds(atoms)]
    return Proposal(
        key=proposal_key(tool, condition, action),
        tool=tool,
        condition=condition,
        action_type=action.type,
        action_detail=json.loads(action.detail),
        name=action.name,
        backtest=Backtest(
            tuple(name for name, _run in caught), len(evidence.failing), evidence.hit, evidence.good
        ),
        runs=len({run for _name, run in caught}),
        priority=action.priority,
    )


def proposal_key(tool: str, condition: str, action: Action) -> str:
    """The same 32 hex digits for the same tool, condition and action."""
    said = json.dumps([tool, condition, action.type, action.detail]).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=16).hexdigest()
