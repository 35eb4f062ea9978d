"""Which rewriters draft: those of the workspace, in its order, as far as they are there."""

from collections.abc import Callable, Mapping

from memory.background.rewriters.align import AlignRewriter
from memory.background.rewriters.llm import LlmRewriter
from memory.background.rewriters.port import Rewriter
from memory.background.rewriters.template import TemplateRewriter
from memory.domain.rewriting.policy import RewritePolicy
from memory.live.chat import configured_endpoint


def _llm() -> Rewriter | None:
    endpoint = configured_endpoint()
    return LlmRewriter(endpoint) if endpoint else None


MAKERS: Mapping[str, Callable[[], Rewriter | None]] = {
    "align": AlignRewriter,
    "llm": _llm,
    "template": TemplateRewriter,
}
"""By name; None where a rewriter is not configured."""


def choose_rewriters(policy: RewritePolicy, wanted: str = "") -> list[tuple[str, Rewriter | None]]:
    """The names to try in order, each with its rewriter, or None where it is not configured here."""
    names = (wanted,) if wanted else policy.rewriters
    return [(name, MAKERS[name]()) for name in names]
