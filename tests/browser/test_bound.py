"""Dependencies and changed tools in a real browser."""

import pytest

from corrections.models import Rule
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.builders import make_call, make_task
from tests.conftest import Cast
from tests.corrections.actions.test_impacts import make_impact
from tests.corrections.builders import make_rule

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def build(cast: Cast) -> list[str]:
    """A circle, a rule with a witness and a changed tool; the addresses of their pages."""
    rule = make_rule(cast.workspace)
    make_rule(
        cast.workspace, name="Needs a city", condition="", action_type="PRE_CALL_VALIDATION",
        action_detail={"check": "input.city == 'Shanghai'", "message": "No city"},
    )  # fmt: skip
    for name, reads, writes in (("First", "b", "a"), ("Second", "a", "b")):
        make_rule(
            cast.workspace, name=name, condition=f"input.{reads} == 1",
            action_detail={"op": "set", "field": writes, "value": 1},
        )  # fmt: skip
    make_call(make_task(cast.workspace), "weather_api", input={"city": ""})
    impact = make_impact(cast.workspace)
    return [
        "/w/acme/dependencies/", f"/w/acme/rules/{rule.uuid}/dependents/", f"/w/acme/rules/{rule.uuid}/",
        "/w/acme/impacts/", f"/w/acme/impacts/{impact.uuid}/", f"/w/acme/tools/{impact.tool.uuid}/",
    ]  # fmt: skip


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    paths = build(cast)

    assert problems_of(open_page(cast.owner, theme=theme, size=size), paths, folds_open=True) == {}


def test_impact__decided_by_keyboard__is_confirmed_before_it_is_done(cast: Cast, open_page: OpenPage) -> None:
    paths = build(cast)
    opened = open_page(cast.maintainer)
    page = opened.page
    opened.goto(paths[4])
    page.get_by_label("Reason").fill("The city is gone.")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="This will be done").wait_for()
    assert not Rule.objects.filter(stale_since__isnull=False).exists()

    page.get_by_role("button", name="Yes, do it").press("Enter")
    page.get_by_text("Done for 2 rules.").wait_for()

    assert Rule.objects.filter(stale_since__isnull=False).count() == 2
    assert opened.complaints == []
