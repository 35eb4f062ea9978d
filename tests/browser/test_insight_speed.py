"""Speed, fastest ways and retries in a real browser."""

import pytest

from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.memory.insight_scenes import build_insights

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "insights/",
    "insights/?tool=book&after=find",
    "insights/?tool=never",
    "insights/retries/",
    "health/",
]


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    build_insights(cast.workspace, 60)
    opened = open_page(cast.viewer, theme=theme, size=size)

    assert problems_of(opened, [f"/w/acme/{url}" for url in PAGES], folds_open=True) == {}


def test_situation__form__ways_are_compared(cast: Cast, open_page: OpenPage) -> None:
    build_insights(cast.workspace, 60)
    page = (opened := open_page(cast.viewer)).page
    opened.goto("/w/acme/insights/?tool=book")

    page.get_by_label("After the tool").fill("find")
    with page.expect_navigation():
        page.get_by_role("button", name="Compare").click()

    assert "book(id: 11-100)" in page.locator("section[aria-labelledby=fastest]").inner_text()
    assert opened.complaints == []
