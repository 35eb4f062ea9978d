"""Keys, members and settings through their pages."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from memory.api.keyring import KEYRING
from memory.models import ApiKey, AuditEvent, Member, User
from tests.conftest import Cast, make_key, page_client

KEYS, MEMBERS, SETTINGS = "/w/acme/keys/", "/w/acme/members/", "/w/acme/settings/"


def test_keys__created__secret_is_shown_once_and_works(cast: Cast) -> None:
    client = page_client(cast.maintainer)

    answer = client.post(KEYS, {"name": "bot", "scopes": ["rules:read"]})

    secret = re.search(r'id="new-key">(hgm_[^<]+)<', answer.text)[1]
    assert "no-store" in answer.headers["Cache-Control"]
    assert KEYRING.find(secret).name == "bot"
    assert secret not in client.get(KEYS).text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"name": "", "scopes": ["review"]}, "This field is required", id="no-name"),
        pytest.param({"name": "x"}, "This field is required", id="no-scope"),
        pytest.param({"name": "x", "scopes": ["root"]}, "Select a valid choice", id="unknown-scope"),
        pytest.param({"name": "Agent", "scopes": ["review"]}, "A key with this name is in use", id="taken"),
        pytest.param(
            {"name": "x", "scopes": ["review"], "expires_on": "2020-01-01"}, "over already", id="past"
        ),
    ],
)
def test_keys__bad_form__says_why_and_makes_none(cast: Cast, given: dict[str, object], said: str) -> None:
    make_key(cast.workspace)

    answer = page_client(cast.maintainer).post(KEYS, given)

    assert said in answer.text
    assert ApiKey.objects.count() == 1


def test_keys__expiry__is_the_end_of_that_day(cast: Cast) -> None:
    day = timezone.now().date() + timedelta(days=3)

    page_client(cast.maintainer).post(
        KEYS, {"name": "x", "scopes": ["review"], "expires_on": day.isoformat()}
    )

    assert ApiKey.objects.get().expires_at.date() == day + timedelta(days=1)


def test_key_revoke__from_the_page__stops_it(cast: Cast) -> None:
    secret = make_key(cast.workspace)
    key = ApiKey.objects.get()

    answer = page_client(cast.maintainer).post(f"{KEYS}{key.uuid}/revoke/", follow=True)

    KEYRING.forget()
    assert "is revoked" in answer.text
    assert KEYRING.find(secret) is None


@pytest.mark.parametrize(
    ("role", "status"), [("viewer", 403), ("reviewer", 403), ("outsider", 404), ("maintainer", 302)]
)
def test_key_revoke__role__decides(cast: Cast, role: str, status: int) -> None:
    make_key(cast.workspace)
    url = f"{KEYS}{ApiKey.objects.get().uuid}/revoke/"

    assert page_client(getattr(cast, role)).post(url).status_code == status


def test_key_revoke__by_link__is_refused(cast: Cast) -> None:
    make_key(cast.workspace)

    assert page_client(cast.owner).get(f"{KEYS}{ApiKey.objects.get().uuid}/revoke/").status_code == 405


def test_members__new_name__gets_an_account_with_a_password_shown_once(cast: Cast, client: Client) -> None:
    owner = page_client(cast.owner)

    answer = owner.post(f"{MEMBERS}add/", {"username": "newcomer", "role": "reviewer"})

    password = re.search(r'id="new-password">([^<]+)<', answer.text)[1]
    assert client.login(username="newcomer", password=password)
    assert client.get("/w/acme/").status_code == 200
    assert password not in owner.get(MEMBERS).text
    assert not AuditEvent.objects.filter(new__icontains=password).exists()


def test_members__existing_user__joins_and_keeps_the_password(cast: Cast, client: Client) -> None:
    answer = page_client(cast.owner).post(f"{MEMBERS}add/", {"username": "outsider", "role": "viewer"})

    assert "outsider is in." in answer.text
    assert "new-password" not in answer.text
    assert client.login(username="outsider", password="pass-outsider")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"username": "viewer", "role": "owner"}, "is a member already", id="already"),
        pytest.param({"username": "a b", "role": "viewer"}, "Enter a valid username", id="bad-name"),
        pytest.param({"username": "x", "role": "god"}, "Select a valid choice", id="bad-role"),
    ],
)
def test_members__bad_form__says_why(cast: Cast, given: dict[str, str], said: str) -> None:
    answer = page_client(cast.owner).post(f"{MEMBERS}add/", given)

    assert said in answer.text
    assert Member.objects.filter(workspace=cast.workspace).count() == 4


def test_members__role_changed_and_removed__is_audited(cast: Cast) -> None:
    owner = page_client(cast.owner)
    member = Member.objects.get(user=cast.viewer)

    owner.post(f"{MEMBERS}{member.uuid}/role/", {"role": "maintainer"})
    owner.post(f"{MEMBERS}{member.uuid}/remove/")

    assert not Member.objects.filter(user=cast.viewer).exists()
    assert User.objects.filter(pk=cast.viewer.pk).exists()
    verbs = AuditEvent.objects.order_by("-pk").values_list("verb", flat=True)[:2]
    assert list(verbs) == ["remove_member", "change_member"]


@pytest.mark.parametrize("step", ["role/", "remove/"])
def test_members__last_owner__stays(cast: Cast, step: str) -> None:
    member = Member.objects.get(user=cast.owner, workspace=cast.workspace)

    answer = page_client(cast.owner).post(f"{MEMBERS}{member.uuid}/{step}", {"role": "viewer"}, follow=True)

    assert "must keep at least one owner" in answer.text
    member.refresh_from_db()
    assert member.role == "owner"


def test_members__owner_of_another_workspace__cannot_reach_them(cast: Cast) -> None:
    member = Member.objects.get(user=cast.viewer)

    answer = page_client(cast.outsider).post(f"/w/other/members/{member.uuid}/remove/")

    assert answer.status_code == 404
    assert Member.objects.filter(pk=member.pk).exists()


def test_settings__redaction__is_stored_and_audited(cast: Cast) -> None:
    form = {
        "name": "Acme 2",
        "fields_text": "pnr\n\n seat ",
        "patterns_text": "booking = BK-[0-9]{6}",
        "allow_text": "@acme.org",
    }

    page_client(cast.owner).post(SETTINGS, form)

    cast.workspace.refresh_from_db()
    assert cast.workspace.name == "Acme 2"
    assert cast.workspace.settings["redaction"] == {
        "fields": ["pnr", "seat"], "patterns": {"booking": "BK-[0-9]{6}"}, "allow": ["@acme.org"],
    }  # fmt: skip
    assert set(AuditEvent.objects.values_list("verb", flat=True)) >= {"set_redaction", "rename_workspace"}


@pytest.mark.parametrize(
    "patterns",
    [
        pytest.param("booking", id="no-expression"),
        pytest.param("b = (", id="no-re2"),
        pytest.param("b = (?=x)", id="look-ahead"),
    ],
)
def test_settings__bad_pattern__is_said_and_nothing_stored(cast: Cast, patterns: str) -> None:
    answer = page_client(cast.owner).post(SETTINGS, {"name": "Acme", "patterns_text": patterns})

    assert answer.status_code == 200
    assert 'class="error"' in answer.text
    cast.workspace.refresh_from_db()
    assert cast.workspace.settings == {}
