"""Starting and stopping the scripted agent of a demo workspace."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from corrections.actions.canaries import set_canary_policy
from corrections.actions.changes import set_change_policy
from corrections.domain.canaries import safe_canary_policy
from corrections.domain.changes import safe_policy
from corrections.domain.lifecycle import Refused
from corrections.domain.plays import check_play
from corrections.models import DemoPlay
from corrections.queries.plays import is_demo
from memory.actions import record_event
from memory.actions.accounts import create_workspace
from memory.domain.access import Actor, check_may
from memory.domain.lifecycle import TransitionError
from memory.queries.workspaces import free_slug, get_workspace

DEMO = "demo"
"""The slug of the first run's workspace; further ones are ``demo-2``, ``demo-3`` and so on."""
MAX_DEMOS = 50


@transaction.atomic
def start_play(*, workspace_id: int, autopilot: bool, by: Actor) -> DemoPlay:
    """Let the scripted agent play, or go on.

    With ``autopilot`` its key may approve in this workspace, and what is approved is served to all tasks at
    once, without a canary; otherwise proposals wait for people. Raises :class:`NotPermitted`,
    :class:`Refused`.
    """
    check_may(by, "manage_workspace", within=workspace_id)
    if not is_demo(workspace_id, get_workspace(workspace_id).slug):
        raise Refused("The demo does not play in this workspace.")
    play = _locked(workspace_id)
    play.state = _step(play, "start")
    play.before = play.before or _policies_of(play)
    set_change_policy(
        workspace_id=workspace_id, changes={"key_approval": autopilot, "self_approval": True}, by=by
    )
    set_canary_policy(workspace_id=workspace_id, changes={"start": "never"}, by=by)
    now = timezone.now()
    play.autopilot, play.last_error, play.started_by = autopilot, "", by.name
    play.started_at, play.updated_at = play.started_at or now, now
    play.save()
    new = {"state": play.state, "autopilot": autopilot}
    record_event(by=by, workspace=play.workspace, verb="start_play", subject=play, new=new)
    return play


def stop_play(*, workspace_id: int, by: Actor) -> DemoPlay:
    """Stop after the walk that is under way; keys may not approve any more.

    Raises :class:`NotPermitted`, :class:`Refused`.
    """
    return _end(workspace_id, "stop", by)


def finish_play(*, workspace_id: int, by: Actor) -> DemoPlay:
    """The last pass is over: the policies are again what they were. Raises as :func:`stop_play`."""
    return _end(workspace_id, "finish", by)


@transaction.atomic
def _end(workspace_id: int, step: str, by: Actor) -> DemoPlay:
    check_may(by, "manage_workspace", within=workspace_id)
    play = _locked(workspace_id)
    play.state, play.updated_at = _step(play, step), timezone.now()
    play.save(update_fields=["state", "updated_at"])
    if play.autopilot:
        set_change_policy(workspace_id=workspace_id, changes={"key_approval": False}, by=by)
    if step == "finish" and play.before:
        _put_back(play, by)
    new = {"state": play.state}
    record_event(by=by, workspace=play.workspace, verb=f"{step}_play", subject=play, new=new)
    return play


@transaction.atomic
def begin_again(*, workspace_id: int, owner: Any, by: Actor) -> str:
    """A fresh demo workspace that knows nothing yet, owned by the user ``owner``: its slug.

    The old one stays as it is. Raises :class:`NotPermitted`, :class:`Refused` (there are too many demos).
    """
    check_may(by, "manage_workspace", within=workspace_id)
    slug = free_slug(DEMO, MAX_DEMOS)
    if not slug:
        raise Refused(f"There are {MAX_DEMOS} demo workspaces already.")
    fresh = create_workspace(slug=slug, name=f"Demo {slug.removeprefix(DEMO)[1:]}", owner=owner, by=by)
    DemoPlay.objects.create(workspace=fresh, updated_at=timezone.now())
    return slug


def _policies_of(play: DemoPlay) -> dict[str, Any]:
    settings = play.workspace.settings
    return {
        "self_approval": safe_policy(settings).self_approval,
        "start": safe_canary_policy(settings).start,
    }


def _put_back(play: DemoPlay, by: Actor) -> None:
    """Once nothing more is to be approved for the play; between its passes people approve by hand."""
    before, workspace_id = play.before, play.workspace_id
    changes = {"self_approval": before["self_approval"]}
    set_change_policy(workspace_id=workspace_id, changes=changes, by=by)
    set_canary_policy(workspace_id=workspace_id, changes={"start": before["start"]}, by=by)
    play.before = {}
    play.save(update_fields=["before"])


def _locked(workspace_id: int) -> DemoPlay:
    DemoPlay.objects.get_or_create(workspace_id=workspace_id, defaults={"updated_at": timezone.now()})
    rows = DemoPlay.objects.select_for_update(of=("self",)).select_related("workspace")
    return rows.get(workspace_id=workspace_id)


def _step(play: DemoPlay, step: str) -> str:
    try:
        return check_play(play.state, step)
    except TransitionError as error:
        raise Refused(str(error)) from error
