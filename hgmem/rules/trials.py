"""Rules on trial in a set: which of their versions act for the task that asks, and what is noted of it.

A version that does not act leaves no trace in the answer: the decision is what it would be in a set without
it. What is noted (exposures, errors of versions that do not act) is only for whoever runs the trial.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from hgmem.rules.assignment import Arm, Trial, assign, unit_of
from hgmem.rules.compiled import CompiledRule
from hgmem.rules.context import Context
from hgmem.rules.decision import Decision, Exposure
from hgmem.rules.index import Index

_MAX_COUNTS: Final = 4_096


class _Candidate(NamedTuple):
    rule: CompiledRule
    trial: Trial

    def arm_of(self, unit: str) -> Arm:
        trial = self.trial
        if trial.mode == "shadow":
            return "shadow"
        if not unit:
            return "canary" if trial.mode == "holdout" else "control"
        return assign(self.rule.uuid, trial.salt, unit, share=trial.share, kept=self.rule.kept)


class Trials:
    """The candidates of a set, by the uuid of their rule. Another version with that uuid is the baseline."""

    def __init__(self, rules: Iterable[CompiledRule]) -> None:
        self._candidates = {rule.uuid: _Candidate(rule, rule.trial) for rule in rules if rule.trial}
        self._counts: dict[tuple[Index, ...], int] = {}

    def count(self, layers: tuple[Index, ...]) -> int:
        """How many of the trials may have a say in these indexes, by either version."""
        found = self._counts.get(layers)
        if found is None:
            rules = (rule for layer in layers for entry in layer.entries for rule in entry.rules)
            found = len({rule.uuid for rule in rules} & self._candidates.keys())
            if len(self._counts) >= _MAX_COUNTS:
                self._counts.clear()
            self._counts[layers] = found
        return found

    def ask(self, context: Context) -> "TrialsAsked":
        """The trials as the task sees them that a question comes from."""
        return TrialsAsked(self._candidates, unit_of(context.variables))


class TrialsAsked:
    """The trials for one question. ``unit`` is empty where no task is named: nothing is noted then."""

    def __init__(self, candidates: dict[str, _Candidate], unit: str) -> None:
        self._candidates = candidates
        self._unit = unit
        self._arms: dict[str, Arm] = {}

    def withhold(
        self, decision: Decision, matched: list[CompiledRule], foreseen: list[CompiledRule]
    ) -> tuple[list[CompiledRule], list[CompiledRule]]:
        """The matching rules that act. Exposures, and errors of versions that do not act, are set apart."""
        met = [rule for rule in (*matched, *foreseen) if rule.uuid in self._candidates]
        if met:
            self._expose(decision, met)
            matched = [rule for rule in matched if self.acts(rule)]
            foreseen = [rule for rule in foreseen if self.acts(rule)]
        if decision.errors:
            faults = decision.errors
            decision.errors = [fault for fault in faults if self._may_tell(fault)]
            decision.withheld_errors = [fault for fault in faults if not self._may_tell(fault)]
        return matched, foreseen

    def acts(self, rule: CompiledRule) -> bool:
        """Whether this version has a say for this task."""
        return rule.uuid not in self._candidates or self._has_say(rule.uuid, rule.trial is not None)

    def _may_tell(self, fault: dict[str, Any]) -> bool:
        candidate = self._candidates.get(fault["rule"])
        if candidate is None:
            return True
        return self._has_say(fault["rule"], fault["version"] == candidate.rule.version)

    def _has_say(self, uuid: str, is_candidate: bool) -> bool:
        return (self._arm(uuid) == "canary") is is_candidate

    def _expose(self, decision: Decision, met: list[CompiledRule]) -> None:
        """In shadow only a match of the candidate is one: nothing else would have been different."""
        candidates = {rule.uuid for rule in met if rule.trial is not None}
        for uuid in sorted({rule.uuid for rule in met}) if self._unit else ():
            arm = self._arm(uuid)
            if arm != "shadow" or uuid in candidates:
                rule, trial = self._candidates[uuid]
                decision.exposures.append(
                    Exposure(
                        rule=uuid,
                        version=rule.version,
                        canary=trial.canary,
                        stage=trial.stage,
                        share=trial.share,
                        arm=arm,
                        unit=self._unit,
                    )
                )

    def _arm(self, uuid: str) -> Arm:
        arm = self._arms.get(uuid)
        if arm is None:
            arm = self._arms[uuid] = self._candidates[uuid].arm_of(self._unit)
        return arm
