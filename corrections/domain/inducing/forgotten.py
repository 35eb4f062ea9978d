"""The very same call again, where a step was forgotten: that step is made first, as it was then.

What several runs agree on becomes a general rule (``recovering``). Many forgotten steps are never said in
general, because each task fills them in differently. What one run showed is still true of the same call in
the same place: the same input, and the step not made as often before. A place that ever went well without
the step tells the two apart by the call before it, or nothing is proposed.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from corrections.domain.inducing.calls import ObservedCall, PastCall
from corrections.domain.inducing.features import MAX_NAME, REDACTED
from corrections.domain.inducing.groups import Mistake
from corrections.domain.inducing.phrases import field as field_of
from corrections.domain.inducing.proposals import MAX_SAID, Action, Backtest, Proposal, ask_first, proposal_key
from corrections.domain.inducing.surroundings import MAX_HISTORY
from hgmem.rules.limits import MAX_CONDITION_CHARS

MAX_KEYS = 5_000
MAX_FINE = 200
"""Places of one input that are remembered as having gone well."""
MAX_INPUTS = 20_000
MAX_SAID_INPUT = 600
PRIORITY = 1
"""Before a question: what a step repairs need not be asked about."""
Scope = tuple[str, str]
Past = tuple[PastCall, ...]


class StepKey(NamedTuple):
    """A call (its input as JSON) and the step that was forgotten before it (its arguments as JSON)."""

    tool: str
    scope: Scope
    input: str
    step: str
    arguments: str

    @property
    def place(self) -> str:
        """The call alone."""
        return _digest(self.tool, self.scope, self.input)


@dataclass
class _Told:
    family: Mistake
    failing: dict[str, tuple[str, Past]] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True)
class _Place:
    """When: the step was made less than ``times`` before; the call before was ``previous``, if that matters."""

    times: int
    previous: tuple[str, str] | None = None

    def holds(self, key: StepKey, past: Past) -> bool:
        if _times(key, past) >= self.times:
            return False
        return self.previous is None or (bool(past) and _said(past[-1]) == self.previous)


class ForgottenSteps:
    """Forgotten steps by call; the oldest of ``MAX_KEYS`` are forgotten themselves."""

    def __init__(self) -> None:
        self._told: dict[StepKey, _Told] = {}
        self._by_place: dict[str, dict[StepKey, None]] = {}
        self._by_call: dict[str, dict[StepKey, None]] = {}
        self._fine: dict[str, list[Past]] = {}

    def meet(self, call: ObservedCall, past: Sequence[PastCall]) -> list[StepKey]:
        """One more call that went well; the steps about which more is known now."""
        text = _json(call.input)
        if text is None:
            return []
        place = _digest(call.tool, call.scope(), text)
        fine = self._fine.setdefault(place, [])
        fine.append(tuple(past)[-MAX_HISTORY:])
        del fine[:-MAX_FINE]
        if len(self._fine) > MAX_INPUTS:
            del self._fine[next(iter(self._fine))]
        return list(self._by_place.get(place, ()))

    def family(self, key: StepKey) -> Mistake | None:
        """The mistake that the failing calls of a step are."""
        told = self._told.get(key)
        return told.family if told else None

    def is_mended(self, call_id: str) -> bool:
        """Whether a step is proposed before a failing call."""
        return any(call_id in self.caught(key) for key in self._by_call.get(call_id, ()))

    def teach(
        self, family: Mistake, call: ObservedCall, past: Sequence[PastCall], step: PastCall
    ) -> list[StepKey]:
        """A failing call and a step that was made before it where it went well; what changed."""
        own, arguments = _json(call.input), _json(step.input)
        if own is None or arguments is None:
            return []
        key = StepKey(call.tool, call.scope(), own, step.tool, arguments)
        told = self._told.setdefault(key, _Told(family, message=call.message))
        told.failing[call.id] = call.run, tuple(past)[-MAX_HISTORY:]
        self._by_place.setdefault(key.place, {})[key] = None
        self._by_call.setdefault(call.id, {})[key] = None
        if len(self._told) <= MAX_KEYS:
            return [key]
        oldest = next(iter(self._told))
        for name in self._told.pop(oldest).failing:
            self._by_call.get(name, {}).pop(oldest, None)
        self._by_place[oldest.place].pop(oldest, None)
        return [key, oldest]

    def caught(self, key: StepKey) -> frozenset[str]:
        """The failing calls before which it would be made; none where nothing is proposed."""
        told, place = self._told.get(key), self._place(key)
        if told is None or place is None:
            return frozenset()
        return frozenset(name for name, (_run, past) in told.failing.items() if place.holds(key, past))

    def proposal(self, key: StepKey) -> Proposal | None:
        """What to propose about a step; None for nothing."""
        place, caught = self._place(key), self.caught(key)
        if place is None or not caught:
            return None
        told = self._told[key]
        condition, action = _condition(key, place), _action(key, told.message)
        if len(condition) > MAX_CONDITION_CHARS:
            return None
        runs = {told.failing[name][0] for name in caught}
        good = len(self._fine.get(key.place, ()))
        return Proposal(
            key=proposal_key(key.tool, condition, action), tool=key.tool, condition=condition,
            action_type=action.type, action_detail=json.loads(action.detail), name=action.name,
            backtest=Backtest(tuple(sorted(caught)), len(told.failing), (), good), runs=len(runs),
            priority=action.priority,
        )  # fmt: skip

    def _place(self, key: StepKey) -> _Place | None:
        """The widest place that holds of the failing calls and of no call that went well."""
        told = self._told.get(key)
        if told is None:
            return None
        fine = self._fine.get(key.place, ())
        return next((place for place in _places(key, told) if not any(place.holds(key, it) for it in fine)), None)


def _places(key: StepKey, told: _Told) -> Iterator[_Place]:
    """Candidates: the step was made less often; and the call before was the last failing one's."""
    times = max(_times(key, past) for _run, past in told.failing.values()) + 1
    yield _Place(times)
    for _run, past in reversed(told.failing.values()):
        if past and (said := _said(past[-1])) is not None:
            yield _Place(times, said)


