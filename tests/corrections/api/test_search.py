"""Searching over the API and on the page."""

import pytest
from rest_framework.test import APIClient

from corrections.background.texts import collect_rule_texts
from memory.background.texts import collect_pattern_texts, embed_texts
from tests.builders import make_pattern
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule


def fill(cast: Cast) -> None:
    make_rule(cast.workspace, name="Parse JSON output", description="Text that is no valid JSON is an error.")
    make_pattern(cast.workspace, "JSONDecodeError: Expecting value", tool="report")
    collect_rule_texts()
    collect_pattern_texts()
    embed_texts()


def test_search__a_question__answers_with_scores(cast: Cast, admin_api: APIClient) -> None:
    fill(cast)
    body = admin_api.get("/api/v1/search", {"q": "JSON that does not parse"}).json()
    assert (body["results"][0]["kind"], body["results"][0]["title"]) == ("rule", "Parse JSON output")
    assert 0 < body["results"][0]["score"] <= 1
    assert (body["waiting"], body["by_meaning"]) == (0, True)


def test_search__one_kind__is_alone(cast: Cast, admin_api: APIClient) -> None:
    fill(cast)
    rows = admin_api.get("/api/v1/search", {"q": "json", "kind": "pattern"}).json()["results"]
    assert [(row["kind"], row["by"]) for row in rows] == [("pattern", "letters")]


def test_search__nothing_near__is_an_empty_list(cast: Cast, admin_api: APIClient) -> None:
    fill(cast)
    assert admin_api.get("/api/v1/search", {"q": "quantum"}).json()["results"] == []


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"q": "x" * 401}, id="too long"),
        pytest.param({"q": "x", "kind": "y"}, id="kind"),
    ],
)
def test_search__unreadable__answers_422(admin_api: APIClient, asked: dict[str, str]) -> None:
    assert admin_api.get("/api/v1/search", asked).status_code == 422


def test_page__a_question__shows_rules_and_patterns(cast: Cast) -> None:
    fill(cast)
    text = page_client(cast.viewer).get("/w/acme/search/", {"q": "how to handle JSON"}).text
    assert "Parse JSON output" in text
    assert "near in meaning" in text or "holds your words" in text


def test_page__rule_written_this_moment__is_found_by_its_name(cast: Cast) -> None:
    make_rule(cast.workspace, name="Zebra crossing")
    assert "Zebra crossing" in page_client(cast.viewer).get("/w/acme/search/", {"q": "zebra"}).text


def test_page__nothing__says_so(cast: Cast) -> None:
    fill(cast)
    text = page_client(cast.viewer).get("/w/acme/search/", {"q": "quantum"}).text
    assert "near in meaning. Try fewer" in text
