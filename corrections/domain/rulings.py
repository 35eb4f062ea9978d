"""Rulings: what a person's word means for the rules served, and what their witness must give from now on."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from corrections.domain.lifecycle import Refused
from hgmem.rules import Decision, Rule, RuleError, Ruleset, parse_context

VERDICTS = ("a_wins", "b_wins", "order", "narrow", "merge", "retire", "accept")
"""``order`` means A first, then B; ``narrow`` and ``retire`` are about B, ``merge`` keeps A and retires B."""
NEEDS_TWO = frozenset(("a_wins", "b_wins", "order", "merge"))
NEEDS_EXPIRY = frozenset(("accept",))
MAX_REASON_CHARS = 2_000
MAX_SHOWN_CHARS = 200
FIELDS = ("ruled_over", "runs_after", "settled_with")
NOTHING: Mapping[str, tuple[str, ...]] = {}

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Word:
    """An active ruling for the engine: uuids as text, ``b`` empty where only one rule is concerned."""

    verdict: str
    a: str
    b: str


def with_rulings(rules: Mapping[Key, Rule], words: Iterable[Word]) -> dict[Key, Rule]:
    """The rules with what rulings add to those concerned; the same objects where nothing changes."""
    added = _served_fields(words)
    return {key: _with_fields(rule, added.get(rule.uuid, NOTHING)) for key, rule in rules.items()}


def _with_fields(rule: Rule, fields: Mapping[str, tuple[str, ...]]) -> Rule:
    has_none = not (rule.ruled_over or rule.runs_after or rule.settled_with)
    if has_none and not fields:
        return rule
    update = {name: fields.get(name, ()) for name in FIELDS}
    if all(getattr(rule, name) == value for name, value in update.items()):
        return rule
    return rule.model_copy(update=update)


def _served_fields(words: Iterable[Word]) -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, set[str]]] = {}
    for word in words:
        if not word.b:
            continue
        match word.verdict:
            case "a_wins":
                place = (word.a, "ruled_over", word.b)
            case "b_wins":
                place = (word.b, "ruled_over", word.a)
            case "order":
                place = (word.b, "runs_after", word.a)
            case "accept":
                place = (word.a, "settled_with", word.b)
            case _:
                continue
        found.setdefault(place[0], {}).setdefault(place[1], set()).add(place[2])
    return {
        uuid: {name: tuple(sorted(uuids)) for name, uuids in fields.items()} for uuid, fields in found.items()
    }


def compile_for(tool: str, rules: Iterable[Rule], words: Iterable[Word]) -> Ruleset:
    """The rules that have a say on a tool's calls, with the rulings on them, ready to decide witnesses."""
    fitting = {rule.uuid: rule for rule in rules if rule.applies_to.fits_tool(tool)}
    return Ruleset.compile(with_rulings(fitting, words).values(), version="witness")


def decide(ruleset: Ruleset, witness: Mapping[str, Any], now: datetime) -> Decision:
    """What these rules make of a witness. A witness may bring its own ``now``.

    Raises :class:`hgmem.rules.RuleError` for a witness that cannot be read.
    """
    context, moment = split_witness(witness, now)
    return ruleset.decide(parse_context(context), now=moment)


def split_witness(witness: Mapping[str, Any], now: datetime) -> tuple[dict[str, Any], datetime]:
    """The context of a witness and the moment it is about: its own ``now``, or the one given."""
    context = {name: value for name, value in witness.items() if name != "now"}
    said = witness.get("now")
    if not isinstance(said, str):
        return context, now
    try:
        moment = datetime.fromisoformat(said)
    except ValueError as fault:
        raise RuleError("is no date with a time", field="now") from fault
    return context, moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


def roles_of(decision: Decision, uuids: Sequence[str]) -> dict[str, str]:
    """What became of each rule: applied, gave_way, failed, quiet (a check that passed) or silent."""
    applied = {entry["rule"] for entry in decision.applied}
    applied |= {entry["rule"] for entry in decision.after_call}
    suppressed = {entry["rule"] for entry in decision.suppressed}
    failed = {entry["rule"] for entry in decision.errors}
    matched = {rule.uuid for rule in decision.matched}
    roles = {}
    for uuid in uuids:
        groups = (("applied", applied), ("gave_way", suppressed), ("failed", failed), ("quiet", matched))
        roles[uuid] = next((role for role, group in groups if uuid in group), "silent")
    return roles


