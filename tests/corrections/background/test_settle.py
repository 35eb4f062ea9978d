"""Receipts tied to the calls made under them, and counters that count once."""

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from corrections.background.settle import count_backlog, settle_backlog, store_backlog, was_followed
from corrections.live.receipts import RECEIPTS, ReceiptBuffer
from corrections.models import IssuedToken, Receipt, ReceiptUse, Rule
from hgmem.receipts import digest_json, issue_receipt, read_receipt
from hgmem.rules import Ruleset
from memory.actions.record import record_experience
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule

URL = "/api/v1/corrections/query"


def ask(api: APIClient, **call_input: Any) -> dict[str, Any]:
    answer = api.post(URL, {"tool": "weather_api", "input": call_input, "task": {"id": "t1"}})
    assert answer.status_code == 200
    return dict(answer.json())


def record(cast: Cast, *calls: dict[str, Any], workspace: Any = None) -> None:
    document = {
        "external_id": "t1",
        "calls": [{"tool": "weather_api", "status": "ok", **call} for call in calls],
    }
    target = workspace or cast.workspace
    [result] = record_experience(workspace_id=target.pk, documents=[document], by=SYSTEM)
    assert result.status == "created", result


def work() -> tuple[int, int]:
    store_backlog()
    return settle_backlog(), count_backlog()


def counters(rule: Rule) -> tuple[int, int, int]:
    rule.refresh_from_db()
    return rule.match_count, rule.applied_count, rule.error_count


@pytest.mark.parametrize("lost", [pytest.param(False, id="flushed"), pytest.param(True, id="buffer lost")])
def test_settle__call_follows_the_decision__is_tied_and_counted(
    cast: Cast, agent_api: APIClient, lost: bool
) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    RECEIPTS.forget() if lost else RECEIPTS.flush()
    record(cast, {"input": decision["input"], "receipt": decision["receipt"]})
    assert work() == (1, 1)
    receipt = Receipt.objects.get()
    assert (receipt.call_task.external_id, receipt.call_seq, receipt.was_applied) == ("t1", 0, True)
    assert receipt.workspace == cast.workspace
    use = receipt.uses.get()
    assert (use.rule, use.version, use.role) == (rule, 1, "applied")
    assert counters(rule) == (1, 1, 0)
    assert rule.last_matched_at == receipt.issued_at


def test_settle__run_again__changes_nothing(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    RECEIPTS.flush()
    record(cast, {"input": decision["input"], "receipt": decision["receipt"]})
    work()
    assert work() == (0, 0)
    assert counters(rule) == (1, 1, 0)
    assert ReceiptUse.objects.count() == 1


def test_settle__receipt_flushed_after_the_call_was_settled__is_one_row(
    cast: Cast, agent_api: APIClient
) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    record(cast, {"input": decision["input"], "receipt": decision["receipt"]})
    work()
    RECEIPTS.flush()
    work()
    assert Receipt.objects.count() == 1
    assert counters(rule) == (1, 1, 0)


def test_settle__call_made_otherwise__matched_but_not_applied(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    record(cast, {"input": {"city": "Lima"}, "receipt": decision["receipt"]})
    work()
    assert Receipt.objects.get().was_applied is False
    assert counters(rule) == (1, 0, 0)


def test_settle__same_receipt_on_two_calls__the_first_has_it(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    call = {"input": decision["input"], "receipt": decision["receipt"]}
    record(cast, call, call)
    assert work() == (2, 1)
    assert Receipt.objects.get().call_seq == 0
    assert counters(rule) == (1, 1, 0)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda token: token[:-2] + ("AA" if token[-2:] != "AA" else "BB"), id="changed"),
        pytest.param(lambda token: "nonsense", id="no token"),
        pytest.param(lambda token: token.split(".")[0], id="no signature"),
    ],
)
def test_settle__forged_token__makes_no_receipt_and_does_not_stay(
    cast: Cast, agent_api: APIClient, spoil: Any
) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    RECEIPTS.forget()
    record(cast, {"input": decision["input"], "receipt": spoil(decision["receipt"])})
    assert work() == (1, 0)
    assert work() == (0, 0)
    assert not Receipt.objects.exists()
    assert counters(rule) == (0, 0, 0)


