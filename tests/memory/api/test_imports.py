"""Imports over the API."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from memory.actions.importing import carry_on_import
from memory.actions.imports import apply_import
from memory.domain.access import Scope
from memory.models import ImportJob
from memory.permissions import SYSTEM
from tests.conftest import Cast, api_client, make_key
from tests.memory.actions.test_imports import runs_file


@pytest.fixture(autouse=True)
def _own_uploads(settings: Any, tmp_path: Path) -> None:
    settings.UPLOAD_DIR = tmp_path / "uploads"


def send_raw(api: APIClient, content: bytes, query: str = "?file_name=a.jsonl") -> Any:
    """The file as the body."""
    return api.generic("POST", f"/api/v1/imports{query}", content, content_type="application/octet-stream")


def test_imports__form__answers_the_plan(agent_api: APIClient) -> None:
    file = SimpleUploadedFile("night.jsonl", runs_file())

    answer = agent_api.post("/api/v1/imports", {"file": file, "format": "runs"}, format="multipart")

    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["file_name"], body["status"], body["plan"]["calls"]) == ("night.jsonl", "planned", 6)


def test_imports__raw_body_then_apply__runs_and_can_be_followed(agent_api: APIClient) -> None:
    uuid = send_raw(agent_api, runs_file()).json()["uuid"]

    applied = agent_api.post(f"/api/v1/imports/{uuid}/apply")
    again = agent_api.post(f"/api/v1/imports/{uuid}/apply")
    seen = agent_api.get(f"/api/v1/imports/{uuid}")

    assert (applied.status_code, applied.json()["status"]) == (202, "running")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert seen.json()["cursor"] == 0
    assert agent_api.get("/api/v1/imports").json()["results"][0]["uuid"] == uuid


@pytest.mark.parametrize(
    ("content", "query", "status", "said"),
    [
        pytest.param(b"prose", "", 422, "does not tell its format", id="no-format"),
        pytest.param(b"{}", "?format=yaml", 422, "There is no format", id="unknown-format"),
        pytest.param(b"", "", 422, "no file", id="no-body"),
        pytest.param(b"x" * 5000, "", 413, "1,000 bytes", id="too-large"),
    ],
)
def test_imports__bad_upload__is_refused(
    agent_api: APIClient, settings: Any, content: bytes, query: str, status: int, said: str
) -> None:
    settings.MAX_UPLOAD_BYTES = 1000

    answer = send_raw(agent_api, content, query)

    assert answer.status_code == status
    assert said in answer.content.decode()
    assert not ImportJob.objects.exists()


def test_imports__json_without_a_file__names_the_field(agent_api: APIClient) -> None:
    answer = agent_api.post("/api/v1/imports", {"format": "runs"}, format="multipart")

    assert (answer.status_code, answer.json()["field"]) == (422, "file")


def test_imports__key_that_may_only_ask__gets_403(cast: Cast) -> None:
    api = api_client(make_key(cast.workspace, Scope.RULES_READ, name="asks"))

    assert send_raw(api, runs_file()).status_code == 403


@pytest.mark.parametrize(("method", "step"), [("get", ""), ("post", "/apply"), ("post", "/cancel")])
def test_import__of_another_workspace__is_not_there(
    agent_api: APIClient, foreign_api: APIClient, method: str, step: str
) -> None:
    uuid = send_raw(agent_api, runs_file()).json()["uuid"]

    answer = getattr(foreign_api, method)(f"/api/v1/imports/{uuid}{step}")

    assert answer.status_code == 404
    assert ImportJob.objects.get().status == "planned"


def test_imports__cancel__leaves_it_cancelled(agent_api: APIClient) -> None:
    uuid = send_raw(agent_api, runs_file()).json()["uuid"]

    assert agent_api.post(f"/api/v1/imports/{uuid}/cancel").json()["status"] == "cancelled"


def test_imports__nul_and_half_pair__are_planned_and_recorded(agent_api: APIClient) -> None:
    content = runs_file() + b'{"path_id": "cut \\ud83d \\u0000"}\nnot JSON \x00\n'

    answer = send_raw(agent_api, content, "?file_name=a%00b.jsonl&format=runs")

    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["file_name"], body["plan"]["line_error_count"]) == ("ab.jsonl", 2)
    job = ImportJob.objects.get()
    apply_import(job=job, by=SYSTEM)
    carry_on_import(job)
    assert (job.status, len(job.problems)) == ("done", 2)


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        pytest.param(b"\n" * 300, 413, "more than 200 lines", id="lines"),
        pytest.param(b"{}\n" * 60, 422, "More than 50 lines cannot be read", id="unreadable lines"),
        pytest.param(gzip.compress(b"x" * 200_000), 413, "unpacks to more", id="gzip bomb"),
    ],
)
def test_imports__file_that_never_ends__is_refused(
    agent_api: APIClient, monkeypatch: pytest.MonkeyPatch, content: bytes, status: int, said: str
) -> None:
    monkeypatch.setattr("memory.actions.uploads.MAX_LINES", 200)
    monkeypatch.setattr("memory.actions.uploads.UNPACKED_ANYWAY", 1_000)
    monkeypatch.setattr("memory.actions.imports.MAX_UNREAD", 50)

    answer = send_raw(agent_api, content, "?file_name=a.jsonl&format=runs")

    assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.json()
