"""The rule pages in a real browser: from a pattern to a served rule, checked while typing."""

import pytest

from corrections.models import Rule
from memory.models import ErrorPattern
from tests.browser.checks import problems_of
from tests.browser.conftest import Opened, OpenPage
from tests.conftest import Cast
from tests.corrections.builders import allow_self_approval, make_rule
from tests.corrections.web.scenes import build_rule_scene, city_calls, city_pattern

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "rules/", "rules/{rule.uuid}/", "rules/{rule.uuid}/versions/2/", "rules/{rule.uuid}/diff/?from=1&to=2",
    "rules/{rule.uuid}/edit/", "rules/new/?pattern={pattern.uuid}", "rules/new/?as=json", "simulator/",
    "simulator/?task={task.uuid}&seq=0&rule={draft.uuid}",
]  # fmt: skip


@pytest.mark.parametrize(
    ("theme", "size"), [("light", "desktop"), ("dark", "desktop"), ("light", "phone"), ("dark", "phone")]
)
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    scene = build_rule_scene(cast.workspace, 3)
    opened = open_page(cast.owner, theme=theme, size=size)
    paths = [f"/w/acme/{url.format(**vars(scene))}" for url in PAGES]

    assert problems_of(opened, paths, folds_open=True) == {}


def open_editor(cast: Cast, open_page: OpenPage) -> tuple[Opened, ErrorPattern]:
    """The editor, opened from an error pattern."""
    pattern = city_pattern(cast.workspace)
    city_calls(cast.workspace, pattern)
    opened = open_page(cast.maintainer)
    opened.goto(f"/w/acme/patterns/{pattern.uuid}/")
    opened.page.get_by_role("link", name="Write a rule from this").click()
    opened.page.wait_for_url("**/rules/new/**", wait_until="load")
    return opened, pattern


def test_rule__from_a_pattern__is_checked_written_activated_and_simulated(
    cast: Cast, open_page: OpenPage
) -> None:
    allow_self_approval(cast.workspace)
    opened, pattern = open_editor(cast, open_page)
    page = opened.page
    condition = page.get_by_role("textbox", name="Condition")
    check = page.locator("#check")

    condition.fill("inptu.city == ''")
    check.get_by_text("Did you mean input?").wait_for()
    condition.fill("input.city == ''")
    check.get_by_text("3 of 3").wait_for()
    check.get_by_text("0 of 5").wait_for()
    page.get_by_label("Action", exact=True).select_option("PARAMETER_TRANSFORM")
    page.get_by_label("Operation 1").select_option("set")  # typing goes on while the form changes
    page.get_by_label("Field", exact=True).fill("city")
    page.get_by_label("Value", exact=True).fill("Shanghai")
    check.get_by_text('Set city to "Shanghai".').wait_for()
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name="Save and approve").click()
    page.get_by_text("agents are served it from now on").wait_for()

    rule = Rule.objects.get()
    pattern.refresh_from_db()
    assert (rule.status, pattern.status) == ("active", "covered")
    page.get_by_role("link", name="Simulator").click()
    page.get_by_role("link", name="weather_api").first.click()
    page.get_by_text("The call is corrected.").wait_for()
    assert page.locator("#result ins").inner_text() == '"Shanghai"'
    assert opened.complaints == []


def test_editor__operations_by_keyboard__come_and_go_without_a_reload(
    cast: Cast, open_page: OpenPage
) -> None:
    opened, _pattern = open_editor(cast, open_page)
    page = opened.page
    page.evaluate("window.stayed = true")

    page.get_by_label("Action", exact=True).select_option("PARAMETER_TRANSFORM")
    page.get_by_label("Field", exact=True).fill("unit")
    page.get_by_role("button", name="Add an operation").press("Enter")
    page.get_by_label("Operation 2", exact=True).wait_for()
    page.get_by_role("button", name="Remove operation 2").press("Enter")
    page.get_by_label("Operation 2", exact=True).wait_for(state="detached")

    assert page.get_by_label("Field", exact=True).input_value() == "unit"
    assert page.evaluate("window.stayed")
    assert Rule.objects.count() == 0


def test_editor__example_of_the_reference__goes_to_the_cursor(cast: Cast, open_page: OpenPage) -> None:
    opened, _pattern = open_editor(cast, open_page)
    page = opened.page
    page.get_by_role("textbox", name="Condition").fill("")

    page.get_by_text("The condition language").click()
    page.get_by_role("button", name="has(input.city)").click()

    assert page.get_by_role("textbox", name="Condition").input_value() == "has(input.city)"
    assert page.evaluate("document.activeElement.id") == "id_rule-condition"


def test_editor__left_with_unsaved_text__asks_first(cast: Cast, open_page: OpenPage) -> None:
    opened, _pattern = open_editor(cast, open_page)
    page = opened.page
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))

    page.get_by_label("Description").press_sequentially("more")
    page.get_by_role("link", name="Tasks").click(no_wait_after=True)
    page.wait_for_timeout(300)

    assert asked == ["beforeunload"]
    assert (
        page.get_by_label("Description").input_value().endswith("more")
        or "more" in page.get_by_label("Description").input_value()
    )


def test_without_scripts__rule__is_written_changed_and_retired(cast: Cast, open_page: OpenPage) -> None:
    allow_self_approval(cast.workspace)
    opened = open_page(cast.maintainer, scripts=False, size="phone")
    page = opened.page
    page.goto(f"{opened.base}/w/acme/rules/new/?tool=book")

    page.get_by_label("Action", exact=True).select_option("PROMPT_ENHANCEMENT")
    page.get_by_role("button", name="Change form").click()
    page.get_by_label("Text for the model").fill("Mind the date")
    page.get_by_role("textbox", name="Name").fill("Dates")
    page.get_by_role("button", name="Save and approve").click()
    assert page.get_by_text("agents are served it from now on").is_visible()
    page.locator("summary", has_text="Retire").click()
    page.get_by_role("button", name="Yes: Retire").click()

    assert page.get_by_text("The rule is retired").is_visible()
    assert Rule.objects.get().status == "retired"


def test_steps__retire__needs_a_second_click(cast: Cast, open_page: OpenPage) -> None:
    rule = make_rule(cast.workspace)
    opened = open_page(cast.maintainer)
    opened.goto(f"/w/acme/rules/{rule.uuid}/")

    assert not opened.page.get_by_role("button", name="Yes: Retire").is_visible()
    opened.page.locator("summary", has_text="Retire").click()
    assert opened.page.get_by_role("button", name="Yes: Retire").is_visible()
