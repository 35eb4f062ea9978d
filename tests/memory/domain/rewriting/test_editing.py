"""Steps of a person at a rewrite: what becomes of nodes and edges."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain
from memory.domain.rewriting.editing import blank_rewrite, insert_node, move_node, name_of, remove_node
from memory.domain.rewriting.proposal import Rewrite, apply

NAMES = ("a", "b", "c", "d")
OLD = PathDoc(goal="g", nodes=tuple(NodeDoc(name=name, tool=name) for name in NAMES), edges=chain(NAMES))


def line() -> Rewrite:
    return blank_rewrite(NAMES, OLD.edges, "why")


def shown(rewrite: Rewrite) -> tuple[str, list[str]]:
    path = apply(OLD, rewrite)
    edges = [f"{edge.source}{edge.target}{edge.condition}" for edge in path.edges]
    return "".join(node.name for node in path.nodes), edges


@pytest.mark.parametrize(
    ("place", "by", "order"),
    [
        pytest.param(1, 1, "acbd", id="down"),
        pytest.param(1, -1, "bacd", id="up"),
        pytest.param(0, -1, "abcd", id="first-up"),
        pytest.param(3, 1, "abcd", id="last-down"),
        pytest.param(0, 9, "bcda", id="far"),
    ],
)
def test_move__in_a_line__stays_a_line(place: int, by: int, order: str) -> None:
    nodes, edges = shown(move_node(line(), place, by))

    assert (nodes, edges) == (order, [one + other for one, other in pairwise(order)])


def test_move__in_a_branching_path__leaves_the_edges() -> None:
    branch = (EdgeDoc(source="a", target="b", condition="x"), EdgeDoc(source="a", target="c"),
              EdgeDoc(source="b", target="d"), EdgeDoc(source="c", target="d"))  # fmt: skip

    assert shown(move_node(blank_rewrite(NAMES, branch, "why"), 1, 1)) == ("acbd", ["abx", "ac", "bd", "cd"])


def test_remove__in_the_middle__joins_what_was_around_it_under_both_conditions() -> None:
    edges = (EdgeDoc(source="a", target="b", condition="x"), EdgeDoc(source="b", target="c", condition="y"),
             EdgeDoc(source="c", target="d"))  # fmt: skip

    assert shown(remove_node(blank_rewrite(NAMES, edges, "why"), 1)) == ("acd", ["cd", "acx and y"])


@pytest.mark.parametrize(
    ("place", "nodes", "edges"),
    [
        pytest.param(-1, "Nabcd", ["Na", "ab", "bc", "cd"], id="first"),
        pytest.param(1, "abNcd", ["ab", "Nc", "cd", "bN"], id="middle"),
        pytest.param(3, "abcdN", ["ab", "bc", "cd", "dN"], id="last"),
    ],
)
def test_insert__anywhere__is_on_the_way(place: int, nodes: str, edges: list[str]) -> None:
    assert shown(insert_node(line(), place, NodeDoc(name="N", tool="n"))) == (nodes, edges)


def test_insert__taken_name__gets_a_number() -> None:
    rewrite = insert_node(insert_node(line(), 0, NodeDoc(name="a", tool="n")), 0, NodeDoc(name="a", tool="n"))

    assert [name_of(entry) for entry in rewrite.new_nodes] == ["a", "a-3", "a-2", "b", "c", "d"]


@pytest.mark.parametrize("act", [move_node, remove_node])
def test_step__that_is_not_there__is_refused(act: object) -> None:
    for place in (-1, 4):
        with pytest.raises(IndexError, match="no step"):
            act(line(), place, *((1,) if act is move_node else ()))  # type: ignore[operator]


ACTS = st.lists(st.tuples(st.sampled_from("mri"), st.integers(0, 5), st.integers(-3, 3)), max_size=8)


@given(ACTS)
def test_steps__any_of_them__give_a_rewrite_that_can_be_applied(acts: list[tuple[str, int, int]]) -> None:
    rewrite = line()
    for act, number, by in acts:
        place = number % len(rewrite.new_nodes)
        if act == "m":
            rewrite = move_node(rewrite, place, by)
        elif act == "i":
            rewrite = insert_node(rewrite, place, NodeDoc(name="n", tool="n"))
        elif len(rewrite.new_nodes) > 2:
            rewrite = remove_node(rewrite, place)
        assert apply(OLD, rewrite).nodes
