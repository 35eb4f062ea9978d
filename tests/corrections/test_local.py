"""Decisions made in the agent's process: the same as the server's, and known to it in the end."""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

import hgmem
from corrections.actions.rules import disable_rule
from corrections.background.settle import count_backlog, settle_backlog, store_backlog
from corrections.live.bundles import BUNDLES
from corrections.live.rulesets import RULESETS
from corrections.models import Exposure, Receipt
from hgmem.receipts import read_receipt
from hgmem.runtime.bundle import BundleFile
from memory.actions.accounts import revoke_key
from memory.models import ApiKey, ToolCall
from memory.permissions import SYSTEM
from tests.agents import make_client
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import make_canary, make_rule

QUERY = "/api/v1/corrections/query"
TOOLS = ("weather_api", "search", "book_flight", "read_file")
PARTS = ("tool", "input", "block", "ask", "hints", "insert_steps", "after_call", "applied", "suppressed")
CITIES = ("", "  ", "Lima", "Shanghai", None, 7)


@pytest.fixture
def client(cast: Cast, tmp_path: Path) -> Any:
    with make_client(make_key(cast.workspace), tmp_path) as made:
        yield made


def test_corpus__asked_here_and_there__decides_alike(cast: Cast, client: hgmem.Client) -> None:
    make_corpus(cast)
    client.rules.refresh()
    api = api_client(make_key(cast.workspace, name="other"))
    drawn = random.Random(6)
    decided = 0
    for _ in range(120):
        context = draw_context(drawn)
        there = api.post(QUERY, context).json()
        here = client.decide(context)
        assert here.source == "local", here.why_open
        for part in PARTS:
            assert getattr(here, part) == there[part], (part, context)
        assert signed_parts(here.receipt) == signed_parts(there["receipt"])
        decided += bool(there["applied"])
    assert decided > 30


def test_local_receipt__came_back_with_a_call__counts(cast: Cast, client: hgmem.Client) -> None:
    rule = make_rule(cast.workspace)
    client.rules.refresh()

    with hgmem.task("weather", id="task-1", client=client):
        hgmem.guard(weather, name="weather_api", client=client)("")
    assert client.flush()

    settle()
    row = Receipt.objects.get()
    assert (row.was_applied, row.task_external_id, row.tool) == (True, "task-1", "weather_api")
    rule.refresh_from_db()
    assert (rule.match_count, rule.applied_count, rule.helped_count) == (1, 1, 1)
    assert ToolCall.objects.get().input == {"city": "Shanghai"}


def test_exposure__met_in_a_local_decision__is_the_servers_row(cast: Cast, client: hgmem.Client) -> None:
    rule = make_rule(cast.workspace, active=False)
    canary = make_canary(rule)
    client.rules.refresh()

    for number in range(6):
        with suppress(ValueError), hgmem.task(id=f"task-{number}", client=client):
            hgmem.guard(weather, name="weather_api", client=client)("")
    assert client.flush()
    settle()

    rows = {row.unit: row.arm for row in Exposure.objects.filter(canary=canary)}
    there = {}
    for name in rows:
        answer = api_client(make_key(cast.workspace, name=name)).post(
            QUERY, {"tool": "weather_api", "input": {}, "task": {"id": name}}
        )
        there[name] = "canary" if answer.json()["applied"] else "control"
    assert rows == there
    assert len(rows) == 6


def test_broken_condition__failed_here__is_counted_there(cast: Cast, client: hgmem.Client) -> None:
    rule = make_rule(cast.workspace, condition="input.city.size() > 1")
    client.rules.refresh()

    assert client.decide({"point": "before", "tool": "weather_api", "input": {"city": 1}}).errors
    assert client.flush()
    settle()

    rule.refresh_from_db()
    assert rule.error_count == 1


def test_refresh_rules__server_is_there__has_the_newest(cast: Cast, client: hgmem.Client) -> None:
    make_rule(cast.workspace)
    assert client.refresh_rules() is True
    assert client.rules.freshness().rules == 1


