"""What changed between two paths."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.paths.compare import compare
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain


def doc(*nodes: NodeDoc | str, edges: Sequence[EdgeDoc] = ()) -> PathDoc:
    whole = tuple(NodeDoc(name=node, tool=node) if isinstance(node, str) else node for node in nodes)
    return PathDoc(goal="g", nodes=whole, edges=tuple(edges) or chain([node.name for node in whole]))


def act(name: str, tool: str, **params: str) -> NodeDoc:
    return NodeDoc(name=name, tool=tool, params=params)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(doc("a", "b"), doc("a", "b"), "kept a, kept b", id="nothing"),
        pytest.param(doc("a", "b"), doc("a", "x", "b"), "kept a, added x, kept b", id="added"),
        pytest.param(doc("a", "x", "b"), doc("a", "b"), "kept a, removed x, kept b", id="removed"),
        pytest.param(doc("a", "b"), doc("a", act("b", "c")), "kept a, relabelled b", id="same name"),
        pytest.param(doc(act("n", "a", x="1")), doc(act("m", "a", x="2")), "relabelled m", id="same tool"),
        pytest.param(doc("a", "b"), doc("b", "a"), "added b, kept a, removed b", id="order matters"),
        pytest.param(doc(act("n", "a")), doc(act("m", "a")), "kept m", id="only the name"),
    ],
)
def test_compare__nodes__are_kept_added_removed_relabelled(old: PathDoc, new: PathDoc, expected: str) -> None:
    changes = compare(old, new).nodes

    assert ", ".join(f"{c.kind} {(c.new or c.old).name}" for c in changes if c.new or c.old) == expected


def test_compare__edges__follow_renamed_steps() -> None:
    old = doc("a", "b", edges=[EdgeDoc(source="a", target="b", condition="ok")])
    new = doc(act("n", "a"), act("m", "b"), edges=[EdgeDoc(source="n", target="m", condition="fine")])

    comparison = compare(old, new)

    assert [edge.kind for edge in comparison.edges] == ["relabelled"]
    assert comparison.names == {"a": "n", "b": "m"}
    assert not comparison.is_same


some = st.lists(st.sampled_from("abcd"), min_size=1, max_size=8).map(
    lambda tools: doc(*[act(f"n{place}", tool) for place, tool in enumerate(tools)])
)


@given(some, some)
def test_compare__any_two__accounts_for_every_step_and_edge_once(old: PathDoc, new: PathDoc) -> None:
    comparison = compare(old, new)

    assert [change.old for change in comparison.nodes if change.old] == list(old.nodes)
    assert [change.new for change in comparison.nodes if change.new] == list(new.nodes)
    assert sorted(edge.old.source for edge in comparison.edges if edge.old) == sorted(
        edge.source for edge in old.edges
    )
    assert len([edge for edge in comparison.edges if edge.new]) == len(new.edges)


@given(some)
def test_compare__with_itself__is_the_same(one: PathDoc) -> None:
    assert compare(one, one).is_same
