"""Paths in a real browser: the drawing and its list, by mouse and keyboard; comparing; hostile text."""

import time
from typing import Any

import pytest

from memory.domain.paths.document import EdgeDoc, NodeDoc, chain
from memory.models import Path, Workspace
from tests.browser.checks import problems_of, serious_findings
from tests.browser.conftest import Opened, OpenPage
from tests.builders import make_path
from tests.conftest import Cast
from tests.memory.web.path_scenes import build_path_scene

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    "paths/", "paths/{path.uuid}/", "paths/{path.uuid}/compare/", "paths/new/", "paths/import/",
    "paths/{path.uuid}/correct/",
]  # fmt: skip
PAINTED = """() => {
  const canvas = document.querySelector('[data-graph] canvas');
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(pixels.buffer)).size;
}"""


def detour(workspace: Workspace) -> Path:
    """find, its failure, the decision to try again, book; and the way past the detour."""
    nodes = [
        NodeDoc(name="find", tool="find_flights", params={"date": "2024-05-20"}),
        NodeDoc(name="error", kind="event", content="find failed", details={"error_type": "ValueError"}),
        NodeDoc(name="retry", kind="decision", content="Try again with another date"),
        NodeDoc(name="book", tool="book", content="Book the cheapest one"),
    ]
    edges = (
        *chain([node.name for node in nodes]),
        EdgeDoc(source="find", target="book", condition="ok", label="worked at once"),
    )
    return make_path(workspace, "Change a flight", nodes, edges=edges)


def open_path(open_page: OpenPage, cast: Cast, path: Path, **how: Any) -> Opened:
    """The path's page, drawn."""
    opened = open_page(cast.reviewer, **how)
    opened.goto(f"/w/acme/paths/{path.uuid}/")
    opened.page.wait_for_selector("[data-drawn]")
    return opened


def selected(opened: Opened) -> tuple[str | None, str]:
    """The selected box, and the current rows of the list."""
    figure = opened.page.locator("[data-graph]").first
    rows = opened.page.locator("[data-shows][aria-current=true] h3").all_inner_texts()
    return figure.get_attribute("data-selected"), " ".join(rows)


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_pages__every_one__accessible_quiet_and_inside_the_window(
    cast: Cast, open_page: OpenPage, theme: str, size: str
) -> None:
    scene = build_path_scene(cast.workspace, 2)
    opened = open_page(cast.owner, theme=theme, size=size)
    paths = [f"/w/acme/{url.format(**vars(scene))}" for url in PAGES]

    assert problems_of(opened, paths, folds_open=True) == {}


def test_drawing__path__is_painted_in_both_themes(cast: Cast, open_page: OpenPage) -> None:
    opened = open_path(open_page, cast, detour(cast.workspace))
    light = opened.page.evaluate(PAINTED)
    shot = opened.page.locator("[data-graph-canvas]").screenshot()

    opened.page.evaluate("document.documentElement.classList.add('dark')")
    opened.page.wait_for_timeout(100)

    assert light > 20
    assert opened.page.evaluate(PAINTED) > 20
    assert opened.page.locator("[data-graph-canvas]").screenshot() != shot
    assert opened.complaints == []


def test_drawing__arrow_keys__walk_along_the_edges_and_select_rows(cast: Cast, open_page: OpenPage) -> None:
    opened = open_path(open_page, cast, detour(cast.workspace))
    keys = opened.page.keyboard
    opened.page.locator("[data-graph-canvas]").focus()

    walked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "End", "Home", "ArrowUp"):
        keys.press(key)
        walked.append(selected(opened))

    assert walked == [
        ("n0", "1. find_flights"), ("n1", "2. event"), ("n2", "3. decision"), ("n1", "2. event"),
        ("n3", "4. book"), ("n0", "1. find_flights"), ("n0", "1. find_flights"),
    ]  # fmt: skip
    assert "find_flights" in opened.page.locator("[data-graph-said]").inner_text()
    keys.press("Escape")
    assert selected(opened) == (None, "")


def test_drawing__enter__leads_to_the_row(cast: Cast, open_page: OpenPage) -> None:
    opened = open_path(open_page, cast, detour(cast.workspace))
    opened.page.locator("[data-graph-canvas]").focus()

    opened.page.keyboard.press("Home")
    opened.page.keyboard.press("Enter")

    assert opened.page.evaluate("document.activeElement.textContent") == "1. find_flights"
    assert opened.page.locator("#path-step-1 details").first.get_attribute("open") is not None


def test_drawing__zoom_keys__change_what_is_painted(cast: Cast, open_page: OpenPage) -> None:
    opened = open_path(open_page, cast, detour(cast.workspace))
    canvas = opened.page.locator("[data-graph-canvas]")
    canvas.focus()
    shots = [canvas.screenshot()]
    for key in ("+", "-", "-", "f"):
        opened.page.keyboard.press(key)
        opened.page.wait_for_timeout(350)
        shots.append(canvas.screenshot())

    assert shots[0] != shots[1]
    assert shots[2] != shots[3]
    assert shots[3] != shots[4]


