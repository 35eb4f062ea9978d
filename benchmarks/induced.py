"""Rules only from the inducer: approved as they are proposed, watched, and retired when they do no good."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from benchmarks.streams import Call
from corrections.domain.effectiveness import Effect, Verdict, expected, observe
from corrections.domain.inducing import Inducer, ObservedCall, Proposal
from hgmem.rules import Decision, Rule, Ruleset

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Alter = Callable[[Proposal], dict[str, Any]]


class Induced:
    """The inducer and the engine that serves what it proposes.

    ``alter`` may poison a proposal before it is served: it gives the rule's document.
    """

    def __init__(self, alter: Alter = Proposal.document, *, retires: bool = True) -> None:
        self._alter, self._retires = alter, retires
        self._inducer = Inducer()
        self._ruleset = Ruleset.compile([], version="0")
        self._rules: dict[str, Rule] = {}
        self.proposals: dict[str, Proposal] = {}
        self.effects: dict[str, Effect] = {}
        self.retired: dict[str, Proposal] = {}
        self.made = 0

    @property
    def served(self) -> Mapping[str, Rule]:
        """The rules that are served now, by the key of their proposal."""
        return self._rules

    def decide(self, context: dict[str, Any]) -> Decision:
        """What the rules make of a call."""
        return self._ruleset.decide(context, now=NOW)

    def learn(self, run: str, seq: int, call: Call, domain: str) -> None:
        """One more call and how it went."""
        said = call.obs if isinstance(call.obs, str) else repr(call.obs)
        self._inducer.learn(
            ObservedCall(
                id=f"{run}/{seq}", run=run, tool=call.tool, input=call.args, failed=call.failed,
                message=said if call.failed else "", env={"domain": domain} if domain else {},
            )
        )  # fmt: skip
        self._serve()

    def end(self, run: str) -> None:
        """The run is over."""
        self._inducer.end_run(run)
        self._serve()

    def effect(self, key: str) -> Effect:
        """What is known of a rule's effect."""
        if key not in self.effects:
            backtest = self.proposals[key].backtest
            self.effects[key] = Effect(expected(len(backtest.caught), len(backtest.hit)))
        return self.effects[key]

    def came(self, keys: list[str], *, helped: bool) -> None:
        """How a call went that these rules had changed."""
        for key in keys:
            self.effects[key] = observe(self.effect(key), helped=helped)
            is_bad = self._retires and self.effects[key].verdict is Verdict.RETIRE
            if is_bad and key in self._rules:
                self.retired[key] = self.proposals[key]
                del self._rules[key]
                self._compile()

    def _serve(self) -> None:
        changes = self._inducer.changes()
        for key in changes.withdrawn:
            self._rules.pop(key, None)
        for proposal in (*changes.proposed, *changes.updated):
            self.proposals[proposal.key] = proposal
        for proposal in changes.proposed:
            self.made += 1
            if proposal.key not in self.retired:
                self._rules[proposal.key] = Rule.from_document(self._alter(proposal) | {"uuid": proposal.key})
        if changes.proposed or changes.withdrawn:
            self._compile()

    def _compile(self) -> None:
        version = str(self.made + len(self.retired))
        self._ruleset = Ruleset.compile(self._rules.values(), version=version, base=self._ruleset)


def changed_by(decision: Decision) -> list[str]:
    """The rules that changed the input of a call which then goes ahead; none when somebody is asked first."""
    if decision.block or decision.ask or decision.tool != decision.context.tool:
        return []
    return [str(row["rule"]) for row in decision.applied if row["changes"]]
