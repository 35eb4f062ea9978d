"""Watch it learn: who may look and start, where it is, and what it says before there is anything to see."""

import pytest
from django.test import Client

from corrections.models import DemoPlay
from hgmem_site.demo import pages
from memory.models import Workspace
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule
from tests.hgmem_site.demo.scenes import make_play
from tests.pages import HOSTILE, extra_queries, page_faults

URL = "/w/demo/learn/"
STEPS = ["start", "stop", "again"]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools are there, wherever the tests run."""
    monkeypatch.setattr(pages, "is_installed", lambda: True)


def test_learn__nothing_played__says_so_and_offers_autopilot(cast: Cast, demo: Workspace) -> None:
    page = page_client(cast.owner).get(URL)

    assert "Nothing was played yet." in page.text
    assert 'name="autopilot" checked' in page.text
    assert "hx-trigger" not in page.text


def test_learn__playing__shows_rates_of_each_pass_and_refreshes(cast: Cast, demo: Workspace) -> None:
    make_play(demo)

    page = page_client(cast.owner).get(URL)

    assert "pass 2 of 2, walk 3 of 30" in page.text
    assert 'hx-trigger="every 3s"' in page.text
    assert [[row["per_50"] for row in rows] for rows in page.context["passes"]] == [[80.0, 10.0], [0.0]]
    assert "<svg" in page.text


def test_learn__text_of_tools_and_goals__stays_text(cast: Cast, demo: Workspace) -> None:
    rule = make_rule(demo, name=HOSTILE)
    walk = {"task": "t", "goal": HOSTILE, "rules": [str(rule.uuid)], "failures": [HOSTILE]}
    make_play(demo, newest=[walk], last_error=HOSTILE, started_by=HOSTILE)

    assert page_faults(page_client(cast.owner).get(URL)) == []


def test_learn__more_walks__cost_no_more_queries(cast: Cast, demo: Workspace) -> None:
    play = make_play(demo)

    def more() -> str:
        rules = [str(make_rule(demo, name=f"r{number}").uuid) for number in range(5)]
        play.newest = [{"task": "t", "goal": "g", "rules": [it], "failures": []} for it in rules]
        play.save(update_fields=["newest"])
        return URL

    play.newest = [{"task": "t", "goal": "g", "rules": [str(make_rule(demo).uuid)], "failures": []}]
    play.save(update_fields=["newest"])
    assert extra_queries(page_client(cast.owner), URL, more) == []


@pytest.mark.parametrize("role", ["viewer", "reviewer"])
def test_learn__member_who_may_not_manage__looks_and_starts_nothing(
    cast: Cast, demo: Workspace, role: str
) -> None:
    client = page_client(getattr(cast, role))

    page = client.get(URL)

    assert page.status_code == 200
    assert "learn/start/" not in page.text
    assert [client.post(f"{URL}{step}/").status_code for step in STEPS] == [403, 403, 403]
    assert not DemoPlay.objects.exists()


def test_learn__outsider__is_told_nothing(cast: Cast, demo: Workspace) -> None:
    client = page_client(cast.outsider)

    assert client.get(URL).status_code == 404
    assert [client.post(f"{URL}{step}/").status_code for step in STEPS] == [404, 404, 404]


def test_learn__workspace_that_is_no_demo__does_not_exist(cast: Cast) -> None:
    client = page_client(cast.owner)

    assert client.get("/w/acme/learn/").status_code == 404
    assert [client.post(f"/w/acme/learn/{step}/").status_code for step in STEPS] == [404, 404, 404]
    assert "/w/acme/learn/" not in client.get("/w/acme/").text


def test_learn_start__owner__plays_until_stopped(cast: Cast, demo: Workspace) -> None:
    client = page_client(cast.owner)

    client.post(f"{URL}start/", {"autopilot": "on"})
    play = DemoPlay.objects.get(workspace=demo)
    assert (play.state, play.autopilot) == ("running", True)
    client.post(f"{URL}stop/")
    play.refresh_from_db()
    assert play.state == "stopped"
    client.post(f"{URL}start/")
    play.refresh_from_db()
    assert (play.state, play.autopilot) == ("running", False)


def test_learn_start__twice__says_why_not(cast: Cast, demo: Workspace) -> None:
    make_play(demo, state="finished")

    page = page_client(cast.owner).post(f"{URL}start/", follow=True)

    assert [message.level_tag for message in page.context["messages"]] == ["error"]
    assert DemoPlay.objects.get().state == "finished"


def test_learn_start__tools_not_installed__says_how_to_get_them(
    cast: Cast, demo: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "is_installed", lambda: False)

    page = page_client(cast.owner).post(f"{URL}start/", follow=True)

    assert "pip install --no-deps bfcl-eval mpmath" in page.text
    assert "learn/start/" not in page.text
    assert not DemoPlay.objects.exists()


def test_learn_again__owner__leads_to_the_fresh_workspace(cast: Cast, demo: Workspace) -> None:
    make_play(demo, state="finished")

    page = page_client(cast.owner).post(f"{URL}again/", follow=True)

    assert page.redirect_chain == [("/w/demo-2/learn/", 302)]
    assert "Nothing was played yet." in page.text
    assert 'name="autopilot" checked' in page.text


@pytest.mark.parametrize("step", STEPS)
def test_learn_step__without_a_csrf_token__is_refused(cast: Cast, demo: Workspace, step: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.owner)

    assert client.post(f"{URL}{step}/").status_code == 403
    assert not DemoPlay.objects.exists()
