"""Guessing passwords ends soon."""

from typing import Any

import pytest
from django.test import Client

from tests.conftest import Cast


@pytest.fixture(autouse=True)
def _throttled(settings: Any) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 3


def sign_in(name: str, password: str, address: str = "10.0.0.1") -> int:
    """The status of the answer; 302 is a success."""
    data = {"username": name, "password": password}
    return Client().post("/login/", data, REMOTE_ADDR=address).status_code


def test_login__too_many_wrong_passwords__is_locked_even_for_the_right_one(cast: Cast) -> None:
    for _ in range(3):
        sign_in("viewer", "wrong")

    assert sign_in("viewer", "pass-viewer") == 429


@pytest.mark.parametrize(
    ("name", "address"),
    [
        pytest.param("owner", "10.0.0.1", id="another-name"),
        pytest.param("viewer", "10.0.0.2", id="elsewhere"),
    ],
)
def test_login__somebody_else_after_that__is_not_locked_out(cast: Cast, name: str, address: str) -> None:
    for _ in range(3):
        sign_in("viewer", "wrong")

    assert sign_in(name, f"pass-{name}", address) == 302
