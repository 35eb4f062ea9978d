"""Rules as files, reminders and the search in a real browser."""

from datetime import timedelta

import pytest
from django.utils import timezone

from corrections.background.staleness import mark_stale_rules
from corrections.background.texts import collect_rule_texts
from corrections.models import ChangeRequest
from memory.background.texts import embed_texts
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.corrections.builders import make_rule

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "rules/files/",
    "rules/reminders/",
    "rules/?needs_look=true",
    "rules/{uuid}/",
    "search/?q=empty+city",
]
FILE = """
- name: Ask for a city
  applies_to: {tool: weather_api}
  action_type: PRE_CALL_VALIDATION
  action_detail: {on_failure: ask}
"""


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    rule = make_rule(cast.workspace)
    mark_stale_rules(timezone.now() + timedelta(days=90))
    collect_rule_texts()
    embed_texts()
    opened = open_page(cast.owner, theme=theme, size=size)
    paths = [f"/w/acme/{url.format(uuid=rule.uuid)}" for url in PAGES]

    assert problems_of(opened, paths, folds_open=True) == {}


def test_import__without_scripts__shows_the_plan_and_asks(cast: Cast, open_page: OpenPage) -> None:
    page = (opened := open_page(cast.reviewer, scripts=False)).page
    page.goto(f"{opened.base}/w/acme/rules/files/")
    page.fill("#pasted", FILE)
    page.click("button[value=plan]")
    assert "Ask for a city" in page.inner_text("main")
    page.fill("#reason", "from git")
    page.click("button[value=apply]")
    change = ChangeRequest.objects.get()
    assert (change.kind, change.description) == ("create", "from git")
    assert change.title in page.inner_text("main")
