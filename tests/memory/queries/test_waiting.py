"""What waits for a person: the numbers beside the navigation."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.queries.alerts import Waiting, count_all_waiting
from tests.conftest import Cast, page_client
from tests.memory.builders import make_alert, make_rewrite

pytestmark = pytest.mark.django_db


def test_waiting__open_alerts_and_proposals__are_counted_in_two_queries(cast: Cast) -> None:
    for status in ("proposed", "proposed", "queued", "rejected"):
        make_rewrite(cast.workspace, status=status)
    make_alert(cast.workspace)
    make_alert(cast.workspace, closed_at="2026-03-01T12:00:00Z")
    make_alert(cast.elsewhere)

    with CaptureQueriesContext(connection) as queries:
        waiting = count_all_waiting(cast.workspace)

    assert (waiting, len(queries)) == (Waiting(rewrites=2, alerts=1), 2)


def test_navigation__something_waits__says_how_much_on_every_page(cast: Cast) -> None:
    make_rewrite(cast.workspace)
    make_alert(cast.workspace)
    client = page_client(cast.viewer)

    for url in ("", "tasks/"):
        assert client.get(f"/w/acme/{url}").text.count('class="nav-count">1<') == 2
    assert "1 alert is open." in client.get("/w/acme/").text
    assert "nav-count" not in page_client(cast.outsider).get("/w/other/").text
