"""The pages in a real browser: accessible, quiet, usable by keyboard, on a phone, without scripts."""

import pytest

from tests.browser.checks import problems_of, serious_findings
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.memory.web.test_pages import build_scene

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "", "tasks/", "tasks/{task.uuid}/", "patterns/", "patterns/{pattern.uuid}/", "tools/",
    "tools/{tool.uuid}/", "validators/", "validators/{validator.uuid}/", "validators/new/", "keys/",
    "members/", "audit/", "health/", "settings/", "webhooks/", "webhooks/{webhook.uuid}/",
    "search/?q=script",
]  # fmt: skip


@pytest.mark.parametrize(
    ("theme", "size"), [("light", "desktop"), ("dark", "desktop"), ("light", "phone"), ("dark", "phone")]
)
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    scene = build_scene(cast.workspace, 3)
    opened = open_page(cast.owner, theme=theme, size=size)
    paths = [f"/w/acme/{url.format(**vars(scene))}" for url in PAGES]

    assert problems_of(opened, paths) == {}


def test_login__in_the_browser__leads_to_the_overview(cast: Cast, open_page: OpenPage) -> None:
    opened = open_page()
    opened.goto("/")
    assert serious_findings(opened) == []

    opened.page.get_by_label("Username").fill("viewer")
    opened.page.get_by_label("Password").fill("pass-viewer")
    opened.page.get_by_role("button", name="Sign in").click()

    assert opened.page.get_by_role("heading", name="Overview").is_visible()
    assert opened.complaints == []


def test_keyboard__slash_j_and_question_mark__search_walk_and_help(cast: Cast, open_page: OpenPage) -> None:
    build_scene(cast.workspace, 3)
    opened = open_page(cast.viewer)
    opened.goto("/w/acme/tasks/")
    keys = opened.page.keyboard
    focused = "document.activeElement.id || document.activeElement.getAttribute('href')"
    links = opened.page.evaluate(
        "[...document.querySelectorAll('[data-row-link]')].map(a => a.getAttribute('href'))"
    )

    keys.press("j")
    keys.press("j")
    assert opened.page.evaluate(focused) == links[1]
    keys.press("k")
    assert opened.page.evaluate(focused) == links[0]
    keys.press("/")
    assert opened.page.evaluate(focused) == "site-search"
    keys.type("j?")
    assert opened.page.evaluate("document.activeElement.value") == "j?"
    opened.page.locator("h1").click()
    keys.press("?")
    assert opened.page.get_by_role("dialog", name="Keyboard shortcuts").is_visible()
    keys.press("Escape")
    assert not opened.page.get_by_role("dialog", name="Keyboard shortcuts").is_visible()


def test_keyboard__first_tab__offers_to_skip_to_the_content(cast: Cast, open_page: OpenPage) -> None:
    opened = open_page(cast.viewer)
    opened.goto("/w/acme/tasks/")

    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "skip-link"
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("document.activeElement.id") == "content"


def test_theme__chosen_dark__is_kept_on_the_next_page(cast: Cast, open_page: OpenPage) -> None:
    opened = open_page(cast.viewer)
    opened.goto("/w/acme/")
    opened.page.locator(".user-menu summary").click()
    opened.page.get_by_role("button", name="Dark").click()
    opened.goto("/w/acme/tasks/")

    assert opened.page.evaluate("document.documentElement.classList.contains('dark')")


def test_phone__menu__opens_and_closes_by_keyboard(cast: Cast, open_page: OpenPage) -> None:
    opened = open_page(cast.viewer, size="phone")
    opened.goto("/w/acme/")
    menu = opened.page.get_by_role("navigation", name="Sections")
    assert not menu.is_visible()

    opened.page.get_by_role("link", name="Open the menu").press("Enter")
    assert menu.is_visible()
    opened.page.keyboard.press("Escape")
    assert not menu.is_visible()


def test_validator__typed__is_checked_without_a_reload(cast: Cast, open_page: OpenPage) -> None:
    opened = open_page(cast.maintainer)
    opened.goto("/w/acme/validators/new/")
    source = opened.page.get_by_label("Check", exact=True)

    source.press_sequentially("output.price >")
    opened.page.locator("#live-check .note-error").wait_for()
    source.press_sequentially(" 0")
    opened.page.get_by_text("The check can be run.").wait_for()

    assert opened.page.evaluate("document.activeElement.id") == "id_source"
    assert opened.complaints == []


def test_without_scripts__pages_menus_and_forms__work(cast: Cast, open_page: OpenPage) -> None:
    opened = open_page(cast.owner, scripts=False, size="phone")
    page = opened.page
    page.goto(f"{opened.base}/w/acme/keys/")

    page.get_by_label("Name").fill("bot")
    page.get_by_role("button", name="Create the key").click()
    assert page.locator("#new-key").is_visible()
    page.get_by_role("link", name="Open the menu").click()
    page.get_by_role("link", name="Error patterns").click()
    assert page.get_by_role("heading", name="Error patterns").is_visible()
    page.locator(".user-menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    assert page.get_by_role("heading", name="Sign in").is_visible()


def test_without_scripts__wide_window__nothing_covers_the_page(cast: Cast, open_page: OpenPage) -> None:
    page = (opened := open_page(cast.owner, scripts=False)).page
    page.goto(f"{opened.base}/w/acme/")

    page.locator("#content").get_by_role("link", name="90 days").click(timeout=5_000)

    assert page.url.endswith("days=90")
