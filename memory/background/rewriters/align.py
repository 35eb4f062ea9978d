"""The rewriter that needs no model: what made the same failure go away elsewhere is done here."""

from collections.abc import Sequence

from memory.background.rewriters.port import Drafted, DraftRequest, says_nothing_new
from memory.domain.paths.document import NodeDoc
from memory.domain.rewriting.align import proposals
from memory.domain.rewriting.align_path import same_step
from memory.domain.rewriting.failing import earlier_tries, plain_walk
from memory.domain.rewriting.proposal import Rewrite, apply

LEAST_CONFIDENCE = 0.1
"""Below that a proposal is a guess that costs a reviewer more than it is worth."""


class AlignRewriter:
    """:func:`memory.domain.rewriting.align.proposals` on the path without its detours; the best one."""

    name = "align"

    def draft(self, request: DraftRequest) -> Drafted | None:
        """None where nothing is known of the failure, or memory has nothing new to say about it."""
        if request.failure is None:
            return None
        walk = plain_walk(request.old, keep=request.failure.node)
        tried = earlier_tries(request.old, keep=request.failure.node)
        found = proposals(walk, request.failure, request.memory)
        best = next((one for one in found if not _repeats(one.rewrite, tried)), None)
        if best is None or best.score < LEAST_CONFIDENCE:
            return None
        if says_nothing_new(apply(request.old, best.rewrite), request):
            return None
        return Drafted(best.rewrite, confidence=round(min(1.0, best.score), 3))


def _repeats(rewrite: Rewrite, tried: Sequence[NodeDoc]) -> bool:
    """Whether a new step was tried in this very path, and failed."""
    new = [node for node in rewrite.new_nodes if not isinstance(node, str)]
    return any(same_step(node, other) for node in new for other in tried)