def expectation_of(decision: Decision, uuids: Sequence[str]) -> dict[str, Any]:
    """What a witness gave for a ruling's rules: their roles, and what those applied made of the call.

    ``values`` maps each field that one of them changed to its last value; ``order`` lists those applied.
    """
    entries = [entry for entry in decision.applied if entry["rule"] in uuids]
    changes = [change for entry in entries for change in entry["changes"]]
    values = {change["field"]: change.get("to", {"removed": True}) for change in changes}
    refused = [entry["rule"] for entry in (*decision.block, *decision.ask) if entry["rule"] in uuids]
    return {
        "roles": roles_of(decision, uuids),
        "order": [entry["rule"] for entry in entries],
        "values": values,
        "refused": sorted(refused),
    }


def breaks(expected: Mapping[str, Any], found: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """What is not as a ruling wants it, as sentences; empty when it holds. ``names`` by uuid."""
    lines = []
    for uuid, role in expected.get("roles", {}).items():
        now = found["roles"].get(uuid, "silent")
        if now != role:
            lines.append(f"{names.get(uuid, uuid)} {SAID[now]} where it {SAID[role]}.")
    wanted, given = expected.get("values", {}), found["values"]
    for field in sorted({*wanted, *given}):
        if wanted.get(field) != given.get(field):
            lines.append(f"{field} becomes {_shown(given, field)} where it became {_shown(wanted, field)}.")
    if not lines and expected.get("order", []) != found["order"]:
        lines.append("The rules are applied in another order.")
    return lines


SAID: Mapping[str, str] = {
    "applied": "was applied", "gave_way": "gave way", "failed": "could not be evaluated",
    "quiet": "had nothing to object to", "silent": "did not match",
}  # fmt: skip


def _shown(values: Mapping[str, Any], field: str) -> str:
    if field not in values:
        return "nothing"
    text = repr(values[field])
    return text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"


def check_verdict(word: Word, expectation: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Raise :class:`Refused` when the rules do not do what a ruling says: it could not be kept.

    What a verdict asks for must be served first (a narrower version), or cannot be had at all.
    """
    checks = {
        "a_wins": _check_winner, "b_wins": _check_winner, "order": _check_order, "narrow": _check_narrowed,
        "merge": _check_retired, "retire": _check_retired,
    }  # fmt: skip
    if word.verdict in checks:
        checks[word.verdict](word, expectation, names)


def _check_winner(word: Word, expectation: Mapping[str, Any], names: Mapping[str, str]) -> None:
    role = expectation["roles"]
    winner, loser = (word.a, word.b) if word.verdict == "a_wins" else (word.b, word.a)
    if role.get(winner) != "applied" or role.get(loser) == "applied":
        raise Refused(
            f"With this ruling {names.get(winner, winner)} would still not prevail over"
            f" {names.get(loser, loser)} on the witness: another rule stands above it."
        )


def _check_order(word: Word, expectation: Mapping[str, Any], names: Mapping[str, str]) -> None:
    role, order = expectation["roles"], expectation["order"]
    a, b = names.get(word.a, word.a), names.get(word.b, word.b)
    if role.get(word.a) != "applied" or role.get(word.b) == "silent":
        raise Refused(f"{a} and {b} cannot both be applied to the witness in this order.")
    if word.b in order and order.index(word.a) > order.index(word.b):
        raise Refused(f"{a} cannot go before {b}: their kinds of action come in the other order.")


def _check_narrowed(word: Word, expectation: Mapping[str, Any], names: Mapping[str, str]) -> None:
    target = word.b or word.a
    if expectation["roles"].get(target) not in (None, "silent"):
        raise Refused(
            f"{names.get(target, target)} still matches the witness: publish its narrower version first."
        )


def _check_retired(word: Word, expectation: Mapping[str, Any], names: Mapping[str, str]) -> None:
    role, target = expectation["roles"], word.b or word.a
    if target in role:
        raise Refused(f"{names.get(target, target)} is still served: retire it first.")
    if word.verdict == "merge" and role.get(word.a) == "silent":
        raise Refused(
            f"{names.get(word.a, word.a)} does not match the witness: publish its merged version first."
        )
