"""How a workspace runs its canaries."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.db import transaction

from corrections.domain.canaries import (
    SECTION,
    CanaryPolicy,
    check_loosening,
    read_canary_policy,
    safe_canary_policy,
)
from memory.actions.workspaces import store_section
from memory.domain.access import Actor, check_may


@transaction.atomic
def set_canary_policy(*, workspace_id: int, changes: Mapping[str, Any], by: Actor) -> CanaryPolicy:
    """Change some fields of the workspace's :class:`CanaryPolicy`; the policy as it is now.

    It holds for canaries that begin from now on. An API key may make it stricter, not looser. Raises
    :class:`NotPermitted`, :class:`Refused`, :class:`corrections.domain.changes.InvalidPolicyError`.
    """
    check_may(by, "manage_workspace", within=workspace_id)

    def change(settings: Mapping[str, Any]) -> dict[str, Any]:
        old = safe_canary_policy(settings)
        new = read_canary_policy({SECTION: msgspec.to_builtins(old) | dict(changes)})
        if by.kind == "key":
            check_loosening(old, new)
        return dict(msgspec.to_builtins(new))

    stored = store_section(
        workspace_id=workspace_id, section=SECTION, change=change, verb="set_canary_policy", by=by
    )
    return read_canary_policy({SECTION: stored})
