"""From the rules that matched to a decision: who prevails, in which order, to what effect.

1. Order of precedence: ruling > priority > specificity > effectiveness > newer. A rule that a ruling puts
   below another gives way to it whole; two that a ruling puts in an order are both applied, in that order.
2. The first rule to write a field keeps it; a later one that writes the same is suppressed whole.
   Rules that only replace words, and different ones, write different parts of a text: all of them
   apply, each because of the text as it was asked about.
   A rule that refuses the call by its condition alone guards the fields it read: a lower rule does
   not repair them.
3. Transforms run in dependency order, then validations look at the result, then the tool is
   switched. A rule whose condition reads what a *higher* rule has changed is asked again; when its
   condition no longer holds, it is suppressed.
"""

from collections.abc import Iterable
from typing import Any, Final

from hgmem.rules.actions import (
    InsertStep,
    ParameterTransform,
    PostCallParsingAdjust,
    PreCallValidation,
    PromptEnhancement,
    ToolSwitch,
)
from hgmem.rules.compiled import CompiledRule
from hgmem.rules.context import Context
from hgmem.rules.decision import Decision
from hgmem.rules.errors import EvaluationFailure
from hgmem.rules.fields import changes_between
from hgmem.rules.precedence import in_dependency, in_precedence, overlap
from hgmem.rules.words import are_apart


def resolve(
    decision: Decision, matched: Iterable[CompiledRule], foreseen: Iterable[CompiledRule], context: Context
) -> None:
    """Fill ``decision`` with what the matched rules make of the call.

    ``foreseen`` rules adjust the output on a condition that only the result can decide; they are
    handed on in order of precedence, behind the adjustments that are decided already.
    """
    decision.matched = in_precedence(matched)
    resolution = _Resolution(decision, context)
    if decision.matched:
        resolution.run()
    for rule in in_precedence(foreseen):
        resolution.foresee(rule)


_STAGES: Final = (
    ParameterTransform,
    PreCallValidation,
    ToolSwitch,
    InsertStep,
    PromptEnhancement,
    PostCallParsingAdjust,
)
_DEPENDENT_STAGES: Final = frozenset((ParameterTransform, PostCallParsingAdjust))


class _Resolution:
    def __init__(self, decision: Decision, context: Context) -> None:
        self._decision = decision
        self._asked = context
        self._written: list[CompiledRule] = []
        self._current: Context | None = context

    def run(self) -> None:
        standing = self._claim_fields(self._decision.matched)
        if len(standing) == 1:
            self._attempt(standing[0])
            return
        for stage in _STAGES:
            rules = [rule for rule in standing if isinstance(rule.action, stage)]
            for rule in in_dependency(rules) if stage in _DEPENDENT_STAGES else rules:
                self._attempt(rule)
        if self._decision.block or self._decision.tool != self._asked.tool:
            self._note_cross_purposes(standing)

    def _claim_fields(self, rules: list[CompiledRule]) -> list[CompiledRule]:
        if len(rules) == 1:
            return rules
        standing: list[CompiledRule] = []
        for rule in rules:
            lost = _lost_to(rule, standing)
            if lost is None:
                standing.append(rule)
                continue
            reason, other, field = lost
            self._decision.suppress(rule, reason, other)
            self._decision.conflict(rule, other, field, reason)
        return standing

    def _note_cross_purposes(self, standing: list[CompiledRule]) -> None:
        """A rule refused the call, or sent it elsewhere, that another one corrected."""
        applied = {entry["rule"]: entry for entry in self._decision.applied}
        done = [rule for rule in standing if rule.uuid in applied]
        for rule in done:
            if not (_refuses(rule) or isinstance(rule.action, ToolSwitch)):
                continue
            for other in done:
                if other is rule or not isinstance(other.action, _crossed_by(rule)):
                    continue
                if changes := applied[other.uuid]["changes"]:
                    verb = "refuses the call" if _refuses(rule) else "switches the tool"
                    reason = f"{_named(rule)} {verb} that {_named(other)} changes"
                    self._decision.conflict(other, rule, _field_of(changes[0]), reason)

    def _attempt(self, rule: CompiledRule) -> None:
        if self._written and not self._still_holds(rule):
            return
        try:
            self._perform(rule)
        except (ValueError, RecursionError) as fault:
            # OperationFault, FieldFault, and RuleError when a change made the context too large
            self._decision.fail(rule, str(fault))

    def _perform(self, rule: CompiledRule) -> None:
        match rule.action:
            case ParameterTransform() as action:
                self._transform(rule, action)
            case PreCallValidation() as action:
                self._validate(rule, action)
            case ToolSwitch() as action:
                self._switch(rule, action)
            case InsertStep() as action:
                step = action.apply(self._context())
                self._decision.insert_steps.append({"rule": rule.uuid, **step})
                self._note(rule, [])
            case PromptEnhancement() as action:
                self._hint(rule, action)
            case PostCallParsingAdjust() as action if self._asked.point == "after":
                self._adjust(rule, action)
            case PostCallParsingAdjust():
                self._note(rule, [])
                self.foresee(rule)

    def _still_holds(self, rule: CompiledRule) -> bool:
        """Ask a condition again when a higher rule has changed what it reads."""
        higher = self._decision.matched[: self._decision.matched.index(rule)]
        changed = [
            other
            for other in self._written
            if (other in higher or other.uuid in rule.runs_after)
            and overlap(other.writes, rule.condition.read_set)
            and not _both_write(rule, other)
            and not are_apart(other.word_edits, rule.word_edits)
        ]
        if not changed:
            return True
        outcome = rule.condition.evaluate(self._context())
        if isinstance(outcome, EvaluationFailure):
            self._decision.fail(rule, f"after {_named(changed[0])}: {outcome.detail}")
            return False
        if not outcome:
            self._decision.suppress(
                rule, f"its condition no longer holds after {_named(changed[0])}", changed[0]
            )
        return outcome

    def _context(self) -> Context:
        """The context as the applied rules have left it."""
        if self._current is None:
            decision = self._decision
            changed = {"input": decision.input}
            if self._asked.point == "after":
                changed |= {"output": decision.output, "error": decision.error}
            self._current = self._asked.with_variables(**changed)
        return self._current

    def _note(self, rule: CompiledRule, changes: list[dict[str, Any]]) -> None:
        self._decision.apply(rule, changes)
        if changes and rule.writes:
            self._written.append(rule)
            self._current = None

    def _transform(self, rule: CompiledRule, action: ParameterTransform) -> None:
        before = self._decision.input
        self._decision.input = action.apply(before, self._context())
        self._note(rule, changes_between(before, self._decision.input))

    def _validate(self, rule: CompiledRule, action: PreCallValidation) -> None:
        message = action.apply(self._decision.input, self._context())
        if message is None:
            return
        verdicts = self._decision.block if action.action_detail.on_failure == "block" else self._decision.ask
        verdicts.append({"rule": rule.uuid, "message": message})
        self._note(rule, [])

    def _switch(self, rule: CompiledRule, action: ToolSwitch) -> None:
        decision = self._decision
        before, tool = decision.input, decision.tool
        decision.input = action.apply(before, self._context())
        decision.tool = action.action_detail.tool
        self._note(
            rule,
            [{"field": "tool", "from": tool, "to": decision.tool}, *changes_between(before, decision.input)],
        )

    def _hint(self, rule: CompiledRule, action: PromptEnhancement) -> None:
        text = action.apply(self._context())
        if all(hint["text"] != text for hint in self._decision.hints):
            self._decision.hints.append({"rule": rule.uuid, "text": text})
        self._note(rule, [])

    def foresee(self, rule: CompiledRule) -> None:
        """Before the call: tell what to do with the output, and on which condition."""
        adjustment = {
            "rule": rule.uuid,
            "version": rule.version,
            "name": rule.name,
            "operations": rule.action.model_dump(mode="json")["action_detail"]["operations"],
        }
        if rule.condition.reads_result:
            adjustment["condition"] = rule.condition.source
        self._decision.after_call.append(adjustment)

    def _adjust(self, rule: CompiledRule, action: PostCallParsingAdjust) -> None:
        decision = self._decision
        before = decision.output
        decision.output, error = action.apply(before, self._context())
        changes = [
            {**change, "field": f"output.{change['field']}".rstrip(".")}
            for change in changes_between(before, decision.output)
        ]
        if error is not None:
            changes += [{"field": "error", "from": decision.error, "to": error}]
            decision.error = error
        self._note(rule, changes)


