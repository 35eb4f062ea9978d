"""Workspaces, members and keys."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memory.actions.path_templates import load_templates
from memory.domain.access import Actor, NotPermitted, Role, Scope, check_may
from memory.domain.keys import KEY_PREFIX, digest_key
from memory.events import record_event
from memory.models import ApiKey, Member, User, Workspace


class LastOwner(ValueError):
    """A workspace must keep one owner."""


def create_workspace(*, slug: str, name: str, owner: User | None, by: Actor) -> Workspace:
    """A new workspace with template paths, and its first owner when one is given."""
    with transaction.atomic():
        workspace = Workspace.objects.create(slug=slug, name=name)
        new = {"slug": slug}
        record_event(by=by, workspace=workspace, verb="create_workspace", subject=workspace, new=new)
        if owner is not None:
            Member.objects.create(workspace=workspace, user=owner, role=Role.OWNER)
            new = {"user": owner.get_username(), "role": Role.OWNER.value}
            record_event(by=by, workspace=workspace, verb="add_member", subject=owner, new=new)
    load_templates(workspace=workspace)  # the sweep does, should this process end here
    return workspace


@transaction.atomic
def set_member(*, workspace: Workspace, user: User, role: Role | None, by: Actor) -> Member | None:
    """Add a member, change a role, or (``role`` None) remove one. The last owner stays.

    Raises :class:`NotPermitted`, :class:`LastOwner`.
    """
    check_may(by, "manage_members", within=workspace.pk)
    Workspace.objects.select_for_update().get(pk=workspace.pk)
    member = Member.objects.filter(workspace=workspace, user=user).first()
    old = {"role": member.role} if member else None
    others = Member.objects.filter(workspace=workspace, role=Role.OWNER).exclude(user=user)
    if member and member.role == Role.OWNER and role != Role.OWNER and not others.exists():
        raise LastOwner("A workspace must keep at least one owner. Make somebody else owner first.")
    if role is None:
        if member:
            member.delete()
            record_event(by=by, workspace=workspace, verb="remove_member", subject=user, old=old)
        return None
    if member is None:
        member = Member.objects.create(workspace=workspace, user=user, role=role)
    else:
        member.role = role
        member.save(update_fields=["role"])
    verb = "change_member" if old else "add_member"
    record_event(by=by, workspace=workspace, verb=verb, subject=user, old=old, new={"role": role.value})
    return member


@transaction.atomic
def create_key(
    *, workspace: Workspace, name: str, scopes: list[Scope], by: Actor, expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """A new key and its secret, which is never shown again.

    Raises :class:`NotPermitted`; nobody hands out a scope that their own key does not have.
    """
    check_may(by, "manage_keys", within=workspace.pk)
    if by.kind == "key" and Scope.ADMIN not in by.scopes and not set(scopes) <= by.scopes:
        raise NotPermitted("A key may not hand out more than it has.")
    secret = KEY_PREFIX + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        workspace=workspace, name=name, prefix=secret[:12], digest=digest_key(secret),
        scopes=[scope.value for scope in scopes], created_by=by.name, expires_at=expires_at,
    )  # fmt: skip
    new = {"name": name, "scopes": key.scopes, "expires_at": expires_at.isoformat() if expires_at else None}
    record_event(by=by, workspace=workspace, verb="create_key", subject=key, new=new)
    return key, secret


@transaction.atomic
def revoke_key(*, key: ApiKey, by: Actor) -> ApiKey:
    """Stop a key for good. Revoking twice changes nothing."""
    check_may(by, "manage_keys", within=key.workspace_id)
    changed = ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now())
    if changed:
        record_event(by=by, workspace=key.workspace, verb="revoke_key", subject=key)
    key.refresh_from_db()
    return key


def mark_keys_used(*, used: Mapping[str, float]) -> int:
    """When keys were last used (Unix seconds by uuid). A mark never goes back.

    Nothing is decided, so there is no audit event. Returns how many keys were marked.
    """
    marked = 0
    for uuid, seconds in sorted(used.items()):
        at = datetime.fromtimestamp(seconds, UTC)
        older = Q(last_used_at=None) | Q(last_used_at__lt=at)
        marked += ApiKey.objects.filter(older, uuid=uuid).update(last_used_at=at)
    return marked
