"""Rewrites that are wanted and drafted here and now, by rewriters that answer what they were told to."""

from typing import Any

from memory.background.drafting import draft_backlog
from memory.background.rewriters.port import Drafted, DraftRequest
from memory.background.rewriting import Wish, want_rewrite
from memory.domain.rewriting.proposal import Rewrite
from memory.models import Path, RewriteProposal
from tests.memory.rewrites import LOCK


class Scripted:
    """A rewriter that answers what it was told to."""

    name = "align"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[DraftRequest] = []

    def draft(self, request: DraftRequest) -> Drafted | None:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


LOCKED = Drafted(
    Rewrite(new_nodes=("refuel", LOCK, "start"), reason="Lock first."),
    transcript=[{"step": "x", "role": "user", "content": "hi"}],
    cost={"requests": 1},
)


def wanted(path: Path, trigger: str = "reuse", **fields: Any) -> RewriteProposal:
    proposal = want_rewrite(path, trigger=trigger, wish=Wish(**{"reason": "It failed.", **fields}))
    assert proposal is not None
    return proposal


def drafted(proposal: RewriteProposal) -> RewriteProposal:
    draft_backlog()
    proposal.refresh_from_db()
    return proposal
