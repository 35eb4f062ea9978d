"""The review pages in a real browser: approve and reject by keyboard, merge nodes, the graph, alerts."""

import pytest

from memory.models import Alert, Node, RewriteProposal
from tests.browser.checks import problems_of
from tests.browser.conftest import Opened, OpenPage
from tests.conftest import Cast
from tests.memory.builders import make_alert, make_node, make_rewrite
from tests.memory.web.graph_scenes import build_graph_scene
from tests.memory.web.test_rewrites import build_scene

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "rewrites/", "rewrites/{rewrite.uuid}/", "rewrites/{rewrite.uuid}/edit/",
    "rewrites/decide/?do=reject&rewrite={rewrite.uuid}", "alerts/", "graph/",
    "graph/?focus={node.uuid}&find=script", "nodes/duplicates/",
    "nodes/merge/?node={node.uuid}&node={alone.uuid}",
]  # fmt: skip


@pytest.mark.parametrize(
    ("theme", "size"), [("light", "desktop"), ("dark", "desktop"), ("light", "phone"), ("dark", "phone")]
)
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    scene = build_graph_scene(cast.workspace, 3)
    rows = {"rewrite": build_scene(cast, 2), "node": scene.node, "alone": scene.alone}
    opened = open_page(cast.owner, theme=theme, size=size)

    assert problems_of(opened, [f"/w/acme/{url.format(**rows)}" for url in PAGES], folds_open=True) == {}


def waiting(cast: Cast, open_page: OpenPage) -> tuple[Opened, list[RewriteProposal]]:
    """The queue with two proposals, the newest first."""
    proposals = [make_rewrite(cast.workspace) for _ in range(2)][::-1]
    opened = open_page(cast.reviewer)
    opened.goto("/w/acme/rewrites/")
    return opened, proposals


def test_queue__by_keyboard__approves_one_and_rejects_the_next(cast: Cast, open_page: OpenPage) -> None:
    opened, (first, second) = waiting(cast, open_page)
    page, keys = opened.page, opened.page.keyboard

    keys.press("j")
    keys.press("Enter")
    page.wait_for_url(f"**/rewrites/{first.uuid}/")
    page.locator("#graph-new[data-drawn]").wait_for()
    keys.press("a")
    page.get_by_role("button", name="Yes, approve").wait_for()
    assert RewriteProposal.objects.get(pk=first.pk).status == "proposed"  # a key alone decides nothing
    keys.press("Tab")
    keys.press("Enter")

    page.wait_for_url(f"**/rewrites/{second.uuid}/")
    page.locator("#graph-new[data-drawn]").wait_for()
    keys.press("r")
    keys.type("It already asks.")
    keys.press("Enter")
    page.get_by_text("Nothing waits for you").wait_for()
    statuses = [RewriteProposal.objects.get(pk=one.pk).status for one in (first, second)]
    assert statuses == ["approved", "rejected"]
    assert opened.complaints == []


def test_queue__keys_on_a_row__choose_it_and_open_its_questions(cast: Cast, open_page: OpenPage) -> None:
    opened, (first, _second) = waiting(cast, open_page)
    page, keys = opened.page, opened.page.keyboard

    keys.press("j")
    keys.press("x")
    assert page.locator("[data-row-choice]").first.is_checked()
    keys.press("j")
    keys.press("k")
    keys.press("r")
    page.wait_for_url(f"**/rewrites/{first.uuid}/#ask-reject")
    page.wait_for_function("document.activeElement.id === 'reject-reason'")
    keys.press("Escape")
    page.locator("h1").click()
    keys.press("e")
    page.wait_for_url(f"**/rewrites/{first.uuid}/edit/")
    keys.press("?")
    assert page.get_by_role("dialog", name="Keyboard shortcuts").is_visible()


