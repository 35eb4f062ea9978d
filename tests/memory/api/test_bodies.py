"""Bodies that are JSON and yet no good: a clear answer, and nothing that a database refuses."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import ImportJob, Outcome, Validator
from tests.builders import make_call, make_failure, make_pattern, make_task
from tests.conftest import Cast

HUGE = 10**30
VALIDATOR = {"name": "n", "tool": "t", "kind": "json_schema"}


def post(api: APIClient, path: str, body: str) -> Any:
    """The answer to a body as it stands."""
    return api.generic("POST", f"/api/v1/{path}", body, content_type="application/json")


@pytest.mark.parametrize("path", ["rules", "rules/check", "validators/try", "keys"])
@pytest.mark.parametrize(
    ("depth", "status"), [pytest.param(300, 422, id="deep"), pytest.param(50_000, 400, id="bottomless")]
)
def test_body__nested_without_end__is_refused(
    admin_api: APIClient, path: str, depth: int, status: int
) -> None:
    answer = post(admin_api, path, '{"document": ' + "[" * depth + "]" * depth + "}")

    assert answer.status_code == status
    assert "nested" in answer.json()["detail"]


def test_body__longer_than_allowed__is_413(admin_api: APIClient, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 1_000

    assert post(admin_api, "rules/check", json.dumps({"condition": "x" * 2_000})).status_code == 413


def test_validator__character_that_no_database_stores__is_replaced(admin_api: APIClient, cast: Cast) -> None:
    answer = post(admin_api, "validators", json.dumps({**VALIDATOR, "body": {"schema": {"title": "a\0"}}}))

    assert answer.status_code == 201
    assert Validator.objects.get().body["schema"] == {"title": "a\ufffd"}


def test_outcome__character_that_no_database_stores__is_replaced(admin_api: APIClient, cast: Cast) -> None:
    task = make_task(cast.workspace)

    answer = post(
        admin_api, f"experiences/{task.uuid}/outcomes", json.dumps({"result": "failure", "note": "a\0"})
    )

    assert answer.status_code == 201
    assert Outcome.objects.get().note == "a\ufffd"


def test_import__nul_in_file_name_and_tool__is_planned(admin_api: APIClient, cast: Cast) -> None:
    run = {"path_id": "p", "steps": [{"tool": "a\0", "args": {}, "obs": "ok"}]}

    answer = admin_api.generic(
        "POST",
        "/api/v1/imports?file_name=a%00b&format=runs",
        json.dumps(run),
        content_type="application/octet-stream",
    )

    assert answer.status_code == 201
    job = ImportJob.objects.get()
    assert (job.file_name, job.plan["tools"][0]["tool"]) == ("ab", "a\ufffd")


def test_stored_value__integer_beyond_64_bits__is_answered_whole(admin_api: APIClient, cast: Cast) -> None:
    call = make_call(make_task(cast.workspace), input={"n": HUGE})
    pattern = make_pattern(cast.workspace)
    make_failure(call, pattern, context={"input": {"n": HUGE}})

    answer = admin_api.get(f"/api/v1/patterns/{pattern.uuid}/failures")

    assert answer.json()["results"][0]["context"]["input"]["n"] == HUGE