def test_drawing__click_on_a_box_and_on_a_row__select_each_other(cast: Cast, open_page: OpenPage) -> None:
    opened = open_path(open_page, cast, detour(cast.workspace))
    opened.page.locator("#path-step-3 h3").click()
    by_row = selected(opened)
    data = opened.page.evaluate("JSON.parse(document.getElementById('graph-path-data').textContent)")
    canvas = opened.page.locator("[data-graph-canvas]")
    box = canvas.bounding_box()
    left, top, width, height = data["bounds"]
    scale = min(box["width"] / width, box["height"] / height, 1)
    node = data["nodes"][1]
    x = box["width"] / 2 + (node["x"] - left - width / 2) * scale
    y = box["height"] / 2 + (node["y"] - top - height / 2) * scale

    canvas.click(position={"x": x, "y": y})
    opened.page.wait_for_selector("[data-selected=n1]")

    assert by_row == ("n2", "3. decision")
    assert selected(opened) == ("n1", "2. event")


def test_drawing__without_scripts__is_an_svg_beside_the_list(cast: Cast, open_page: OpenPage) -> None:
    path = detour(cast.workspace)
    opened = open_page(cast.viewer, scripts=False)
    opened.page.goto(f"{opened.base}/w/acme/paths/{path.uuid}/")

    assert opened.page.locator(".graph-svg .graph-box").count() == 4
    assert opened.page.get_by_role("img", name="The path as a graph").is_visible()
    assert opened.page.locator(".path-steps > li").count() == 4
    assert not opened.page.locator("[data-graph-do=fit]").is_visible()


def test_drawing__hostile_text__does_nothing(cast: Cast, open_page: OpenPage) -> None:
    scene = build_path_scene(cast.workspace)
    opened = open_page(cast.owner)
    asked: list[str] = []
    opened.page.on("dialog", lambda dialog: asked.append(dialog.message) or dialog.dismiss())
    requests: list[str] = []
    opened.page.on("request", lambda request: requests.append(request.url))

    for url in ("paths/{path.uuid}/", "paths/{path.uuid}/compare/"):
        opened.goto("/w/acme/" + url.format(**vars(scene)))
        opened.page.wait_for_selector("[data-drawn='5']")
        canvas = opened.page.locator("[data-graph-canvas]").first
        canvas.focus()
        opened.page.keyboard.press("Home")
        box = canvas.bounding_box()
        for step in range(1, 8):
            opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + step * box["height"] / 8)
        opened.page.wait_for_timeout(400)

    assert (asked, opened.complaints) == ([], [])
    assert not [url for url in requests if url.endswith("/x")]
    assert opened.page.locator("figure img, figure script:not([type='application/json'])").count() == 0


def test_compare__by_keyboard__marks_both_drawings_and_the_list(cast: Cast, open_page: OpenPage) -> None:
    scene = build_path_scene(cast.workspace)
    opened = open_page(cast.viewer)
    opened.goto(f"/w/acme/paths/{scene.path.uuid}/compare/")
    opened.page.wait_for_selector("[data-graph=new][data-drawn]")

    opened.page.locator(".path-change-added button").first.focus()
    opened.page.keyboard.press("Enter")

    assert opened.page.locator("[data-graph=new]").get_attribute("data-selected") is not None
    assert opened.page.locator(".path-change-removed").count() > 0
    assert "removed" in opened.page.locator("[data-graph=old] .graph-legend").inner_text()
    assert "added" in opened.page.locator("[data-graph=new] .graph-legend").inner_text()
    assert serious_findings(opened) == []
    assert opened.complaints == []


def test_editor__typed__is_checked_without_a_reload(cast: Cast, open_page: OpenPage) -> None:
    opened = open_page(cast.reviewer)
    opened.goto("/w/acme/paths/new/")

    opened.page.get_by_label("Goal").fill("Change a flight")
    opened.page.get_by_label("Tool", exact=True).first.fill("find")
    opened.page.locator("#path-check .note-error").wait_for()
    opened.page.get_by_label("Tool", exact=True).nth(1).fill("book")
    opened.page.get_by_text("It can be saved: 2 steps.").wait_for()

    assert opened.page.locator("#path-check .graph-box").count() == 2
    assert serious_findings(opened) == []
    assert opened.complaints == []


def test_retire__confirmed_by_keyboard__is_said_on_the_page(cast: Cast, open_page: OpenPage) -> None:
    path = detour(cast.workspace)
    opened = open_page(cast.owner)
    opened.goto(f"/w/acme/paths/{path.uuid}/")
    opened.page.locator("summary", has_text="Retire").press("Enter")
    opened.page.locator("#reason-retire").fill("outdated")
    opened.page.locator("#reason-retire").press("Tab")

    opened.page.keyboard.press("Enter")
    opened.page.get_by_text("This path is retired: agents are not served it.").wait_for()

    path.refresh_from_db()
    assert path.status == "retired"


def test_drawing__thousand_nodes__is_there_soon(cast: Cast, open_page: OpenPage) -> None:
    path = make_path(cast.workspace, "long", [f"tool{number % 17}" for number in range(1000)])
    opened = open_page(cast.viewer)
    opened.goto("/w/acme/paths/")

    start = time.monotonic()
    opened.page.goto(f"{opened.base}/w/acme/paths/{path.uuid}/")
    opened.page.wait_for_selector("[data-drawn='1000']")
    opened.page.locator("[data-graph-canvas]").focus()
    opened.page.keyboard.press("End")

    assert selected(opened)[0] == "n999"
    assert time.monotonic() - start < 20  # loose on a busy machine; the benchmark has the figure
