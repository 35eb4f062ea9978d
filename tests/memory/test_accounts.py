"""Members and keys."""

import pytest

from memory.actions.accounts import (
    LastOwner,
    create_key,
    create_workspace,
    mark_keys_used,
    revoke_key,
    set_member,
)
from memory.api.keyring import KEYRING, Keyring
from memory.domain.access import NotPermitted, Role, Scope
from memory.models import AuditEvent
from memory.permissions import SYSTEM
from tests.conftest import Cast


def test_create_key__secret__is_not_stored(cast: Cast) -> None:
    key, secret = create_key(
        workspace=cast.workspace, name="bot", scopes=[Scope.RULES_READ], by=cast.actor("maintainer")
    )

    assert secret.startswith(key.prefix)
    assert secret not in str(vars(key))
    assert KEYRING.find(secret) is not None


def test_revoke_key__then_used__is_refused(cast: Cast) -> None:
    key, secret = create_key(
        workspace=cast.workspace, name="bot", scopes=[Scope.RULES_READ], by=cast.actor("maintainer")
    )
    revoke_key(key=key, by=cast.actor("maintainer"))
    KEYRING.forget()

    assert KEYRING.find(secret) is None
    assert AuditEvent.objects.filter(verb="revoke_key", subject_uuid=str(key.uuid)).count() == 1


def test_create_key__by_viewer__is_refused_with_the_sentence(cast: Cast) -> None:
    with pytest.raises(NotPermitted, match="at least maintainer to manage API keys"):
        create_key(workspace=cast.workspace, name="x", scopes=[], by=cast.actor("viewer"))


def test_set_member__last_owner_demoted__is_refused(cast: Cast) -> None:
    with pytest.raises(LastOwner):
        set_member(workspace=cast.workspace, user=cast.owner, role=Role.VIEWER, by=cast.actor("owner"))


def test_set_member__workspace_without_owner__roles_can_change(cast: Cast) -> None:
    workspace = create_workspace(slug="new", name="New", owner=None, by=SYSTEM)
    set_member(workspace=workspace, user=cast.viewer, role=Role.VIEWER, by=SYSTEM)

    member = set_member(workspace=workspace, user=cast.viewer, role=Role.REVIEWER, by=SYSTEM)

    assert member is not None
    assert member.role == Role.REVIEWER


def test_mark_keys_used__older_mark__never_goes_back(cast: Cast) -> None:
    key, _ = create_key(workspace=cast.workspace, name="bot", scopes=[], by=cast.actor("maintainer"))

    counts = [mark_keys_used(used={str(key.uuid): seconds}) for seconds in (2_000.0, 1_000.0, 3_000.0)]

    key.refresh_from_db()
    assert counts == [1, 0, 1]
    assert key.last_used_at is not None
    assert key.last_used_at.timestamp() == 3_000.0


def test_keyring__mark_used__writes_when_a_key_was_used(cast: Cast) -> None:
    _, secret = create_key(workspace=cast.workspace, name="bot", scopes=[], by=cast.actor("maintainer"))
    keyring = Keyring()
    keyring.find(secret)

    keyring.mark_used()

    assert cast.workspace.api_keys.get().last_used_at is not None
