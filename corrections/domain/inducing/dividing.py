"""One mistake, repaired in one way or in several: which rule does what.

Runs that replaced the same thing by different things are told apart by one more fact of their calls; what
cannot be told apart is asked about. An edit that a run contradicts is dropped until such a fact is found.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corrections.domain.inducing.covering import POSITIVE_KINDS, Clause
from corrections.domain.inducing.edits import Edit
from corrections.domain.inducing.features import Atom
from corrections.domain.inducing.proposals import Action, ask_first

MIN_RUNS = 2
"""Runs that must agree before a literal of theirs goes into an action."""
MAX_WAYS = 6
MAX_TELLING = 3
Cover = Callable[[Clause, Sequence[frozenset[Atom]]], Sequence[Clause]]
Parts = dict[Action, tuple[Clause, ...]]


@dataclass(frozen=True)
class Mended:
    """A failing call: its run, its facts, and how its run repaired it (``edit`` None: cannot be said)."""

    run: str
    atoms: frozenset[Atom]
    was_fixed: bool
    edit: Edit | None
    is_blamed: bool = True
    """Whether the error said so; otherwise only the run's repair did, and nobody is asked because of it."""


def divide(base: Clause, calls: Sequence[Mended], ask: Action | None, cover: Cover) -> Parts:
    """The conditions of each action: edits where runs agree on them, ``ask`` (if any) where they do not."""
    positives = list(dict.fromkeys(call.atoms for call in calls))
    ways = _ways(calls)
    mended = [call for call in calls if call.edit is not None]
    parts: Parts = {}
    agreed: frozenset[Clause] = frozenset()
    for edit in ways:
        own = [call.atoms for call in mended if call.edit == edit]
        others = [call.atoms for call in mended if call.edit != edit]
        action = transform(edit, ask)
        is_agreed = not others if edit.is_of_words else 2 * len(own) > sum(call.was_fixed for call in calls)
        if is_agreed:
            parts = {action: tuple(cover(base, positives))}
            agreed = frozenset(parts[action])
            break
        if not edit.is_of_words:
            continue
        clauses: dict[Clause, None] = {}
        for atom in _telling(own, others, base):
            narrowed = Clause(base.all_of | {atom}, base.none_of)
            clauses |= dict.fromkeys(cover(narrowed, [some for some in positives if atom in some]))
        if clauses:
            parts[action] = tuple(clauses)
    if ask is not None:
        blamed = list(dict.fromkeys(call.atoms for call in calls if call.is_blamed))
        parts[ask] = tuple(clause for clause in cover(base, blamed) if clause not in agreed)
    return parts


def transform(edit: Edit, ask: Action | None) -> Action:
    """The edit as an action."""
    detail = json.dumps(edit.detail(), ensure_ascii=False, sort_keys=True)
    return Action("PARAMETER_TRANSFORM", detail, edit.said() or (ask or ask_first("")).name, priority=1)


def _ways(calls: Sequence[Mended]) -> list[Edit]:
    """The edits that can be trusted, the most common ones first."""
    runs: dict[Edit, set[str]] = {}
    for call in calls:
        if call.edit is not None:
            runs.setdefault(call.edit, set()).add(call.run)
    trusted = [edit for edit, some in runs.items() if edit.is_general or len(some) >= MIN_RUNS]
    return sorted(trusted, key=lambda edit: (-len(runs[edit]), edit.operations))[:MAX_WAYS]


def _telling(own: Sequence[frozenset[Atom]], others: Sequence[frozenset[Atom]], base: Clause) -> list[Atom]:
    """Facts of these calls that none of the others has, the most common ones."""
    strange = frozenset().union(*others) | base.all_of
    counted = Counter(atom for atoms in own for atom in atoms if atom.kind in POSITIVE_KINDS)
    telling = [(-n, repr(atom), atom) for atom, n in counted.items() if atom not in strange]
    return [atom for _n, _text, atom in sorted(telling)[:MAX_TELLING]]
