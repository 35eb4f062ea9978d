"""``Idempotency-Key``: the same request is done once and answered twice."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from memory.actions.answers import KEPT, Answer, answer_once
from memory.domain.access import Scope
from memory.models import ApiKey, StoredAnswer, Tool
from memory.permissions import key_actor
from tests.builders import make_tool
from tests.conftest import Cast, api_client, make_key

ORDER = {"name": "bot", "scopes": ["rules:read"]}


def order(client: APIClient, key: str, body: dict[str, Any] = ORDER) -> Any:
    return client.post(reverse("api-keys"), body, headers={"Idempotency-Key": key})


@pytest.mark.django_db
def test_write__same_key_and_request__is_done_once(admin_api: APIClient) -> None:
    first, second = order(admin_api, "k1"), order(admin_api, "k1")

    assert (first.status_code, second.status_code) == (201, 201)
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.json() == first.json() | {"secret": None}
    assert ApiKey.objects.filter(name="bot").count() == 1


@pytest.mark.django_db
def test_write__answer_with_a_secret__the_secret_is_not_kept(admin_api: APIClient) -> None:
    secret = order(admin_api, "k1").json()["secret"]

    assert secret not in str(StoredAnswer.objects.values().get())


@pytest.mark.django_db
def test_write__same_key_other_request__is_422(admin_api: APIClient) -> None:
    order(admin_api, "k1")

    answer = order(admin_api, "k1", ORDER | {"name": "other"})

    assert (answer.status_code, answer.json()["code"]) == (422, "key_reused")
    assert not ApiKey.objects.filter(name="other").exists()


@pytest.mark.django_db
def test_write__refused__keeps_nothing_and_can_be_tried_again(cast: Cast, admin_api: APIClient) -> None:
    taken = make_key(cast.workspace, name="bot")
    assert order(admin_api, "k1").status_code == 409
    ApiKey.objects.filter(prefix=taken[:12]).delete()

    assert order(admin_api, "k1").status_code == 201


@pytest.mark.django_db
def test_write__same_key_of_two_callers__are_two_requests(cast: Cast, admin_api: APIClient) -> None:
    other = api_client(make_key(cast.workspace, Scope.ADMIN, name="second"))
    order(admin_api, "k1")

    assert order(other, "k1", ORDER | {"name": "bot2"}).status_code == 201


@pytest.mark.django_db
def test_write__after_a_day__is_done_again(cast: Cast, admin_api: APIClient) -> None:
    tool = make_tool(cast.workspace)
    url, key = reverse("api-tool", args=[tool.uuid]), {"Idempotency-Key": "k1"}
    admin_api.patch(url, {"description": "one"}, headers=key)
    Tool.objects.update(description="two")
    StoredAnswer.objects.update(answered_at=timezone.now() - KEPT - timedelta(minutes=1))

    answer = admin_api.patch(url, {"description": "one"}, headers=key)

    assert "Idempotent-Replayed" not in answer.headers
    assert Tool.objects.get().description == "one"


@pytest.mark.django_db
@pytest.mark.parametrize("key", [pytest.param("x" * 201, id="too-long"), pytest.param("a\tb", id="control")])
def test_write__key_that_is_none__is_422(admin_api: APIClient, key: str) -> None:
    assert order(admin_api, key).status_code == 422


@pytest.mark.django_db
def test_delete__repeated__gets_the_empty_answer_again(cast: Cast, admin_api: APIClient) -> None:
    member = cast.workspace.members.get(user=cast.viewer)
    url, key = reverse("api-member", args=[member.uuid]), {"Idempotency-Key": "gone"}

    answers = [admin_api.delete(url, headers=key) for _ in range(2)]

    assert [(answer.status_code, answer.content) for answer in answers] == [(204, b"")] * 2


@pytest.mark.django_db(transaction=True)
def test_answer_once__two_at_once__only_one_produces(cast: Cast) -> None:
    make_key(cast.workspace, Scope.ADMIN, name="racer")
    by = key_actor(ApiKey.objects.get(name="racer"))
    started, produced, answers = threading.Barrier(2, timeout=10), [], []

    def produce() -> Answer:
        produced.append(1)
        return Answer(200, {"n": len(produced)})

    def ask() -> None:
        try:
            started.wait()
            answers.append(answer_once(key="same", digest="d", by=by, produce=produce))
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert [answer.body for answer in answers] == [{"n": 1}, {"n": 1}]
    assert sorted(answer.is_replay for answer in answers) == [False, True]