def test_compare__change_of_the_list__is_shown_in_the_drawing(cast: Cast, open_page: OpenPage) -> None:
    opened, (first, _second) = waiting(cast, open_page)
    page = opened.page
    opened.goto(f"/w/acme/rewrites/{first.uuid}/")
    page.locator("#graph-old[data-drawn]").wait_for()

    page.get_by_role("button", name="added: 2. check").press("Enter")

    page.get_by_text("Selected: 2. check", exact=False).first.wait_for(state="attached")
    assert opened.complaints == []


def test_edit__typed__is_checked_without_a_reload(cast: Cast, open_page: OpenPage) -> None:
    opened, (first, _second) = waiting(cast, open_page)
    page = opened.page
    opened.goto(f"/w/acme/rewrites/{first.uuid}/edit/")
    page.evaluate("window.stayed = true")
    document = page.get_by_label("The rewrite as JSON")

    document.fill('{"new_nodes": ["absent"], "reason": "x"}')
    page.get_by_text("has no node").wait_for()
    document.fill('{"new_nodes": ["find-1"], "reason": "x"}')
    page.get_by_text("This can be applied.").wait_for()

    assert page.evaluate("window.stayed")
    assert opened.complaints == []


def test_without_scripts__rewrite__is_edited_and_approved(cast: Cast, open_page: OpenPage) -> None:
    proposal = make_rewrite(cast.workspace)
    opened = open_page(cast.reviewer, scripts=False, size="phone")
    page = opened.page
    page.goto(f"{opened.base}/w/acme/rewrites/{proposal.uuid}/edit/")

    page.get_by_role("button", name="Remove step 3").click()
    page.get_by_role("button", name="Save").click()
    page.locator("summary", has_text="Approve").click()
    page.get_by_role("button", name="Yes, approve").click()

    assert page.get_by_text("Nothing waits for you").is_visible()
    assert RewriteProposal.objects.get().new_path.node_count == 2


def test_graph__node_by_keyboard__opens_what_is_around_it(cast: Cast, open_page: OpenPage) -> None:
    build_graph_scene(cast.workspace, 3)
    opened = open_page(cast.viewer)
    opened.goto("/w/acme/graph/")
    page = opened.page
    page.locator("#graph-explorer[data-drawn]").wait_for()

    page.get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    page.wait_for_url("**/graph/?focus=*")
    assert page.get_by_role("heading", name="Details").is_visible()
    assert opened.complaints == []


def test_nodes__chosen_in_the_list__are_merged_and_taken_apart(cast: Cast, open_page: OpenPage) -> None:
    for text in ("Check the order", "check the ORDER"):
        make_node(cast.workspace, text)
    opened = open_page(cast.maintainer)
    page = opened.page
    opened.goto("/w/acme/nodes/duplicates/")

    page.get_by_role("button", name="Merge the chosen nodes").click()
    page.get_by_label("Why").fill("the same check")
    page.get_by_role("button", name="Merge these 2 nodes").click()
    page.get_by_text("1 node is merged into this one.").wait_for()
    assert Node.objects.exclude(merged_into=None).count() == 1
    page.get_by_role("button", name="Take out").click()
    page.get_by_text("The node stands alone again.").wait_for()

    assert not Node.objects.exclude(merged_into=None).exists()
    assert opened.complaints == []


def test_alert__closed_in_the_browser__leaves_the_navigation(cast: Cast, open_page: OpenPage) -> None:
    make_alert(cast.workspace)
    opened = open_page(cast.reviewer)
    page = opened.page
    opened.goto("/w/acme/")
    page.get_by_role("link", name="Alerts 1 waiting").click()

    page.get_by_label("What you found or did").fill("A loop in the agent")
    page.get_by_label("Rewrite this path automatically again").check()
    page.get_by_role("button", name="Close the alert").click()
    page.get_by_text("No open alert").wait_for()

    assert Alert.objects.get().lineage.automatic_paused_at is None
    assert page.locator(".nav-count").count() == 0
