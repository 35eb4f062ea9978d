"""A compiled set of rules: the thing that is asked before every call."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from hgmem.rules.compiled import CompiledRule, Entry, group_entries
from hgmem.rules.context import POINTS, Context, parse_context
from hgmem.rules.decision import Decision
from hgmem.rules.errors import EvaluationFailure
from hgmem.rules.explain import near_misses
from hgmem.rules.index import Index
from hgmem.rules.resolution import resolve
from hgmem.rules.rule import Rule
from hgmem.rules.scope import matches_glob
from hgmem.rules.trials import Trials
from hgmem.rules.values import ConditionError

_MAX_KNOWN_TOOLS: Final = 4_096
_ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that could not be compiled, and why."""

    uuid: str
    version: int
    detail: str


class Ruleset:
    """Rules, indexed. Immutable from outside and safe to share between threads."""

    def __init__(
        self,
        rules: Iterable[CompiledRule],
        broken: Iterable[BrokenRule],
        version: str,
        base: "Ruleset | None" = None,
    ) -> None:
        self.rules = tuple(rules)
        self.broken = tuple(broken)
        self.version = version
        self._trials = Trials(self.rules) if any(rule.trial for rule in self.rules) else None
        self._points: dict[str, _PointIndex] = {
            point: _PointIndex(self.rules, point, base._points[point] if base else None) for point in POINTS
        }

    @classmethod
    def compile(cls, rules: Iterable[Rule], *, version: str, base: "Ruleset | None" = None) -> "Ruleset":
        """Compile rules; one that cannot be compiled lands in ``broken`` and does not harm the rest.

        ``base`` is an earlier set: what is made of the very same ``Rule`` objects is taken from it, so that a
        change costs what it touches and not what all rules cost.
        A uuid may come twice: as a candidate on trial, and as the version that acts where that does not.
        """
        ready = {id(rule.rule): rule for rule in base.rules} if base else {}
        compiled: dict[tuple[str, bool], CompiledRule] = {}
        broken: list[BrokenRule] = []
        for rule in rules:
            key = (rule.uuid, rule.trial is not None)
            if key in compiled:
                broken.append(BrokenRule(rule.uuid, rule.version, "another rule of the set has this uuid"))
                continue
            try:
                compiled[key] = ready.get(id(rule)) or CompiledRule(rule)
            except Exception as error:  # one bad rule must never take the others down
                broken.append(BrokenRule(rule.uuid, rule.version, str(error)[:500]))
        return cls(compiled.values(), broken, version, base)

    def decide(
        self, context: Context | Mapping[str, Any], *, now: datetime, explain: bool = False
    ) -> Decision:
        """What the rules make of a call. Reads only; the context is never changed.

        ``now`` (with a time zone) decides validity windows; ``explain`` adds ``near_misses``.

        Raises:
            RuleError: the context is wrong, with the path of every wrong field.
            ValueError: ``now`` has no time zone.
        """
        if not isinstance(context, Context):
            context = parse_context(context)
        if now.tzinfo is None:
            raise ValueError("now must have a time zone")
        decision = Decision(context, self.version)
        layers = self._points[context.point].layers(context.tool)
        matched, foreseen = self._match(layers, context, now, decision)
        trials = None
        if self._trials is not None:
            decision.trials = self._trials.count(layers)
            if decision.trials and (matched or foreseen or decision.errors or explain):
                trials = self._trials.ask(context)
                matched, foreseen = trials.withhold(decision, matched, foreseen)
        if matched or foreseen:
            resolve(decision, matched, foreseen, context)
        if decision.errors:
            decision.errors.sort(key=lambda failure: failure["rule"])
        if explain:
            entries = [entry for layer in layers for entry in layer.entries]
            acts = trials.acts if trials is not None else _always
            decision.near_misses = near_misses(entries, context, now, acts)
        return decision

    def _match(
        self, layers: Iterable[Index], context: Context, now: datetime, decision: Decision
    ) -> tuple[list[CompiledRule], list[CompiledRule]]:
        """The rules whose condition is true, and those that only the result of the call can decide."""
        matched: list[CompiledRule] = []
        foreseen: list[CompiledRule] = []
        frame, clean = context.variables, context.clean
        for layer in layers:
            for entry in layer.candidates(frame) if clean else layer.entries:
                if entry.closure is not None and clean and entry.plain:
                    try:
                        outcome = entry.closure(frame)
                    except ConditionError:
                        outcome = None
                    if outcome is False:
                        continue
                    if outcome is True:
                        matched += entry.rules
                        continue
                _ask(entry, context, now, foreseen if entry.foreseen else matched, decision)
        return matched, foreseen


def _ask(
    entry: Entry, context: Context, now: datetime, matched: list[CompiledRule], decision: Decision
) -> None:
    rules = entry.rules
    if not entry.plain:
        rules = [rule for rule in rules if rule.is_live(context, now)]
        if not rules:
            return
    if entry.foreseen:
        if may_hold(entry, context):
            matched += rules
        return
    condition = entry.condition
    outcome = condition.evaluate(context.with_variables(now=now) if condition.reads_now else context)
    if outcome is True:
        matched += rules
    elif isinstance(outcome, EvaluationFailure):
        for rule in rules:
            decision.fail(rule, outcome.detail)


def _always(_rule: CompiledRule) -> bool:
    return True


def may_hold(entry: Entry, context: Context) -> bool:
    """Whether a foreseen entry may still turn out true once the result is known."""
    if entry.known is None or not context.clean:
        return True
    try:
        return entry.known(context.variables) is not False
    except ConditionError:
        return True


class _PointIndex:
    """The indexes of one point: one for each tool named, one for each tool pattern, one for all tools."""

    def __init__(self, rules: Iterable[CompiledRule], point: str, base: "_PointIndex | None" = None) -> None:
        named: dict[str, list[CompiledRule]] = {}
        globs: dict[str, list[CompiledRule]] = {}
        for rule in rules:
            scope = rule.rule.applies_to
            if rule.rule.point == point or (point == "before" and rule.is_adjustment):
                tool = _ANY if scope.any_tool else scope.tool
                (globs if scope.is_glob or scope.any_tool else named).setdefault(tool, []).append(rule)
        self._made: dict[tuple[CompiledRule, ...], Index] = {}
        ready = base._made if base else {}
        self._named = {tool: self._index(some, point, ready) for tool, some in named.items()}
        self._globs = [(glob, self._index(some, point, ready)) for glob, some in globs.items()]
        self._known: dict[str, tuple[Index, ...]] = {}

    def _index(
        self, rules: list[CompiledRule], point: str, ready: dict[tuple[CompiledRule, ...], Index]
    ) -> Index:
        """The index of these rules: the one there is, if they are the same objects."""
        key = tuple(rules)
        index = self._made[key] = ready.get(key) or Index(group_entries(rules, point))
        return index

    def layers(self, tool: str) -> tuple[Index, ...]:
        """The indexes a tool's calls must be looked up in."""
        found = self._known.get(tool)
        if found is None:
            named = self._named.get(tool)
            globs = [index for glob, index in self._globs if glob == _ANY or matches_glob(glob, tool)]
            found = (named, *globs) if named is not None else tuple(globs)
            if len(self._known) >= _MAX_KNOWN_TOOLS:
                self._known.clear()
            self._known[tool] = found
        return found
