"""What the inbox says about an item, and the facts that its card shows, by kind."""

from collections.abc import Callable, Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from corrections.actions.gate import rollout_of
from corrections.domain.changes import SERVES
from corrections.domain.diff import diff_documents
from corrections.models import Canary, ChangeRequest, Rule, RuleProposal
from corrections.queries.impacts import impact_view
from corrections.queries.inbox_kinds import Item
from corrections.queries.proposals import calls_of_proposal
from corrections.queries.rules import get_version
from corrections.web.rules import read_document_of, read_version
from memory.queries.reviewing import review_of
from memory.web.access import PageRequest
from memory.web.path_comparing import compare_paths


def list_keys() -> list[tuple[str, str]]:
    """The keys of the list, for the help."""
    return [("a", _("Approve the row (asks first)")), ("r", _("Reject the row (asks first)")),
            ("c", _("Comment on the row")), ("x", _("Choose the row")),
            ("A", _("Approve the chosen (asks first)")),
            ("R", _("Reject the chosen (asks first)")),
            ("z", _("Take the last decision back"))]  # fmt: skip


def item_keys() -> list[tuple[str, str]]:
    """The keys of an item's page, for the help."""
    return [("a", _("Approve (asks first)")), ("r", _("Reject (asks first)")), ("c", _("Comment")),
            ("i", _("Give it to me")), ("o", _("Open its own page")), ("n", _("Next in the inbox")),
            ("p", _("Previous in the inbox")), ("u", _("Back to the inbox")),
            ("z", _("Take the last decision back"))]  # fmt: skip


def shown_item(request: PageRequest, item: Item) -> dict[str, Any]:
    """What the page of an item needs beside the item: its card, its own page, and the card's facts."""
    facts = FACTS.get(item.kind)
    return {
        "card": f"inbox/cards/{item.kind}.html", "own_url": own_url(request, item), "row": item.row,
        "page_keys": item_keys(), "facts": facts(item.row) if facts else None,
    }  # fmt: skip


def own_url(request: PageRequest, item: Item) -> str:
    """The page of the thing itself."""
    slug = request.workspace.slug
    if item.kind == "alert":
        return f"{reverse('alerts', args=[slug])}#alert-{item.uuid}"
    return reverse(OWN_PAGES[item.kind], args=[slug, item.uuid])


OWN_PAGES: Mapping[str, str] = {
    "rewrite": "rewrite", "change": "change", "proposal": "proposal", "conflict": "conflict",
    "impact": "impact", "canary": "canary", "stale": "rule",
}  # fmt: skip
"""URL names of the pages of the things themselves."""


def rewrite_facts(row: Any) -> dict[str, Any]:
    """The review of a rewrite, and what changes in the path."""
    review = review_of(row)
    now, then = _("Now"), _("Proposed")
    compared = compare_paths(review.old, review.new, old_title=now, new_title=then) if review.new else None
    return {"review": review, "compared": compared}


def change_facts(row: ChangeRequest) -> dict[str, Any]:
    """What would be served, in words and field by field against what was served when it was asked for."""
    rule, new = row.rule, row.version
    base = get_version(rule, row.base_version) if rule and row.base_version else None
    served = base.body if base else {}
    changes = diff_documents(served, new.body) if new else []
    rollout = rollout_of(row) if row.kind in SERVES else ""
    return {"read": read_version(new or base), "changes": changes, "base": base, "rollout": rollout}


def proposal_facts(row: RuleProposal) -> dict[str, Any]:
    """What it would do, and the calls of its backtest."""
    calls = calls_of_proposal(row)
    return {"read": read_document_of(row), "caught": calls["caught"], "hit": calls["hit"]}


def stale_facts(row: Rule) -> dict[str, Any]:
    """What the rule does."""
    return {"read": read_version(row.latest_version)}


def canary_facts(row: Canary) -> dict[str, Any]:
    """Why it waits, and how the tasks of its arms ended as far as anybody looked."""
    seen = row.evidence if isinstance(row.evidence, dict) else {}
    why = row.state_reason if row.state == "held" else str(seen.get("reason", ""))
    arms = [
        (_("with the rule"), seen.get("canary") or {}),
        (_("without the rule"), seen.get("control") or {}),
    ]
    return {"why": why, "arms": [(name, arm.get("n", 0), arm.get("failed", 0)) for name, arm in arms]}


FACTS: Mapping[str, Callable[[Any], Any]] = {
    "rewrite": rewrite_facts, "change": change_facts, "proposal": proposal_facts, "stale": stale_facts,
    "impact": impact_view, "canary": canary_facts,
}  # fmt: skip
"""What the card of a kind shows beside its row."""
