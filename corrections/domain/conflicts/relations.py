"""What two rules could do to each other if both fire, read off their actions alone."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from corrections.domain.conflicts.outlines import Outline, outline_of
from corrections.domain.conflicts.wishes import needs_of, wishes_of
from hgmem.rules import Context, ParameterTransform, PreCallValidation, Rule, Ruleset, ToolSwitch
from hgmem.rules.compiled import CompiledRule
from hgmem.rules.operations import Set
from hgmem.rules.precedence import in_precedence, overlap
from hgmem.rules.words import are_apart


class Subject:
    """A rule under analysis, with what is computed once."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.uuid = rule.uuid
        self.compiled = CompiledRule(rule)
        self.condition = rule.compiled_condition.source
        self.reads = self.compiled.reads
        self.writes = self.compiled.writes

    @cached_property
    def outline(self) -> Outline:
        """Constants the condition needs."""
        return outline_of(self.compiled.condition.tree)

    @cached_property
    def alone(self) -> Ruleset:
        """The rule as a set of its own."""
        return Ruleset((self.compiled,), (), "analysis")

    def holds(self, context: Context) -> bool:
        """Whether the condition is true of a call."""
        return self.compiled.condition.evaluate(context) is True

    @cached_property
    def wishes(self) -> tuple[str, ...]:
        """Conditions under which the action has something to do."""
        return wishes_of(self.rule)

    @cached_property
    def needs(self) -> str:
        """A condition without which the action changes nothing; "" when nobody can say."""
        return needs_of(self.rule)


@dataclass(frozen=True)
class Relation:
    """What to look for. ``clash``: a field both write, or that one refuses or switches away from the other;
    ``disturbs``: (writer, reader, field) pairs."""

    same_action: bool = False
    clash: str = ""
    is_refusal: bool = False
    disturbs: tuple[tuple[Subject, Subject, str], ...] = ()

    @property
    def is_none(self) -> bool:
        """The two have nothing to do with each other."""
        return not (self.same_action or self.clash or self.disturbs)

    @property
    def worst(self) -> tuple[str, str]:
        """The most serious finding there could be, and its field."""
        if self.same_action:
            return "redundant", ""
        if self.clash:
            return "contradictory", self.clash
        return "interference", self.disturbs[0][2]


def relation(a: Subject, b: Subject) -> Relation:
    """What two rules could do to each other."""
    if a.rule.point != b.rule.point:
        return Relation()
    if a.rule.action == b.rule.action:
        return Relation(same_action=True)
    field = overlap(a.writes, b.writes)
    if field is not None:
        apart = are_apart(a.compiled.word_edits, b.compiled.word_edits)
        return Relation() if apart or _writes_the_same(a, b) else Relation(clash=field)
    field = _refused(a, b) or _refused(b, a) or _switched(a, b) or _switched(b, a)
    if field is not None:
        return Relation(clash=field, is_refusal=True)
    return Relation(disturbs=(*_disturbance(a, b), *_disturbance(b, a)))


def first_of(a: Subject, b: Subject) -> Subject:
    """The rule that goes first."""
    return a if in_precedence((a.compiled, b.compiled))[0] is a.compiled else b


def _writes_the_same(a: Subject, b: Subject) -> bool:
    """Whether both only ever set the same fields to the same constants."""
    some, others = a.rule.action, b.rule.action
    if not isinstance(some, ParameterTransform) or not isinstance(others, ParameterTransform):
        return False
    steps = (*some.action_detail.operations, *others.action_detail.operations)
    return all(isinstance(step, Set) for step in steps) and (_constants(some) == _constants(others))


def _constants(action: ParameterTransform) -> list[tuple[str, str, Any]]:
    steps = (step for step in action.action_detail.operations if isinstance(step, Set))
    return sorted((step.field, type(step.value).__name__, repr(step.value)) for step in steps)


def _refused(judge: Subject, other: Subject) -> str | None:
    """The field because of which ``judge`` refuses a call that ``other`` repairs or sends to another tool."""
    action = judge.rule.action
    if not isinstance(action, PreCallValidation) or action.action_detail.on_failure != "block":
        return None
    if isinstance(other.rule.action, ToolSwitch):
        return "tool"
    if isinstance(other.rule.action, ParameterTransform) and action.unconditional:
        return overlap(other.writes, judge.compiled.condition.read_set)
    return None


def _switched(switch: Subject, other: Subject) -> str | None:
    """The field that one rule writes for a tool the other leaves."""
    if isinstance(switch.rule.action, ToolSwitch) and isinstance(other.rule.action, ParameterTransform):
        return min(other.writes)
    return None


def _disturbance(writer: Subject, reader: Subject) -> list[tuple[Subject, Subject, str]]:
    field = overlap(writer.writes, reader.reads)
    return [(writer, reader, field)] if field is not None and field != "tool" else []
