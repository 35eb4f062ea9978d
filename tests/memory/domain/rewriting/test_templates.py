"""Standard repairs by kind of failure."""

import pytest

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from memory.domain.rewriting.align import FailurePoint
from memory.domain.rewriting.proposal import apply
from memory.domain.rewriting.templates import choose_template, propose_template


def failure(message: str, error_type: str = "") -> FailurePoint:
    return FailurePoint(node="pay", message=message, error_type=error_type)


OLD = PathDoc(
    goal="Pay the bill",
    nodes=tuple(NodeDoc(name=name, tool=name, params={"bill": 7}) for name in ("look", "pay", "tell")),
    edges=(EdgeDoc(source="look", target="pay", condition="due"), EdgeDoc(source="pay", target="tell")),
    tags=("bill",),
)


@pytest.mark.parametrize(
    ("message", "error_type", "expected"),
    [
        pytest.param("Read timed out after 30s", "", "retry-then-fallback", id="timed_out"),
        pytest.param("", "timeout", "retry-then-fallback", id="status_timeout"),
        pytest.param("HTTP 503 Service Unavailable", "HTTP 503", "retry-then-fallback", id="server_error"),
        pytest.param("Too many requests, slow down", "HTTP 429", "retry-then-fallback", id="throttled"),
        pytest.param("服务繁忙，请稍后再试", "", "retry-then-fallback", id="chinese_busy"),
        pytest.param("Missing required field: city", "", "ask-when-missing", id="missing"),
        pytest.param("city is required", "ValidationError", "ask-when-missing", id="required"),
        pytest.param("缺少参数 city", "", "ask-when-missing", id="chinese_missing"),
        pytest.param("The call was rejected by the user", "", "confirm-before-write", id="rejected"),
        pytest.param("Permission denied", "", "confirm-before-write", id="denied"),
        pytest.param("无权修改该订单", "", "confirm-before-write", id="chinese_denied"),
        pytest.param("Flight number is invalid", "", "validate-then-call", id="invalid"),
        pytest.param("No such table: orders", "OperationalError", "validate-then-call", id="not_there"),
        pytest.param("订单不存在", "", "validate-then-call", id="chinese_not_there"),
        pytest.param("The cat sat on the mat", "", None, id="unknown"),
        pytest.param("", "", None, id="nothing_said"),
    ],
)
def test_choose_template__a_failure__gets_the_repair_of_its_kind(message, error_type, expected):
    assert choose_template(failure(message, error_type)) == expected


def ways(path: PathDoc) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.target, edge.condition) for edge in path.edges}


def test_propose_template__a_time_out__retries_then_falls_back_then_goes_on():
    rewrite = propose_template(OLD, failure("timed out"))

    assert rewrite is not None
    new = apply(OLD, rewrite)
    assert [node.name for node in new.nodes] == [
        "look",
        "pay",
        "check",
        "retry",
        "check again",
        "fallback",
        "tell",
    ]
    assert new.nodes[3].params == {"bill": 7}
    assert ways(new) == {
        ("look", "pay", "due"),
        ("pay", "check", ""),
        ("check", "retry", "timeout or unavailable"),
        ("check", "tell", "ok"),
        ("retry", "check again", ""),
        ("check again", "tell", "ok"),
        ("check again", "fallback", "failed again"),
        ("fallback", "tell", ""),
    }


@pytest.mark.parametrize(
    ("message", "entry", "exits"),
    [
        pytest.param("bill is required", "check", {"nothing is missing", "answered"}, id="ask"),
        pytest.param("rejected by the user", "show", {"yes"}, id="confirm"),
        pytest.param("invalid bill", "validate", {"ok", ""}, id="validate"),
    ],
)
def test_propose_template__a_check_before_the_call__stands_where_the_call_stood(message, entry, exits):
    rewrite = propose_template(OLD, failure(message))

    assert rewrite is not None
    new = ways(apply(OLD, rewrite))
    assert ("look", entry, "due") in new
    assert ("pay", "tell", "") in new
    assert {condition for _, target, condition in new if target == "pay"} == exits


def test_propose_template__the_only_node_fails__has_no_way_to_lose():
    alone = PathDoc(goal="Pay", nodes=(OLD.nodes[1],))

    rewrite = propose_template(alone, failure("timed out"))

    assert rewrite is not None
    assert [node.name for node in apply(alone, rewrite).nodes][:2] == ["pay", "check"]


def test_propose_template__names_that_are_taken__get_a_number():
    old = PathDoc(goal="Pay", nodes=(NodeDoc(name="check", tool="check"), OLD.nodes[1]))

    rewrite = propose_template(old, failure("timed out"))

    assert rewrite is not None
    assert "check 2" in {node.name for node in apply(old, rewrite).nodes}


@pytest.mark.parametrize("message", ["timed out", "bill is required", "invalid bill", "rejected by the user"])
def test_propose_template__done_before__is_none(message):
    once = propose_template(OLD, failure(message))
    assert once is not None
    version = apply(OLD, once)

    assert propose_template(version, failure(message)) is None
    assert propose_template(OLD, failure(message), [version]) is None


def test_propose_template__an_unknown_kind__is_none():
    assert propose_template(OLD, failure("The cat sat on the mat")) is None
