"""Writes of the management API: validators, keys, members."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from memory.api.keyring import KEYRING
from memory.models import ApiKey, AuditEvent, Member, User, Validator
from tests.builders import make_call, make_failure, make_pattern, make_task, make_tool, make_validator
from tests.conftest import Cast, api_client, make_user

pytestmark = pytest.mark.django_db
CHECK = {"name": "priced", "tool": "book", "kind": "cel", "body": {"check": "output.price > 0"}}


def test_validators__written__is_enabled_and_listed(cast: Cast, admin_api: APIClient) -> None:
    answer = admin_api.post(reverse("api-validators"), CHECK)

    assert answer.status_code == 201
    body = answer.json()
    assert (body["body"], body["is_enabled"], body["revision"]) == (CHECK["body"], True, 1)
    listed = admin_api.get(reverse("api-validators"), {"kind": "cel", "is_enabled": "true"}).json()["results"]
    assert [row["uuid"] for row in listed] == [body["uuid"]]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"body": {"check": "output.price >"}}, "body", id="cel-that-does-not-parse"),
        pytest.param({"body": {"schema": {}}}, "body.check", id="body-of-the-other-kind"),
        pytest.param({"kind": "json_schema", "body": {"schema": {"type": "no"}}}, "body", id="no-schema"),
        pytest.param({"kind": "regex"}, "kind", id="unknown-kind"),
        pytest.param({"name": ""}, "name", id="no-name"),
    ],
)
def test_validators__bad_one__is_422_with_the_field(
    admin_api: APIClient, change: dict[str, Any], field: str
) -> None:
    answer = admin_api.post(reverse("api-validators"), CHECK | change)

    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert not Validator.objects.exists()


def test_validators__name_taken__is_409(cast: Cast, admin_api: APIClient) -> None:
    make_validator(cast.workspace, CHECK["name"])

    assert admin_api.post(reverse("api-validators"), CHECK).status_code == 409


def test_validator__changed__keeps_what_was_not_sent(cast: Cast, admin_api: APIClient) -> None:
    validator = make_validator(cast.workspace)
    url = reverse("api-validator", args=[validator.uuid])

    answer = admin_api.patch(url, {"message": "No price.", "is_enabled": False, "revision": 1})

    assert answer.status_code == 200
    body = answer.json()
    assert (body["message"], body["is_enabled"], body["revision"]) == ("No price.", False, 2)
    assert body["body"] == {"check": "output.price > 0"}


def test_validator__from_an_old_revision__is_409(cast: Cast, admin_api: APIClient) -> None:
    url = reverse("api-validator", args=[make_validator(cast.workspace, revision=4).uuid])

    assert admin_api.patch(url, {"message": "x", "revision": 3}).status_code == 409
    assert admin_api.patch(url, {"message": "x"}).json()["field"] == "revision"


def test_validator__deleted__its_failures_stay(cast: Cast, admin_api: APIClient) -> None:
    validator = make_validator(cast.workspace)
    call = make_call(make_task(cast.workspace))
    failure = make_failure(call, make_pattern(cast.workspace), validator=validator, source="validator")

    answer = admin_api.delete(reverse("api-validator", args=[validator.uuid]))

    failure.refresh_from_db()
    assert (answer.status_code, failure.validator) == (204, None)
    assert AuditEvent.objects.get(verb="delete_validator").old["body"] == {"check": "output.price > 0"}


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        pytest.param({"price": 3}, "passed", id="holds"),
        pytest.param({"price": 0}, "failed", id="does-not-hold"),
    ],
)
def test_try__a_call_that_is_sent__gets_a_verdict(admin_api: APIClient, output: Any, verdict: str) -> None:
    answer = admin_api.post(reverse("api-validator-try"), CHECK | {"output": output})

    assert (answer.status_code, answer.json()["verdict"]) == (200, verdict)
    assert not Validator.objects.exists()


def test_try__recorded_calls__counts_and_lists_them(cast: Cast, admin_api: APIClient) -> None:
    make_tool(cast.workspace)
    task = make_task(cast.workspace)
    for price in (0, 5, 7):
        make_call(task, output={"price": price})
    url = reverse("api-validator-try")

    one = admin_api.post(url, CHECK | {"call": {"task": str(task.uuid), "seq": 0}}).json()
    many = admin_api.post(url, CHECK | {"backtest": 10}).json()

    assert one["verdict"] == "failed"
    assert (many["backtest"]["n"], many["backtest"]["failed"], many["backtest"]["passed"]) == (3, 1, 2)
    assert [(row["task"], row["seq"]) for row in many["failing"]] == [(str(task.uuid), 0)]


def test_try__call_of_another_workspace__is_404(cast: Cast, foreign_api: APIClient) -> None:
    call = make_call(make_task(cast.workspace))
    place = {"task": str(call.task.uuid), "seq": call.seq}

    assert foreign_api.post(reverse("api-validator-try"), CHECK | {"call": place}).status_code == 404


def test_keys__made__work_and_show_the_secret_once(cast: Cast, admin_api: APIClient) -> None:
    expires = (timezone.now() + timedelta(days=1)).isoformat()
    order = {"name": "bot", "scopes": ["rules:read"], "expires_at": expires}

    answer = admin_api.post(reverse("api-keys"), order)

    assert answer.status_code == 201
    secret = answer.json()["secret"]
    assert api_client(secret).get(reverse("api-me")).json()["scopes"] == ["rules:read"]
    assert secret not in admin_api.get(reverse("api-keys")).content.decode()


@pytest.mark.parametrize(
    ("order", "status", "field"),
    [
        pytest.param({"name": "x", "scopes": ["everything"]}, 422, "scopes.0", id="unknown-scope"),
        pytest.param({"name": "x", "scopes": []}, 422, "scopes", id="no-scope"),
        pytest.param({"name": "ADMIN", "scopes": ["rules:read"]}, 409, None, id="name-in-use"),
    ],
)
def test_keys__bad_order__is_refused(
    admin_api: APIClient, order: dict[str, Any], status: int, field: str | None
) -> None:
    answer = admin_api.post(reverse("api-keys"), order)

    assert (answer.status_code, answer.json().get("field")) == (status, field)


def test_keys__revoked__stop_and_are_listed_apart(cast: Cast, admin_api: APIClient) -> None:
    made = admin_api.post(reverse("api-keys"), {"name": "bot", "scopes": ["rules:read"]}).json()

    answer = admin_api.post(reverse("api-key-revoke", args=[made["uuid"]]))
    KEYRING.forget()

    assert answer.json()["revoked_at"] is not None
    assert api_client(made["secret"]).get(reverse("api-me")).status_code == 401
    listed = admin_api.get(reverse("api-keys"), {"revoked": "true"}).json()["results"]
    assert [row["uuid"] for row in listed] == [made["uuid"]]
    assert ApiKey.objects.filter(revoked_at=None).count() == 1


def test_members__user_there_already__is_added_without_a_password(cast: Cast, admin_api: APIClient) -> None:
    make_user("newcomer")

    answer = admin_api.post(reverse("api-members"), {"username": "newcomer", "role": "viewer"})

    assert (answer.status_code, answer.json()["role"], answer.json()["password"]) == (201, "viewer", None)


def test_members__unknown_user__is_made_with_a_password(cast: Cast, admin_api: APIClient) -> None:
    answer = admin_api.post(reverse("api-members"), {"username": "fresh", "role": "viewer"})

    assert User.objects.get(username="fresh").check_password(answer.json()["password"])


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        pytest.param({"username": "viewer", "role": "owner"}, 409, None, id="member-already"),
        pytest.param({"username": "a b", "role": "viewer"}, 422, "username", id="no-user-name"),
        pytest.param({"username": "x", "role": "king"}, 422, "role", id="unknown-role"),
    ],
)
def test_members__bad_one__is_refused(
    admin_api: APIClient, body: dict[str, str], status: int, field: str | None
) -> None:
    answer = admin_api.post(reverse("api-members"), body)

    assert (answer.status_code, answer.json().get("field")) == (status, field)


def test_member__role_changed_then_removed__is_gone(cast: Cast, admin_api: APIClient) -> None:
    member = Member.objects.get(workspace=cast.workspace, user=cast.viewer)
    url = reverse("api-member", args=[member.uuid])

    assert admin_api.patch(url, {"role": "reviewer"}).json()["role"] == "reviewer"
    assert admin_api.delete(url).status_code == 204
    assert admin_api.get(url).status_code == 404


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_member__last_owner__stays(cast: Cast, admin_api: APIClient, method: str) -> None:
    member = Member.objects.get(workspace=cast.workspace, user=cast.owner)

    answer = getattr(admin_api, method)(reverse("api-member", args=[member.uuid]), {"role": "viewer"})

    assert answer.status_code == 409
    assert Member.objects.get(pk=member.pk).role == "owner"
