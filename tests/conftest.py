"""The cast: one workspace with an owner, a maintainer, a reviewer, a viewer, an outsider, an agent's key."""

import os
from dataclasses import dataclass

import hypothesis
import pytest
from django.test import Client
from django.utils import translation
from rest_framework.test import APIClient

from corrections.background.scanning import forget_versions
from corrections.live.bundles import BUNDLES
from corrections.live.receipts import RECEIPTS
from corrections.live.rulesets import RULESETS
from hgmem.periodic import Periodic
from memory.actions.accounts import create_key, create_workspace, set_member
from memory.api.keyring import KEYRING
from memory.domain.access import Actor, Role, Scope
from memory.live.index import forget_index
from memory.live.texts import forget_texts
from memory.models import User, Workspace
from memory.permissions import SYSTEM, member_actor
from memory.writer.redactors import forget_redactors

Periodic.enabled = False  # no background thread may touch a test's database


# Two cores are shared with real servers: how long one example took says nothing.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")


@dataclass(frozen=True)
class Cast:
    """A workspace and the people in and around it."""

    workspace: Workspace
    owner: User
    maintainer: User
    reviewer: User
    viewer: User
    outsider: User
    elsewhere: Workspace  # the outsider's own workspace

    def actor(self, role: str) -> Actor:
        """The member of that role, as an actor."""
        actor = member_actor(getattr(self, role), self.workspace)
        assert actor is not None
        return actor


@pytest.fixture(autouse=True)
def fast_and_fresh(settings: object) -> None:
    """Fast passwords; no key remembered from the test before."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.AXES_ENABLED = False
    KEYRING.forget()
    translation.deactivate()  # the language of the request before
    RULESETS.forget()
    BUNDLES.forget()
    forget_versions()
    RECEIPTS.forget()
    forget_redactors()
    forget_index()
    forget_texts()


@pytest.fixture
def workspace(db: None) -> Workspace:
    """A workspace for tests that need nobody in it; the cast has its own."""
    return Workspace.objects.create(slug="acme", name="Acme")


@pytest.fixture
def cast(db: None) -> Cast:
    """The named cast."""
    people = {name: make_user(name) for name in ("owner", "maintainer", "reviewer", "viewer", "outsider")}
    workspace = create_workspace(slug="acme", name="Acme", owner=people["owner"], by=SYSTEM)
    elsewhere = create_workspace(slug="other", name="Other", owner=people["outsider"], by=SYSTEM)
    for role in (Role.MAINTAINER, Role.REVIEWER, Role.VIEWER):
        set_member(workspace=workspace, user=people[role.value], role=role, by=SYSTEM)
    return Cast(workspace=workspace, elsewhere=elsewhere, **people)


def make_user(name: str) -> User:
    """A user who can sign in with the password ``pass-NAME``."""
    return User.objects.create_user(username=name, password=f"pass-{name}")


def make_key(workspace: Workspace, *scopes: Scope, name: str = "agent") -> str:
    """A key's secret; all agent scopes unless told otherwise."""
    chosen = list(scopes) or [Scope.RULES_READ, Scope.EXPERIENCE_WRITE, Scope.EXPERIENCE_READ]
    return create_key(workspace=workspace, name=name, scopes=chosen, by=SYSTEM)[1]


def api_client(secret: str) -> APIClient:
    """A client that sends the key."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def page_client(user: User) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def agent_api(cast: Cast) -> APIClient:
    """The agent of the cast's workspace."""
    return api_client(make_key(cast.workspace))


@pytest.fixture
def admin_api(cast: Cast) -> APIClient:
    """A key that may do everything in the cast's workspace."""
    return api_client(make_key(cast.workspace, Scope.ADMIN, name="admin"))


@pytest.fixture
def foreign_api(cast: Cast) -> APIClient:
    """A key of the other workspace that may do everything there."""
    return api_client(make_key(cast.elsewhere, Scope.ADMIN, name="foreign"))


def skip_or_fail(reason: str) -> None:
    """Skip on a developer's machine; fail in CI, where everything must be there."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip: {reason}")
    pytest.skip(reason)
