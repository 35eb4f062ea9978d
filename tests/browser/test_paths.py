"""Paths in a real browser: the drawing, its keys, its list, comparing, and hostile text."""

import pytest

from memory.domain.paths.document import EdgeDoc, NodeDoc
from tests.browser.checks import problems_of
from tests.browser.conftest import OpenPage
from tests.builders import make_path
from tests.conftest import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def branching(workspace):
    nodes = [
        NodeDoc(
            name="a",
            tool="search_flights",
            content="",
            params={"from": "SFO", "to": "JFK", "date": "2024-05-20", "cabin": "economy"},
            observation={"flights": [1, 2, 3]},
        ),
        NodeDoc(
            name="err",
            kind="event",
            content="search_flights failed: date must not lie in the past",
            details={"error_type": "ValueError", "attempts": [1, 2]},
        ),
        NodeDoc(name="retry", kind="decision", content="Try search_flights again with other date"),
        NodeDoc(name="a2", tool="search_flights", params={"date": "2026-05-20"}),
        NodeDoc(name="user", kind="entity", content="用户 mia_li_3668 的个人资料和支付方式"),
        NodeDoc(
            name="b",
            tool="book_reservation",
            content="Book the cheapest flight with the gift card of the user, then say the price",
        ),
    ]
    edges = [
        EdgeDoc(source="a", target="err", condition="error: date must not lie in the past", label="failed"),
        EdgeDoc(source="err", target="retry"),
        EdgeDoc(source="retry", target="a2", label="retry"),
        EdgeDoc(source="a2", target="user", condition="ok"),
        EdgeDoc(source="user", target="b"),
        EdgeDoc(source="a", target="b", condition="ok", label="worked at once"),
        EdgeDoc(source="b", target="a2", condition="sold out", label="look again"),
    ]
    return make_path(workspace, "Change a flight", nodes, edges=edges)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_x(cast: Cast, open_page: OpenPage, theme, size) -> None:
    path = branching(cast.workspace)
    opened = open_page(cast.owner, size=size, theme=theme)
    problems = problems_of(opened, [f"/w/acme/paths/{path.uuid}/"])
    opened.page.wait_for_selector("[data-drawn]", timeout=5000)
    opened.page.locator("[data-graph-canvas]").focus()
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("ArrowDown")
    opened.page.screenshot(path=f"/tmp/shots/g-{theme}-{size}.png", full_page=True)
    assert problems == {}
