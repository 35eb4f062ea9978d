"""Rules on trial in a replayed stream: the product's assignment, counts and judgement decide about each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from benchmarks.effect_replay import Effects, Executor, Fired
from benchmarks.induced import NOW, changed_by
from benchmarks.product import context_of
from benchmarks.streams import Run
from corrections.domain.canaries import BUCKETS, CanaryPolicy, in_buckets
from corrections.domain.effect import ArmCounts, Evidence, Limits, StageCounts, judge
from corrections.domain.effectiveness import MIN_OUTCOMES, Effect, Verdict, observe
from hgmem.rules import Decision, Rule, Ruleset
from hgmem.rules.assignment import Trial

POLICY = CanaryPolicy()
LOOK_EVERY = 25
"""Runs between two looks of the controller."""
TRYING = ("running", "held")
OVER = ("rolled_back", "withdrawn")
MOSTLY = 0.5


@dataclass
class OnTrial:
    """One rule. ``stages`` are those of its present phase; ``made`` is how its changed calls went."""

    rule: Rule
    effect: Effect
    state: str = "running"
    share: int = in_buckets(POLICY.full_share)
    stages: list[StageCounts] = field(default_factory=list)
    harm: float = 0.0
    guard: float = 0.0
    is_due: bool = False
    promoted_after: int | None = None
    """How many tasks had met it by then."""
    tasks: int = 0
    made: list[bool] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        """It changed some calls, and most of them failed."""
        return len(self.made) >= MIN_OUTCOMES and fmean(self.made) < MOSTLY

    @property
    def is_good(self) -> bool:
        """It changed some calls, and most of them ran."""
        return len(self.made) >= MIN_OUTCOMES and fmean(self.made) >= MOSTLY

    def served(self, key: str) -> Rule | None:
        """What the engine gets; None for a rule that is over."""
        if self.state in OVER:
            return None
        trial = Trial(
            canary=uuid5(NAMESPACE_OID, key), salt="effect", share=self.share,
            mode="holdout" if self.state == "holdout" else "canary",
        )  # fmt: skip
        return self.rule.model_copy(update={"trial": trial})

    def count(self, arm: str, *, failed: bool) -> None:
        """One more decided task."""
        share = self.share / BUCKETS
        if not self.stages or self.stages[-1].share != share:
            self.stages.append(StageCounts(share))
        last = self.stages[-1]
        old = last.canary if arm == "canary" else last.control
        self.stages[-1] = replace(last, **{arm: ArmCounts(old.n + 1, old.failed + failed)})
        self.is_due, self.tasks = True, self.tasks + 1


class Controller:
    """All rules on trial at once: serves them, counts what came, and does what the judgement says.

    A rule whose changed calls mostly fail is put to people by the product. Here they agree: it is withdrawn.
    """

    def __init__(self, documents: Mapping[str, dict[str, Any]], priors: Mapping[str, float]) -> None:
        self.rules = {
            key: OnTrial(Rule.from_document(document | {"uuid": key}), Effect(priors[key]))
            for key, document in documents.items()
        }
        self.day = 0
        self._seen: set[tuple[str, str]] = set()
        self._served: dict[str, Rule] = {}
        self._ruleset = Ruleset.compile([], version="0")
        self._serve(self.rules)

    def effect(self, key: str) -> Effect:
        """What is known of the calls that a rule changed."""
        return self.rules[key].effect

    def decide(self, context: dict[str, Any]) -> Decision:
        """What the rules make of a call, for the task that makes it."""
        return self._ruleset.decide(context, now=NOW)

    def came(self, decision: Decision, rules: Sequence[str], *, failed: bool, unit: str) -> None:
        """How the call went. A task counts once for each rule, by its first call that the rule meets."""
        for seen in decision.exposures:
            if (unit, seen.rule) not in self._seen:
                self._seen.add((unit, seen.rule))
                self.rules[seen.rule].count(seen.arm, failed=failed)
        for key in rules:
            one = self.rules[key]
            one.effect = observe(one.effect, helped=not failed)
            one.made.append(not failed)
            if one.effect.verdict is Verdict.RETIRE and one.state not in OVER:
                one.state, one.is_due = "withdrawn", True

    def look(self) -> None:
        """One turn of the controller: every rule with news is judged."""
        due = [key for key, one in self.rules.items() if one.is_due]
        self._serve([key for key in due if self._judge(key)])

    def end_day(self) -> None:
        """A day is over: time limits move."""
        self.day += 1
        self._serve([key for key, one in self.rules.items() if one.state == "running" and self._judge(key)])

    def _judge(self, key: str) -> bool:
        """Judge one and carry it out; whether what is served has changed."""
        one = self.rules[key]
        one.is_due = False
        if one.state in OVER:
            return True
        others = [other for other in self._in_phase(one.state) if other is not one]
        found = judge(self._evidence(one, others), rules=Limits.of(POLICY))
        one.harm, one.guard = found.numbers["harm_log_e"], found.numbers["guard_log_e"]
        if found.step in ("ramp", "brake"):
            one.share = in_buckets(found.numbers["share_to"])
        elif found.step == "promote":
            one.state, one.share = "holdout", in_buckets(1 - POLICY.holdout)
            one.promoted_after = one.tasks
            one.stages, one.harm, one.guard = [], 0.0, 0.0
        elif found.step == "roll_back":
            one.state = "rolled_back"
        elif found.step == "hold":
            one.state = "held"
            return False
        return found.step in ("ramp", "brake", "promote", "roll_back")

    def _in_phase(self, state: str) -> list[OnTrial]:
        states = TRYING if state in TRYING else (state,)
        return [one for one in self.rules.values() if one.state in states]

    def _evidence(self, one: OnTrial, others: Sequence[OnTrial]) -> Evidence:
        is_trial = one.state in TRYING
        return Evidence(
            state=one.state, share=one.share / BUCKETS, live=len(others) + 1,
            trial=one.stages if is_trial else (), holdout=() if is_trial else one.stages,
            exposed=[(stage.share, stage.canary.n, stage.control.n) for stage in one.stages],
            guardrails={"tool_error": one.stages},
            other_harm=[other.harm for other in others], other_guard=[other.guard for other in others],
            days_left=POLICY.max_days - self.day if is_trial else None,
        )  # fmt: skip

    def _serve(self, changed: Iterable[str]) -> None:
        keys = list(changed)
        for key in keys:
            rule = self.rules[key].served(key)
            if rule is None:
                self._served.pop(key, None)
            else:
                self._served[key] = rule
        if keys:
            self._ruleset = Ruleset.compile(self._served.values(), version=str(self.day), base=self._ruleset)


def replay_on_trial(
    runs: Sequence[Run], controller: Controller, execute: Executor, *,
    advance: Callable[[int], None] = lambda _steps: None,
) -> Effects:  # fmt: skip
    """One day: every run once, as new tasks. The recorded call is made where no rule changes it."""
    effects = Effects()
    for place, run in enumerate(runs):
        unit = f"{controller.day}/{run.id}"
        for seq, call in enumerate(run.calls):
            context = context_of(run, seq)
            context["task"] = context["task"] | {"id": unit}
            decision = controller.decide(context)
            rules, ran, right = changed_by(decision), not call.failed, False
            if rules:
                expected = min(controller.effect(rule).mean for rule in rules)
                ran, right = execute(run, call.tool, decision.input)
                effects.fired.append(Fired(tuple(rules), expected, call.failed, ran, right))
                effects.broke += not call.failed and not ran
            controller.came(decision, rules, failed=not ran, unit=unit)
        if place % LOOK_EVERY == 0:
            controller.look()
        advance(1)
    controller.look()
    controller.end_day()
    return effects
