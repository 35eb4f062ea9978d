"""The very same call again, where a step was forgotten: that step is made first, as it was then.

What several runs agree on becomes a general rule (``recovering``). Many forgotten steps are never said in
general, because each task fills them in differently. What one run showed is still true of the same call in
the same place: the same input for the same goal, and the step not made as often before. The place is where
the run that went well made it, which may be well before the call that failed. Where runs of
several goals show the same, the goal does not matter. A place that ever went well without the step is told
apart by the call before it, or nothing is proposed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from corrections.domain.inducing.calls import ObservedCall, PastCall
from corrections.domain.inducing.features import MAX_NAME, REDACTED
from corrections.domain.inducing.groups import Mistake
from corrections.domain.inducing.phrases import field as field_of
from corrections.domain.inducing.proposals import (
    MAX_SAID,
    Action,
    Backtest,
    Proposal,
    ask_first,
    proposal_key,
)
from corrections.domain.inducing.surroundings import MAX_HISTORY
from hgmem.rules.limits import MAX_CONDITION_CHARS

MAX_KEYS = 5_000
MAX_FINE = 200
"""Places of one input that are remembered as having gone well."""
MAX_INPUTS = 20_000
MAX_SAID_INPUT = 600
MAX_GOALS = 50
MAX_GOAL = 160
"""Characters of a goal that a condition names."""
PRIORITY = 1
"""Before a question: what a step repairs need not be asked about."""
Scope = tuple[str, str]


class StepKey(NamedTuple):
    """A call (input as JSON) and the step forgotten before it (arguments as JSON; names of those hidden)."""

    tool: str
    scope: Scope
    input: str
    step: str
    arguments: str
    hidden: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The call alone."""
        return _digest(self.tool, self.scope, self.input)


class _At(NamedTuple):
    """Where a call stood: its run, its goal's beginning, digests of the calls before it, the last of them."""

    run: str
    goal: str
    past: tuple[bytes, ...]
    last: tuple[str, str] | None


@dataclass
class _Told:
    family: Mistake
    message: str
    failing: dict[str, _At] = field(default_factory=dict)


@dataclass(frozen=True)
class _Place:
    """When: the step was made less than ``times`` before, for a ``goal`` that begins so and right after
    ``previous``, if these matter."""

    times: int
    goal: str = ""
    previous: tuple[str, str] | None = None

    def holds(self, key: StepKey, at: _At) -> bool:
        if _times(key, at.past) >= self.times or not at.goal.startswith(self.goal):
            return False
        return self.previous is None or at.last == self.previous


