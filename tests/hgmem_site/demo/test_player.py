"""The scripted agent plays over a real server: one process at a time, killed and taken up, to its end."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from corrections.actions.plays import begin_again, start_play, stop_play
from corrections.background.inducing import induce_backlog
from corrections.domain.canaries import safe_canary_policy
from corrections.domain.changes import safe_policy
from corrections.domain.lifecycle import Refused
from corrections.live.inducers import READERS
from corrections.models import DemoPlay, Rule, RuleProposal
from hgmem_site.demo import player
from hgmem_site.demo.player import LEASE, play_waiting
from memory.background.analyse import analyse_backlog
from memory.models import ApiKey, AuditEvent, Task, Workspace
from memory.permissions import member_actor
from tests.conftest import Cast

pytestmark = [pytest.mark.django_db(transaction=True)]
SLICES = 40


@pytest.fixture(autouse=True)
def cold() -> None:
    """No reader of the test before."""
    READERS.forget()


def begin(cast: Cast, demo: Workspace, *, autopilot: bool = False, passes: int = 1) -> DemoPlay:
    """The owner starts a play."""
    owner = member_actor(cast.owner, demo)
    assert owner is not None
    play = start_play(workspace_id=demo.pk, autopilot=autopilot, by=owner)
    DemoPlay.objects.filter(pk=play.pk).update(passes=passes)
    return play


def play_on(demo: Workspace, *, slices: int = SLICES) -> DemoPlay:
    """Slices, and after each what the worker does about what was recorded; until the play ends."""
    play = DemoPlay.objects.get(workspace=demo)
    for _slice in range(slices):
        play_waiting(slice_s=30.0)
        while analyse_backlog() or induce_backlog(5.0):
            pass
        play.refresh_from_db()
        if play.state != "running":
            break
    return play


def runs(demo: Workspace) -> list[str]:
    """The recorded walks, without the second tries after a failure."""
    names = Task.objects.filter(workspace=demo).order_by("external_id").values_list("external_id", flat=True)
    return [name for name in names if ":again:" not in name]


def test_play__by_hand__ends_by_itself_and_leaves_proposals_to_people(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...]
) -> None:
    begin(cast, demo)

    play = play_on(demo)

    assert (play.state, play.position, play.total, play.accepted) == ("finished", len(walks), len(walks), 0)
    assert runs(demo) == sorted(f"play{play.pk}:1:{variant.id}" for variant in walks)
    assert play.counts == [[[len(walks), len(walks), play.counts[0][0][2], 0]]]
    assert play.newest[0]["failures"]
    assert not Rule.objects.filter(workspace=demo).exists()
    assert play_waiting() == 0


def assert_nothing_left(demo: Workspace) -> None:
    """No key is alive, none may approve, and the log says how it ended."""
    assert not ApiKey.objects.filter(workspace=demo, name=player.KEY_NAME, revoked_at=None).exists()
    demo.refresh_from_db()
    assert not safe_policy(demo.settings).key_approval
    assert not safe_policy(demo.settings).self_approval
    assert safe_canary_policy(demo.settings).start == "agents"
    assert AuditEvent.objects.filter(workspace_uuid=demo.uuid, verb="finish_play").count() == 1


def test_start__workspace_that_is_no_demo__is_refused(cast: Cast) -> None:
    owner = member_actor(cast.owner, cast.workspace)
    assert owner is not None

    with pytest.raises(Refused, match="does not play"):
        start_play(workspace_id=cast.workspace.pk, autopilot=True, by=owner)

    assert not DemoPlay.objects.filter(workspace=cast.workspace).exists()


def test_stop__key_of_the_player__is_revoked_by_whoever_looks_next(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(cast, demo)
    play_waiting()
    owner = member_actor(cast.owner, demo)
    assert owner is not None
    stop_play(workspace_id=demo.pk, by=owner)
    become_another(monkeypatch)

    play_waiting()

    assert not ApiKey.objects.filter(workspace=demo, name=player.KEY_NAME, revoked_at=None).exists()


@pytest.mark.parametrize("walks", [4], indirect=True)
def test_play__autopilot__second_pass_fails_less(cast: Cast, demo: Workspace, walks: tuple[Any, ...]) -> None:
    begin(cast, demo, autopilot=True, passes=2)

    play = play_on(demo)

    first, second = (windows[0] for windows in play.counts)
    assert (play.state, first[1]) == ("finished", len(walks))
    assert play.accepted == RuleProposal.objects.filter(workspace=demo, status="accepted").count() > 0
    assert second[2] < first[2]
    assert second[3] > 0
    assert play.newest[0]["rules"]
    assert_nothing_left(demo)


@pytest.mark.parametrize("walks", [3], indirect=True)
def test_play__slice_reaches_a_window__waits_until_what_was_recorded_is_read(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "WINDOW", 2)
    begin(cast, demo)

    assert [play_waiting(slice_s=30.0) for _slice in range(4)] == [0, 2, 0, 0]
    assert play_on(demo).state == "finished"


def test_play__killed_in_mid_walk__next_process_goes_on_and_records_nothing_twice(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    play = begin(cast, demo)
    play_waiting()  # the look before the first walk
    with monkeypatch.context() as dying:
        dying.setattr(player, "count_walk", die)
        with pytest.raises(SystemExit):
            play_waiting()
    assert len(runs(demo)) == 1

    become_another(monkeypatch)
    assert play_waiting() == 0  # the lease of the dead one holds
    DemoPlay.objects.filter(pk=play.pk).update(claimed_at=timezone.now() - LEASE - timedelta(seconds=1))
    play = play_on(demo)

    assert (play.state, play.counts[0][0][0]) == ("finished", len(walks))
    assert len(runs(demo)) == len(walks)
    assert ApiKey.objects.filter(workspace=demo, name=player.KEY_NAME).count() == 2


def test_play__another_process_has_it__nothing_is_played(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...]
) -> None:
    play = begin(cast, demo)
    DemoPlay.objects.filter(pk=play.pk).update(claimed_by="another", claimed_at=timezone.now())

    assert [play_waiting() for _slice in range(3)] == [0, 0, 0]
    assert runs(demo) == []


def test_play__another_thread_of_the_process_plays__nothing_is_played(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...]
) -> None:
    begin(cast, demo)
    made: list[int] = []
    with player._TURN:
        thread = threading.Thread(target=lambda: made.append(play_waiting()))
        thread.start()
        thread.join()

    assert made == [0]
    assert DemoPlay.objects.get(workspace=demo).claimed_by == ""


def test_play__stopped_between_walks__no_further_walk_is_made_until_it_goes_on(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(cast, demo)
    owner = member_actor(cast.owner, demo)
    assert owner is not None
    count_walk = player.count_walk

    def stop_then_count(*told: Any, **more: Any) -> Any:
        stop_play(workspace_id=demo.pk, by=owner)
        return count_walk(*told, **more)

    play_waiting()
    with monkeypatch.context() as stopping:
        stopping.setattr(player, "count_walk", stop_then_count)
        play_waiting(slice_s=30.0)
    assert play_on(demo, slices=2).position == 1

    begin(cast, demo)
    assert (done := play_on(demo)).state == "finished"
    assert done.position == len(walks)


@pytest.mark.parametrize(
    ("autopilot", "state"),
    [pytest.param(True, "running", id="alone"), pytest.param(False, "stopped", id="by-hand")],
)
def test_play__a_pass_is_over__waits_for_people_without_autopilot(
    cast: Cast, demo: Workspace, monkeypatch: pytest.MonkeyPatch, autopilot: bool, state: str
) -> None:
    monkeypatch.setattr(player, "_stream", lambda: ())
    play = begin(cast, demo, autopilot=autopilot, passes=2)
    DemoPlay.objects.filter(pk=play.pk).update(claimed_by=player._me(), claimed_at=timezone.now())
    play.refresh_from_db()

    player._next_pass(play)

    play.refresh_from_db()
    assert (play.state, play.pass_number, play.position) == (state, 2, 0)


def test_play__server_away__says_so_and_goes_on_when_it_is_back(
    cast: Cast, demo: Workspace, walks: tuple[Any, ...], settings: Any
) -> None:
    begin(cast, demo)
    url, settings.SITE_URL = settings.SITE_URL, "http://127.0.0.1:9"
    for _slice in range(3):
        play_waiting()
    assert "ConnectError" in DemoPlay.objects.get(workspace=demo).last_error

    settings.SITE_URL = url
    play = play_on(demo)

    assert (play.state, play.last_error) == ("finished", "")


def test_begin_again__demo__makes_the_next_empty_workspace(cast: Cast, demo: Workspace) -> None:
    owner = member_actor(cast.owner, demo)
    assert owner is not None

    slugs = [begin_again(workspace_id=demo.pk, owner=cast.owner, by=owner) for _number in range(2)]

    assert slugs == ["demo-2", "demo-3"]
    fresh = DemoPlay.objects.get(workspace__slug="demo-3")
    assert (fresh.state, fresh.position, fresh.counts) == ("stopped", 0, [])
    assert not DemoPlay.objects.filter(workspace=demo).exists()


def test_start__while_it_plays__is_refused(cast: Cast, demo: Workspace) -> None:
    begin(cast, demo)

    with pytest.raises(Refused):
        begin(cast, demo)


def die(*_told: Any, **_more: Any) -> Any:
    """What a kill looks like from inside: the walk was recorded, the row was not written."""
    raise SystemExit


def become_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process: another name, and nothing remembered."""
    monkeypatch.setattr(player, "_RUN", "another")
    for kept in (player._KEYS, player._SETTLED, player._WAITING):
        kept.clear()
