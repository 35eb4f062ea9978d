"""What a rewrite changes about nodes, and the same change in another path."""

import msgspec
import pytest

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, node_key
from memory.domain.rewriting.carrying import NodeChange, carry_along, changed_nodes


def node(name: str, tool: str = "", **params: object) -> NodeDoc:
    return NodeDoc(name=name, tool=tool or name, params=params)


def path(*nodes: NodeDoc, edges: tuple[tuple[str, str, str], ...] = ()) -> PathDoc:
    drawn = tuple(EdgeDoc(source=one, target=other, condition=when) for one, other, when in edges)
    return PathDoc(goal="ship it", nodes=nodes, edges=drawn, result="success", reward=1.0)


A, B, C = node("a", n=1), node("b", n=2), node("c", n=3)
B2 = node("b", n=9)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param((A, B, C), [], id="the same"),
        pytest.param((A, node("x"), B, C), [], id="a node added"),
        pytest.param((C, B, A), [], id="another order"),
        pytest.param((A, msgspec.structs.replace(B, name="z"), C), [], id="another name"),
        pytest.param((A, msgspec.structs.replace(B, observation="done"), C), [], id="seen again"),
        pytest.param((A, B2, C), [("b", B2)], id="other params"),
        pytest.param((A, C), [("b", None)], id="removed"),
        pytest.param((node("q"),), [("a", None), ("b", None), ("c", None)], id="everything else"),
    ],
)
def test_changed_nodes__a_new_version__names_what_is_gone_or_different(
    new: tuple[NodeDoc, ...], expected: list[tuple[str, NodeDoc | None]]
) -> None:
    changes = changed_nodes(path(A, B, C), path(*new))

    assert [(change.name, change.new) for change in changes] == expected


def test_carry_along__changed_node__takes_its_place_under_the_name_it_has_there() -> None:
    other = path(
        C, msgspec.structs.replace(B, name="there", observation="old"), edges=(("c", "there", "ok"),)
    )

    carried = carry_along(other, [NodeChange("b", node_key(B), B2)], {})

    assert carried is not None
    assert carried.nodes == (C, msgspec.structs.replace(B2, name="there"))
    assert carried.edges == other.edges
    assert (carried.result, carried.reward, carried.goal) == ("pending", 0.1, other.goal)


def test_carry_along__removed_node__joins_the_edges_around_it() -> None:
    other = path(
        A, B, C, edges=(("a", "b", "ok"), ("b", "c", "paid"), ("a", "c", "free"), ("b", "b", "again"))
    )

    carried = carry_along(other, [NodeChange("b", node_key(B), None)], {})

    assert carried is not None
    assert [node.name for node in carried.nodes] == ["a", "c"]
    assert [(edge.source, edge.target, edge.condition) for edge in carried.edges] == [
        ("a", "c", "free"),
        ("a", "c", "ok and paid"),
    ]


def test_carry_along__node_that_was_merged__counts_as_the_same() -> None:
    twin = node("twin", "b", n=2.5)
    same = {node_key(twin): node_key(B)}

    carried = carry_along(path(A, twin), [NodeChange("b", node_key(B), B2)], same)

    assert carried is not None
    assert carried.nodes[1] == msgspec.structs.replace(B2, name="twin")


@pytest.mark.parametrize(
    "other", [pytest.param((A, C), id="without the node"), pytest.param((B,), id="nothing but the node")]
)
def test_carry_along__nothing_to_carry__is_none(other: tuple[NodeDoc, ...]) -> None:
    assert carry_along(path(*other), [NodeChange("b", node_key(B), None)], {}) is None


def test_changed_nodes__events_and_decisions__are_not_shared() -> None:
    nodes = [
        msgspec.structs.replace(A, name=kind, kind=kind) for kind in ("action", "entity", "decision", "event")
    ]

    changes = changed_nodes(path(*nodes), path(C))

    assert [change.kind for change in changes if change.is_shared] == ["action", "entity"]


EVENT = NodeDoc(name="e", kind="event", content="timeout")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("b", ["b", "c"], id="behind the node that changes"),
        pytest.param("c", ["b", "c", "e"], id="behind another"),
    ],
)
def test_carry_along__event_that_goes_too__goes_only_with_its_action(
    source: str, expected: list[str]
) -> None:
    changes = [NodeChange("b", node_key(B), B2), NodeChange("e", node_key(EVENT), None, "event")]
    other = path(B, C, EVENT, edges=(("b", "c", "ok"), (source, "e", "error: timeout")))

    carried = carry_along(other, changes, {})

    assert carried is not None
    assert [node.name for node in carried.nodes] == expected
    assert carry_along(path(A, EVENT, edges=(("a", "e", ""),)), changes, {}) is None
