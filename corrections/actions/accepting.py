"""From an accepted proposal to a rule: the draft in its proposer's name, and its change request."""

from typing import Any

from corrections.actions.rules import draft_rule
from corrections.actions.steps import serve_by
from corrections.models import ChangeRequest, Rule, RuleProposal
from memory.domain.access import Actor, Scope
from memory.permissions import system_actor


def open_change(
    row: RuleProposal, document: dict[str, Any], *, by: Actor, edited: bool, note: str
) -> tuple[Rule, ChangeRequest]:
    """The drafted rule, named for the patterns it catches, with the approval of ``by`` where that counts.

    Who edited the document is its author, and the policy decides whether an author may approve. Raises as
    :func:`corrections.actions.rules.draft_rule` and :func:`corrections.actions.changes.approve_change`.
    """
    patterns = [str(uuid) for uuid in row.patterns.values_list("uuid", flat=True)]
    rule = draft_rule(
        workspace_id=row.workspace_id, document=document, by=by if edited else proposer_of(row),
        pattern_uuids=patterns, note=note or row.reason[:500],
    )  # fmt: skip
    change = serve_by(rule.changes.get(kind="create"), by=by, note=note)
    rule.refresh_from_db()
    return rule, change


def proposer_of(row: RuleProposal) -> Actor:
    """Who proposed it, as the author of the draft: an agent's key, or the inducer or model by its name."""
    if row.source != "agent":
        return system_actor(row.source)
    return Actor(
        kind="key", name=row.proposed_by, workspace_id=row.workspace_id, uuid=row.proposed_by_uuid,
        scopes=frozenset((Scope.RULES_WRITE,)),
    )  # fmt: skip
