"""Rule proposals over the API."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from corrections.models import Rule, RuleProposal
from memory.domain.access import Scope
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import make_rule, make_rule_proposal, weather_document
from tests.corrections.web.scenes import city_calls, city_pattern
from tests.pages import HOSTILE

pytestmark = pytest.mark.django_db
URL = "/api/v1/rules/proposals"


@pytest.fixture
def coach(cast: Cast) -> APIClient:
    """A supervising agent: it may write rules, and nothing else."""
    return api_client(make_key(cast.workspace, Scope.RULES_WRITE, name="coach"))


@pytest.fixture
def reviewer_api(cast: Cast) -> APIClient:
    """A key that reviews."""
    return api_client(make_key(cast.workspace, Scope.REVIEW, Scope.EXPERIENCE_READ, name="reviewer"))


def test_propose__rule_with_evidence__answers_with_the_backtest(cast: Cast, coach: APIClient) -> None:
    task = city_calls(cast.workspace, city_pattern(cast.workspace))
    body = {"document": weather_document(), "reason": "Empty cities fail",
            "evidence": [{"task": str(task.uuid), "seq": 0}]}  # fmt: skip
    first, again = coach.post(URL, body), coach.post(URL, body)

    assert (first.status_code, again.status_code) == (201, 200), first.json()
    answer = first.json()
    assert answer["status"] == "proposed"
    assert answer["backtest"] == {
        "caught": 3, "failures": 3, "hit": 0, "good": 5, "runs": 1, "warning": "",
    }  # fmt: skip
    assert {(call["role"], call["error"][:8]) for call in answer["calls"]} == {("caught", "city mus")}
    assert again.json()["times_proposed"] == 2


def test_propose__hits_good_calls__warns_loudly(cast: Cast, coach: APIClient) -> None:
    city_calls(cast.workspace, city_pattern(cast.workspace))
    answer = coach.post(URL, {"document": weather_document(condition=""), "reason": "Always"}).json()

    assert answer["backtest"]["warning"] == "This rule would hit 5 of 5 calls that went well."


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"reason": "x"}, "document", id="no document"),
        pytest.param({"document": {}, "reason": "x"}, "document", id="empty document"),
        pytest.param({"document": [HOSTILE], "reason": "x"}, "document", id="list"),
        pytest.param({"document": weather_document(condition="input.("), "reason": "x"},
                     "document.condition", id="bad condition"),
        pytest.param({"document": weather_document(), "reason": ""}, "reason", id="no reason"),
        pytest.param({"document": weather_document(), "reason": "x",
                      "evidence": [{"task": "8c5a2d9e-7a44-4d1e-9d0a-1c1a3b8a0001", "seq": 0}]},
                     "evidence.0", id="unknown evidence"),
    ],
)  # fmt: skip
def test_propose__bad_body__says_where(coach: APIClient, body: dict[str, Any], field: str) -> None:
    answer = coach.post(URL, body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith(field), answer.json()
    assert not RuleProposal.objects.exists()


def test_propose__hostile_text__is_kept_as_data(coach: APIClient) -> None:
    answer = coach.post(URL, {"document": weather_document(name=HOSTILE), "reason": HOSTILE})

    assert (answer.status_code, answer.json()["reason"]) == (201, HOSTILE)


def test_propose__rule_says_the_same__is_409_with_the_rule(cast: Cast, coach: APIClient) -> None:
    make_rule(cast.workspace, name="There already")
    answer = coach.post(URL, {"document": weather_document(), "reason": "x"})

    assert answer.status_code == 409
    assert "There already" in answer.json()["detail"]


def test_list__filters__narrow_it(cast: Cast, reviewer_api: APIClient) -> None:
    make_rule_proposal(cast.workspace)
    make_rule_proposal(
        cast.workspace, document=weather_document(applies_to={"tool": "mail"}), source="agent", caught=9
    )
    make_rule_proposal(cast.elsewhere)

    def names(query: str) -> list[str]:
        return [row["tool"] for row in reviewer_api.get(f"{URL}?{query}").json()["results"]]

    assert names("") == ["mail", "weather_api"]
    assert names("tool=mail") == names("source=agent") == names("min_caught=5") == ["mail"]
    assert names("status=rejected") == names("q=nothing") == []
    assert names("action_type=PARAMETER_TRANSFORM&q=trim") == ["mail", "weather_api"]


def test_decide__key__accepts_rejects_and_opens_again(cast: Cast, reviewer_api: APIClient) -> None:
    row = make_rule_proposal(cast.workspace)
    url = f"{URL}/{row.uuid}"

    assert reviewer_api.post(f"{url}/reject", {}).status_code == 422
    assert reviewer_api.post(f"{url}/reject", {"reason": "no"}).json()["status"] == "rejected"
    assert reviewer_api.post(f"{url}/accept", {}).status_code == 409
    assert reviewer_api.post(f"{url}/reopen", {}).json()["status"] == "proposed"
    accepted = reviewer_api.post(f"{url}/accept", {"note": "fine"})

    assert accepted.status_code == 202  # an approval is a person's, unless the policy says otherwise
    assert accepted.json()["rule"] == str(Rule.objects.get().uuid)
    assert Rule.objects.get().status == "draft"


def test_accept__workspace_lets_keys_approve__is_served(cast: Cast, reviewer_api: APIClient) -> None:
    cast.workspace.settings = {"changes": {"key_approval": True}, "canaries": {"start": "never"}}
    cast.workspace.save()
    row = make_rule_proposal(cast.workspace)

    assert reviewer_api.post(f"{URL}/{row.uuid}/accept", {}).status_code == 200
    assert Rule.objects.get().status == "active"


def test_propose__key_without_the_scope__is_refused(agent_api: APIClient) -> None:
    assert agent_api.post(URL, {"document": weather_document(), "reason": "x"}).status_code == 403
