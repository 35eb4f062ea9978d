"""From an accepted proposal to a rule: the draft in its proposer's name, and the change request."""

from contextlib import suppress
from typing import Any

from corrections.actions.publishing import activate_rule
from corrections.actions.rules import draft_rule
from corrections.models import ChangeRequest, Rule, RuleProposal
from memory.domain.access import Actor, NotPermitted
from memory.permissions import system_actor


def open_change(
    row: RuleProposal, document: dict[str, Any], *, by: Actor, edited: bool, note: str
) -> tuple[Rule, ChangeRequest | None]:
    """The drafted rule, named for the patterns it catches, with the approval of ``by`` where that counts."""
    author = by if edited else system_actor(row.proposed_by)
    patterns = [str(uuid) for uuid in row.patterns.values_list("uuid", flat=True)]
    rule = draft_rule(
        workspace_id=row.workspace_id, document=document, by=author, pattern_uuids=patterns, note=note
    )
    with suppress(NotPermitted):
        rule = activate_rule(rule=rule, by=by, reason=note)
    return rule, None
