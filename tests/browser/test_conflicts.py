"""The conflict pages in a real browser."""

import pytest

from corrections.actions.scanning import scan_everything
from corrections.models import Conflict, ConflictScan
from memory.permissions import SYSTEM
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.conftest import Cast
from tests.corrections.conflicts import make_ruled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    ("theme", "size"), [("light", "desktop"), ("dark", "desktop"), ("light", "phone"), ("dark", "phone")]
)
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    conflict, _ = make_ruled(cast.workspace)
    scan_everything(workspace_id=cast.workspace.pk, by=SYSTEM)
    opened = open_page(cast.owner, theme=theme, size=size)
    pages = ["conflicts/", f"conflicts/{conflict.uuid}/", "rulings/", f"rules/{conflict.rule_a.uuid}/",
             f"rules/{conflict.rule_a.uuid}/conflicts/"]  # fmt: skip

    assert problems_of(opened, [f"/w/acme/{page}" for page in pages], folds_open=True) == {}


def test_rule_page__the_scan_ends_while_it_is_open__shows_the_finding(
    cast: Cast, open_page: OpenPage
) -> None:
    conflict, _ = make_ruled(cast.workspace)
    Conflict.objects.update(status="gone")
    opened = open_page(cast.reviewer)
    opened.goto(f"/w/acme/rules/{conflict.rule_a.uuid}/")
    opened.page.get_by_text("being looked at").wait_for()

    Conflict.objects.update(status="open")
    ConflictScan.objects.update(status="done", finished_at=conflict.found_at)

    opened.page.get_by_role("link", name="Shanghai · Beijing").wait_for(timeout=5_000)
    assert opened.complaints == []


def test_arbitration__decided_by_a_form__says_what_became_of_it(cast: Cast, open_page: OpenPage) -> None:
    conflict, _ = make_ruled(cast.workspace)
    opened = open_page(cast.reviewer)
    opened.goto(f"/w/acme/conflicts/{conflict.uuid}/")

    opened.page.get_by_text("“Beijing” prevails…").click()
    form = opened.page.locator("#b_wins-b")
    form.get_by_label("Why").fill("it is where we are")
    form.get_by_role("button", name="Decide so").click()

    opened.page.get_by_text("It waits for approval.").wait_for()
