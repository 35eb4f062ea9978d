"""Watch it learn, and the repeats, in a real browser."""

import pytest

from corrections.models import DemoPlay
from hgmem_site.demo import pages
from memory.models import Workspace
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.corrections.builders import make_rule
from tests.hgmem_site.demo.scenes import make_demo, make_play
from tests.memory.insight_scenes import build_insights

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LEARN = "/w/demo/learn/"
REPEATS = ["insights/repeats/", "insights/repeats/?tool=book&days=7", "insights/repeats/?tool=never"]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools are there, wherever the tests run."""
    monkeypatch.setattr(pages, "is_installed", lambda: True)


def playing(workspace: Workspace) -> DemoPlay:
    """A play that runs, with advice, a failure and an error to show."""
    rule = make_rule(workspace, name="Log in first")
    newest = [
        {"task": "t1", "goal": "Post a tweet", "rules": [str(rule.uuid)], "failures": []},
        {"task": "t2", "goal": "Book a flight", "rules": [], "failures": ["book_flight: Not logged in"]},
    ]
    return make_play(workspace, newest=newest, last_error="ConnectError: the server is away")


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_learn__before_and_while_it_plays__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    demo = make_demo(cast)
    opened = open_page(cast.owner, theme=theme, size=size)

    assert problems_of(opened, [LEARN]) == {}
    playing(demo)
    assert problems_of(opened, [LEARN]) == {}


def test_learn__while_it_plays__refreshes_without_a_reload_and_keeps_the_focus(
    cast: Cast, open_page: OpenPage
) -> None:
    play = playing(make_demo(cast))
    page = (opened := open_page(cast.owner)).page
    opened.goto(LEARN)
    page.get_by_role("link", name="Log in first").focus()

    play.position = 4
    play.save(update_fields=["position"])
    page.get_by_text("walk 4 of 30").wait_for()

    assert page.evaluate("document.activeElement.textContent") == "Log in first"
    with page.expect_navigation():
        page.get_by_role("button", name="Stop").click()
    assert "Stopped: pass 2 of 2, walk 4 of 30" in page.locator("#learning [role=status]").inner_text()
    assert opened.complaints == []


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_repeats__every_view__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    build_insights(cast.workspace, 60)
    opened = open_page(cast.viewer, theme=theme, size=size)

    assert problems_of(opened, [f"/w/acme/{url}" for url in REPEATS], folds_open=True) == {}