def test_refresh__nothing_changed__costs_no_body(cast: Cast, client: hgmem.Client) -> None:
    make_rule(cast.workspace)
    assert client.rules.refresh() is True
    assert client.rules.refresh() is False
    assert client.rules.freshness().rules == 1


def test_refresh__rule_disabled__is_gone(cast: Cast, client: hgmem.Client) -> None:
    rule = make_rule(cast.workspace)
    client.rules.refresh()
    disable_rule(rule=rule, by=SYSTEM)
    assert client.rules.refresh() is True
    assert client.decide({"tool": "weather_api", "input": {}}).applied == []


def test_copy_on_disk__server_is_away__decides_from_it(cast: Cast, tmp_path: Path) -> None:
    make_rule(cast.workspace)
    secret = make_key(cast.workspace)
    with make_client(secret, tmp_path) as first:
        first.rules.refresh()

    with hgmem.Client("http://127.0.0.1:9", secret, home=tmp_path) as second:
        second.rules._file = BundleFile(first.settings)
        second.rules.turn()
        verdict = second.decide({"tool": "weather_api", "input": {}})
    assert (verdict.source, verdict.input) == ("local", {"city": "Shanghai"})


@pytest.mark.parametrize(
    "spoil",
    [lambda text: text.replace(b"Shanghai", b"Shanghaj"), lambda text: text[:-9]],
    ids=["changed", "cut"],
)
def test_copy_on_disk__tampered_with__is_not_used(cast: Cast, tmp_path: Path, spoil: Any) -> None:
    make_rule(cast.workspace)
    with make_client(make_key(cast.workspace), tmp_path) as client:
        client.rules.refresh()
        path = BundleFile(client.settings).path
        path.write_bytes(spoil(path.read_bytes()))
        assert BundleFile(client.settings).load(client.settings) is None


def test_local_receipt__of_another_workspace__is_not_believed(cast: Cast, tmp_path: Path) -> None:
    make_rule(cast.elsewhere)
    with make_client(make_key(cast.elsewhere, name="foreign"), tmp_path) as foreign:
        foreign.rules.refresh()
        token = foreign.decide({"tool": "weather_api", "input": {}, "task": {"id": "t"}}).receipt
    api = api_client(make_key(cast.workspace))

    answer = api.post("/api/v1/receipts", {"receipts": [{"token": token}]}).json()
    record_call(api, token)
    settle()

    assert answer["results"][0]["status"] == "invalid"
    assert not Receipt.objects.filter(workspace=cast.workspace).exists()


def test_local_receipt__key_revoked_since__still_counts(cast: Cast, tmp_path: Path) -> None:
    make_rule(cast.workspace)
    with make_client(make_key(cast.workspace), tmp_path) as client:
        client.rules.refresh()
        token = client.decide({"tool": "weather_api", "input": {}, "task": {"id": "t"}}).receipt
    revoke_key(key=ApiKey.objects.get(), by=SYSTEM)
    api = api_client(make_key(cast.workspace, name="next"))

    record_call(api, token)
    settle()

    assert Receipt.objects.get().task_external_id == "t"


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"token": "a.b"}, "no receipt"),
        ({"token": "a.b.c"}, "no receipt"),
        ({}, "token"),
        ({"token": 7}, "token"),
        ("text", "object"),
        ({"token": "a.b.c", "more": 1}, "more"),
    ],
)  # fmt: skip
def test_receipts__not_one_of_ours__are_refused_alone(cast: Cast, item: Any, said: str) -> None:
    api = api_client(make_key(cast.workspace))
    answer = api.post("/api/v1/receipts", {"receipts": [item]})
    assert answer.status_code == 207
    result = answer.json()["results"][0]
    assert result["status"] == "invalid"
    assert said in result["detail"]


