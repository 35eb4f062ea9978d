"""A call as the inducer is told about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory.domain.failures import FailureFinding
from memory.domain.patterns import SCOPE_FIELDS, PatternKey, pattern_of


@dataclass(frozen=True)
class PastCall:
    """A call that was made earlier in the same run."""

    tool: str
    input: Mapping[str, Any]
    failed: bool = False


@dataclass(frozen=True)
class ObservedCall:
    """One recorded call and how it went.

    ``id`` names the call in a backtest, ``run`` the task it belongs to. ``message`` and ``error_type`` say
    what went wrong; both are ignored where ``failed`` is false. ``history`` is what the run did before; None
    stands for the calls of the run that the inducer was told already. ``goal`` is the run's. ``prompted``
    counts the calls directly before it that were steps which rules had asked for.
    """

    id: str
    run: str
    tool: str
    input: Mapping[str, Any]
    failed: bool
    message: str = ""
    error_type: str = "error"
    env: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[PastCall, ...] | None = None
    goal: str = ""
    prompted: int = 0

    def past(self) -> PastCall:
        """The call as later ones of its run look back at it."""
        return PastCall(self.tool, self.input, self.failed)

    def scope(self) -> tuple[str, str]:
        """The field of the environment that says where names live, and its value; two blanks for none."""
        for name in SCOPE_FIELDS:
            value = self.env.get(name)
            if isinstance(value, str) and value.strip():
                return name, value
        return "", ""

    def pattern(self) -> PatternKey:
        """The error pattern of a failed call."""
        failure = FailureFinding(kind="error", error_type=self.error_type, message=self.message)
        return pattern_of(self.tool, failure, self.input, self.env)


def before_steps(call: ObservedCall, past: Sequence[PastCall]) -> tuple[PastCall, ...]:
    """The calls before it without the steps that rules asked for: what its agent would have left at that."""
    return tuple(past[: max(0, len(past) - call.prompted)])


def without_vain_steps(call: ObservedCall, past: Sequence[PastCall]) -> tuple[PastCall, ...]:
    """The calls before it, but for steps that rules asked for in vain: what failed changed nothing."""
    first = max(0, len(past) - call.prompted)
    return tuple(other for place, other in enumerate(past) if place < first or not other.failed)


def own_calls(calls: Sequence[ObservedCall]) -> tuple[ObservedCall, ...]:
    """A run's calls without steps that rules asked for in vain, where the call after them went well all the
    same: they are no failure of the agent's."""
    vain: set[int] = set()
    prompted: dict[int, int] = {}
    for at, call in enumerate(calls):
        asked = range(max(0, at - call.prompted), at) if not call.failed else range(0)
        failed = {place for place in asked if calls[place].failed}
        vain |= failed
        prompted[at] = call.prompted - len(failed)
    kept = [at for at in range(len(calls)) if at not in vain]
    return tuple(replace(calls[at], prompted=prompted[at]) for at in kept)
