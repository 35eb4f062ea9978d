"""The rewriter that needs no model: what made the same failure go away elsewhere is done here."""

from memory.background.rewriters.port import Drafted, DraftRequest, says_nothing_new
from memory.domain.rewriting.align import propose
from memory.domain.rewriting.failing import plain_walk
from memory.domain.rewriting.proposal import apply


class AlignRewriter:
    """:func:`memory.domain.rewriting.align.propose` on the path without its detours."""

    name = "align"

    def draft(self, request: DraftRequest) -> Drafted | None:
        """None where nothing is known of the failure, or memory has nothing new to say about it."""
        if request.failure is None:
            return None
        walk = plain_walk(request.old, keep=request.failure.node)
        rewrite = propose(walk, request.failure, request.memory)
        if rewrite is None or says_nothing_new(apply(request.old, rewrite), request):
            return None
        return Drafted(rewrite)
