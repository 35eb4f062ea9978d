"""The last resort: what to do about a time-out, a missing value or a refused write is the same everywhere."""

from memory.background.rewriters.port import Drafted, DraftRequest
from memory.domain.rewriting.failing import plain_walk
from memory.domain.rewriting.templates import propose_template


class TemplateRewriter:
    """:func:`memory.domain.rewriting.templates.propose_template` on the path without its detours."""

    name = "template"

    def draft(self, request: DraftRequest) -> Drafted | None:
        """None for a failure of no known kind, or where the path does all that already."""
        if request.failure is None:
            return None
        walk = plain_walk(request.old, keep=request.failure.node)
        rewrite = propose_template(walk, request.failure, request.memory.versions)
        return Drafted(rewrite) if rewrite is not None else None
