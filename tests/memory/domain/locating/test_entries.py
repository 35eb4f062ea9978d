"""Entries: made of a path, stored as bytes, read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.locating.entries import (
    EntryError,
    action_texts,
    actions_text,
    decode_entry,
    encode_entry,
    entry_of,
    goal_key,
)
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from tests.memory.domain.locating.corpus import make_doc

BRANCHING = PathDoc(
    goal="Pay the invoice",
    nodes=(
        NodeDoc(name="look", tool="get_invoice", params={"id": 7}),
        NodeDoc(name="is paid", kind="decision", content="Is it paid?"),
        NodeDoc(name="pay", tool="pay", params={"card": {"last": "4421"}, "lines": [1, "two"]}),
    ),
    edges=(
        EdgeDoc(source="look", target="is paid"),
        EdgeDoc(source="is paid", target="pay", condition="no"),
    ),
)


def test_action_texts__path__last_action_first_without_decisions() -> None:
    assert action_texts(BRANCHING) == ["pay card last 4421 lines 1 two", "get_invoice id 7"]


def test_action_texts__repeated_action__counts_once() -> None:
    doc = make_doc("g", ("look", 1), ("act", 2), ("look", 1))

    assert action_texts(doc) == ["look value 1", "act value 2"]


def test_action_texts__calls_that_failed_on_the_way__are_left_out() -> None:
    nodes = (NodeDoc(name="a", tool="wrong"), NodeDoc(name="b", tool="right"))
    edges = (EdgeDoc(source="a", target="b", label="failed"),)

    assert action_texts(PathDoc(goal="g", nodes=nodes, edges=edges, result="retry")) == ["right"]
    assert action_texts(PathDoc(goal="g", nodes=nodes, edges=edges, result="failure")) == ["right", "wrong"]


def test_action_texts__no_action__other_nodes_tell() -> None:
    doc = PathDoc(goal="g", nodes=(NodeDoc(name="ask", kind="decision", content="Ask which order"),))

    assert action_texts(doc) == ["Ask which order"]


def test_actions_text__huge_parameters__is_cut() -> None:
    assert len(actions_text(make_doc("g", ("tool", "x" * 100_000)))) == 4000


def test_entry__steps_and_edges__keep_order_and_names() -> None:
    entry = entry_of(BRANCHING)

    assert entry.steps == (("look", "get_invoice"), ("is paid", "is it paid?"), ("pay",))
    assert entry.edges == ((0, 1), (1, 2))


def test_entry__no_edges__nodes_follow_each_other() -> None:
    assert entry_of(make_doc("g", ("a", 1), ("b", 2), ("c", 3))).edges == ((0, 1), (1, 2))


@given(st.text(max_size=200), st.lists(st.tuples(st.text(max_size=30), st.text(max_size=100)), max_size=8))
def test_entry__stored_and_read__is_the_same(goal: str, steps: list[tuple[str, str]]) -> None:
    entry = entry_of(make_doc(goal, *steps))

    assert decode_entry(encode_entry(entry)) == entry


def test_entry__of_a_large_path__stays_small() -> None:
    doc = make_doc("word " * 2000, *((f"tool_{n}", f"text {n} " * 500) for n in range(300)))

    assert len(encode_entry(entry_of(doc))) < 20_000


@pytest.mark.parametrize(
    "data",
    [pytest.param(b"", id="empty"), pytest.param(b"\x93\x01", id="cut off"), pytest.param(b"{}", id="other")],
)
def test_decode_entry__not_an_entry__is_an_entry_error(data: bytes) -> None:
    with pytest.raises(EntryError):
        decode_entry(data)


def test_goal_key__spaces_and_capitals__do_not_matter() -> None:
    assert goal_key(" How  many\norders? ") == goal_key("how many ORDERS?")
    assert goal_key("how many orders?") != goal_key("how many order?")
