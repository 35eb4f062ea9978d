"""Does a rule really need another one? Recorded calls are decided with and without it, by the real engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hgmem.rules import Decision, Rule, RuleError, Ruleset, parse_context

PARTS = ("applied", "block", "ask", "hints", "insert_steps", "after_call", "suppressed", "errors")
"""Where an answer speaks of a rule."""


@dataclass(frozen=True)
class Seen:
    """One call after which a dependent rule says something else without its provider.

    ``place`` is the number of the call among those looked at. ``with_it`` and ``without_it`` are sentences
    for people (English, as all the engine says).
    """

    place: int
    context: dict[str, Any]
    with_it: str
    without_it: str


def find_witnesses(
    provider: Rule,
    others: Sequence[Rule],
    dependents: Mapping[str, str],
    contexts: Sequence[dict[str, Any]],
    *,
    now: datetime,
) -> dict[str, Seen]:
    """By dependent (its uuid): the first call on which it needs the provider.

    ``dependents`` says by uuid which tool the provider leads to for it ("" for a dependency by field);
    ``others`` are the rules beside the provider, the dependents among them. Calls that the engine cannot
    read (stored before its caps) are passed over.
    """
    beside = [rule for rule in others if rule.uuid != provider.uuid]
    without = Ruleset.compile(beside, version="without")
    both = Ruleset.compile([*beside, provider], version="with", base=without)
    points = {rule.uuid: provider.point if dependents.get(rule.uuid) else rule.point for rule in beside}
    found: dict[str, Seen] = {}
    for place, context in enumerate(contexts):
        left = [uuid for uuid in dependents if uuid not in found]
        if not left:
            break
        for point in sorted({points[uuid] for uuid in left if uuid in points}):
            asked = context | {"point": point}
            ours = [uuid for uuid in left if points.get(uuid) == point]
            for uuid, said in _differing(both, without, asked, ours, dependents, now):
                found[uuid] = Seen(place, asked, *said)
    return found


def _differing(
    both: Ruleset,
    without: Ruleset,
    asked: dict[str, Any],
    uuids: Iterable[str],
    dependents: Mapping[str, str],
    now: datetime,
) -> Iterable[tuple[str, tuple[str, str]]]:
    try:
        first, second = both.decide(parse_context(asked), now=now), None
        for uuid in uuids:
            if dependents[uuid]:
                led = _led_to(both, first, asked, dependents[uuid], uuid, now)
                if led:
                    yield uuid, (led, "this call does not come to it")
                continue
            second = second or without.decide(parse_context(asked), now=now)
            one, other = _said(first, uuid), _said(second, uuid)
            if one != other:
                yield uuid, (_sentence(first, uuid), _sentence(second, uuid))
    except RuleError:
        return


def _led_to(
    both: Ruleset, decision: Decision, asked: dict[str, Any], tool: str, uuid: str, now: datetime
) -> str:
    """What the dependent does on the call that the provider makes of this one; "" when it is not asked."""
    inputs = [step["arguments"] for step in decision.insert_steps if step["tool"] == tool]
    if decision.tool == tool:
        inputs.append(decision.input)
    for given in inputs:
        follow_up = asked | {"tool": {"name": tool}, "input": given, "point": "before"}
        answer = both.decide(parse_context(follow_up), now=now)
        if any(rule.uuid == uuid for rule in answer.matched):
            return _sentence(answer, uuid)
    return ""


def _said(decision: Decision, uuid: str) -> list[tuple[str, Any]]:
    return [(part, row) for part in PARTS for row in getattr(decision, part) if row["rule"] == uuid]


def _sentence(decision: Decision, uuid: str) -> str:
    """The first thing an answer says of a rule, in a few words."""
    for part, row in _said(decision, uuid):
        if part == "suppressed":
            return f"it gives way: {row['reason']}"
        if part == "errors":
            return f"it cannot be evaluated: {row['detail']}"
        if part in ("block", "ask"):
            verb = "it refuses the call" if part == "block" else "it asks before the call"
            return f"{verb}: {row['message']}"
        if part == "applied" and row.get("changes"):
            changes = ", ".join(str(change["field"]) for change in row["changes"])
            return f"it changes {changes}"
    return "it has its say" if _said(decision, uuid) else "it says nothing"
