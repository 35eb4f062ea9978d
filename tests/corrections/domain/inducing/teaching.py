"""Short runs for the inducer: what was asked, and the error there was, if any."""

from collections.abc import Mapping, Sequence
from typing import Any

from corrections.domain.inducing import Inducer, ObservedCall
from hgmem.rules import Condition, parse_context

Step = tuple[Mapping[str, Any], str]
Made = tuple[str, Mapping[str, Any], str]
"""A call of any tool: the tool, what was asked, and the error there was, if any."""


def teach(
    runs: Sequence[Sequence[Step]], *, tool: str = "act", site: str = "depot", inducer: Inducer | None = None
) -> Inducer:
    """An inducer that was told these runs."""
    inducer = inducer or Inducer()
    for at, run in enumerate(runs):
        for seq, (call_input, error) in enumerate(run):
            inducer.learn(
                ObservedCall(
                    id=f"{tool}-{at}-{seq}", run=f"{tool}-{at}", tool=tool, input=call_input,
                    failed=bool(error), message=error, env={"site": site} if site else {},
                )
            )  # fmt: skip
        inducer.end_run(f"{tool}-{at}")
    return inducer


def teach_calls(
    runs: Sequence[Sequence[Made]], *, env: Mapping[str, Any] | None = None, name: str = "r",
    inducer: Inducer | None = None,
) -> Inducer:  # fmt: skip
    """An inducer that was told runs of several tools."""
    inducer = inducer or Inducer()
    for at, run in enumerate(runs):
        for seq, (tool, call_input, error) in enumerate(run):
            inducer.learn(
                ObservedCall(
                    id=f"{name}-{at}-{seq}", run=f"{name}-{at}", tool=tool, input=call_input,
                    failed=bool(error), message=error, env=env or {},
                )
            )  # fmt: skip
        inducer.end_run(f"{name}-{at}")
    return inducer


def good(*inputs: Mapping[str, Any]) -> list[list[Step]]:
    """Runs of one good call each."""
    return [[(call_input, "")] for call_input in inputs]


def holds(
    condition: str,
    call_input: Mapping[str, Any],
    *,
    tool: str = "act",
    site: str = "depot",
    env: Mapping[str, Any] | None = None,
    history: Sequence[Made] = (),
) -> bool:
    """What the engine makes of a condition; an evaluation error is neither true nor false and fails here."""
    where = dict(env) if env is not None else {"site": site} if site else {}
    past = [
        {"tool": name, "input": dict(made), "status": "error" if error else "ok"}
        for name, made, error in history
    ]
    context = parse_context({"tool": tool, "input": dict(call_input), "env": where, "history": past})
    outcome = Condition.compile(condition).evaluate(context)
    assert isinstance(outcome, bool), outcome
    return outcome


def flags(inducer: Inducer, call_input: Mapping[str, Any], *, site: str = "depot") -> bool:
    """Whether any proposal speaks up before a call."""
    return any(holds(proposal.condition, call_input, site=site) for proposal in inducer.proposals())
