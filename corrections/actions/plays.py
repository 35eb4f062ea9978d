"""Starting and stopping the scripted agent of a demo workspace."""

from django.db import transaction
from django.utils import timezone

from corrections.actions.canaries import set_canary_policy
from corrections.actions.changes import set_change_policy
from corrections.domain.lifecycle import Refused
from corrections.domain.plays import check_play
from corrections.models import DemoPlay
from memory.actions import record_event
from memory.actions.accounts import create_workspace
from memory.domain.access import Actor, check_may
from memory.domain.lifecycle import TransitionError
from memory.models import User, Workspace

DEMO = "demo"
"""The slug of the first run's workspace; further ones are ``demo-2``, ``demo-3``..."""
MAX_DEMOS = 50


@transaction.atomic
def start_play(*, workspace: Workspace, autopilot: bool, by: Actor) -> DemoPlay:
    """Let the scripted agent play, or go on.

    With ``autopilot`` its key may approve in this workspace, and what is approved is served to all tasks at
    once, without a canary; otherwise proposals wait for people. Raises :class:`NotPermitted`,
    :class:`Refused`.
    """
    check_may(by, "manage_workspace", within=workspace.pk)
    play = _locked(workspace)
    play.state = _step(play, "start")
    set_change_policy(
        workspace_id=workspace.pk, changes={"key_approval": autopilot, "self_approval": True}, by=by
    )
    set_canary_policy(workspace_id=workspace.pk, changes={"start": "never"}, by=by)
    now = timezone.now()
    play.autopilot, play.last_error, play.started_by = autopilot, "", by.name
    play.started_at, play.updated_at = play.started_at or now, now
    play.save(update_fields=["state", "autopilot", "last_error", "started_by", "started_at", "updated_at"])
    new = {"state": play.state, "autopilot": autopilot}
    record_event(by=by, workspace=workspace, verb="start_play", subject=play, new=new)
    return play


@transaction.atomic
def stop_play(*, workspace: Workspace, by: Actor) -> DemoPlay:
    """Stop after the walk that is under way. Raises :class:`NotPermitted`, :class:`Refused`."""
    check_may(by, "manage_workspace", within=workspace.pk)
    play = _locked(workspace)
    play.state, play.updated_at = _step(play, "stop"), timezone.now()
    play.save(update_fields=["state", "updated_at"])
    record_event(by=by, workspace=workspace, verb="stop_play", subject=play, new={"state": play.state})
    return play


@transaction.atomic
def begin_again(*, workspace: Workspace, owner: User, by: Actor) -> Workspace:
    """A fresh demo workspace that knows nothing yet, owned by ``owner``; the old one stays as it is.

    Raises :class:`NotPermitted`, :class:`Refused` (there are too many demos already).
    """
    check_may(by, "manage_workspace", within=workspace.pk)
    taken = set(Workspace.objects.filter(slug__startswith=f"{DEMO}-").values_list("slug", flat=True))
    number = next((it for it in range(2, MAX_DEMOS + 1) if f"{DEMO}-{it}" not in taken), None)
    if number is None:
        raise Refused(f"There are {MAX_DEMOS} demo workspaces already.")
    fresh = create_workspace(slug=f"{DEMO}-{number}", name=f"Demo {number}", owner=owner, by=by)
    DemoPlay.objects.create(workspace=fresh, updated_at=timezone.now())
    return fresh


def _locked(workspace: Workspace) -> DemoPlay:
    DemoPlay.objects.get_or_create(workspace=workspace, defaults={"updated_at": timezone.now()})
    return DemoPlay.objects.select_for_update().get(workspace=workspace)


def _step(play: DemoPlay, step: str) -> str:
    try:
        return check_play(play.state, step)
    except TransitionError as error:
        raise Refused(str(error)) from error
