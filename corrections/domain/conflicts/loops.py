"""Circles: rules each of which writes what the next one reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from corrections.domain.conflicts.effects import effects_of
from corrections.domain.conflicts.findings import Finding
from corrections.domain.conflicts.pairs import Pairs
from corrections.domain.conflicts.questions import Answer
from corrections.domain.conflicts.relations import Subject
from corrections.domain.conflicts.scopes import meeting
from hgmem.rules import Rule, parse_context
from hgmem.rules.precedence import in_precedence, overlap

MAX_LENGTH = 5
MAX_LOOPS = 50

Edges = Mapping[str, Mapping[str, str]]
"""From a rule to the rules that read what it writes, with the field."""


def loops_among(rules: Sequence[Rule], pairs: Pairs, through: str = "") -> list[Finding]:
    """Loops of up to ``MAX_LENGTH`` rules that can all fire in one call; ``through`` one rule if named."""
    writing = {rule.uuid: Subject(rule) for rule in rules if rule.action.writes()}
    found = []
    for circle in circles(_edges(writing), through)[:MAX_LOOPS]:
        subjects = [writing[uuid] for uuid in circle]
        setting = meeting([one.rule for one in subjects], pairs.now)
        if setting is None:
            continue
        answer = pairs.together(subjects, setting)
        if answer.outcome == "no":
            continue
        found.append(_loop(subjects, pairs, answer))
    return found


def circles(edges: Edges, through: str = "") -> list[tuple[str, ...]]:
    """The shortest circles, each once, beginning with its first rule by name: breadth first from every rule."""
    found: dict[tuple[str, ...], None] = {}
    for start in [through] if through else sorted(edges):
        waiting: list[tuple[str, ...]] = [(start,)]
        while waiting and len(found) < MAX_LOOPS:
            path = waiting.pop(0)
            for following in sorted(edges.get(path[-1], ())):
                if following == start and len(path) > 1:
                    found[_rotated(path)] = None
                elif following not in path and len(path) < MAX_LENGTH and (through or following > start):
                    waiting.append((*path, following))
            if len(waiting) > 10_000:
                break
    return sorted(found, key=len)


def _rotated(path: tuple[str, ...]) -> tuple[str, ...]:
    at = path.index(min(path))
    return path[at:] + path[:at]


def _edges(subjects: Mapping[str, Subject]) -> dict[str, dict[str, str]]:
    """Who writes what whom reads. Rules that write the same field do not count: one of them gives way."""
    edges: dict[str, dict[str, str]] = {}
    for writer in subjects.values():
        for reader in subjects.values():
            if reader is writer or reader.rule.point != writer.rule.point:
                continue
            field = overlap(writer.writes, reader.reads)
            if field is not None and field != "tool" and overlap(writer.writes, reader.writes) is None:
                edges.setdefault(writer.uuid, {})[reader.uuid] = field
    return edges


def _loop(subjects: list[Subject], pairs: Pairs, answer: Answer) -> Finding:
    order = [one.uuid for one in subjects]
    names = " → ".join(one.rule.name or one.uuid for one in (*subjects, subjects[0]))
    detail: dict[str, Any] = {"rules": order}
    if answer.witness is None or answer.moment is None:
        return Finding("loop", "not_proven", order[0], order[1], detail=detail, reason=answer.reason)
    effects = effects_of([one.rule for one in subjects], parse_context(answer.witness), answer.moment)
    detail |= effects.described() | {
        "now": answer.moment.isoformat(),
        "obeys_schema": answer.obeys_schema,
        "first": in_precedence(one.compiled for one in subjects)[0].uuid,
    }
    reason = f"each changes what the next depends on: {names}"
    return Finding("loop", "conflict", order[0], order[1], "", answer.witness, detail, reason)
