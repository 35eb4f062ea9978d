"""A demo workspace whose agent has a few walks before it."""

import importlib.util
from itertools import islice
from typing import Any

import pytest

from benchmarks.bfcl import load_tasks, play, variants
from hgmem_site.demo import player
from memory.models import Workspace
from tests.conftest import Cast, skip_or_fail
from tests.hgmem_site.demo.scenes import make_demo

WALKS = 2


@pytest.fixture
def demo(cast: Cast) -> Workspace:
    """The first run's workspace."""
    return make_demo(cast)


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
