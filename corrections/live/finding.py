"""Rules and error patterns near a question: what the index of texts found, as rows."""

from dataclasses import dataclass, field
from typing import Any

from corrections.queries.search import rules_by_uuid, search_rules
from memory.live.texts import TextHit, search_texts
from memory.queries.texts import patterns_by_uuid

KINDS = ("rule", "pattern")
SPARE = 20
"""Hits asked for beyond the limit: deleted rules fall out."""


@dataclass(frozen=True)
class FoundText:
    """A rule or a pattern, and how near it is: ``score`` 0..1 (None: a word of its name, not yet indexed)."""

    kind: str
    row: Any
    score: float | None
    by: str


@dataclass(frozen=True)
class FoundTexts:
    """What is near, best first. ``waiting`` texts are not embedded yet; ``by_meaning``: if any could be."""

    items: list[FoundText] = field(default_factory=list)
    waiting: int = 0
    by_meaning: bool = True

    def of(self, kind: str) -> list[FoundText]:
        """Those of one kind."""
        return [item for item in self.items if item.kind == kind]


def find_texts(workspace_id: int, text: str, *, kind: str = "", limit: int = 10) -> FoundTexts:
    """Rules and patterns near a question, or one kind of them; ``limit`` of each at most.

    Rules by a word of their name follow, which were written so lately that no index knows them.
    """
    kinds = KINDS if not kind else (kind,)
    answer = search_texts(workspace_id, text, kinds=frozenset(kinds), limit=limit + SPARE)
    items: list[FoundText] = []
    for each in kinds:
        hits = [hit for hit in answer.hits if hit.kind == each]
        items += _rows(workspace_id, each, hits)[:limit]
    if "rule" in kinds:
        items += _new_rules(workspace_id, text, items, limit)
    items.sort(key=lambda item: -(item.score or 0))
    return FoundTexts(items, answer.waiting, answer.by_meaning)


def _rows(workspace_id: int, kind: str, hits: list[TextHit]) -> list[FoundText]:
    uuids = [hit.subject for hit in hits]
    rows = rules_by_uuid(workspace_id, uuids) if kind == "rule" else patterns_by_uuid(workspace_id, uuids)
    return [FoundText(kind, rows[hit.subject], hit.score, hit.by) for hit in hits if hit.subject in rows]


def _new_rules(workspace_id: int, text: str, items: list[FoundText], limit: int) -> list[FoundText]:
    known = {item.row.pk for item in items if item.kind == "rule"}
    named = search_rules(workspace_id, text, limit=limit)
    return [FoundText("rule", rule, None, "letters") for rule in named if rule.pk not in known]
