"""Receipts: what they carry, and that they cannot be forged."""

from datetime import UTC, datetime
from typing import Any

import pytest

from hgmem.receipts import ReceiptError, digest_json, issue_receipt, read_receipt
from hgmem.rules import Decision, Rule, Ruleset

KEY = b"0123456789abcdef0123456789abcdef"
NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


def _decide(count: int = 1, tool: str = "t") -> Decision:
    rules = [
        Rule.from_document(
            {
                "uuid": f"00000000-0000-4000-8000-{at:012}",
                "version": at + 1,
                "applies_to": "TOOL_CALL:*",
                "priority": -at,
                "action_type": "PARAMETER_TRANSFORM",
                "action_detail": {"op": "set", "field": "a", "value": at},
            }
        )
        for at in range(count)
    ]
    context = {"tool": tool, "input": {"b": 1}, "task": {"id": "task-1"}}
    return Ruleset.compile(rules, version="v7").decide(context, now=NOW)


def test_receipt__issued_and_read__says_what_the_decision_said() -> None:
    decision = _decide(2)

    receipt = read_receipt(issue_receipt(decision, ruleset_version="v7", key=KEY, issued_at=NOW), KEY)

    assert receipt.verified
    assert (receipt.issued_at, receipt.ruleset_version, receipt.task_id) == (NOW, "v7", "task-1")
    assert (receipt.asked_tool, receipt.tool) == ("t", "t")
    assert [(rule.version, rule.state) for rule in receipt.rules] == [(1, "applied"), (2, "suppressed")]
    assert receipt.input_digest == digest_json({"a": 0, "b": 1})
    assert receipt.rules_omitted == 0


def test_receipt__without_a_key__is_read_but_not_verified() -> None:
    token = issue_receipt(_decide(), ruleset_version="v7", key=KEY)

    assert not read_receipt(token, None).verified


def test_receipt__arms__are_carried() -> None:
    decision = _decide()
    uuid = decision.matched[0].uuid

    receipt = read_receipt(issue_receipt(decision, ruleset_version="1", key=KEY, arms={uuid: "canary"}), KEY)

    assert receipt.rules[0].arm == "canary"


@pytest.mark.parametrize(("count", "omitted"), [(25, 0), (100, 40)])
def test_receipt__many_rules__stays_small(count: int, omitted: int) -> None:
    token = issue_receipt(_decide(count), ruleset_version="v7", key=KEY)

    assert len(token) < (2_048 if count < 30 else 8_000)
    assert read_receipt(token, KEY).rules_omitted == omitted


@pytest.mark.parametrize("tool", ["工具", "t" * 10_000, "\ud800"])
def test_receipt__hard_tool_name__can_be_read_back(tool: str) -> None:
    receipt = read_receipt(issue_receipt(_decide(tool=tool), ruleset_version="1", key=KEY), KEY)

    assert receipt.asked_tool == tool[:200]


def _changed(token: str) -> list[Any]:
    body, signature = token.split(".")
    return [
        body[:-4] + "AAAA." + signature,
        body + "." + signature[:-2] + "xx",
        body + ".",
        body,
        "",
        "é.x",
        "." * 9,
    ]


def test_receipt__any_change__is_refused() -> None:
    token = issue_receipt(_decide(), ruleset_version="1", key=KEY)

    for changed in _changed(token):
        with pytest.raises(ReceiptError):
            read_receipt(changed, KEY)
    with pytest.raises(ReceiptError):
        read_receipt(token, b"another key of 32 bytes: abcdefg")


@pytest.mark.parametrize("token", ["e30.x", "W10.x", "bnVsbA.x", "WzEsMl0.x", "x" * 9_000 + ".y"])
def test_receipt__unsigned_nonsense__is_refused(token: str) -> None:
    with pytest.raises(ReceiptError):
        read_receipt(token, None)


def test_issue_receipt__short_key__is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        issue_receipt(_decide(), ruleset_version="1", key=b"short")


def test_digest_json__order_of_keys__does_not_matter() -> None:
    assert digest_json({"a": 1, "b": [True, None]}) == digest_json({"b": [True, None], "a": 1})
    assert digest_json({"a": 1}) != digest_json({"a": "1"})
