"""When a rule asks to be looked at again."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from corrections.domain.staleness import (
    InvalidStalePolicyError,
    StalePolicy,
    WatchedRule,
    check_stale_policy,
    find_stale_reasons,
    stale_policy,
)

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def kinds(tools: dict[str, datetime] | None = None, tool: str = "book", **fields: Any) -> list[str]:
    rule = WatchedRule(tool, **{"served_since": ago(100), **fields})
    calls = {"book": ago(1), "booking_list": ago(3)} if tools is None else tools
    return [reason["kind"] for reason in find_stale_reasons(rule, calls, StalePolicy(), NOW)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, ["unmatched"], id="never matched, the tool is called"),
        pytest.param({"last_matched_at": ago(59)}, [], id="matched lately"),
        pytest.param({"last_matched_at": ago(60)}, ["unmatched"], id="matched long ago"),
        pytest.param({"served_since": ago(59)}, [], id="served since lately"),
        pytest.param({"reviewed_at": ago(5)}, [], id="somebody looked"),
        pytest.param({"valid_from": ago(5)}, [], id="starts lately"),
        pytest.param({"valid_from": ago(-5)}, [], id="starts in future"),
        pytest.param(
            {"tools": {"book": ago(100.5)}}, ["tool_silent"], id="the tool was not called meanwhile"
        ),
        pytest.param({"tools": {}}, ["tool_unknown"], id="no such tool"),
        pytest.param({"tool": "booking*"}, ["unmatched"], id="a pattern of tools"),
        pytest.param({"tool": "pay*"}, ["tool_unknown"], id="a pattern that fits none"),
        pytest.param({"tool": "*"}, ["unmatched"], id="any tool"),
        pytest.param({"error_count": 2, "last_matched_at": ago(1)}, ["errors"], id="errors"),
        pytest.param(
            {"error_count": 2, "reviewed_error_count": 2, "last_matched_at": ago(1)}, [], id="errors seen"
        ),
        pytest.param({"valid_until": ago(-6), "last_matched_at": ago(1)}, ["expires"], id="ends soon"),
        pytest.param({"valid_until": ago(-8), "last_matched_at": ago(1)}, [], id="ends later"),
        pytest.param({"valid_until": ago(0), "last_matched_at": ago(1)}, [], id="has ended"),
        pytest.param({"valid_until": ago(-6), "reviewed_at": ago(0.5)}, [], id="its end was seen"),
        pytest.param(
            {"valid_until": ago(-6), "reviewed_at": ago(2)}, ["expires"], id="seen before the notice"
        ),
        pytest.param(
            {"error_count": 1, "valid_until": ago(-1)}, ["errors", "expires", "unmatched"], id="all at once"
        ),
    ],
)
def test_reasons__of_a_rule__are(fields: dict[str, Any], expected: list[str]) -> None:
    assert kinds(**fields) == expected


def test_reasons__switched_off__are_not_given() -> None:
    policy = StalePolicy(unmatched_days=0, expiry_notice_days=0)
    rule = WatchedRule("book", ago(1000), valid_until=ago(-1))
    assert find_stale_reasons(rule, {}, policy, NOW) == []


@pytest.mark.parametrize(
    "document", [{"unmatched_days": -1}, {"unmatched_days": "x"}, {"expiry_notice_days": 999}]
)
def test_policy__out_of_range__is_refused_and_never_obeyed(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidStalePolicyError, match=next(iter(document))):
        check_stale_policy(document)
    assert stale_policy({"lifecycle": document}) == StalePolicy()


@pytest.mark.parametrize("kept", [{}, {"lifecycle": None}, {"lifecycle": [1]}, {"lifecycle": "x"}])
def test_policy__settings_that_say_nothing__is_the_default(kept: dict[str, Any]) -> None:
    assert stale_policy(kept) == StalePolicy()
