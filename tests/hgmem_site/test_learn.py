"""Watch it learn: what the page says before, while and after it plays, and where the player stops."""

from typing import Any

import pytest
from django.utils import timezone

from corrections.actions.plays import begin_again, start_play
from corrections.models import DemoPlay
from hgmem_site.demo import player
from memory.models import Workspace
from memory.permissions import SYSTEM
from tests.conftest import Cast, page_client

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A fresh demo workspace that has not played yet, with the tools at hand."""
    monkeypatch.setattr("hgmem_site.demo.pages.is_installed", lambda: True)
    slug = begin_again(workspace_id=cast.workspace.pk, owner=cast.owner, by=cast.actor("owner"))
    return Workspace.objects.get(slug=slug)


def test_page__fresh_workspace__offers_autopilot_and_says_that_nothing_began(
    cast: Cast, demo: Workspace
) -> None:
    text = page_client(cast.owner).get(f"/w/{demo.slug}/learn/").text

    assert 'name="autopilot" checked' in text
    assert "Nothing was played yet." in text


@pytest.mark.parametrize(
    ("autopilot", "state"),
    [pytest.param(True, "running", id="alone"), pytest.param(False, "stopped", id="by-hand")],
)
def test_player__a_pass_is_over__waits_for_people_without_autopilot(
    demo: Workspace, monkeypatch: pytest.MonkeyPatch, autopilot: bool, state: str
) -> None:
    stream: tuple[Any, ...] = ()
    monkeypatch.setattr(player, "_stream", lambda: stream)
    play = start_play(workspace_id=demo.pk, autopilot=autopilot, by=SYSTEM)
    DemoPlay.objects.filter(pk=play.pk).update(claimed_by=player._me(), claimed_at=timezone.now())

    player._next_pass(play)

    play.refresh_from_db()
    assert (play.state, play.pass_number, play.position) == (state, 2, 0)
