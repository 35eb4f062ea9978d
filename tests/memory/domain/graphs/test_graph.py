"""Neighbourhoods, summaries and the quick spread of a large graph."""

import math

import pytest

from memory.domain.graphs.graph import Graph, GraphEdge, GraphNode, neighbourhood, summarise
from memory.domain.graphs.spread import spread


def chain_graph(count: int) -> Graph:
    """n0 to n1 to n2 and so on; the lower the number, the busier."""
    nodes = tuple(GraphNode(f"n{i}", group=f"tool{i % 3}", weight=float(count - i)) for i in range(count))
    return Graph(nodes, tuple(GraphEdge(f"n{i}", f"n{i + 1}") for i in range(count - 1)))


@pytest.mark.parametrize(
    ("focus", "depth", "found"),
    [
        pytest.param(["n3"], 1, {"n2", "n3", "n4"}, id="one-step-both-ways"),
        pytest.param(["n3"], 2, {"n1", "n2", "n3", "n4", "n5"}, id="two-steps"),
        pytest.param(["n0", "n9"], 0, {"n0", "n9"}, id="only-the-focus"),
        pytest.param(["nobody"], 3, set(), id="unknown"),
    ],
)
def test_neighbourhood__focus_and_depth__holds_what_is_near(
    focus: list[str], depth: int, found: set[str]
) -> None:
    near = neighbourhood(chain_graph(10), focus, depth=depth)

    assert {node.id for node in near.nodes} == found
    assert all({edge.source, edge.target} <= found for edge in near.edges)


def test_neighbourhood__too_many__says_how_many_are_left_out() -> None:
    near = neighbourhood(chain_graph(10), ["n5"], depth=9, limit=4)

    assert (len(near.nodes), near.left_out) == (4, 6)
    assert near.nodes[0].id == "n5"


def test_summarise__small_graph__is_itself() -> None:
    graph = chain_graph(10)

    assert summarise(graph, limit=10).graph == graph


def test_summarise__large_graph__keeps_the_busiest_and_accounts_for_all() -> None:
    summary = summarise(chain_graph(100), limit=10)

    ids = {node.id for node in summary.graph.nodes}
    assert ids == {"n0", "n1", "n2", "n3", "n4", "n5", "group:tool0", "group:tool1", "group:tool2"}
    assert sum(node.stands_for for node in summary.graph.nodes) == 100
    assert summary.summarised == 94
    assert {edge.source for edge in summary.graph.edges} | {
        edge.target for edge in summary.graph.edges
    } <= ids


def test_summarise__more_groups_than_room__the_rest_is_one() -> None:
    nodes = tuple(GraphNode(f"n{i}", group=f"tool{i}") for i in range(50))

    summary = summarise(Graph(nodes), limit=10)

    assert len(summary.graph.nodes) == 10
    assert sum(node.stands_for for node in summary.graph.nodes) == 50


def test_summarise__transitions_between_groups__are_added_up() -> None:
    nodes = (GraphNode("a", weight=9), *(GraphNode(f"x{i}", group="x") for i in range(5)))
    edges = (*(GraphEdge("a", f"x{i}", 2) for i in range(5)), GraphEdge("x0", "x1"))

    summary = summarise(Graph(nodes, edges), limit=2)

    assert [(edge.source, edge.target, edge.weight) for edge in summary.graph.edges] == [("a", "group:x", 10)]


def test_spread__two_communities__lie_apart_and_the_same_again() -> None:
    sides = [[f"{side}{i}" for i in range(8)] for side in "ab"]
    edges = [(one, other, 1.0) for side in sides for one in side for other in side if one < other]
    nodes = [name for side in sides for name in side]

    places = spread(nodes, [*edges, ("a0", "b0", 1.0)])

    middles = [[sum(places[name][axis] for name in side) / 8 for axis in (0, 1)] for side in sides]
    widest = max(math.dist(places[name], middles[0]) for name in sides[0])
    assert math.dist(*middles) > widest
    assert spread(nodes, [*edges, ("a0", "b0", 1.0)]) == places
    assert len(set(places.values())) == 16


@pytest.mark.parametrize("count", [0, 1, 2])
def test_spread__few_nodes__are_placed(count: int) -> None:
    assert len(spread([f"n{i}" for i in range(count)], [])) == count
