"""Sequences and weak spots in a real browser: readable everywhere, a template made by hand."""

import pytest

from memory.models import Path
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.memory.web.test_winning_pages import build_scene
from tests.memory.winning_scenes import make_sequence

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "insights/sequences/", "insights/sequences/?show=all&kind=tag:trip",
    "insights/sequences/{sequence.uuid}/template/", "insights/weak-spots/",
    "insights/weak-spots/{spot.uuid}/",
]  # fmt: skip


@pytest.mark.parametrize(
    ("theme", "size"), [("light", "desktop"), ("dark", "desktop"), ("light", "phone"), ("dark", "phone")]
)
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    rows = build_scene(cast, 2)
    opened = open_page(cast.owner, theme=theme, size=size)

    assert problems_of(opened, [f"/w/acme/{url.format(**rows)}" for url in PAGES], folds_open=True) == {}


def test_sequence__template_button__previews_and_makes_the_path(cast: Cast, open_page: OpenPage) -> None:
    make_sequence(cast.workspace, "find", "book")
    opened = open_page(cast.reviewer)
    opened.goto("/w/acme/insights/sequences/")
    page = opened.page

    page.get_by_role("link", name="Make this a template path").click()
    page.locator("#graph-template[data-drawn]").wait_for()
    page.get_by_label("Goal").fill("Book a seat")
    page.get_by_role("button", name="Make the template").click()
    page.wait_for_url("**/paths/*/")

    assert Path.objects.get(goal="Book a seat").result == "template"
    assert opened.complaints == []