def _times(key: StepKey, past: Past) -> int:
    return sum(it.tool == key.step and not it.failed and _json(it.input) == key.arguments for it in past)


def _said(call: PastCall) -> tuple[str, str] | None:
    text = _json(call.input)
    return None if text is None else (call.tool, text)


def _action(key: StepKey, message: str) -> Action:
    said = " ".join(message.split())[:MAX_SAID].replace("{{", "{ {")
    detail = {
        "tool": key.step, "arguments": json.loads(key.arguments),
        "reason": f"Without it this very call failed: {said}",
    }  # fmt: skip
    text = json.dumps(detail, ensure_ascii=False, sort_keys=True)
    return Action("INSERT_STEP", text, ask_first(message).name, PRIORITY)


def _condition(key: StepKey, place: _Place) -> str:
    clauses = [f"{field_of('env', key.scope[0])} == {json.dumps(key.scope[1])}"] if key.scope[0] else []
    clauses += _equal("input", key.input)
    if place.previous is not None:
        tool, text = place.previous
        last = "history[history.size() - 1]"
        clauses += ["history.size() > 0", f"{last}.tool == {_literal(tool)}", *_equal(f"{last}.input", text)]
    made = [f"h.tool == {_literal(key.step)}", 'h.status != "error"', *_equal("h.input", key.arguments)]
    test = " && ".join(made)
    if place.times == 1:
        clauses.append(f"!history.exists(h, {test})")
    else:
        clauses.append(f"history.filter(h, {test}).size() < {place.times}")
    return " && ".join(clauses)


def _equal(owner: str, text: str) -> list[str]:
    return [f"{field_of(owner, name)} == {_literal(value)}" for name, value in json.loads(text).items()]


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json(value: Mapping[str, Any]) -> str | None:
    """A small input in one spelling; None for a large or redacted one, or one that would read as a template."""
    if not all(isinstance(name, str) and 0 < len(name) <= MAX_NAME for name in value):
        return None
    try:
        text = json.dumps(dict(value), ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return None if len(text) > MAX_SAID_INPUT or REDACTED in text or "{{" in text else text


def _digest(tool: str, scope: Scope, text: str) -> str:
    said = repr((tool, scope, text)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=12).hexdigest()
