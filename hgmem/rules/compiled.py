"""Rules made ready for matching."""

from collections.abc import Iterable
from datetime import datetime

from hgmem.rules.actions import PostCallParsingAdjust
from hgmem.rules.closures import Closure, compile_closure
from hgmem.rules.conditions import AFTER_CALL_VARIABLES, Condition
from hgmem.rules.context import Context
from hgmem.rules.rule import Rule
from hgmem.rules.tree import Call, Const, Has, Node, Read, conjuncts, walk
from hgmem.rules.values import ConditionError


class CompiledRule:
    """A rule with everything that decisions need, computed once."""

    __slots__ = (
        "action",
        "condition",
        "is_adjustment",
        "kept",
        "name",
        "order",
        "reads",
        "rule",
        "ruled_over",
        "runs_after",
        "scoped",
        "settled_with",
        "timed",
        "trial",
        "uuid",
        "version",
        "word_edits",
        "writes",
    )

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.uuid = rule.uuid
        self.version = rule.version
        self.name = rule.name
        self.action = rule.action
        self.condition = rule.compiled_condition
        self.is_adjustment = isinstance(rule.action, PostCallParsingAdjust)
        self.scoped = rule.applies_to.has_more
        self.timed = rule.valid_from is not None or rule.valid_until is not None
        self.reads = self.action.reads() | self.condition.read_set
        self.writes = self.action.writes()
        self.word_edits = self.action.word_edits()
        self.order = _order(rule)
        self.ruled_over = frozenset(rule.ruled_over)
        self.runs_after = frozenset(rule.runs_after)
        self.settled_with = frozenset(rule.settled_with)
        self.trial = rule.trial
        self.kept = frozenset(rule.trial.kept) if rule.trial is not None else frozenset()

    def settles(self, other: "CompiledRule") -> bool:
        """Whether a human ruling on this side says what becomes of the two rules."""
        uuid = other.uuid
        return uuid in self.ruled_over or uuid in self.runs_after or uuid in self.settled_with

    def is_live(self, context: Context, now: datetime) -> bool:
        """Whether scope (beside point and tool) and validity window let the rule speak."""
        if self.timed and not self.rule.is_valid_at(now):
            return False
        return not self.scoped or self.rule.applies_to.misfit(context) is None


def _order(rule: Rule) -> tuple[int, int, float, float, int, str]:
    """The sort key: priority, specificity, effectiveness, newer, and the uuid so that ties never flip."""
    created = rule.created_at.timestamp() if rule.created_at is not None else 0.0
    return (
        -rule.priority,
        -rule.specificity,
        -(rule.effectiveness or 0.0),
        -created,
        -rule.version,
        rule.uuid,
    )


class Entry:
    """Rules of one index that share a condition; it is evaluated once for all of them.

    ``guard`` is the tree the index may judge by. For an entry that is only *foreseen* (an
    after-call rule whose condition reads the result, asked before the call) it holds the parts that
    are known already, and ``known`` evaluates just those. ``closure`` answers for a clean context
    without any further check; None when the condition needs more.
    """

    __slots__ = ("closure", "condition", "foreseen", "guard", "known", "plain", "rules")

    def __init__(self, condition: Condition, rules: Iterable[CompiledRule], *, foreseen: bool) -> None:
        self.condition = condition
        self.rules = list(rules)
        self.foreseen = foreseen
        self.closure = None if foreseen or condition.reads_now else condition.unbounded_closure
        self.plain = not any(rule.timed or rule.scoped for rule in self.rules)
        self.guard: Node = _known_part(condition.tree) if foreseen else condition.tree
        self.known: Closure | None = compile_closure(self.guard, _undecided) if foreseen else None


def group_entries(rules: Iterable[CompiledRule], point: str) -> list[Entry]:
    """Entries for the rules asked at a point, one for each distinct condition."""
    groups: dict[tuple[str, bool], list[CompiledRule]] = {}
    for rule in rules:
        foreseen = point != "after" and rule.rule.point == "after" and rule.condition.reads_result
        groups.setdefault((rule.condition.source, foreseen), []).append(rule)
    return [Entry(some[0].condition, some, foreseen=foreseen) for (_, foreseen), some in groups.items()]


def _known_part(tree: Node) -> Node:
    """The conjunction of the parts that do not read the call's result."""
    parts = tuple(part for part in conjuncts(tree) if not _reads_result(part))
    if not parts:
        return Const(True, "bool")
    return parts[0] if len(parts) == 1 else Call("_&&_", parts)


def _reads_result(node: Node) -> bool:
    return any(isinstance(part, Read | Has) and part.root in AFTER_CALL_VARIABLES for part in walk(node))


def _undecided(text: str, pattern: str) -> bool:
    """A pattern outside the simple subset is left for after the call."""
    raise ConditionError(f"{pattern!r} is matched after the call")
