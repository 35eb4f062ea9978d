"""Small memories of paths for the tests of localization, in two languages."""

from collections.abc import Sequence
from typing import Any

from memory.domain.locating.entries import entry_of
from memory.domain.locating.shapes import Candidate
from memory.domain.paths.document import NodeDoc, PathDoc, PathResult

ENGLISH = (
    ("How many orders are open?", "run_query", "SELECT COUNT(*) FROM orders WHERE status = 'open'"),
    ("Which customer spent most?", "run_query", "SELECT customer FROM sales ORDER BY amount DESC LIMIT 1"),
    (
        "List the open orders by date.",
        "run_query",
        "SELECT * FROM orders WHERE status = 'open' ORDER BY date",
    ),
    ("Refund the payment of an order", "refund", "payment of the order to the card"),
    ("Book a flight to Paris", "book_flight", "airport PAR"),
)
CHINESE = (
    ("查询订单状态并通知用户", "query_order", "订单状态"),
    ("申请退款并取消订单", "refund", "退款"),
    ("预订去上海的火车票", "book_train", "上海"),
    ("统计每个部门的员工人数", "run_query", "SELECT 部门, COUNT(*) FROM 员工 GROUP BY 部门"),
)


def make_doc(goal: str, *steps: tuple[str, Any], result: PathResult = "success", **fields: Any) -> PathDoc:
    """A path of one action a step: tool and its parameter."""
    nodes = [
        NodeDoc(name=f"{tool}_{place}", tool=tool, params={"value": value})
        for place, (tool, value) in enumerate(steps)
    ]
    return PathDoc(goal=goal, nodes=tuple(nodes), result=result, **fields)


def make_candidate(number: int, doc: PathDoc, **fields: Any) -> Candidate:
    """A candidate as the index would return it."""
    return Candidate(number, entry_of(doc), tags=doc.tags, result=doc.result, reward=doc.reward, **fields)


def make_memory(rows: Sequence[tuple[str, str, str]]) -> list[Candidate]:
    """One rewarded path a row, numbered from 0."""
    docs = [make_doc(goal, (tool, value), reward=1.0) for goal, tool, value in rows]
    return [make_candidate(number, doc) for number, doc in enumerate(docs)]
