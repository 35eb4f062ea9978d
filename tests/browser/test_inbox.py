"""The review inbox in a real browser: accessible, and fifty items cleared without the mouse."""

import pytest

from corrections.models import Assignment, ItemComment
from corrections.queries.inbox import InboxFilters, count_items, list_items
from memory.models import Alert, RewriteProposal
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.corrections.inbox_scenes import build_inbox
from tests.memory.builders import make_alert, make_rewrite

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    build_inbox(cast.workspace)
    items = list_items(cast.workspace.pk, InboxFilters()).rows
    chosen = "&".join(f"item={item.kind}:{item.uuid}" for item in items)
    pages = [f"/w/acme/review/{item.kind}/{item.uuid}/" for item in items]
    opened = open_page(cast.reviewer, theme=theme, size=size)

    urls = ["/w/acme/review/", f"/w/acme/review/decide/?do=reject&{chosen}", *pages]
    assert problems_of(opened, urls, folds_open=True) == {}


def test_inbox__fifty_items__are_cleared_without_the_mouse(cast: Cast, open_page: OpenPage) -> None:
    for _ in range(47):
        make_alert(cast.workspace)
    rewrites = [make_rewrite(cast.workspace) for _ in range(3)]
    opened = open_page(cast.reviewer)
    page, keys = opened.page, opened.page.keyboard

    opened.goto("/w/acme/review/?kind=alert")
    for _ in range(47):
        keys.press("j")
        keys.press("x")
    keys.press("R")
    page.wait_for_url("**/review/decide/**")
    page.wait_for_function("document.activeElement.id === 'reason'")
    keys.type("One broken importer raised all of them.")
    keys.press("Enter")
    page.get_by_text("47 items are rejected or closed.").wait_for()

    opened.goto("/w/acme/review/")
    keys.press("j")
    keys.press("Enter")
    for number in range(3):
        page.wait_for_url("**/review/rewrite/**")
        page.locator("[data-key=a]").wait_for()
        if number == 0:
            keys.press("c")
            keys.type("Twice this week.")
            keys.press("Enter")
            page.get_by_text("The comment is kept.").wait_for()
            keys.press("i")
            page.get_by_text("It is given.").wait_for()
        keys.press("a")
        page.wait_for_function("document.activeElement.id === 'approve-reason'")
        keys.press("Enter")
        page.get_by_text("1 item is approved.").wait_for()

    page.get_by_text("Nothing waits for you").wait_for()
    assert sum(count_items(cast.workspace.pk).values()) == 0
    assert Alert.objects.filter(closed_at=None).count() == 0
    assert {RewriteProposal.objects.get(pk=row.pk).status for row in rewrites} == {"approved"}
    assert (ItemComment.objects.count(), Assignment.objects.count()) == (1, 1)
    assert opened.complaints == []


def test_item__keys__walk_through_the_inbox_and_back(cast: Cast, open_page: OpenPage) -> None:
    make_rewrite(cast.workspace)
    alert = make_alert(cast.workspace)
    opened = open_page(cast.reviewer)
    page, keys = opened.page, opened.page.keyboard
    first, second = list_items(cast.workspace.pk, InboxFilters()).rows

    opened.goto(f"/w/acme/review/{first.kind}/{first.uuid}/")
    keys.press("n")
    page.wait_for_url(f"**/review/{second.kind}/{second.uuid}/")
    page.locator("[data-key=p]").wait_for()
    keys.press("p")
    page.wait_for_url(f"**/review/{first.kind}/{first.uuid}/")
    page.locator("[data-key=u]").wait_for()
    keys.press("u")
    page.wait_for_url("**/review/")

    assert Alert.objects.get(pk=alert.pk).closed_at is None
    assert opened.complaints == []
