"""Pages of speed and retries: shown as text, narrowed, taken home, flat in queries, honest when empty."""

from urllib.parse import quote

import pytest

from memory.models import Workspace
from tests.conftest import Cast, page_client
from tests.memory.insight_scenes import build_insights, count_tasks, insight_call
from tests.pages import HOSTILE, extra_queries, page_faults

TOOL = quote(HOSTILE.replace("\0", ""))
PAGES = [
    "insights/", f"insights/?tool={TOOL}&days=7", "insights/?days=90&tool=never", "insights/retries/",
    f"insights/retries/?tool={TOOL}", f"insights/?tool={TOOL}&after=find&tags=a,b&domain=x",
]  # fmt: skip


def build_hostile(workspace: Workspace, tasks: int, prefix: str = "h") -> None:
    """Tasks whose tool, parameters and error are hostile text."""
    name = HOSTILE.replace("\0", "")
    bad = insight_call(name, ok=False, **{name: name}) | {"error": {"message": name, "type": name[:50]}}
    calls = [insight_call("find"), bad, insight_call(name, 30.0, **{name: [name]})]
    count_tasks(workspace, *[calls] * tasks, prefix=prefix, tags=[name], env={"domain": name})


@pytest.mark.parametrize("url", PAGES)
def test_page__viewer__sees_agents_text_as_text(cast: Cast, url: str) -> None:
    build_hostile(cast.workspace, 25)

    assert page_faults(page_client(cast.viewer).get(f"/w/acme/{url}")) == []


@pytest.mark.parametrize("url", PAGES)
def test_page__more_tasks__costs_no_more_queries(cast: Cast, url: str) -> None:
    build_hostile(cast.workspace, 3)

    def more() -> str:
        build_hostile(cast.workspace, 30, prefix="more")
        build_insights(cast.workspace, 9, prefix="other")
        return f"/w/acme/{url}"

    assert extra_queries(page_client(cast.viewer), f"/w/acme/{url}", more) == []


@pytest.mark.parametrize("url", ["insights/", "insights/?tool=x", "insights/retries/"])
def test_page__nothing_counted__says_what_to_do(cast: Cast, url: str) -> None:
    assert 'class="empty"' in page_client(cast.viewer).get(f"/w/acme/{url}").text


@pytest.mark.parametrize("query", ["days=0", "days=x", "days=9999", "tool=%00", "after=%00&tags=,,"])
def test_page__nonsense__is_no_error(cast: Cast, query: str) -> None:
    assert page_client(cast.viewer).get(f"/w/acme/insights/?{query}").status_code == 200


def test_speed__enough_calls__shows_median_and_says_what_is_not_known(cast: Cast) -> None:
    build_insights(cast.workspace)

    text = page_client(cast.viewer).get("/w/acme/insights/").text

    assert "<code>book</code>" in text
    assert text.count("not enough data") == 2  # no 95th percentile of either tool
    assert "25.0 %" in text  # 10 of 40 bookings failed


def test_tool__situation__ranks_ways_and_says_what_was_left_out(cast: Cast) -> None:
    build_insights(cast.workspace, 90)
    client = page_client(cast.viewer)

    exact = client.get("/w/acme/insights/?tool=book&after=find&domain=airline&tags=flight").text
    wider = client.get("/w/acme/insights/?tool=book&after=find&tags=never").text

    assert "<code>book(id: 11-100)</code>" in exact
    assert "Left out of the question" not in exact
    assert "<code>tags</code>" in wider


def test_retries__counted__cost_stands_with_its_pattern(cast: Cast) -> None:
    build_insights(cast.workspace)

    text = page_client(cast.viewer).get("/w/acme/insights/retries/").text

    assert "No seat" in text
    assert "14.3 %" in text  # 10 retries of 70 calls
    assert "10 recovered" in text


@pytest.mark.parametrize(
    ("query", "first"),
    [
        pytest.param("insights/?format=csv", "book,40,10,", id="tools"),
        pytest.param("insights/?format=csv&tool=book", "(id: 11-100),19,0,", id="shapes"),
        pytest.param("insights/retries/?format=csv&table=tools", "book,40,10,10,", id="retries of tools"),
        pytest.param(
            "insights/retries/?format=csv&table=patterns", "book: SeatError: No seat", id="patterns"
        ),
    ],
)
def test_csv__table__has_the_same_numbers(cast: Cast, query: str, first: str) -> None:
    build_insights(cast.workspace)

    answer = page_client(cast.viewer).get(f"/w/acme/{query}")

    lines = answer.getvalue().decode().splitlines()
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert any(line.startswith(first) for line in lines), lines


def test_csv__formula_as_a_tool__is_escaped(cast: Cast) -> None:
    count_tasks(cast.workspace, [insight_call("=1+1")])

    assert b"\n'=1+1,1" in page_client(cast.viewer).get("/w/acme/insights/?format=csv").getvalue()
