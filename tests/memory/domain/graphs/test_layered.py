"""Layers: every edge runs downwards, nothing overlaps, the same input gives the same places."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.graphs.layered import BEND_WIDTH, layered

NAMES = st.integers(1, 14).map(lambda count: [f"n{number}" for number in range(count)])


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    """Any nodes with any edges: cycles, loops and repeated edges too."""
    nodes = draw(NAMES)
    ends = st.sampled_from(nodes)
    return nodes, draw(st.lists(st.tuples(ends, ends), max_size=30))


def test_layered__chain__stands_in_one_column() -> None:
    laid = layered(["a", "b", "c"], [("a", "b"), ("b", "c")])

    assert [(place.column, place.layer) for place in laid.places.values()] == [(0, 0), (0, 1), (0, 2)]
    assert laid.layers == 3


def test_layered__branch__goes_around_the_detour() -> None:
    laid = layered(
        ["a", "error", "retry", "b"], [("a", "error"), ("error", "retry"), ("retry", "b"), ("a", "b")]
    )

    assert {laid.places[name].column for name in ("a", "error", "retry", "b")} == {laid.places["a"].column}
    assert [bend.layer for bend in laid.bends[3]] == [1, 2]
    assert all(bend.column != laid.places["a"].column for bend in laid.bends[3])


def test_layered__edge_back__is_backward_and_bends_upwards() -> None:
    laid = layered(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")])

    assert laid.backward == {2}
    assert [bend.layer for bend in laid.bends[2]] == [1]
    assert [laid.places[name].layer for name in "abc"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("nodes", "edges", "layers"),
    [
        pytest.param([], [], 0, id="nothing"),
        pytest.param(["a"], [("a", "a")], 1, id="loop"),
        pytest.param(["a", "b"], [("a", "b"), ("a", "b"), ("b", "a")], 2, id="twins-and-back"),
        pytest.param(["a", "b", "c"], [], 1, id="no-edge"),
    ],
)
def test_layered__odd_graph__is_placed(nodes: list[str], edges: list[tuple[str, str]], layers: int) -> None:
    laid = layered(nodes, edges)

    assert (set(laid.places), laid.layers) == (set(nodes), layers)


def test_layered__unknown_end__is_refused() -> None:
    with pytest.raises(ValueError, match="'b' refers to no node"):
        layered(["a"], [("a", "b")])


@given(graphs())
def test_layered__any_graph__edges_run_down_and_nothing_overlaps(
    graph: tuple[list[str], list[tuple[str, str]]],
) -> None:
    nodes, edges = graph
    laid = layered(nodes, edges)

    for number, (source, target) in enumerate(edges):
        upper, lower = (target, source) if number in laid.backward else (source, target)
        assert source == target or laid.places[upper].layer < laid.places[lower].layer
    rows: dict[int, list[tuple[float, float]]] = {}
    for place in laid.places.values():
        rows.setdefault(place.layer, []).append((place.column, 1.0))
    for bends in laid.bends.values():
        for bend in bends:
            rows.setdefault(bend.layer, []).append((bend.column, BEND_WIDTH))
    for row in rows.values():
        for (left, one), (right, other) in pairwise(sorted(row)):
            assert right - left >= (one + other) / 2 - 0.01
    assert layered(nodes, edges) == laid
