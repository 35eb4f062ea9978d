"""Rule documents as people send them, and as a version keeps them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from hgmem.rules import Rule, RuleError
from hgmem.rules.assignment import Trial
from memory.domain.plain_json import storable

SERVER_FIELDS = frozenset(
    ("uuid", "correction_id", "version", "created_by", "created_at", "author", "effectiveness",
     "effectiveness_score", "ruled_over", "runs_after", "settled_with", "trial")
)  # fmt: skip
"""What the server knows better than the sender: dropped from a document that comes in."""
UNSAVED = "unsaved"


def read_document(document: Any, *, author: str) -> Rule:
    """Check a rule document; raises :class:`hgmem.rules.RuleError` with the paths of all its faults.

    ``author`` is ``human`` or ``agent``: the sender cannot choose it. The article's form is accepted. The
    rule's ``uuid`` is a placeholder until it is saved.
    """
    if not isinstance(document, dict):
        raise RuleError("A rule is a JSON object.")
    try:
        given = storable({name: value for name, value in document.items() if name not in SERVER_FIELDS})
    except RecursionError:
        raise RuleError("is nested too deep") from None
    return Rule.from_document({**given, "uuid": UNSAVED, "created_by": author})


def body_of(rule: Rule) -> dict[str, Any]:
    """The document that a version keeps: canonical, JSON-ready, without what the server adds."""
    return {name: value for name, value in rule.to_document().items() if name not in SERVER_FIELDS}


class StoredVersion(Protocol):
    """A version as it is stored: the row, or the columns of it that a loader read."""

    @property
    def number(self) -> int: ...
    @property
    def body(self) -> dict[str, Any]: ...
    @property
    def created_by_kind(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...


def served_rule(version: StoredVersion, uuid: UUID | str) -> Rule:
    """A stored version of the rule ``uuid`` as the engine wants it; raises :class:`hgmem.rules.RuleError`."""
    added = {"uuid": str(uuid), "version": version.number, "created_by": version.created_by_kind,
             "created_at": version.created_at}  # fmt: skip
    return Rule.from_document(version.body | added)


def with_effectiveness(rules: Mapping[int, Rule], known: Mapping[int, float | None]) -> dict[int, Rule]:
    """The rules with what is known of their effect; one that was never judged keeps its document's word."""
    return {
        key: rule.model_copy(update={"effectiveness": known[key]})
        if key in known and known[key] != rule.effectiveness
        else rule
        for key, rule in rules.items()
    }


def with_trials(rules: Mapping[int, Rule], trials: Mapping[int, Trial]) -> dict[int, Rule]:
    """The rules, those on trial with it and no other; the same objects where nothing changes."""
    return {key: _with_trial(rule, trials.get(key)) for key, rule in rules.items()}


def without_trial(rule: Rule) -> Rule:
    """The rule as if it acted on all tasks."""
    return _with_trial(rule, None)


def _with_trial(rule: Rule, trial: Trial | None) -> Rule:
    return rule if rule.trial == trial else rule.model_copy(update={"trial": trial})


def check_window(valid_until: datetime | None, now: datetime) -> None:
    """Raise :class:`hgmem.rules.RuleError` for a window that has ended: it could never be served."""
    if valid_until is not None and valid_until <= now:
        raise RuleError("This moment has passed: the rule would never be served.", field="valid_until")
