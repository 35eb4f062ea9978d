"""One stream replayed for its effect: every change that a rule makes to a query is executed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Protocol

from benchmarks.induced import Induced, changed_by
from benchmarks.product import context_of
from benchmarks.streams import Run, Stream
from corrections.domain.effectiveness import MIN_OUTCOMES, Effect


class Executor(Protocol):
    """Makes a call and says whether it ran, and whether it gave what the run's goal asks for."""

    def __call__(self, run: Run, tool: str, call_input: dict[str, Any], /) -> tuple[bool, bool]: ...


@dataclass(frozen=True)
class Fired:
    """One call that rules changed: which, what was expected of them before, and how it went."""

    rules: tuple[str, ...]
    expected: float
    was_failing: bool
    ran: bool
    right: bool


@dataclass
class Effects:
    """Everything that fired in one replay."""

    fired: list[Fired] = field(default_factory=list)
    asked: int = 0
    broke: int = 0
    """Calls that were recorded as good, were changed, and then did not run."""

    @property
    def ran(self) -> int:
        """Changed calls that then ran."""
        return sum(one.ran for one in self.fired)

    @property
    def right(self) -> int:
        """Changed calls that then gave the gold rows."""
        return sum(one.right for one in self.fired)

    def by_rule(self) -> dict[str, list[Fired]]:
        """What fired, by rule."""
        found: dict[str, list[Fired]] = {}
        for one in self.fired:
            for rule in one.rules:
                found.setdefault(rule, []).append(one)
        return found


def replay(
    runs: Iterable[Run], induced: Induced, execute: Executor, *, learns: bool = True,
    advance: Callable[[int], None] = lambda _steps: None,
) -> Effects:  # fmt: skip
    """Ask before every call, execute what was changed, tell how that went; then tell what was recorded.

    Only whether the changed call ran is told, never whether it was right.
    """
    effects = Effects()
    for run in runs:
        for seq, call in enumerate(run.calls):
            decision = induced.decide(context_of(run, seq))
            rules = changed_by(decision)
            effects.asked += bool(decision.ask or decision.block) and call.failed
            if rules:
                expected = min(induced.effect(rule).mean for rule in rules)
                ran, right = execute(run, call.tool, decision.input)
                effects.fired.append(Fired(tuple(rules), expected, call.failed, ran, right))
                effects.broke += not call.failed and not ran
                induced.came(rules, helped=ran)
            if learns:
                induced.learn(run.id, seq, call, run.domain)
        if learns:
            induced.end(run.id)
        advance(1)
    return effects


@dataclass(frozen=True)
class Quartiles:
    """Rules that fired ``MIN_OUTCOMES`` times and more, by what the product thinks of them in the end."""

    rules: int
    worst_quarter_ran: float | None
    others_ran: float | None
    worst_quarter_right: float | None
    others_right: float | None


class Expects(Protocol):
    """Knows what to expect of a rule."""

    def effect(self, key: str, /) -> Effect: ...


def quartiles(effects: Effects, induced: Expects) -> Quartiles:
    """Whether the rules the product trusts least are the bad ones."""
    fired = {key: some for key, some in effects.by_rule().items() if len(some) >= MIN_OUTCOMES}
    ranked = sorted(fired, key=lambda key: (induced.effect(key).mean, key))
    cut = len(ranked) // 4
    worst, others = ranked[:cut], ranked[cut:]

    def share(keys: list[str], what: str) -> float | None:
        rates = [fmean(getattr(one, what) for one in fired[key]) for key in keys]
        return fmean(rates) if rates else None

    return Quartiles(
        len(ranked), share(worst, "ran"), share(others, "ran"), share(worst, "right"), share(others, "right")
    )


def halves(stream: Stream) -> tuple[list[Run], list[Run]]:
    """The runs before and after the middle."""
    middle = len(stream.runs) // 2
    return list(stream.runs[:middle]), list(stream.runs[middle:])
