"""Scenes of the graph pages: paths full of hostile text, merged nodes, failures met on the way."""

from dataclasses import dataclass

from memory.actions.nodes import merge_nodes
from memory.domain.paths.document import NodeDoc
from memory.models import Node, Path, Workspace
from memory.permissions import SYSTEM
from tests.builders import make_call, make_failure, make_path, make_pattern, make_task
from tests.memory.builders import make_node
from tests.pages import HOSTILE


@dataclass(frozen=True)
class GraphScene:
    """The newest path, a node on it that others were merged into, and one that stands alone."""

    path: Path
    node: Node
    merged: Node
    alone: Node


def build_graph_scene(workspace: Workspace, rows: int) -> GraphScene:
    """``rows`` paths that share a start, each with a failure met and nodes of its own."""
    start = NodeDoc(name="start", content=HOSTILE, tool=HOSTILE, params={HOSTILE: HOSTILE})
    for _ in range(rows):
        count = Path.objects.count()
        task = make_task(workspace, f"walk-{count}-{workspace.slug}")
        call = make_call(task, HOSTILE)
        make_failure(call, make_pattern(workspace, HOSTILE), message=HOSTILE)
        own = NodeDoc(name="own", content=f"{HOSTILE} {count}", kind="decision", observation={"a": HOSTILE})
        walked = NodeDoc(name="start", content=start.content, tool=start.tool, params=start.params,
                         details={"seq": [call.seq], "error": HOSTILE})  # fmt: skip
        path = make_path(
            workspace, f"{HOSTILE} {count}", [walked, own, "book"], tags=(HOSTILE,), agent=HOSTILE,
            source=task, result="failure", reward=0.0,
        )  # fmt: skip
        alone = make_node(workspace, f"{HOSTILE} alone {count}")
        node = path.steps.get(position=0).node
        merged = make_node(workspace, f"{HOSTILE} merged {count}")
        merge_nodes(keep=node, others=[merged], by=SYSTEM)
    return GraphScene(path, node, merged, alone)
