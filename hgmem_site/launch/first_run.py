"""The first start: a workspace, somebody who may sign in, a key for the demo."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from corrections.actions.changes import set_change_policy
from memory.actions.accounts import create_key, create_workspace
from memory.domain.access import Scope
from memory.domain.keys import digest_key
from memory.models import ApiKey, User, Workspace
from memory.permissions import system_actor

SLUG = "demo"
ADMIN = "admin"
KEY_NAME = "demo"
SCOPES = [Scope.RULES_READ, Scope.RULES_WRITE, Scope.EXPERIENCE_READ, Scope.EXPERIENCE_WRITE, Scope.REVIEW]
BY = system_actor("first run")


@dataclass(frozen=True)
class Welcome:
    """What to tell whoever started it. ``password`` only on the first run, ``key`` while it works.

    ``workspace`` is None where the installation has other workspaces and no demo.
    """

    workspace: Workspace | None
    password: str = ""
    key: str = ""


def welcome() -> Welcome:
    """Create what is missing of an empty installation; a second call changes nothing."""
    password = _create_first()
    workspace = Workspace.objects.filter(slug=SLUG).first()
    return Welcome(workspace, password, _demo_key(workspace) if workspace else "")


@transaction.atomic
def _create_first() -> str:
    """The new administrator's password, or nothing where there is a user or a workspace already.

    One person tries the demo, so authors approve their own changes there.
    """
    if Workspace.objects.exists() or User.objects.exists():
        return ""
    password = secrets.token_urlsafe(12)
    admin = User.objects.create_superuser(username=ADMIN, password=password)
    workspace = create_workspace(slug=SLUG, name="Demo", owner=admin, by=BY)
    set_change_policy(
        workspace_id=workspace.pk, changes={"self_approval": True}, by=BY
    )  # one person tries it
    return password


def _demo_key(workspace: Workspace) -> str:
    """The demo's key: kept in ``var/demo_key`` for its owner only, so that the next start can show it.

    A key that was revoked or whose file was removed is not replaced: somebody wanted it gone.
    """
    path = Path(settings.VAR_DIR, "demo_key")
    if path.exists():
        secret = path.read_text().strip()
        usable = ApiKey.objects.usable(timezone.now()).filter(workspace=workspace, digest=digest_key(secret))
        return secret if usable.exists() else ""
    if ApiKey.objects.filter(workspace=workspace, name=KEY_NAME).exists():
        return ""
    _, secret = create_key(workspace=workspace, name=KEY_NAME, scopes=SCOPES, by=BY)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secret)
    return secret
