"""Liveness and readiness: a word for anybody, the details for members only."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from memory.models import Task
from memory.queries import checks
from memory.queries.checks import Check, health_checks
from tests.conftest import Cast


def test_healthz__no_database__still_answers() -> None:
    answer = Client().get("/healthz")  # no database fixture: a query would fail the test

    assert (answer.status_code, answer.content) == (200, b"ok\n")


class GoneConnection:
    """A connection to a database that went away."""

    vendor = "postgresql"

    def cursor(self) -> Any:
        raise DatabaseError("secret host name")


def test_readyz__all_well__is_ready(db: None, settings: Any, tmp_path: Any) -> None:
    settings.BROKER_DIR = tmp_path
    (tmp_path / "queue").mkdir()

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


def test_readyz__backlog_nobody_works_on__is_degraded_and_says_no_more(cast: Cast) -> None:
    old = timezone.now() - timedelta(minutes=5)
    Task.objects.create(
        workspace=cast.workspace,
        external_id="t",
        root_task="t",
        content_digest="",
        received_at=old,
        updated_at=old,
    )

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"status": "degraded"})


def test_readyz__database_away__is_503(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "connection", GoneConnection())

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()) == (503, {"status": "unavailable"})


def test_health_checks__old_backlog__names_its_age(cast: Cast) -> None:
    old = timezone.now() - timedelta(minutes=5)
    Task.objects.create(
        workspace=cast.workspace,
        external_id="t",
        root_task="t",
        content_digest="",
        received_at=old,
        updated_at=old,
    )

    analysis = find(health_checks(), "analysis")

    assert analysis.state == "late"
    assert analysis.value == pytest.approx(300, abs=5)


def test_health_checks__redis_away__is_down_and_nothing_raises(db: None, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    broker = find(health_checks(), "broker")

    assert broker.state == "down"
    assert "127.0.0.1" not in broker.detail


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probe__post__is_refused(db: None, path: str) -> None:
    assert Client().post(path).status_code == 405


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probe__without_tls__is_not_redirected(db: None, settings: Any, path: str) -> None:
    settings.SECURE_SSL_REDIRECT = True

    assert Client().get(path).status_code == 200


def find(checks: list[Check], name: str) -> Check:
    """The check of that name."""
    return next(check for check in checks if check.name == name)
