"""What a model must answer at each step, and the JSON in what it says."""

from typing import Any, Literal, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory.domain.paths.document import EdgeDoc, NodeDoc
from memory.domain.plain_json import MAX_DEPTH, is_too_deep, storable
from memory.domain.rewriting.proposal import InvalidRewriteError

MAX_NODES = 100
MAX_PROBLEMS = 5


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


class UnusableReply(Exception):
    """The reply is not what was asked for; the text is what the model is told."""


R = TypeVar("R", bound=BaseModel)


def read_reply(text: str, shape: type[R]) -> R:
    """The JSON object in a model's words (a code fence or a sentence around it does no harm).

    Raises :class:`UnusableReply`.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise UnusableReply("Your answer holds no JSON object.")
    try:
        document = msgspec.json.decode(text[start : end + 1])
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnusableReply(f"Your answer is not valid JSON: {error}") from error
    if is_too_deep([document]):
        raise UnusableReply(f"Your answer is nested more than {MAX_DEPTH} levels deep.")
    try:
        return shape.model_validate(storable(document))
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False)
        ]
        raise UnusableReply("; ".join(problems[:MAX_PROBLEMS])) from error


def refused(error: InvalidRewriteError) -> UnusableReply:
    """The problems of a rewrite as words to the model."""
    said = [f"{field}: {problem}" for field, problem in error.problems.items()]
    return UnusableReply("; ".join(said[:MAX_PROBLEMS]))