def test_ruleset__same_stamp__is_made_once(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    make_rule(cast.workspace)
    api = api_client(make_key(cast.workspace))
    BUNDLES.forget()
    first = api.get("/api/v1/ruleset")
    monkeypatch.setattr("corrections.live.bundles._make", None)
    second = api.get("/api/v1/ruleset")
    third = api.get("/api/v1/ruleset", HTTP_IF_NONE_MATCH=first["ETag"])
    packed = api.get("/api/v1/ruleset", HTTP_ACCEPT_ENCODING="gzip")
    assert (first.status_code, second.content, third.status_code) == (200, first.content, 304)
    assert packed["Content-Encoding"] == "gzip"
    assert first["HGMem-Signature"] == packed["HGMem-Signature"] != api_client(
        make_key(cast.workspace, name="other")
    ).get("/api/v1/ruleset")["HGMem-Signature"]  # fmt: skip


def weather(city: str) -> str:
    if not city:
        raise ValueError("no city")
    return f"sunny in {city}"


def record_call(api: APIClient, token: str) -> None:
    calls = [{"tool": "weather_api", "receipt": token}]
    assert api.post("/api/v1/experiences", {"external_id": "t", "calls": calls}).status_code == 201


def settle() -> None:
    store_backlog()
    settle_backlog()
    count_backlog()


def signed_parts(token: str) -> list[Any]:
    receipt = read_receipt(token, None)
    return [
        receipt.asked_tool, receipt.tool, receipt.task_id, receipt.context_digest, receipt.input_digest,
        receipt.rules, receipt.unit,
    ]  # fmt: skip


EVERYWHERE: list[dict[str, Any]] = [
    {},
    {
        "name": "Other city", "condition": "input.city == null", "priority": 2,
        "action_detail": {"transform": "set_default", "field": "city", "default_value": "Lima"},
    },
    {
        "name": "No sevens", "condition": "input.city == 7", "action_type": "PRE_CALL_VALIDATION",
        "action_detail": {"message": "7 is no city", "on_failure": "block"},
    },
    {
        "name": "Tell", "condition": "'vip' in task.tags", "action_type": "PROMPT_ENHANCEMENT",
        "action_detail": {"text": "mind {{ input.city }}"},
    },
    {
        "name": "Look first", "condition": "size(history) == 0", "action_type": "INSERT_STEP",
        "action_detail": {"tool": "read_file", "arguments": {"name": "a"}},
    },
]  # fmt: skip
ON_SEARCH: list[dict[str, Any]] = [
    {
        "name": "Other tool", "applies_to": "TOOL_CALL:search", "condition": "input.city == 'Lima'",
        "action_type": "TOOL_SWITCH", "action_detail": {"tool": "lookup", "parameters": {"place": "city"}},
    },
    {
        "name": "Adjust", "applies_to": {"tool": "search", "point": "after"},
        "condition": "output.status == 'x'", "action_type": "POST_CALL_PARSING_ADJUST",
        "action_detail": {"op": "treat_as_error", "message": "x"},
    },
]  # fmt: skip


def make_corpus(cast: Cast) -> None:
    """Rules of every kind on a few tools, on trial in every mode, some that want the same field."""
    for tool in TOOLS:
        scope = f"TOOL_CALL:{tool}"
        for document in EVERYWHERE:
            make_rule(cast.workspace, applies_to=scope, **document)
        for state in ("running", "shadow", "holdout"):
            detail = {"transform": "set_default", "field": f"days_{state}", "default_value": 3}
            rule = make_rule(
                cast.workspace, name=f"On trial {state}", applies_to=scope, active=False,
                condition="input.days == null", action_detail=detail,
            )  # fmt: skip
            make_canary(rule, state=state)
    for document in ON_SEARCH:
        make_rule(cast.workspace, **document)
    RULESETS.forget()


def draw_context(drawn: random.Random) -> dict[str, Any]:
    point = drawn.choice(("before", "before", "before", "after", "planning"))
    context: dict[str, Any] = {"point": point, "tool": drawn.choice(TOOLS), "input": {}}
    if drawn.random() < 0.7:
        context["input"]["city"] = drawn.choice(CITIES)
    if drawn.random() < 0.8:
        context["task"] = {"id": f"t{drawn.randrange(40)}", "tags": drawn.choice(([], ["vip"]))}
        if drawn.random() < 0.3:
            context["task"]["root"] = f"r{drawn.randrange(9)}"
    if drawn.random() < 0.5:
        context["history"] = [{"tool": "search", "status": "ok"}]
    if point == "after":
        context["output"] = {"status": drawn.choice(("x", "y"))}
    return context
