"""The frame around every page, signing in, the way to a workspace."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.actions.accounts import create_workspace, set_member
from memory.domain.access import Role
from memory.permissions import SYSTEM
from tests.conftest import Cast, make_user, page_client


def test_home__anonymous__goes_to_sign_in(client: Client, db: None) -> None:
    assert client.get("/").url == "/login/?next=/"


def test_login__member_without_staff_flag__lands_in_their_workspace(client: Client, cast: Cast) -> None:
    answer = client.post("/login/", {"username": "viewer", "password": "pass-viewer"}, follow=True)

    assert answer.request["PATH_INFO"] == "/w/acme/"
    assert answer.status_code == 200


def test_login__wrong_password__says_so(client: Client, cast: Cast) -> None:
    answer = client.post("/login/", {"username": "viewer", "password": "no"})

    assert answer.status_code == 200
    assert "Please enter a correct username and password" in answer.text


def test_home__two_workspaces__remembers_the_last(cast: Cast) -> None:
    second = create_workspace(slug="second", name="Second", owner=cast.viewer, by=SYSTEM)
    client = page_client(cast.viewer)

    assert "Choose a workspace" in client.get("/").text
    client.get(reverse("overview", args=[second.slug]))
    assert client.get("/").url == "/w/second/"


def test_home__no_workspace__says_what_to_do(db: None) -> None:
    answer = page_client(make_user("lonely")).get("/")

    assert "Ask an owner of a workspace to add" in answer.text


def test_logout__by_link__is_refused(cast: Cast) -> None:
    client = page_client(cast.viewer)

    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").url == "/login/"


@pytest.mark.parametrize(
    ("role", "shown", "hidden"),
    [
        pytest.param("viewer", ["Overview", "Health"], ["API keys", "Audit", "Settings"], id="viewer"),
        pytest.param("maintainer", ["API keys", "Audit"], ["Settings"], id="maintainer"),
        pytest.param("owner", ["API keys", "Audit", "Settings"], [], id="owner"),
    ],
)
def test_sidebar__role__shows_what_the_role_may_open(
    cast: Cast, role: str, shown: list[str], hidden: list[str]
) -> None:
    text = page_client(getattr(cast, role)).get("/w/acme/").text

    sidebar = text[text.index('id="sidebar"') : text.index('class="shell-main"')]
    assert [word for word in shown if word not in sidebar] == []
    assert [word for word in hidden if word in sidebar] == []


def test_switcher__member_of_two__lists_both_and_no_other(cast: Cast) -> None:
    set_member(workspace=cast.elsewhere, user=cast.viewer, role=Role.VIEWER, by=SYSTEM)

    assert "/w/other/" in page_client(cast.viewer).get("/w/acme/").text
    assert "/w/other/" not in page_client(cast.reviewer).get("/w/acme/").text


def test_page__outsider__gets_404_without_the_name(cast: Cast) -> None:
    answer = page_client(cast.outsider).get("/w/acme/")

    assert answer.status_code == 404
    assert "Acme" not in answer.text


def test_page__response__allows_no_inline_script(cast: Cast) -> None:
    answer = page_client(cast.viewer).get("/w/acme/")

    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self' 'unsafe-eval'" in policy
    assert "<script>" not in answer.text
    assert " onclick=" not in answer.text


def test_password__changed__is_said_and_works(cast: Cast, client: Client) -> None:
    member = page_client(cast.viewer)
    new = "a-long-new-secret-7"
    form = {"old_password": "pass-viewer", "new_password1": new, "new_password2": new}

    answer = member.post("/password/", form, follow=True)

    assert answer.request["PATH_INFO"] == "/w/acme/"
    assert client.login(username="viewer", password=new)


def test_login__too_many_wrong_passwords__says_how_long_to_wait(
    client: Client, cast: Cast, settings: Settings
) -> None:
    settings.AXES_ENABLED = True
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = client.post("/login/", {"username": "viewer", "password": "no"})
    assert "paused for 15 minutes" in answer.text

    answer = client.post("/login/", {"username": "viewer", "password": "pass-viewer"})
    assert answer.status_code == 429


@pytest.mark.parametrize("path", ["/nowhere/", "/w/nowhere/", "/w/acme/tasks/not-a-uuid/"])
def test_unknown_address__member__says_where_to_go(cast: Cast, path: str) -> None:
    answer = page_client(cast.viewer).get(path)

    assert answer.status_code == 404
    assert "To your workspace" in answer.text
