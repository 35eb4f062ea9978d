"""The canary pages in a real browser."""

import pytest

from corrections.models import Canary
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.corrections.builders import make_canary, make_rule
from tests.corrections.canary_scenes import make_exposure, make_tried

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    ("theme", "size"), [("light", "desktop"), ("dark", "desktop"), ("light", "phone"), ("dark", "phone")]
)
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    canary = make_tried(cast.workspace, tasks=30)
    shadow = make_canary(make_rule(cast.workspace, active=False), state="shadow")
    make_exposure(shadow, "shadow")
    opened = open_page(cast.owner, theme=theme, size=size)
    pages = ["canaries/", f"canaries/{canary.uuid}/", f"canaries/{canary.uuid}/exposures/",
             f"canaries/{shadow.uuid}/", f"canaries/{shadow.uuid}/matches/",
             f"rules/{canary.rule.uuid}/", "rules/"]  # fmt: skip

    assert problems_of(opened, [f"/w/acme/{page}" for page in pages], folds_open=True) == {}


def test_list__by_keyboard__opens_a_canary(cast: Cast, open_page: OpenPage) -> None:
    canary = make_tried(cast.workspace)
    opened = open_page(cast.viewer)
    opened.goto("/w/acme/canaries/")

    opened.page.get_by_role("link", name=canary.rule.name).focus()
    opened.page.keyboard.press("Enter")

    opened.page.get_by_role("heading", name="Arms side by side").wait_for()


@pytest.mark.parametrize("scripts", [True, False])
def test_canary__paused_by_a_form__says_so_with_and_without_scripts(
    cast: Cast, open_page: OpenPage, scripts: bool
) -> None:
    canary = make_tried(cast.workspace)
    opened = open_page(cast.reviewer, scripts=scripts)
    opened.page.goto(f"{opened.base}/w/acme/canaries/{canary.uuid}/")

    opened.page.get_by_text("Pause…").click()
    form = opened.page.locator("form", has=opened.page.locator("input[value=pause]"))
    form.get_by_label("Reason").fill("the provider is down")
    form.get_by_role("button", name="Yes: Pause").click()

    opened.page.get_by_text("It is paused.").wait_for()
    assert Canary.objects.get(pk=canary.pk).state == "paused"
