"""Pages of the localizations and the weekly sample."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.background.uses import settle_backlog
from memory.models import AuditEvent, Localization, PathUse, Workspace
from tests.builders import make_localization, make_path, make_task
from tests.conftest import Cast, page_client
from tests.memory.web.test_pages import HOSTILE


def build_scene(workspace: Workspace, rows: int) -> Localization:
    """``rows`` sampled answers of this week full of hostile text, with uses that failed; the newest."""
    now = timezone.now()
    for number in range(rows):
        path = make_path(workspace, HOSTILE, tags=(HOSTILE,))
        bad = make_path(workspace, HOSTILE, result="failure", reward=0.0)
        task = make_task(workspace)
        avoid = [{"path": str(bad.uuid), "score": 0.7, "parts": {"semantic": 0.7}}]
        row = make_localization(
            workspace, path, bad, goal=f"{number} {HOSTILE}", avoid=avoid, sampled=True, asked_at=now,
            asked_by=HOSTILE, query={"tags": [HOSTILE], "nodes": [HOSTILE], "env": {HOSTILE: HOSTILE},
            "filters": {"tool": HOSTILE}}, task=task, task_name=HOSTILE, taken=path,
            review_note=HOSTILE, weights={"tags": 0.4}, embedder=HOSTILE,
        )  # fmt: skip
        PathUse.objects.create(
            workspace=workspace, path=path, task_name=task.external_id, task=task, localization=row,
            said_result="failure", is_due=True, used_at=now,
        )  # fmt: skip
    settle_backlog()
    return row


PAGES = [
    "localizations/", "localizations/?kind=found&text=script&sampled=on&outcome=unknown",
    "localizations/{uuid}/", "sample/", "sample/?status=open", "sample/?status=reviewed", "sample/?week=2020-W01&page=99",
]  # fmt: skip


@pytest.mark.parametrize("url", PAGES)
def test_page__viewer__sees_agents_text_as_text(cast: Cast, url: str) -> None:
    row = build_scene(cast.workspace, 2)

    answer = page_client(cast.viewer).get(f"/w/acme/{url.format(uuid=row.uuid)}")

    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "60481729" not in answer.text


@pytest.mark.parametrize("url", PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str) -> None:
    client = page_client(cast.reviewer)
    path = f"/w/acme/{url.format(uuid=build_scene(cast.workspace, 2).uuid)}"
    client.get(path)
    with CaptureQueriesContext(connection) as before:
        client.get(path)
    build_scene(cast.workspace, 12)
    with CaptureQueriesContext(connection) as after:
        client.get(path)

    assert len(after) <= len(before), "\n".join(query["sql"] for query in after.captured_queries)


@pytest.mark.parametrize("url", ["localizations/", "sample/"])
def test_page__nothing_yet__says_what_to_do(cast: Cast, url: str) -> None:
    assert 'class="empty"' in page_client(cast.viewer).get(f"/w/acme/{url}").text


@pytest.mark.parametrize(
    "query", ["week=\x00", "week=9999-W52", "week=0001-W01", "page=0", "page=" + "9" * 30, "status=x"]
)
def test_sample__nonsense__is_no_error(cast: Cast, query: str) -> None:
    assert page_client(cast.viewer).get(f"/w/acme/sample/?{query}").status_code == 200


def test_sample__few_reviews__says_not_enough_data(cast: Cast) -> None:
    build_scene(cast.workspace, 2)

    text = page_client(cast.viewer).get("/w/acme/sample/").text

    assert "not enough data (n = 0)" in text
    assert "not enough data (n = 2)" in text  # two uses that failed
    assert 'name="verdict"' not in text  # a viewer looks


def test_sample__enough_reviews__shows_rate_interval_and_n(cast: Cast) -> None:
    now = timezone.now()
    path = make_path(cast.workspace)
    for number in range(25):
        relevant = [str(path.uuid)] if number < 20 else []
        verdict = "right" if number < 20 else "wrong"
        make_localization(
            cast.workspace, path, sampled=True, asked_at=now, relevant=relevant, verdict=verdict
        )

    text = page_client(cast.viewer).get("/w/acme/sample/").text

    assert "100.0 %" in text
    assert "(95 %), n = 20" in text
    assert "80.0 %" in text
    assert "(95 %), n = 25" in text


def test_review__reviewer_marks_paths__is_kept_and_leads_to_the_next(cast: Cast) -> None:
    path, missed = make_path(cast.workspace), make_path(cast.workspace)
    now = timezone.now()
    older = make_localization(cast.workspace, path, sampled=True, asked_at=now - timedelta(seconds=5))
    row = make_localization(cast.workspace, path, sampled=True, asked_at=now)
    form = {"verdict": "wrong", "relevant": str(path.uuid), "missed": f" {missed.uuid},", "note": "x"}

    answer = page_client(cast.reviewer).post(f"/w/acme/sample/{row.uuid}/review/", form)

    row.refresh_from_db()
    assert (row.verdict, row.relevant) == ("wrong", [str(path.uuid), str(missed.uuid)])
    assert answer.url.endswith(f"#answer-{older.uuid}")
    assert AuditEvent.objects.filter(verb="review_localization").count() == 1


@pytest.mark.parametrize(
    ("form", "said"),
    [
        pytest.param({"verdict": "great"}, "verdict", id="unknown verdict"),
        pytest.param({"verdict": "right", "missed": "seven"}, "named by its uuid", id="no uuid"),
    ],
)
def test_review__bad_form__is_refused_with_a_sentence(cast: Cast, form: dict[str, str], said: str) -> None:
    row = make_localization(cast.workspace, sampled=True, asked_at=timezone.now())

    answer = page_client(cast.reviewer).post(f"/w/acme/sample/{row.uuid}/review/", form, follow=True)

    assert said in answer.text
    row.refresh_from_db()
    assert row.verdict == ""


def test_review__viewer__is_refused(cast: Cast) -> None:
    row = make_localization(cast.workspace, sampled=True)

    answer = page_client(cast.viewer).post(f"/w/acme/sample/{row.uuid}/review/", {"verdict": "right"})

    assert answer.status_code == 403
