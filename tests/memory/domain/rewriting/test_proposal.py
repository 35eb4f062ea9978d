"""The rewrite document: what is refused, and what it makes of the old path."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from memory.domain.rewriting.proposal import (
    InvalidRewriteError,
    Rewrite,
    apply,
    read_rewrite,
    validate,
    write_rewrite,
)

OLD = PathDoc(
    goal="Bake a loaf",
    nodes=tuple(
        NodeDoc(name=name, tool=name, observation=f"{name} done") for name in ("knead", "heat", "bake")
    ),
    edges=(EdgeDoc(source="knead", target="heat"), EdgeDoc(source="heat", target="bake", condition="hot")),
    tags=("bread",),
    result="failure",
    reward=0.3,
    agent="baker",
    env={"domain": "kitchen"},
)


def document(**changes: Any) -> dict[str, Any]:
    return {
        "action": "create_rewrite",
        "new_nodes": ["knead", {"name": "wait", "content": "Let it rise"}, "heat", "bake"],
        "new_edges": [
            {"from": "knead", "to": "wait"},
            {"from": "wait", "to": "heat", "condition": "risen"},
            {"from": "heat", "to": "bake"},
        ],
        "new_tags": ["bread", "rise"],
        "reason": "It was flat.",
        "keep_old": True,
    } | changes


def test_apply__bare_names_and_a_new_node__make_the_next_version():
    new = apply(OLD, read_rewrite(document()))

    assert [node.name for node in new.nodes] == ["knead", "wait", "heat", "bake"]
    assert new.nodes[0] is OLD.nodes[0]
    assert [(edge.source, edge.target, edge.condition) for edge in new.edges][1] == ("wait", "heat", "risen")
    assert (new.goal, new.tags, new.result, new.reward) == (OLD.goal, ("bread", "rise"), "pending", 0.1)
    assert (new.agent, new.env, new.level) == ("baker", {"domain": "kitchen"}, "task")


def test_apply__no_edges_and_no_tags__walks_in_order_and_keeps_the_tags():
    new = apply(OLD, Rewrite(new_nodes=("heat", "knead"), reason="The other way round"))

    assert [(edge.source, edge.target) for edge in new.edges] == [("heat", "knead")]
    assert new.tags == OLD.tags


def test_write_rewrite__a_read_one__is_the_same_document():
    rewrite = read_rewrite(document())

    written = json.loads(json.dumps(write_rewrite(rewrite)))

    assert list(written) == ["action", "new_nodes", "new_edges", "new_tags", "reason", "keep_old"]
    assert read_rewrite(written) == rewrite


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({"action": "drop_table"}, "action", id="another_action"),
        pytest.param({"new_nodes": [7]}, "new_nodes.0", id="number_for_a_node"),
        pytest.param({"new_nodes": [{"name": "x", "kind": "spell"}]}, "new_nodes.0.kind", id="unknown_kind"),
        pytest.param({"new_nodes": "knead"}, "new_nodes", id="text_for_nodes"),
        pytest.param({"new_edges": [{"from": "knead"}]}, "new_edges.0.to", id="edge_without_end"),
        pytest.param({"extra": 1}, "extra", id="unknown_field"),
        pytest.param({"reason": None}, "reason", id="no_reason"),
    ],
)
def test_read_rewrite__another_shape__names_the_field(changes, field):
    with pytest.raises(InvalidRewriteError) as refused:
        read_rewrite(document(**changes))

    assert list(refused.value.problems) == [field]


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        pytest.param({"new_nodes": []}, "new_nodes", "at least one", id="no_nodes"),
        pytest.param({"new_nodes": ["knead", "fly"]}, "new_nodes.1", "no node 'fly'", id="unknown_bare_name"),
        pytest.param({"new_nodes": ["knead", "knead"]}, "new_nodes.1.name", "twice", id="name_twice"),
        pytest.param(
            {"new_nodes": [{"name": "x"}]}, "new_nodes.0.content", "content or a tool", id="empty_node"
        ),
        pytest.param({"new_nodes": [{"name": " "}]}, "new_nodes.0.name", "1 to 120", id="blank_name"),
        pytest.param({"new_nodes": ["knead"] * 501}, "new_nodes", "at most 500", id="too_many"),
        pytest.param(
            {"new_edges": [{"from": "knead", "to": "moon"}]}, "new_edges.0.to", "no new node", id="lost_edge"
        ),
        pytest.param(
            {"new_edges": [{"from": "knead", "to": "heat"}]}, "new_nodes.1", "No edge", id="lost_node"
        ),
        pytest.param(
            {"new_edges": [{"from": "knead", "to": "heat"}] * 2}, "new_edges.1", "twice", id="edge_twice"
        ),
        pytest.param({"reason": "  "}, "reason", "Say why", id="blank_reason"),
        pytest.param({"new_tags": [""]}, "new_tags", "1 to 200", id="blank_tag"),
    ],
)
def test_validate__what_does_not_fit_the_old_path__is_refused(changes, field, said):
    with pytest.raises(InvalidRewriteError) as refused:
        validate(OLD, read_rewrite(document(**changes)))

    assert said in refused.value.problems[field]


@given(
    kept=st.lists(st.sampled_from(["knead", "heat", "bake"]), unique=True, min_size=1), new=st.integers(0, 4)
)
def test_apply__any_choice_of_old_and_new_steps__keeps_their_order(kept, new):
    added = [NodeDoc(name=f"new {number}", content="x") for number in range(new)]
    chosen = [*added[:2], *kept, *added[2:]]

    made = apply(OLD, Rewrite(new_nodes=tuple(chosen), reason="because"))

    names = [node.name for node in made.nodes]
    assert names == [node if isinstance(node, str) else node.name for node in chosen]
    assert {end for edge in made.edges for end in (edge.source, edge.target)} <= set(names)
    assert len(made.edges) == len(names) - 1
