"""Localizations, the lab and the weekly sample in a real browser."""

import pytest

from memory.models import Localization
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.builders import make_localization, make_path
from tests.conftest import Cast
from tests.memory.web.test_localization_pages import build_scene

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "localizations/", "localizations/{uuid}/", "sample/", "lab/", "settings/",
    "lab/?goal=script+alert&tags=flight&min_score=0",
]  # fmt: skip


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    row = build_scene(cast.workspace, 3)
    opened = open_page(cast.owner, theme=theme, size=size)
    paths = [f"/w/acme/{url.format(uuid=row.uuid)}" for url in PAGES]

    assert problems_of(opened, paths, folds_open=True) == {}


def test_sample__keyboard__marks_a_path_gives_a_verdict_and_goes_on(cast: Cast, open_page: OpenPage) -> None:
    build_scene(cast.workspace, 2)
    newest, older = Localization.objects.order_by("-asked_at", "-pk")
    opened = open_page(cast.reviewer)
    opened.goto("/w/acme/sample/?status=open")
    keys = opened.page.keyboard

    keys.press("j")
    keys.press("1")
    assert opened.page.locator(f"#answer-{newest.uuid} [data-mark]").first.is_checked()
    with opened.page.expect_navigation():
        keys.press("y")

    newest.refresh_from_db()
    assert (newest.verdict, newest.relevant) == ("right", [newest.candidates[0]["path"]])
    focused = f"document.activeElement.closest('article')?.id === 'answer-{older.uuid}'"
    opened.page.wait_for_function(focused, timeout=5_000)
    # a key typed into a note is a letter, not a verdict
    note = opened.page.locator(f"#answer-{older.uuid} textarea")
    opened.page.locator(f"#answer-{older.uuid} details").last.evaluate("fold => fold.open = true")
    note.press_sequentially("yes 1")
    assert note.input_value().startswith("yes 1")
    older.refresh_from_db()
    assert older.verdict == ""
    assert opened.complaints == []


def test_sample__without_scripts__a_verdict_is_given(cast: Cast, open_page: OpenPage) -> None:
    row = build_scene(cast.workspace, 1)
    page = (opened := open_page(cast.reviewer, scripts=False)).page
    page.goto(f"{opened.base}/w/acme/sample/")

    page.get_by_role("button", name="Wrong").click()

    row.refresh_from_db()
    assert row.verdict == "wrong"
    assert page.get_by_text("Your verdict is kept.").is_visible()


def test_lab__without_scripts__a_question_is_answered(cast: Cast, open_page: OpenPage) -> None:
    make_path(cast.workspace, "Cancel the flight of Ada", ["find", "cancel"])
    make_localization(cast.workspace)
    page = (opened := open_page(cast.viewer, scripts=False)).page
    page.goto(f"{opened.base}/w/acme/lab/")

    page.get_by_label("Goal").fill("Cancel the flight of Ada")
    page.get_by_label("Weight of structure").fill("1")
    page.get_by_label("Walked so far").fill("find\ncancel")
    page.get_by_role("button", name="Locate").click()

    assert page.get_by_role("heading", name="Paths to follow").is_visible()
    assert page.get_by_label("Structure", exact=True).first.get_attribute("value") == "1.0000"
    assert page.get_by_label("Weight of structure").input_value() == "1"
    assert Localization.objects.count() == 1
