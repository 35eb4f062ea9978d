"""How a workspace wants its paths located."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from memory.domain.access import Actor, check_may
from memory.domain.locating.policy import LocatePolicy, check_policy, read_policy
from memory.domain.path_settings import changed_settings
from memory.events import record_event
from memory.models import Workspace


@transaction.atomic
def set_locate_policy(*, workspace: Workspace, changes: Mapping[str, Any], by: Actor) -> LocatePolicy:
    """Change the weights, the least score, or whether a model verifies; the policy as it is now.

    ``changes`` are fields of :class:`LocatePolicy`. What else is kept in that section stays. Raises
    NotPermitted, and InvalidQuestionError naming the field.
    """
    check_may(by, "manage_workspace", within=workspace.pk)
    locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
    old = read_policy(locked.settings).document()
    new = check_policy({**old, **changes})
    locked.settings = changed_settings(locked.settings, new.document())
    locked.save(update_fields=["settings"])
    workspace.settings = locked.settings
    if new.document() != old:
        record_event(
            by=by, workspace=locked, verb="set_locate_policy", subject=locked, old=old, new=new.document()
        )
    return new