class ForgottenSteps:
    """Forgotten steps by call; the oldest of ``MAX_KEYS`` are forgotten themselves."""

    def __init__(self) -> None:
        self._told: dict[StepKey, _Told] = {}
        self._by_place: dict[str, dict[StepKey, None]] = {}
        self._by_call: dict[str, dict[StepKey, None]] = {}
        self._fine: dict[str, list[_At]] = {}
        self._made: dict[str, tuple[StepKey, _Place]] = {}
        self._known_places: dict[StepKey, list[_Place]] = {}

    def meet(self, call: ObservedCall, past: Sequence[PastCall]) -> list[StepKey]:
        """One more call that went well; the steps whose proposals would have hit it, and so change."""
        text = _json(call.input)
        if text is None:
            return []
        place = _digest(call.tool, call.scope(), text)
        fine = self._fine.setdefault(place, [])
        fine.append(at := _at(call, past))
        del fine[:-MAX_FINE]
        if len(self._fine) > MAX_INPUTS:
            del self._fine[next(iter(self._fine))]
        hit = [key for key in self._by_place.get(place, ()) if self._holds(key, at)]
        for key in hit:
            self._known_places.pop(key, None)
        return hit

    def family(self, key: StepKey) -> Mistake | None:
        """The mistake that the failing calls of a step are."""
        told = self._told.get(key)
        return told.family if told else None

    def is_mended(self, call_id: str) -> bool:
        """Whether a step is proposed before a failing call."""
        keys = self._by_call.get(call_id, ())
        return any(self._holds(key, self._told[key].failing[call_id]) for key in keys)

    def teach(self, family: Mistake, call: ObservedCall, step: PastCall) -> list[StepKey]:
        """A step, and the call with its history before which it was made where it went well; what changed.

        The call's id and message are the failing one's, which may have come later in the run.
        """
        past = call.history or ()
        own, arguments = _json(call.input), _json(step.input)
        if own is None or arguments is None:
            return []
        key = StepKey(call.tool, call.scope(), own, step.tool, arguments, hidden_of(step.input))
        told = self._told.setdefault(key, _Told(family, call.message))
        told.failing[call.id] = _at(call, past)
        self._known_places.pop(key, None)
        self._by_place.setdefault(key.place, {})[key] = None
        self._by_call.setdefault(call.id, {})[key] = None
        if len(self._told) <= MAX_KEYS:
            return [key]
        oldest = next(iter(self._told))
        for name in self._told.pop(oldest).failing:
            self._by_call.get(name, {}).pop(oldest, None)
        self._by_place[oldest.place].pop(oldest, None)
        self._known_places.pop(oldest, None)
        return [key, oldest]

    def knows(self, call: ObservedCall, step: PastCall) -> bool:
        """Whether a step is proposed before this call, from what was seen for its own goal."""
        own, arguments = _json(call.input), _json(step.input)
        if own is None or arguments is None:
            return True
        key = StepKey(call.tool, call.scope(), own, step.tool, arguments, hidden_of(step.input))
        told, mine = self._told.get(key), _at(call, call.history or ())
        shown = told is not None and any(at.goal == mine.goal for at in told.failing.values())
        return shown and self._holds(key, mine)

    def caught(self, key: StepKey) -> frozenset[str]:
        """The failing calls before which it would be made; none where nothing is proposed."""
        told = self._told.get(key)
        return (
            frozenset(name for name, at in told.failing.items() if self._holds(key, at))
            if told
            else frozenset()
        )

    def _holds(self, key: StepKey, at: _At) -> bool:
        return any(place.holds(key, at) for place in self._places(key))

    def proposals(self, key: StepKey) -> list[Proposal]:
        """What to propose about a step: one rule where it is true everywhere, else one for each goal."""
        made = (self._proposal(key, place) for place in self._places(key))
        return [proposal for proposal in made if proposal is not None]

    def hits(self, key: str) -> int:
        """How many calls went well without the step, where a proposal that was made once would make it."""
        step, place = self._made.get(key, (None, None))
        if step is None or place is None:
            return 0
        return sum(place.holds(step, at) for at in self._others(step))

    def _others(self, key: StepKey) -> list[_At]:
        """The calls that went well, but for those of runs that failed for want of the step."""
        told = self._told.get(key)
        runs = {at.run for at in told.failing.values()} if told else set()
        return [at for at in self._fine.get(key.place, ()) if at.run not in runs]

    def _proposal(self, key: StepKey, place: _Place) -> Proposal | None:
        told = self._told[key]
        caught = {name: at.run for name, at in told.failing.items() if place.holds(key, at)}
        condition, action = _condition(key, place), _action(key, told.message)
        if not caught or len(condition) > MAX_CONDITION_CHARS:
            return None
        good = len(self._fine.get(key.place, ()))
        name = proposal_key(key.tool, condition, action)
        self._made[name] = key, place
        if len(self._made) > 2 * MAX_KEYS:
            del self._made[next(iter(self._made))]
        return Proposal(
            key=name, tool=key.tool, condition=condition,
            action_type=action.type, action_detail=json.loads(action.detail), name=action.name,
            backtest=Backtest(tuple(sorted(caught)), len(told.failing), (), good),
            runs=len(set(caught.values())), priority=action.priority,
        )  # fmt: skip

    def _places(self, key: StepKey) -> list[_Place]:
        if key not in self._known_places:
            self._known_places[key] = self._find_places(key)
        return self._known_places[key]

    def _find_places(self, key: StepKey) -> list[_Place]:
        """Where it is true: everywhere, or for some goals, or there only right after the call before it."""
        told = self._told.get(key)
        if told is None:
            return []
        where, fine = list(told.failing.values()), self._others(key)
        times = max(_times(key, at.past) for at in where) + 1
        goals = dict.fromkeys(at.goal for at in where)
        if len(goals) > 1:
            everywhere = _Place(times)
            if not any(everywhere.holds(key, at) for at in fine):
                return [everywhere]
        found = [
            _narrow(key, goal, [at for at in where if at.goal == goal], fine) for goal in filter(None, goals)
        ]
        return [place for place in found if place is not None][-MAX_GOALS:]


