"""Rule documents as people send them, and as a version keeps them."""

from datetime import datetime
from typing import Any

from hgmem.rules import Rule, RuleError

SERVER_FIELDS = ("uuid", "version", "created_by", "effectiveness", "ruled_over")
"""What the server knows better than the sender: dropped from a document that comes in."""
ARTICLE_FIELDS = ("correction_id", "error_pattern_id", "effectiveness_score")


def read_document(document: Any, *, author: str) -> Rule:
    """Check a rule document; raises :class:`hgmem.rules.RuleError` with the paths of all its faults.

    ``author`` is ``human`` or ``agent``: the sender cannot choose it. The article's form is accepted.
    """
    if not isinstance(document, dict):
        raise RuleError("A rule is a JSON object.")
    known = {name: value for name, value in document.items() if name not in SERVER_FIELDS}
    return Rule.from_document({**known, "created_by": author})


def body_of(rule: Rule) -> dict[str, Any]:
    """The document that a version keeps: canonical, JSON-ready, without what the server adds."""
    return rule.model_dump(mode="json", exclude=set(SERVER_FIELDS))


def served_rule(body: dict[str, Any], *, uuid: str, version: int, created_by: str) -> Rule:
    """A stored version as the engine wants it."""
    return Rule.from_document({**body, "uuid": uuid, "version": version, "created_by": created_by})


def check_window(valid_from: datetime | None, valid_until: datetime | None, now: datetime) -> None:
    """Raise :class:`hgmem.rules.RuleError` for a window that has ended: it could never be served."""
    if valid_until is not None and valid_until <= now:
        raise RuleError("This moment has passed: the rule would never be served.", field="valid_until")
    if valid_from is not None and valid_until is not None and valid_until <= valid_from:
        raise RuleError("The window must end after it begins.", field="valid_until")
