"""Rules as files over the API."""

import json
from typing import Any

from rest_framework.test import APIClient

from corrections.models import RuleVersion
from tests.conftest import Cast
from tests.corrections.builders import make_rule

ROOT = "/api/v1/rules"


def plan(api: APIClient, text: str, **more: Any) -> Any:
    return api.post(f"{ROOT}/import/plan", {"files": [{"name": "r.yaml", "text": text}], **more})


def test_export__then_plan__has_nothing_to_do(cast: Cast, admin_api: APIClient) -> None:
    make_rule(cast.workspace)
    answer = admin_api.get(f"{ROOT}/export")
    assert answer["Content-Type"] == "application/yaml; charset=utf-8"
    body = plan(admin_api, answer.text).json()
    assert (body["nothing_to_do"], body["changes"], body["counts"]["keep"]) == (True, [], 1)
    rules = json.loads(admin_api.get(f"{ROOT}/export?format=json").text)["rules"]
    assert [rule["name"] for rule in rules] == ["Default city"]


def test_apply__a_plan__waits_and_a_second_time_does_nothing(cast: Cast, admin_api: APIClient) -> None:
    make_rule(cast.workspace)
    text = admin_api.get(f"{ROOT}/export").text.replace("Shanghai", "Beijing")
    planned = plan(admin_api, text).json()
    assert planned["changes"][0]["changes"][1]["new"] == "Beijing"
    body = {"files": [{"name": "r.yaml", "text": text}], "digest": planned["digest"], "base": planned["base"]}
    applied = admin_api.post(f"{ROOT}/import/apply", body).json()
    assert (applied["published"], applied["waiting"], applied["changes"][0]["kind"]) == (0, 1, "edit")
    again = admin_api.post(f"{ROOT}/import/apply", body).json()
    assert (again["batch"], again["changes"]) == (None, [])
    assert plan(admin_api, text).json()["counts"]["wait"] == 1
    assert RuleVersion.objects.count() == 2


def test_apply__another_digest__answers_409(cast: Cast, admin_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    text = admin_api.get(f"{ROOT}/export").text.replace("Shanghai", "Beijing")
    body = {
        "files": [{"name": "r.yaml", "text": text}],
        "digest": "of another plan",
        "base": {str(rule.uuid): "draft, version 1"},
    }
    answer = admin_api.post(f"{ROOT}/import/apply", body)
    assert answer.status_code == 409
    assert "Default city was draft, version 1; now it is active" in answer.json()["detail"]


def test_plan__faults__answer_422_with_their_places(admin_api: APIClient) -> None:
    answer = plan(admin_api, "- name: x\n  condition: (")
    assert answer.status_code == 422
    assert any("r.yaml:2: rule 1 (x): condition" in row["detail"] for row in answer.json()["errors"])
    assert admin_api.post(f"{ROOT}/import/plan", {"files": []}).status_code == 422
    assert admin_api.get(f"{ROOT}/export?format=xml").status_code == 422


def test_plan__a_key_that_only_reads__may_not(agent_api: APIClient) -> None:
    assert plan(agent_api, "[]").status_code == 403