def test_settle__receipt_of_another_workspace__ties_nothing(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    RECEIPTS.flush()
    record(cast, {"input": decision["input"], "receipt": decision["receipt"]}, workspace=cast.elsewhere)
    work()
    receipt = Receipt.objects.get()
    assert (receipt.call_task, receipt.settled_at) == (None, None)
    assert counters(rule) == (1, 0, 0)


def test_settle__secret_key_was_changed__old_receipts_still_count(
    cast: Cast, agent_api: APIClient, settings: Any
) -> None:
    rule = make_rule(cast.workspace)
    decision = ask(agent_api)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" * 8
    RECEIPTS.forget()
    record(cast, {"input": decision["input"], "receipt": decision["receipt"]})
    work()
    assert counters(rule) == (1, 1, 0)


def test_count__condition_that_fails__is_shown_on_the_rule(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    assert ask(agent_api, city=7)["errors"]
    RECEIPTS.flush()
    work()
    assert counters(rule) == (0, 0, 1)
    assert rule.last_error
    assert ReceiptUse.objects.get().role == "errored"


@pytest.mark.parametrize(
    ("body", "call", "followed"),
    [
        pytest.param({}, {}, True, id="as told"),
        pytest.param({}, {"call_input": {"city": "x"}}, False, id="another input"),
        pytest.param({}, {"tool": "mail"}, False, id="another tool"),
        pytest.param({}, {"call_input": {"a": "[redacted:email]"}}, None, id="redacted"),
        pytest.param({}, {"call_input": {"a": {"$payload": "d", "size": 9}}}, None, id="cut"),
        pytest.param({"blocked": True}, {"status": "ok"}, False, id="made though blocked"),
        pytest.param({"blocked": True}, {"status": "rejected"}, True, id="blocked and not made"),
    ],
)
def test_was_followed__kinds_of_calls__are_told_apart(
    body: dict[str, Any], call: dict[str, Any], followed: bool | None
) -> None:
    receipt = {"tool": "weather_api", "input_digest": digest_json({"city": "Shanghai"}), **body}
    made = {"tool": "weather_api", "call_input": {"city": "Shanghai"}, "status": "ok", **call}
    assert was_followed(receipt, **made) is followed


def test_buffer__overflow__drops_the_oldest_and_counts(cast: Cast) -> None:
    decision = Ruleset.compile([], version="1").decide({}, now=timezone.now())
    tokens = [issue_receipt(decision, ruleset_version="1", key=b"k" * 32) for _ in range(5)]
    small = ReceiptBuffer(capacity=2)
    for token in tokens:
        small.add(cast.workspace.pk, token, decision)
    assert (small.dropped, small.flush(), store_backlog()) == (3, 2, 2)
    kept = {str(uuid) for uuid in Receipt.objects.values_list("uuid", flat=True)}
    assert kept == {read_receipt(token, None).uuid for token in tokens[3:]}


def test_store__name_that_no_database_stores__does_not_hold_up_the_others(
    cast: Cast, agent_api: APIClient
) -> None:
    make_rule(cast.workspace, applies_to="TOOL_CALL:*")
    context = {"tool": "weather\0", "input": {}, "task": {"id": "t\0"}}
    decision = agent_api.post(URL, context).json()
    RECEIPTS.flush()
    record(cast, {"tool": "weather\0", "input": decision["input"], "receipt": decision["receipt"]})

    assert work() == (1, 1)
    receipt = Receipt.objects.get()
    assert (receipt.tool, receipt.task_external_id, receipt.was_applied) == ("weather\ufffd", "t\ufffd", True)


def test_store__token_that_cannot_be_read__is_dropped(cast: Cast) -> None:
    IssuedToken.objects.create(workspace=cast.workspace, token="nonsense")

    assert store_backlog() == 1
    assert not IssuedToken.objects.exists()
    assert not Receipt.objects.exists()
