"""Mode ``auto`` of the pre-emption benchmark: rules only from the inducer, approved as they are proposed.

The inducer is told every call after it happened and the end of every run; what it proposes is served by the
real engine from the next call on, what it withdraws is no longer. It never sees a label.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from benchmarks.matchers import simple_matchers
from benchmarks.product import context_of
from benchmarks.report import quantile
from benchmarks.streams import Call, Run, Stream
from benchmarks.tallies import Case, Tally
from corrections.domain.inducing import Inducer, ObservedCall, Proposal
from hgmem.rules import Decision, Rule, Ruleset

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Auto:
    """One stream replayed with an inducer and nobody else."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._inducer = Inducer()
        self._served: dict[str, tuple[Proposal, Rule]] = {}
        self._ruleset = Ruleset.compile([], version="0")
        self._matchers = simple_matchers()
        self._made: set[str] = set()
        self._disturbed: dict[str, int] = {}
        self._deciding: list[float] = []
        self._longest = 0.0
        self._errors = 0
        self.learning = 0.0
        self.tally = Tally("HGMem auto")
        self.simple = [Tally(matcher.name) for matcher in self._matchers]

    def run(self, advance: Callable[[int], None]) -> None:
        """Replay every run in order."""
        seen: set[str] = set()
        for run in self._stream.runs:
            now: set[str] = set()
            for seq in range(len(run.calls)):
                fine = self._ask(run, seq, seen)
                now |= {fine} if fine is not None else set()
                self._tell(run, seq)
            seen |= now
            advance(1)

    def cost(self) -> list[Any]:
        """A row of the table of costs."""
        times = [round(quantile(self._deciding, part) * 1_000, 3) for part in (0.50, 0.95)]
        learning = [round(self.learning, 2), round(self._longest * 1_000, 1)]
        return [self.tally.name, len(self._served), len(self._made), self._errors, *learning, *times]

    def listed(self) -> list[list[Any]]:
        """The rules there are in the end, for ``--rules``."""
        return [
            [proposal.action_type, proposal.tool, proposal.condition, len(proposal.backtest.caught),
             proposal.runs, self._disturbed.get(key, 0)]
            for key, (proposal, _rule) in self._served.items()
        ]  # fmt: skip

    def _ask(self, run: Run, seq: int, seen: set[str]) -> str | None:
        """Ask, then look what happened. The fine pattern of a failing call, None for a good one."""
        call, context = run.calls[seq], context_of(run, seq)
        started = time.perf_counter()
        decision = self._ruleset.decide(context, now=NOW)
        self._deciding.append(time.perf_counter() - started)
        label = self._stream.labels.get((run.id, seq))
        fine = (label.fine if label else f"unlabelled|{run.id}|{seq}") if call.failed else None
        case = Case(run=run.id, tool=call.tool, fine=fine, is_recurrence=fine in seen)
        self.tally.count(case, flagged=_is_flag(decision, call))
        for matcher, tally in zip(self._matchers, self.simple, strict=True):
            tally.count(case, flagged=matcher.flags(call, run.domain))
            matcher.learn(call, run.domain)
        self._errors += len(decision.errors)
        for rule in decision.matched if fine is None else ():
            self._disturbed[rule.uuid] = self._disturbed.get(rule.uuid, 0) + 1
        return fine

    def _tell(self, run: Run, seq: int) -> None:
        """The call and its outcome; approve what is proposed then."""
        seen = observed(run, seq)
        started = time.perf_counter()
        self._inducer.learn(seen)
        if seq == len(run.calls) - 1:
            self._inducer.end_run(run.id)
        changes = self._inducer.changes()
        took = time.perf_counter() - started
        self.learning += took
        self._longest = max(self._longest, took)
        for key in changes.withdrawn:
            del self._served[key]
        for proposal in (*changes.proposed, *changes.updated):
            self._serve(proposal)
        if changes.proposed or changes.withdrawn:
            rules = [rule for _proposal, rule in self._served.values()]
            self._ruleset = Ruleset.compile(rules, version=seen.id, base=self._ruleset)

    def _serve(self, proposal: Proposal) -> None:
        self._made.add(proposal.key)
        known = self._served.get(proposal.key)
        rule = known[1] if known else Rule.from_document(proposal.document() | {"uuid": proposal.key})
        self._served[proposal.key] = (proposal, rule)


def _is_flag(decision: Decision, call: Call) -> bool:
    """The answer stops the call, changes it, or puts another one before it or in its place."""
    stops = decision.block or decision.ask or decision.insert_steps
    return bool(stops) or decision.input != call.args or decision.tool != call.tool


def observed(run: Run, seq: int) -> ObservedCall:
    """A recorded call as the inducer is told it."""
    call = run.calls[seq]
    said = call.obs if isinstance(call.obs, str) else repr(call.obs)
    return ObservedCall(
        id=f"{run.id}/{seq}", run=run.id, tool=call.tool, input=call.args, failed=call.failed,
        message=said if call.failed else "", env={"domain": run.domain},
    )  # fmt: skip
