"""``get_corrections``: the question an agent asks before each call."""

from datetime import UTC, datetime
from typing import Any

from corrections.live.receipts import RECEIPTS
from corrections.live.rulesets import ruleset_for
from corrections.live.signing import receipt_key
from hgmem.receipts import issue_receipt
from hgmem.rules import parse_context
from memory.domain.access import Actor, check_may


def get_corrections(*, context: dict[str, Any], by: Actor, explain: bool = False) -> dict[str, Any]:
    """The decision for a context, with its ruleset version and receipt token. Reads no database.

    Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError` for a context that cannot be read. A receipt
    is stored now when a rule matched, failed, or was met on trial; otherwise its row is made when an
    experience refers to it. The answer does not tell which.
    """
    check_may(by, "query_corrections")
    workspace_id = by.workspace_id
    if workspace_id is None:
        raise ValueError("Corrections are asked for in a workspace.")
    parsed = parse_context(context)
    live = ruleset_for(workspace_id)
    decision = live.ruleset.decide(parsed, now=datetime.now(UTC), explain=explain)
    token = issue_receipt(decision, ruleset_version=live.version, key=receipt_key(workspace_id))
    if decision.matched or decision.errors or decision.exposures or decision.withheld_errors:
        RECEIPTS.add(workspace_id, token, decision)
    answer = decision.to_dict()
    answer["receipt"] = token
    return answer
