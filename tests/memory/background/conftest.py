"""What the tests of the worker share."""

from typing import Any

import pytest

from memory.background import looking


@pytest.fixture
def rewriters(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The rewriters that are tried, in order; fill it."""
    chosen: list[tuple[str, Any]] = []
    monkeypatch.setattr(looking, "choose_rewriters", lambda policy, wanted: chosen)
    return chosen
