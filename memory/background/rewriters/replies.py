"""What a model must answer at each step, and the JSON in what it says."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from memory.domain.paths.document import EdgeDoc, NodeDoc
from memory.domain.rewriting.proposal import InvalidRewriteError
from memory.live.talking import MAX_PROBLEMS, UnusableReply

MAX_NODES = 100


class NodeReply(BaseModel):
    """A new or changed node."""

    name: str = Field(min_length=1, max_length=120)
    kind: Literal["entity", "action", "decision", "event"] = "action"
    content: str = Field(default="", max_length=2_000)
    tool: str = Field(default="", max_length=200)
    params: dict[str, Any] = {}

    def document(self) -> NodeDoc:
        """As a node of a path."""
        return NodeDoc(
            name=self.name, kind=self.kind, content=self.content, tool=self.tool, params=self.params
        )


class NodesReply(BaseModel):
    """Step 1: the nodes in order; a bare name is the old path's node of that name."""

    new_nodes: list[str | NodeReply] = Field(min_length=1, max_length=MAX_NODES)

    def documents(self) -> tuple[str | NodeDoc, ...]:
        """As the rewrite has them."""
        return tuple(node if isinstance(node, str) else node.document() for node in self.new_nodes)


class EdgeReply(BaseModel):
    """From one node to another."""

    model_config = ConfigDict(populate_by_name=True)

    source: str = Field(alias="from", max_length=120)
    target: str = Field(alias="to", max_length=120)
    condition: str = Field(default="", max_length=500)
    label: str = Field(default="", max_length=200)


class EdgesReply(BaseModel):
    """Step 2: the edges."""

    new_edges: list[EdgeReply] = Field(max_length=4 * MAX_NODES)

    def documents(self) -> tuple[EdgeDoc, ...]:
        """As the rewrite has them."""
        return tuple(
            EdgeDoc(source=edge.source, target=edge.target, condition=edge.condition, label=edge.label)
            for edge in self.new_edges
        )


class ReasonReply(BaseModel):
    """Step 3: why, and the tags."""

    reason: str = Field(min_length=1, max_length=2_000)
    new_tags: list[str] = Field(default=[], max_length=20)
    keep_old: bool = True


def refused(error: InvalidRewriteError) -> UnusableReply:
    """The problems of a rewrite as words to the model."""
    said = [f"{field}: {problem}" for field, problem in error.problems.items()]
    return UnusableReply("; ".join(said[:MAX_PROBLEMS]))
