"""Members and keys."""

import pytest

from memory.actions.accounts import LastOwner, create_key, revoke_key, set_member
from memory.api.keyring import KEYRING
from memory.domain.access import NotPermitted, Role, Scope
from memory.models import AuditEvent
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
