"""The port: what a rewriter is given and what it answers."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from memory.domain.paths.document import PathDoc, node_key
from memory.domain.rewriting.align import FailurePoint, RewriteMemory
from memory.domain.rewriting.proposal import Rewrite

Transcript = list[dict[str, Any]]


@dataclass(frozen=True)
class DraftRequest:
    """One path to rewrite, why, where it went wrong (as far as is known), and what is known around it."""

    workspace_id: int
    old: PathDoc
    reason: str
    new_goal: str = ""
    observation: str = ""
    failure: FailurePoint | None = None
    memory: RewriteMemory = field(default_factory=RewriteMemory)


@dataclass(frozen=True)
class Drafted:
    """A rewrite, what was said on the way to it, what that cost, and how sure the rewriter is (0 to 1)."""

    rewrite: Rewrite
    transcript: Transcript = field(default_factory=list)
    cost: dict[str, Any] = field(default_factory=dict)
    confidence: float | None = None


class RewriterFailed(Exception):
    """The rewriter gave up; the text says why, the transcript how it came to that."""

    def __init__(
        self, said: str, transcript: Transcript | None = None, cost: dict[str, Any] | None = None
    ) -> None:
        super().__init__(said)
        self.transcript = transcript or []
        self.cost = cost or {}


class Rewriter(Protocol):
    """Drafts rewrites. It may be slow, it never runs inside a transaction, and it writes nothing."""

    name: str

    def draft(self, request: DraftRequest) -> Drafted | None:
        """A rewrite that can be applied to ``request.old``, or None where it knows nothing better.

        Raises :class:`RewriterFailed`.
        """
        ...


def says_nothing_new(new: PathDoc, request: DraftRequest) -> bool:
    """Whether a version of the lineage already does the same steps along the same edges."""
    return any(_walk(new) == _walk(known) for known in (request.old, *request.memory.versions))


def _walk(path: PathDoc) -> tuple[list[str], set[Any]]:
    places = {node.name: place for place, node in enumerate(path.nodes)}
    edges = {(places.get(edge.source), places.get(edge.target), edge.condition) for edge in path.edges}
    return [node_key(node) for node in path.nodes], edges
