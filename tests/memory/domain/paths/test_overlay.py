"""Paths laid over each other: what is counted, what is left out."""

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.paths.overlay import Step, keep_nodes, lay_over

PATHS = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=6), max_size=6)


def steps_of(paths: list[list[int]]) -> list[Step]:
    return [
        Step(100 * path + place, path, node)
        for path, nodes in enumerate(paths)
        for place, node in enumerate(nodes)
    ]


def test_overlay__two_paths_share_a_start__shows_it_once_with_both() -> None:
    steps = steps_of([[1, 2, 3], [1, 4]])

    overlay = lay_over(steps, [(0, 1), (1, 2), (100, 101)])

    assert overlay.paths == {1: {0, 1}, 2: {0}, 3: {0}, 4: {1}}
    assert overlay.transitions == {(1, 2): 1, (1, 4): 1, (2, 3): 1}


def test_overlay__path_without_edges__is_walked_in_the_order_of_its_steps() -> None:
    overlay = lay_over(steps_of([[1, 2, 3], [1, 2, 3]]), [(0, 2)])

    assert overlay.transitions == {(1, 3): 1, (1, 2): 1, (2, 3): 1}


def test_overlay__edge_to_a_step_that_is_not_given__is_left_out() -> None:
    overlay = lay_over(steps_of([[1, 2]]), [(0, 1), (1, 77)])

    assert overlay.transitions == {(1, 2): 1}


def test_keep__some_nodes__takes_the_transitions_between_them_only() -> None:
    overlay = keep_nodes(lay_over(steps_of([[1, 2, 3, 1]]), []), [1, 3])

    assert set(overlay.paths) == {1, 3}
    assert overlay.transitions == {(3, 1): 1}


@given(PATHS)
def test_overlay__any_paths__counts_every_node_and_step_once(paths: list[list[int]]) -> None:
    overlay = lay_over(steps_of(paths), [])

    assert sum(overlay.transitions.values()) == sum(len(nodes) - 1 for nodes in paths)
    assert {node: set(found) for node, found in overlay.paths.items()} == {
        node: {path for path, nodes in enumerate(paths) if node in nodes} for nodes in paths for node in nodes
    }
