"""People say which nodes are the same: one head for all, no chains, no circles, undone one by one."""

from itertools import permutations

import pytest

from memory.actions.nodes import MAX_MERGED, MergeError, merge_nodes, undo_merge
from memory.domain.access import NotPermitted
from memory.models import AuditEvent, Node
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.memory.builders import make_node
from tests.racing import at_once

pytestmark = pytest.mark.django_db


def heads(*nodes: Node) -> list[str]:
    """What each node is drawn as, by content."""
    rows = {node.pk: node for node in Node.objects.select_related("merged_into")}
    return [(rows[node.pk].merged_into or rows[node.pk]).content for node in nodes]


def make_nodes(cast: Cast, names: str) -> list[Node]:
    return [make_node(cast.workspace, name) for name in names]


def merge(keep: Node, *others: Node) -> list[str]:
    """Merge, and who moved."""
    found = merge_nodes(keep=Node.objects.get(pk=keep.pk), others=others, by=SYSTEM)
    return [node.content for node in found.moved]


def test_merge__two_nodes__are_one_and_it_is_in_the_audit(cast: Cast) -> None:
    a, b, c = make_nodes(cast, "abc")

    result = merge_nodes(keep=a, others=[b, a], by=cast.actor("maintainer"), reason="the same check")

    event = AuditEvent.objects.get(verb="merge_nodes")
    assert (result.keep, [node.content for node in result.moved]) == (a, ["b"])
    assert heads(a, b, c) == ["a", "a", "c"]
    assert (event.subject_uuid, event.reason) == (str(a.uuid), "the same check")
    assert (event.old, event.new) == (
        {"merged_into": {str(b.uuid): None}},
        {"merged_into": {str(b.uuid): str(a.uuid)}},
    )


def test_merge__the_same_again__changes_nothing(cast: Cast) -> None:
    a, b = make_nodes(cast, "ab")
    merge(a, b)

    assert merge(a, b) == []
    assert merge(b, a) == []
    assert AuditEvent.objects.filter(verb="merge_nodes").count() == 1


def test_merge__a_decision_with_an_event__is_refused(cast: Cast) -> None:
    decision = make_node(cast.workspace, "Stop", kind="decision")
    event = make_node(cast.workspace, "It stopped", kind="event")

    with pytest.raises(
        MergeError, match="Only nodes of one kind can be merged; these are of the kinds decision, event"
    ):
        merge(decision, event)

    assert heads(decision, event) == ["Stop", "It stopped"]


@pytest.mark.parametrize("order", list(permutations([(0, 1), (1, 2), (2, 3)])), ids=str)
def test_merge__in_any_order__ends_with_one_head_and_no_chain(
    cast: Cast, order: tuple[tuple[int, int], ...]
) -> None:
    nodes = make_nodes(cast, "abcd")

    for keep, other in order:
        merge(nodes[keep], nodes[other])

    assert len(set(heads(*nodes))) == 1
    assert not Node.objects.filter(merged_into__merged_into__isnull=False).exists()


def test_merge__a_node_with_followers__brings_them_along(cast: Cast) -> None:
    a, b, c = make_nodes(cast, "abc")
    merge(b, c)

    assert merge(a, c) == ["b", "c"]
    assert heads(a, b, c) == ["a", "a", "a"]


def test_undo__one_of_them__stands_alone_and_the_others_stay(cast: Cast) -> None:
    a, b, c = make_nodes(cast, "abc")
    merge(a, b, c)

    changed = undo_merge(
        nodes=[Node.objects.get(pk=b.pk)], by=cast.actor("maintainer"), reason="not the same"
    )

    assert [node.content for node in changed] == ["b"]
    assert heads(a, b, c) == ["a", "b", "a"]
    assert AuditEvent.objects.get(verb="undo_merge").new == {"merged_into": {str(b.uuid): None}}
    assert undo_merge(nodes=[b, a], by=SYSTEM) == ()


def test_merge__nothing_else_to_merge__is_refused(cast: Cast) -> None:
    (a,) = make_nodes(cast, "a")

    with pytest.raises(MergeError, match="at least two"):
        merge_nodes(keep=a, others=[a], by=SYSTEM)
    with pytest.raises(MergeError, match="Choose a node"):
        undo_merge(nodes=[], by=SYSTEM)


def test_merge__too_many__is_refused(cast: Cast) -> None:
    nodes = [make_node(cast.workspace, str(number)) for number in range(MAX_MERGED + 2)]

    with pytest.raises(MergeError, match=f"these are {MAX_MERGED + 1}"):
        merge_nodes(keep=nodes[0], others=nodes[1:], by=SYSTEM)


def test_merge__node_of_another_workspace__is_refused(cast: Cast) -> None:
    a, foreign = make_node(cast.workspace, "a"), make_node(cast.elsewhere, "foreign")

    with pytest.raises(MergeError, match="one workspace"):
        merge_nodes(keep=a, others=[foreign], by=cast.actor("maintainer"))
    with pytest.raises(NotPermitted):
        merge_nodes(keep=foreign, others=[a], by=cast.actor("maintainer"))
    assert heads(a, foreign) == ["a", "foreign"]


def test_merge__reviewer__may_not(cast: Cast) -> None:
    a, b = make_nodes(cast, "ab")

    with pytest.raises(NotPermitted):
        merge_nodes(keep=a, others=[b], by=cast.actor("reviewer"))
    with pytest.raises(NotPermitted):
        undo_merge(nodes=[a], by=cast.actor("reviewer"))


@pytest.mark.django_db(transaction=True)
def test_merge__both_ways_at_once__makes_no_circle(cast: Cast) -> None:
    a, b = make_nodes(cast, "ab")

    at_once(
        lambda: merge_nodes(keep=a, others=[b], by=SYSTEM),
        lambda: merge_nodes(keep=b, others=[a], by=SYSTEM),
    )

    assert len(set(heads(a, b))) == 1
    assert Node.objects.exclude(merged_into=None).count() == 1
