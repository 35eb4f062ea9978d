"""Paths for other programs: every node and edge is there, and no text gets out of its place."""

import io
from typing import Any

import networkx as nx
import pytest

from memory.domain.graphs.exporting import as_dot, as_graph, as_graphml
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from memory.domain.paths.starters import STARTERS

NASTY = '"]; <b>&\\ \x00\x1f ]]>\n{{ x }}'


def nasty_doc() -> PathDoc:
    nodes = (NodeDoc(name=NASTY, content=NASTY), NodeDoc(name="b", tool=NASTY, params={"a": NASTY}))
    return PathDoc(goal=NASTY, nodes=nodes, edges=(EdgeDoc(source=NASTY, target="b", condition=NASTY),))


@pytest.mark.parametrize("doc", [*STARTERS.values(), nasty_doc()], ids=[*STARTERS, "nasty"])
def test_graphml__read_by_networkx__has_every_node_and_edge(doc: PathDoc) -> None:
    graph: Any = nx.read_graphml(io.StringIO(as_graphml(doc)), force_multigraph=True)

    assert (graph.number_of_nodes(), graph.number_of_edges()) == (len(doc.nodes), len(doc.edges))
    conditions = sorted(data["condition"] for _, _, data in graph.edges(data=True) if "condition" in data)
    assert len(conditions) == len(doc.edges)


def test_dot__nasty_texts__stay_inside_their_quotes() -> None:
    lines = as_dot(nasty_doc()).splitlines()

    assert len(lines) == 3 + 2 + 1 + 1
    assert all(line.replace("\\\\", "").replace('\\"', "").count('"') % 2 == 0 for line in lines)


def test_graph__path__keeps_the_order() -> None:
    doc = STARTERS["retry-then-fallback"]

    graph = as_graph(doc)

    assert [node["id"] for node in graph["nodes"]] == [node.name for node in doc.nodes]
    assert [(edge["from"], edge["to"]) for edge in graph["edges"]] == [
        (e.source, e.target) for e in doc.edges
    ]
