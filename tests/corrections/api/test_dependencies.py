"""Dependencies and impacts over the API: a happy path and a refusal each."""

from rest_framework.test import APIClient

from corrections.models import ManualDependency, Rule
from memory.domain.access import Scope
from tests.conftest import Cast, api_client, make_key
from tests.corrections.actions.test_impacts import make_impact
from tests.corrections.builders import make_rule

DEPENDENCIES = "/api/v1/dependencies"


def make_reader(cast: Cast) -> Rule:
    """A rule that reads what the article's rule writes."""
    return make_rule(
        cast.workspace, name="Units", condition="input.city == 'Boston'",
        action_detail={"op": "set", "field": "units", "value": "F"},
    )  # fmt: skip


def test_dependencies__what_rules_read_and_write__is_a_graph(cast: Cast, admin_api: APIClient) -> None:
    provider, reader = make_rule(cast.workspace), make_reader(cast)

    answer = admin_api.get(f"{DEPENDENCIES}?tool=weather_api&served=true").json()

    (edge,) = answer["edges"]
    assert (edge["provider"], edge["dependent"]) == (str(provider.uuid), str(reader.uuid))
    assert (edge["kind"], edge["fields_shared"], answer["complete"]) == ("field", ["input.city"], True)
    assert {row["name"] for row in answer["rules"]} == {"Default city", "Units"}


def test_dependencies__said_and_taken_back__is_there_and_gone(cast: Cast, admin_api: APIClient) -> None:
    provider, reader = make_rule(cast.workspace), make_reader(cast)
    body = {"rule": str(provider.uuid), "depends_on": str(reader.uuid), "reason": "It knows the units."}

    answer = admin_api.post(DEPENDENCIES, body, format="json")

    assert answer.status_code == 201
    assert admin_api.post(DEPENDENCIES, body, format="json").status_code == 409
    assert admin_api.delete(f"{DEPENDENCIES}/{answer.json()['uuid']}").status_code == 204
    assert not ManualDependency.objects.exists()


def test_dependencies__a_foreign_rule__is_422_with_the_field(cast: Cast, admin_api: APIClient) -> None:
    own, foreign = make_rule(cast.workspace), make_rule(cast.elsewhere)
    body = {"rule": str(own.uuid), "depends_on": str(foreign.uuid), "reason": "x"}

    answer = admin_api.post(DEPENDENCIES, body, format="json")

    assert answer.status_code == 422
    assert [row["field"] for row in answer.json()["errors"]] == ["depends_on"]


def test_dependents__of_a_rule__say_why_and_in_how_many_calls_it_was_not_seen(
    cast: Cast, admin_api: APIClient
) -> None:
    provider, reader = make_rule(cast.workspace), make_reader(cast)

    (row,) = admin_api.get(f"/api/v1/rules/{provider.uuid}/dependents").json()["dependents"]

    assert (row["rule"], row["fields_shared"]) == (str(reader.uuid), ["input.city"])
    assert (row["witness"], row["looked_at"]) == (None, 0)


def test_impacts__open_and_decided__are_listed_and_decided_once(cast: Cast, admin_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    impact = make_impact(cast.workspace)
    own = f"/api/v1/impacts/{impact.uuid}"

    assert [row["uuid"] for row in admin_api.get("/api/v1/impacts?status=open").json()["results"]] == [
        str(impact.uuid)
    ]
    assert admin_api.get("/api/v1/impacts?status=closed").json()["results"] == []
    listed = admin_api.get(f"/api/v1/tools/{impact.tool.uuid}/impacts").json()["results"]
    assert [row["tool_name"] for row in listed] == ["weather_api"]
    view = admin_api.get(own).json()
    assert {row["path"]: row["kind"] for row in view["changes"]}["input.city"] == "gone"
    assert [(row["rule"], row["affected"]) for row in view["rules"]] == [(str(rule.uuid), True)]
    answer = admin_api.post(f"{own}/decide", {"decision": "requeue", "reason": "look"}, format="json")
    assert answer.status_code == 200
    assert answer.json()["rules"] == [str(rule.uuid)]
    assert (
        admin_api.post(f"{own}/decide", {"decision": "keep", "reason": "x"}, format="json").status_code == 409
    )
    assert admin_api.post(f"{own}/undo", {"reason": "x"}, format="json").status_code == 409


def test_impact__a_key_whose_approval_does_not_count__gets_202_and_the_batch(cast: Cast) -> None:
    make_rule(cast.workspace)
    impact = make_impact(cast.workspace)
    client = api_client(make_key(cast.workspace, Scope.RULES_WRITE, Scope.EXPERIENCE_READ))

    answer = client.post(
        f"/api/v1/impacts/{impact.uuid}/decide", {"decision": "disable", "reason": "gone"}, format="json"
    )

    assert answer.status_code == 202
    assert (answer.json()["waits"], answer.json()["batch"] is None) == (1, False)


def test_impact__an_unknown_decision__is_422(cast: Cast, admin_api: APIClient) -> None:
    impact = make_impact(cast.workspace)

    answer = admin_api.post(
        f"/api/v1/impacts/{impact.uuid}/decide", {"decision": "drop", "reason": "x"}, format="json"
    )

    assert answer.status_code == 422
