"""How a workspace wants changes approved."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.db import transaction

from corrections.domain.changes import SECTION, ChangePolicy, check_loosening, read_policy, safe_policy
from memory.actions.workspaces import store_section
from memory.domain.access import Actor, check_may


@transaction.atomic
def set_change_policy(*, workspace_id: int, changes: Mapping[str, Any], by: Actor) -> ChangePolicy:
    """Change some fields of the workspace's :class:`ChangePolicy`; the policy as it is now.

    An API key may make it stricter, not looser. Raises :class:`NotPermitted`, :class:`Refused`,
    :class:`corrections.domain.changes.InvalidPolicyError`.
    """
    check_may(by, "manage_workspace", within=workspace_id)

    def change(settings: Mapping[str, Any]) -> dict[str, Any]:
        old = safe_policy(settings)
        new = read_policy({SECTION: msgspec.to_builtins(old) | dict(changes)})
        if by.kind == "key":
            check_loosening(old, new)
        return dict(msgspec.to_builtins(new))

    stored = store_section(
        workspace_id=workspace_id, section=SECTION, change=change, verb="set_change_policy", by=by
    )
    return read_policy({SECTION: stored})
