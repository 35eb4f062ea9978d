"""The line of numbers about paths on the overview."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.models import PathUse
from memory.queries import overview
from memory.queries.overview import PathNumbers, count_paths_and_uses
from tests.builders import make_localization, make_path
from tests.conftest import Cast, page_client
from tests.memory.builders import make_rewrite

pytestmark = pytest.mark.django_db


def build_scene(cast: Cast) -> None:
    """Two paths, three answers and three uses of this week, and older ones that do not count."""
    now = timezone.now()
    path = make_path(cast.workspace, "Pay")
    make_path(cast.workspace, "Pay later")
    make_path(cast.elsewhere, "Pay never")
    make_path(cast.workspace, "A pattern", result="template", reward=0.0)
    make_localization(cast.workspace, path, asked_at=now - timedelta(days=8))
    make_localization(cast.elsewhere, asked_at=now)
    for paths in ((path,), (path,), ()):
        make_localization(cast.workspace, *paths, asked_at=now)
    for number, (result, days) in enumerate([("success", 0), ("failure", 1), ("unknown", 1), ("success", 9)]):
        PathUse.objects.create(
            workspace=cast.workspace, path=path, task_name=f"t{number}", result=result,
            used_at=now - timedelta(days=days),
        )  # fmt: skip


def test_numbers__of_a_week__are_counted_in_three_queries(cast: Cast) -> None:
    build_scene(cast)

    with CaptureQueriesContext(connection) as queries:
        numbers = count_paths_and_uses(cast.workspace, since=timezone.now() - timedelta(days=7))

    assert numbers == PathNumbers(active=2, located=3, found=2, nothing=1, ended=2, succeeded=1)
    assert len(queries) == 3


def test_overview__paths__says_one_line_about_them_and_counts_only_so_far(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "paths-line" not in page_client(cast.viewer).get("/w/acme/").text
    build_scene(cast)
    make_rewrite(cast.workspace)

    text = " ".join(page_client(cast.viewer).get("/w/acme/").text.split())

    for said in (
        "3 active paths",
        "asked 3 times in 7 days",
        "2 found, 1 with nothing",
        "1 of 2 reuses succeeded",
        "1 rewrite waiting",
    ):
        assert said in text
    monkeypatch.setattr(overview, "PATHS_COUNTED", 1)
    numbers = count_paths_and_uses(cast.workspace, since=timezone.now() - timedelta(days=7))
    assert (numbers.active, numbers.located) == (2, 2)
