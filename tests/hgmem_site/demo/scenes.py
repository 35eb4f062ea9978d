"""A demo workspace, and plays that are half-way."""

from typing import Any

from django.utils import timezone

from corrections.models import DemoPlay
from memory.actions.accounts import create_workspace, set_member
from memory.domain.access import Role
from memory.models import Workspace
from memory.permissions import SYSTEM
from tests.conftest import Cast


def make_demo(cast: Cast) -> Workspace:
    """The first run's workspace, with the cast's owner, reviewer and viewer."""
    workspace = create_workspace(slug="demo", name="Demo", owner=cast.owner, by=SYSTEM)
    for role in (Role.REVIEWER, Role.VIEWER):
        set_member(workspace=workspace, user=getattr(cast, role.value), role=role, by=SYSTEM)
    return workspace


def make_play(workspace: Workspace, **fields: Any) -> DemoPlay:
    """A play that runs, in its second pass."""
    now = timezone.now()
    given = {
        "state": "running", "pass_number": 2, "position": 3, "total": 30, "started_at": now,
        "updated_at": now, "counts": [[[25, 20, 40, 3], [5, 1, 1, 4]], [[3, 0, 0, 3]]],
    }  # fmt: skip
    return DemoPlay.objects.create(workspace=workspace, **given | fields)
