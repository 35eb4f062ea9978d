"""Receipts: what they carry, and that they cannot be forged."""

import json
from base64 import urlsafe_b64decode
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from hgmem.receipts import ReceiptError, digest_json, issue_receipt, read_receipt
from hgmem.rules import Decision, Rule, Ruleset
from hgmem.rules.decision import Exposure
from hgmem.sealing import Exposed, seal, unseal

KEY = b"0123456789abcdef0123456789abcdef"
NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
RULE = "5b0f6f0e-4c9e-4f8e-9a57-0f6a6f0c2d11"
CANARY = UUID("0d7c3c52-f1a5-4c6f-8b1d-0e6f1b2a3c4d")
FIRST_FORMAT = (
    "WzEsIjQ3NzI2NGNkMDQ1YjAzZDIxOWM5NjAxMWJlYmRhYTM1IiwxNzc3NjM2ODAwMDAwLCJ2NyIsInQiLCIiLCJ0YX"
    "NrLTEiLCI0NDFhZGNhNTRkOGVkMDg0MTFjMWVmNDhlMzY4OTg4NiIsImY0YzFkOGJkOTBkN2NjZDcyMGFhNWE2OWE2"
    "NzE4NWZiIixbWyIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDAiLDEsMF1dLDBd.xePN1DO2tmKd_"
    "pmh9-we0kMWNNepVJvkti-PXIwhklk"
)


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


def _decide_trial(share: int, *, mode: str = "canary", **context: Any) -> Decision:
    rule = Rule.from_document(
        {
            "uuid": RULE,
            "applies_to": {"tool": "t", "point": "before"},
            "condition": "input.b == 1",
            "action_type": "PROMPT_ENHANCEMENT",
            "action_detail": {"text": "mind it"},
            "trial": {"canary": CANARY, "salt": "s", "share": share, "stage": 3, "mode": mode},
        }
    )
    asked = {"tool": "t", "input": {"b": 1}, "task": {"id": "sub", "root": "top"}} | context
    return Ruleset.compile([rule], version="v7").decide(asked, now=NOW)


@pytest.mark.parametrize(
    ("decision", "exposures"),
    [
        pytest.param(_decide_trial(10_000), (Exposed(CANARY, 3, 10_000, "canary"),), id="canary"),
        pytest.param(_decide_trial(0), (Exposed(CANARY, 3, 0, "control"),), id="control"),
        pytest.param(_decide_trial(9, mode="shadow"), (Exposed(CANARY, 3, 9, "shadow"),), id="shadow"),
        pytest.param(_decide_trial(9, input={}), (), id="no match"),
        pytest.param(_decide(), (), id="no trial"),
    ],
)
def test_receipt__exposures__are_sealed_without_the_key_and_open_with_it(
    decision: Decision, exposures: tuple[Exposed, ...]
) -> None:
    token = issue_receipt(decision, ruleset_version="v7", key=KEY)

    assert read_receipt(token, None).exposures is None
    assert read_receipt(token, KEY).exposures == exposures
    assert read_receipt(token, None).unit == ("top" if decision.trials else "")


def _sealed(token: str) -> str:
    body = token.split(".", maxsplit=1)[0]
    return str(json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))[-1])


def test_receipt__whatever_the_arm__has_one_length_and_no_arm_in_its_text() -> None:
    decisions = [_decide_trial(share, input={"b": b}) for share in (0, 10_000) for b in (0, 1)]
    tokens = [issue_receipt(each, ruleset_version="v7", key=KEY) for each in decisions for _ in range(20)]
    sealed = [_sealed(token) for token in tokens]

    assert len({len(text) for text in sealed}) == 1
    assert len(set(sealed)) == len(sealed)
    assert not any(CANARY.bytes in urlsafe_b64decode(text) for text in sealed)


def test_receipt__control_arm__names_no_rule() -> None:
    token = issue_receipt(_decide_trial(0), ruleset_version="v7", key=KEY)

    assert read_receipt(token, KEY).rules == ()


@pytest.mark.parametrize(("trials", "slots"), [(1, 1), (8, 8), (40, 8)])
def test_seal__many_trials__carries_the_first_eight(trials: int, slots: int) -> None:
    seen = [Exposure(f"r{at}", 1, UUID(int=at), 0, 5_000, "control", "t") for at in range(trials)]

    sealed = seal(seen, trials=trials, key=KEY, nonce=b"n" * 16)

    assert [each.canary.int for each in unseal(sealed, key=KEY, nonce=b"n" * 16)] == list(range(slots))
    assert len(sealed) == len(seal([], trials=trials, key=KEY, nonce=b"n" * 16))


def test_receipt__of_the_first_format__is_still_read() -> None:
    receipt = read_receipt(FIRST_FORMAT, KEY)

    assert receipt.verified
    assert (receipt.task_id, receipt.unit, receipt.exposures) == ("task-1", "", ())
    assert [(rule.version, rule.state) for rule in receipt.rules] == [(1, "applied")]


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
