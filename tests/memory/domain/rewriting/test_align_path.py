"""Edit paths between two paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align_path import align_nodes, same_step, same_steps


def nodes(*calls: str) -> tuple[NodeDoc, ...]:
    """``open:1`` is the tool open with the parameter v=1."""
    return tuple(
        NodeDoc(name=f"{place}", tool=call.split(":")[0], params={"v": call.split(":")[1:]})
        for place, call in enumerate(calls)
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(["a", "b"], ["a", "b"], "keep keep", id="equal"),
        pytest.param(["a", "c"], ["a", "b", "c"], "keep add keep", id="added_between"),
        pytest.param(["b"], ["a", "b"], "add keep", id="added_at_the_start"),
        pytest.param(["a"], ["a", "b"], "keep add", id="added_at_the_end"),
        pytest.param(["a", "x", "b"], ["a", "b"], "keep delete keep", id="deleted"),
        pytest.param(["a", "b:1", "c"], ["a", "b:2", "c"], "keep relabel keep", id="other_arguments"),
        pytest.param(["a", "b", "c"], ["a", "x", "c"], "keep relabel keep", id="another_tool"),
        pytest.param([], ["a"], "add", id="from_nothing"),
        pytest.param(["a"], [], "delete", id="to_nothing"),
        pytest.param([], [], "", id="nothing_at_all"),
    ],
)
def test_align_nodes__two_paths__gives_the_cheapest_edits(old, new, expected):
    found = align_nodes(nodes(*old), nodes(*new))

    assert " ".join(edit.operation for edit in found.edits) == expected
    assert found.is_empty == (old == new)


def test_align_nodes__an_added_step__says_under_which_observation():
    (_, added, _) = align_nodes(nodes("a", "c"), nodes("a", "b", "c")).edits

    assert added.under == "0"
    assert added.new is not None
    assert added.new.tool == "b"


CALLS = st.lists(st.sampled_from(["a", "a:1", "b", "b:1", "c"]), max_size=8)


@given(old=CALLS, new=CALLS)
def test_align_nodes__any_two_paths__edits_lead_from_one_to_the_other(old, new):
    before, after = nodes(*old), nodes(*new)

    found = align_nodes(before, after)

    assert [edit.old for edit in found.edits if edit.old is not None] == list(before)
    assert [edit.new for edit in found.edits if edit.new is not None] == list(after)
    assert 0.0 <= found.similarity <= 1.0
    assert found.cost == pytest.approx(align_nodes(after, before).cost)


def test_same_step__other_content__counts_only_without_a_tool():
    assert same_step(NodeDoc(name="1", tool="a", content="x"), NodeDoc(name="2", tool="a", content="y"))
    assert not same_step(NodeDoc(name="1", content="x"), NodeDoc(name="2", content="y"))


def test_same_steps__other_names_and_observations__do_not_count():
    one = PathDoc(goal="g", nodes=nodes("a", "b"))
    other = PathDoc(
        goal="h", nodes=tuple(NodeDoc(name=f"n{n.name}", tool=n.tool, params=n.params) for n in one.nodes)
    )

    assert same_steps(one, other)
    assert not same_steps(one, PathDoc(goal="g", nodes=nodes("a")))


def test_align_nodes__very_long_paths__are_not_compared_step_by_step():
    old, new = nodes("a", *["b"] * 400, "z"), nodes("a", *["c"] * 400, "z")

    found = align_nodes(old, new)

    assert [edit.operation for edit in found.edits] == ["keep", *["delete"] * 400, *["add"] * 400, "keep"]
