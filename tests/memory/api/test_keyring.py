"""Keys in memory: no query for a known key, and a revoked one stops at the next look."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from memory.actions.accounts import revoke_key
from memory.api import keyring
from memory.api.keyring import Keyring
from memory.models import ApiKey
from memory.permissions import SYSTEM
from tests.conftest import Cast, make_key


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    """As in a server: the poller is taken for running, and its turn is ours to call."""
    fresh = Keyring()
    monkeypatch.setattr(type(fresh.poller), "running", property(lambda _: True))
    return fresh


def test_find__known_key__asks_no_database(cast: Cast, ring: Keyring, django_assert_num_queries: Any) -> None:
    secret = make_key(cast.workspace)
    with django_assert_num_queries(1):
        assert ring.find(secret)
    with django_assert_num_queries(0):
        actor = ring.find(secret)
    assert actor is not None
    assert actor.workspace_id == cast.workspace.pk


def test_find__unknown_key__is_looked_up_once(
    cast: Cast, ring: Keyring, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        assert [ring.find("hgm_nobody") for _ in range(3)] == [None, None, None]


def test_refresh__key_revoked__is_forgotten(cast: Cast, ring: Keyring) -> None:
    kept, gone = make_key(cast.workspace, name="kept"), make_key(cast.workspace, name="gone")
    assert ring.find(kept)
    assert ring.find(gone)
    revoke_key(key=ApiKey.objects.get(name="gone"), by=SYSTEM)
    ring.refresh()
    assert ring.find(kept)
    assert ring.find(gone) is None


def test_find__key_expires_between_looks__stops_to_the_second(
    cast: Cast, ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = make_key(cast.workspace)
    assert ring.find(secret)
    end = timezone.now() + timedelta(hours=1)
    ApiKey.objects.update(expires_at=end)
    ring.refresh()
    for moment, works in ((end - timedelta(seconds=1), True), (end, False)):
        monkeypatch.setattr(keyring.time, "time", moment.timestamp)
        assert bool(ring.find(secret)) == works


def test_refresh__many_keys__costs_one_query(
    cast: Cast, ring: Keyring, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        ring.find(make_key(cast.workspace, name=str(number)))
    with django_assert_num_queries(1):
        ring.refresh()


def test_turn__database_away__known_keys_go_on(
    cast: Cast, ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = make_key(cast.workspace)
    assert ring.find(secret)

    def away(digests: list[str]) -> Any:
        raise OperationalError("the database is away")

    monkeypatch.setattr(keyring, "close_old_connections", lambda: None)  # it is the test's own
    monkeypatch.setattr(keyring, "_look_up", away)
    ring.poller._turn()
    assert ring.poller.failing
    assert ring.find(secret)


def test_find__more_unknown_keys_than_it_holds__stays_bounded(
    cast: Cast, ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "MAX_ENTRIES", 3)
    for number in range(10):
        ring.find(f"hgm_{number}")
    assert len(ring._unknown) <= 3