def _narrow(key: StepKey, goal: str, where: Sequence[_At], fine: Sequence[_At]) -> _Place | None:
    times = max(_times(key, at.past) for at in where) + 1
    after = dict.fromkeys(at.last for at in reversed(where))
    candidates = [_Place(times, goal), *(_Place(times, goal, said) for said in after if said is not None)]
    return next((place for place in candidates if not any(place.holds(key, at) for at in fine)), None)


def _at(call: ObservedCall, past: Sequence[PastCall]) -> _At:
    goal = call.goal[:MAX_GOAL]
    said = [(it.tool, _json(it.input)) for it in past[-MAX_HISTORY:]]
    last = (said[-1][0], said[-1][1]) if said and said[-1][1] is not None else None
    digests = tuple(_call_digest(tool, text) for tool, text in said if text is not None)
    return _At(call.run, "" if REDACTED in goal else goal, digests, last)


def _times(key: StepKey, past: tuple[bytes, ...]) -> int:
    """How often the step was made: one that was made in vain is not tried again and again."""
    return past.count(_call_digest(key.step, key.arguments))


def _call_digest(tool: str, text: str) -> bytes:
    return hashlib.blake2b(f"{tool} {text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _action(key: StepKey, message: str) -> Action:
    said = " ".join(message.split())[:MAX_SAID].replace("{{", "{ {")
    reason = f"For this goal it was forgotten here before, and then: {said}"
    if key.hidden:
        reason += f" (Not stored, so fill in: {', '.join(key.hidden)}.)"
    detail = {"tool": key.step, "arguments": json.loads(key.arguments), "reason": reason}
    text = json.dumps(detail, ensure_ascii=False, sort_keys=True)
    return Action("INSERT_STEP", text, ask_first(message).name, PRIORITY)


def _condition(key: StepKey, place: _Place) -> str:
    clauses = [f"{field_of('env', key.scope[0])} == {json.dumps(key.scope[1])}"] if key.scope[0] else []
    if place.goal:
        clauses.append(f"task.goal != null && task.goal.startsWith({_literal(place.goal)})")
    clauses += _equal("input", key.input)
    if place.previous is not None:
        tool, text = place.previous
        last = "history[history.size() - 1]"
        clauses += ["history.size() > 0", f"{last}.tool == {_literal(tool)}", *_equal(f"{last}.input", text)]
    made = [f"h.tool == {_literal(key.step)}", *_equal("h.input", key.arguments)]
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
    """A small input in one spelling, without what was redacted; None for what no rule should say."""
    if not all(isinstance(name, str) and 0 < len(name) <= MAX_NAME for name in value):
        return None
    try:
        said = {name: json.dumps(part, ensure_ascii=False, allow_nan=False) for name, part in value.items()}
    except (TypeError, ValueError):
        return None
    kept = {name: value[name] for name, part in said.items() if REDACTED not in part}
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True)
    return None if len(text) > MAX_SAID_INPUT or "{{" in text else text


def hidden_of(value: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that were redacted before they were stored: whoever makes the call knows them."""
    return tuple(name for name, part in value.items() if REDACTED in repr(part))


def _digest(tool: str, scope: Scope, text: str) -> str:
    said = repr((tool, scope, text)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=12).hexdigest()
