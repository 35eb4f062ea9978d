"""The rewriter that needs no model: what made the same failure go away elsewhere is done here."""

from memory.background.rewriters.port import Drafted, DraftRequest, says_nothing_new
from memory.domain.rewriting.align import proposals
from memory.domain.rewriting.failing import plain_walk
from memory.domain.rewriting.proposal import apply

LEAST_CONFIDENCE = 0.05
"""Below that a proposal is a guess that costs a reviewer more than it is worth."""


class AlignRewriter:
    """:func:`memory.domain.rewriting.align.proposals` on the path without its detours; the best one."""

    name = "align"

    def draft(self, request: DraftRequest) -> Drafted | None:
        """None where nothing is known of the failure, or memory has nothing new to say about it."""
        if request.failure is None:
            return None
        walk = plain_walk(request.old, keep=request.failure.node)
        best = next(iter(proposals(walk, request.failure, request.memory)), None)
        if best is None or best.score < LEAST_CONFIDENCE:
            return None
        if says_nothing_new(apply(request.old, best.rewrite), request):
            return None
        return Drafted(best.rewrite, confidence=round(min(1.0, best.score), 3))
