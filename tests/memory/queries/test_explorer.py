"""The graph of a workspace: each filter, the neighbourhood of a node, and what the bounds leave out."""

from datetime import timedelta
from typing import Any

import pytest

from memory.actions.nodes import merge_nodes
from memory.domain.paths.document import NodeDoc
from memory.models import Path
from memory.permissions import SYSTEM
from memory.queries import explorer
from memory.queries.explorer import Explored, ExplorerFilters, explore, explore_around
from tests.builders import NOW, make_path
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


def tools(explored: Explored) -> set[str]:
    return {one.tool for one in explored.nodes}


def build_paths(cast: Cast) -> None:
    """Three paths: a failed one, a tagged one, an old one; and what is never drawn."""
    make_path(cast.workspace, nodes=["find", "book"], result="failure")
    make_path(cast.workspace, nodes=["find", "pay", NodeDoc(name="d", kind="decision", content="Stop?")],
              tags=("money",), agent="claude")  # fmt: skip
    old = make_path(cast.workspace, nodes=["walk"])
    Path.objects.filter(pk=old.pk).update(created_at=NOW - timedelta(days=90))
    retired = make_path(cast.workspace, nodes=["retired"])
    Path.objects.filter(pk=retired.pk).update(status="retired")
    make_path(cast.elsewhere, nodes=["foreign"])


FILTERS = [
    pytest.param({}, {"find", "book", "pay", "walk", ""}, id="none"),
    pytest.param({"result": "failure"}, {"find", "book"}, id="result"),
    pytest.param({"tag": "money"}, {"find", "pay", ""}, id="tag"),
    pytest.param({"agent": "claude"}, {"find", "pay", ""}, id="agent"),
    pytest.param({"tool": "pay"}, {"find", "pay", ""}, id="tool"),
    pytest.param({"text": "stop"}, {"find", "pay", ""}, id="text"),
    pytest.param({"kind": "decision"}, {""}, id="kind"),
    pytest.param({"since": NOW - timedelta(days=1)}, {"find", "book", "pay", ""}, id="since"),
    pytest.param({"until": NOW - timedelta(days=1)}, {"walk"}, id="until"),
    pytest.param({"tool": "absent"}, set(), id="absent"),
]


@pytest.mark.parametrize(("given", "expected"), FILTERS)
def test_explore__each_filter__draws_the_paths_that_pass(
    cast: Cast, given: dict[str, Any], expected: set[str]
) -> None:
    build_paths(cast)

    assert tools(explore(cast.workspace, ExplorerFilters(**given))) == expected


def test_explore__path_of_a_nested_task__is_drawn_and_a_piece_is_not(cast: Cast) -> None:
    root = make_path(cast.workspace, nodes=["plan"])
    nested = make_path(cast.workspace, nodes=["find", "book"])
    piece = make_path(cast.workspace, nodes=["packed"])
    Path.objects.filter(pk=nested.pk).update(container=root)
    Path.objects.filter(pk=piece.pk).update(container=root, span_start=0, span_end=0)

    explored = explore(cast.workspace, ExplorerFilters())
    around = explore_around(cast.workspace, nested.steps.get(position=0).node, 1)

    assert tools(explored) == {"plan", "find", "book"}
    assert tools(around) == {"find", "book"}


def test_explore__tool__marks_the_nodes_that_match(cast: Cast) -> None:
    build_paths(cast)

    drawn = explore(cast.workspace, ExplorerFilters(tool="find")).nodes

    assert [one.tool for one in drawn if one.is_match] == ["find"]


def test_around__each_depth__reaches_one_ring_further(cast: Cast) -> None:
    path = make_path(cast.workspace, nodes=["a", "b", "c", "d"])
    make_path(cast.workspace, nodes=["x", "b"])
    make_path(cast.workspace, nodes=["x", "y"])
    node = path.steps.get(position=0).node

    reached = [tools(explore_around(cast.workspace, node, depth)) for depth in (1, 2, 3)]

    assert reached == [{"a", "b"}, {"a", "b", "c", "x"}, {"a", "b", "c", "d", "x", "y"}]


def test_around__merged_node__is_the_one_that_is_drawn(cast: Cast) -> None:
    first = make_path(cast.workspace, nodes=["find", "book"]).steps.get(position=0).node
    second = make_path(cast.workspace, nodes=["search", "pay"]).steps.get(position=0).node
    merge_nodes(keep=first, others=[second], by=SYSTEM)
    second.refresh_from_db()

    explored = explore_around(cast.workspace, second, 1)

    assert tools(explored) == {"find", "book", "pay"}
    assert [one.node for one in explored.nodes if one.is_match] == [first]


def test_around__node_in_no_path__is_drawn_alone(cast: Cast) -> None:
    path = make_path(cast.workspace, nodes=["a"])
    node = path.steps.get().node
    Path.objects.update(status="retired")

    assert tools(explore_around(cast.workspace, node, 2)) == {"a"}


def test_explore__more_nodes_than_are_drawn__groups_the_rest_by_tool(cast: Cast) -> None:
    for number in range(6):
        own = [NodeDoc(name=str(place), tool="look", params={"n": [number, place]}) for place in range(3)]
        make_path(cast.workspace, nodes=["start", *own])

    explored = explore(cast.workspace, ExplorerFilters(), most=10)

    groups = [one for one in explored.nodes if one.node is None]
    assert (explored.node_count, len(explored.nodes)) == (19, 7)
    assert [(one.tool, one.node_count) for one in groups] == [("look", 13)]
    assert explored.summarised == 13


@pytest.mark.parametrize(
    ("bound", "value", "paths"),
    [pytest.param("MAX_PATHS", 3, 3, id="paths"), pytest.param("MAX_STEPS", 5, 2, id="steps")],
)
def test_explore__more_than_the_bound__reads_the_newest_and_says_so(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, bound: str, value: int, paths: int
) -> None:
    for number in range(5):
        make_path(cast.workspace, nodes=[f"t{number}", "end"])
    monkeypatch.setattr(explorer, bound, value)

    explored = explore(cast.workspace, ExplorerFilters())

    assert (explored.paths, explored.more_paths) == (paths, True)
    assert tools(explored) == {"end", *(f"t{4 - number}" for number in range(paths))}


def test_bounds__said_on_the_page__are_the_real_ones() -> None:
    assert (explorer.MAX_PATHS, explorer.MAX_STEPS, explorer.NEAR_PATHS) == (2_000, 20_000, 300)
