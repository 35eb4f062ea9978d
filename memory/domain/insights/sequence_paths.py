"""A tool sequence as a template path."""

import hashlib
from collections.abc import Sequence

import msgspec

from memory.domain.insights.sequences import Tools
from memory.domain.paths.checking import with_edges
from memory.domain.paths.document import NodeDoc, PathDoc

MAX_NAME = 110


def template_name(kind: str, tools: Tools) -> str:
    """What the template of a sequence is called, so that it is made once for a kind of tasks."""
    digest = hashlib.blake2b(msgspec.json.encode((kind, tools)), digest_size=12).hexdigest()
    return f"sequence-{digest}"


def template_of(tools: Tools, *, goal: str, tags: Sequence[str]) -> PathDoc:
    """One action for each tool, in order; worth 0, so that anything real comes before it."""
    names: dict[str, int] = {}
    nodes = []
    for tool in tools:
        short = tool[:MAX_NAME]
        names[short] = names.get(short, 0) + 1
        name = short if names[short] == 1 else f"{short} ({names[short]})"
        nodes.append(NodeDoc(name=name, tool=tool))
    return with_edges(PathDoc(goal=goal, tags=tuple(tags), nodes=tuple(nodes), result="template", reward=0.0))
