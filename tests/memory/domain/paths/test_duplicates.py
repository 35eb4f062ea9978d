"""Which nodes look the same: a table, and the order and the cost of the answer."""

from typing import Any

import pytest

from memory.domain.paths.duplicates import NodeFacts, find_duplicates


def fact(
    node_id: int, content: str = "", *, tool: str = "", kind: str = "action", **params: Any
) -> NodeFacts:
    return NodeFacts(node_id, kind, tool, content, params)


PAIRS = [
    pytest.param(fact(1, "Check the  order"), fact(2, "check the order."), True, id="case-and-punctuation"),
    pytest.param(fact(1, "from a to b"), fact(2, "from b to a"), False, id="word-order"),
    pytest.param(fact(1, origin="SFO", to="JFK"), fact(2, origin="JFK", to="SFO"), False, id="swapped"),
    pytest.param(fact(1, sum="(3 - 1) + 2"), fact(2, sum="(3 + 1) - 2"), False, id="arithmetic"),
    pytest.param(fact(1, day="2026-01-02"), fact(2, day=" 2026-01-02 "), True, id="space"),
    pytest.param(fact(1, days=[1, 2]), fact(2, days=[2, 1]), False, id="order-of-a-list"),
    pytest.param(fact(1, q="a", limit=None), fact(2, q="A"), True, id="empty-parameter"),
    pytest.param(fact(1, limit=5), fact(2, limit="5"), True, id="number-as-text"),
    pytest.param(fact(1, limit=5.0), fact(2, limit=5), True, id="whole-float"),
    pytest.param(fact(1, orderId="x"), fact(2, order_id="x"), True, id="spelling-of-a-name"),
    pytest.param(fact(1, "查询订单状态"), fact(2, "查询订单状态。"), True, id="chinese"),
    pytest.param(fact(1, "查询订单"), fact(2, "取消航班"), False, id="other-chinese"),
    pytest.param(fact(1, order="A1001"), fact(2, order="A1002"), False, id="other-order-number"),
    pytest.param(fact(1, "pay", tool="pay"), fact(2, "pay", tool="book"), False, id="other-tool"),
    pytest.param(fact(1, "pay"), fact(2, "pay", kind="decision"), False, id="other-kind"),
    pytest.param(fact(1, "book a seat"), fact(2, "cancel a seat"), False, id="other-verb"),
    pytest.param(fact(1, flag=True), fact(2, flag=False), False, id="other-switch"),
]


@pytest.mark.parametrize(("first", "second", "is_same"), PAIRS)
def test_pair__each_difference__is_a_duplicate_or_not(
    first: NodeFacts, second: NodeFacts, is_same: bool
) -> None:
    found = find_duplicates([first, second])

    assert [group.ids for group in found] == ([(1, 2)] if is_same else [])


def test_groups__several__come_most_alike_first_and_whole() -> None:
    words = "the user wants to change the flight and asks whether the fee can be waived for ten bags"
    nodes = [
        fact(5, "look again"), fact(3, "Look again"), fact(9, "look AGAIN"),
        fact(1, words), fact(2, words.replace("ten", "more")),
        fact(7, "alone"),
    ]  # fmt: skip

    found = find_duplicates(nodes)

    assert [group.ids for group in found] == [(3, 5, 9), (1, 2)]
    assert found[0].likeness == 0.99  # they differ by case
    assert 0.8 <= found[1].likeness < 1.0


def test_nodes__nothing_or_deep_or_huge_params__are_no_trouble() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = {"a": [deep]}

    found = find_duplicates([fact(1), fact(2), fact(3, **deep), fact(4, "w " * 100_000)])

    assert [group.ids for group in found] == [(1, 2)]