def _lost_to(rule: CompiledRule, standing: list[CompiledRule]) -> tuple[str, CompiledRule, str] | None:
    """Why a rule must give way, the standing rule it gives way to, and the field they contend for."""
    for other in standing:
        if rule.uuid in other.ruled_over and _binds(other):
            return f"a ruling puts it below {_named(other)}", other, ""
        if not rule.writes or other.uuid in rule.runs_after or rule.uuid in other.runs_after:
            continue
        field = overlap(rule.writes, other.writes)
        if field is not None and not are_apart(rule.word_edits, other.word_edits):
            return f"{field} is already written by {_named(other)}, which goes first", other, field
        if isinstance(rule.action, ParameterTransform) and _guards(other, standing):
            field = overlap(rule.writes, other.condition.read_set)
            if field is not None:
                return f"{_named(other)}, which goes first, refuses the call because of {field}", other, field
    return None


def _binds(rule: CompiledRule) -> bool:
    """Whether a matching rule surely acts: a check that may pass, or a mere hint, lets the others speak."""
    if isinstance(rule.action, PreCallValidation):
        return rule.action.unconditional
    return not isinstance(rule.action, PromptEnhancement)


def _both_write(rule: CompiledRule, other: CompiledRule) -> bool:
    """Whether a ruling lets both write: the later one follows the earlier whatever that left."""
    return other.uuid in rule.runs_after and overlap(rule.writes, other.writes) is not None


def _refuses(rule: CompiledRule) -> bool:
    """Whether the rule blocks calls by its condition alone; a check looks at the corrected call."""
    action = rule.action
    if not isinstance(action, PreCallValidation) or not action.unconditional:
        return False
    return action.action_detail.on_failure == "block"


def _crossed_by(rule: CompiledRule) -> tuple[type, ...]:
    return (ParameterTransform, ToolSwitch) if _refuses(rule) else (ParameterTransform,)


def _field_of(change: dict[str, Any]) -> str:
    field: str = change["field"]
    return field if field == "tool" else f"input.{field}"


def _guards(rule: CompiledRule, standing: list[CompiledRule]) -> bool:
    """Whether a rule surely refuses the call: by its condition alone, and no higher rule can change that."""
    if not _refuses(rule):
        return False
    higher = standing[: standing.index(rule)]
    return not any(overlap(other.writes, rule.condition.read_set) for other in higher)


def _named(rule: CompiledRule) -> str:
    return f"rule {rule.name or rule.uuid}"
