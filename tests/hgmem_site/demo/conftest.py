"""A demo workspace whose agent has a few walks before it."""

import importlib.util
from itertools import islice
from typing import Any

import pytest

from benchmarks.bfcl import load_tasks, play, variants
from hgmem_site.demo import player
from memory.actions.accounts import create_workspace, set_member
from memory.domain.access import Role
from memory.models import Workspace
from memory.permissions import SYSTEM
from tests.conftest import Cast, skip_or_fail

WALKS = 2


@pytest.fixture
def demo(cast: Cast) -> Workspace:
    """The first run's workspace, with the cast's owner, reviewer and viewer."""
    workspace = create_workspace(slug="demo", name="Demo", owner=cast.owner, by=SYSTEM)
    for role in (Role.REVIEWER, Role.VIEWER):
        set_member(workspace=workspace, user=getattr(cast, role.value), role=role, by=SYSTEM)
    return workspace


@pytest.fixture
def walks(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, live_server: Any, settings: Any
) -> tuple[Any, ...]:
    """The walks of a pass, two unless told otherwise, over a real server; nothing was played before."""
    if importlib.util.find_spec("bfcl_eval") is None:
        skip_or_fail("the bfcl-eval wheel is not installed")
    settings.SITE_URL = live_server.url
    failing = (variant for variant in variants(load_tasks()) if play(variant).errors)
    stream = tuple(islice(failing, getattr(request, "param", WALKS)))
    monkeypatch.setattr(player, "_stream", lambda: stream)
    for kept in (player._KEYS, player._SETTLED, player._WAITING):
        kept.clear()
    return stream
