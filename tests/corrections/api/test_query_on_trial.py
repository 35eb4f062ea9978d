"""What an agent is told while a rule is on trial: in the control arm, nothing that tells it so."""

import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from corrections.actions.rules import edit_rule
from corrections.live.receipts import RECEIPTS
from corrections.live.signing import receipt_key
from corrections.models import IssuedToken, Rule
from hgmem.receipts import read_receipt
from hgmem.rules.assignment import assign
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_canary, make_rule, weather_document

URL = "/api/v1/corrections/query"


def task_in(rule: Rule, arm: str) -> str:
    names = (f"task-{at}" for at in range(100))
    return next(name for name in names if assign(str(rule.uuid), "salt", name, share=5_000) == arm)


def ask(api: APIClient, task: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    answer = api.post(URL, {"tool": "weather_api", "input": {}, "explain": True, "task": task, **more})
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def without_receipt(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in ("receipt", "ruleset_version")}


@pytest.mark.parametrize("told", [{}, {"city": "Lima"}], ids=["matches", "nearly matches"])
def test_query__control_task__answers_as_without_the_rule(
    cast: Cast, agent_api: APIClient, told: dict[str, Any]
) -> None:
    expected = ask(agent_api, {"id": "any"}, input=told)
    rule = make_rule(cast.workspace, active=False)
    make_canary(rule)
    task = task_in(rule, "control")
    answer = ask(agent_api, {"id": task}, input=told)
    assert without_receipt(answer) == without_receipt(expected)
    assert str(rule.uuid) not in json.dumps(answer)


def test_query__canary_task_and_its_sub_task__get_the_rule(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace, active=False)
    make_canary(rule)
    canary, control = task_in(rule, "canary"), task_in(rule, "control")
    for task in ({"id": canary}, {"id": "sub", "root": canary}, {"id": control, "root": canary}):
        assert ask(agent_api, task)["input"] == {"city": "Shanghai"}


def test_query__edit_on_trial__the_control_gets_the_served_version(cast: Cast, agent_api: APIClient) -> None:
    action = {"transform": "set_default", "field": "city", "default_value": "Lima"}
    document = weather_document(action_detail=action)
    rule = edit_rule(rule=make_rule(cast.workspace), document=document, base_version=1, by=SYSTEM)
    make_canary(rule)
    cities = [ask(agent_api, {"id": task_in(rule, arm)})["input"]["city"] for arm in ("canary", "control")]
    assert cities == ["Lima", "Shanghai"]


def test_query__either_arm__leaves_tokens_alike(cast: Cast, agent_api: APIClient) -> None:
    rule = make_rule(cast.workspace, active=False)
    canary = make_canary(rule, state="shadow")
    asked = [{"id": f"task-{at}"} for at in range(10)]
    tokens = [ask(agent_api, task, input=told)["receipt"] for task in asked for told in ({}, {"city": "x"})]
    assert len({len(token) for token in tokens}) <= 2  # "task-0" to "task-9": an input digest apart or not
    body = tokens[0].split(".")[0]
    assert canary.uuid.bytes not in urlsafe_b64decode(body + "=" * (-len(body) % 4))


@pytest.mark.parametrize("arm", ["canary", "control"])
def test_query__exposed_task__is_noted_beside_the_token_and_sealed_in_it(
    cast: Cast, agent_api: APIClient, arm: str
) -> None:
    rule = make_rule(cast.workspace, active=False)
    canary = make_canary(rule, stage=3)
    token = ask(agent_api, {"id": task_in(rule, arm)})["receipt"]
    RECEIPTS.flush()
    issued = IssuedToken.objects.get()
    assert json.loads(issued.exposures) == [[str(canary.uuid), 3, 5_000, arm]]
    assert read_receipt(token, None).exposures is None
    assert read_receipt(token, receipt_key(cast.workspace.pk)).exposures == ((canary.uuid, 3, 5_000, arm),)


def test_query__no_task_named__is_answered_as_control_and_not_noted(cast: Cast, agent_api: APIClient) -> None:
    make_canary(make_rule(cast.workspace, active=False))
    assert ask(agent_api, {})["input"] == {}
    assert RECEIPTS.flush() == 0


def test_query__condition_of_a_shadow_fails__is_counted_and_not_told(
    cast: Cast, agent_api: APIClient
) -> None:
    rule = make_rule(cast.workspace, active=False, condition="input.n > 5")
    make_canary(rule, state="shadow")
    answer = ask(agent_api, {"id": "t"}, input={"n": "x"})
    RECEIPTS.flush()
    [fault] = json.loads(IssuedToken.objects.get().errors)
    assert (answer["errors"], fault["rule"]) == ([], str(rule.uuid))


def test_query__with_canaries__asks_the_database_nothing_more(cast: Cast, agent_api: APIClient) -> None:
    counts = []
    for _ in range(2):
        ask(agent_api, {"id": "warm"})
        with CaptureQueriesContext(connection) as queries:
            ask(agent_api, {"id": "t"})
        counts.append(len(queries))
        make_canary(make_rule(cast.workspace, active=False))
    assert counts[0] == counts[1]
