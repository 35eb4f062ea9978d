"""Pages of the localizations and the weekly sample."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memory.background.uses import settle_backlog
from memory.domain.locating.shapes import MIN_SCORE
from memory.models import AuditEvent, Localization, PathUse, RewriteProposal, Workspace
from tests.builders import make_localization, make_path, make_task
from tests.conftest import Cast, page_client
from tests.pages import HOSTILE, extra_queries, page_faults


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
    "localizations/{uuid}/", "sample/", "sample/?status=open", "sample/?status=reviewed",
    "sample/?week=2020-W01&page=99", "lab/",
    "lab/?goal=script+alert&tags=a,b&nodes=x&tool=&w_tags=1&min_score=0",
]  # fmt: skip


@pytest.mark.parametrize("url", PAGES)
def test_page__viewer__sees_agents_text_as_text(cast: Cast, url: str) -> None:
    row = build_scene(cast.workspace, 2)

    assert page_faults(page_client(cast.viewer).get(f"/w/acme/{url.format(uuid=row.uuid)}")) == []


@pytest.mark.parametrize("url", PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str) -> None:
    client = page_client(cast.reviewer)
    path = f"/w/acme/{url.format(uuid=build_scene(cast.workspace, 5).uuid)}"

    def more() -> str:
        build_scene(cast.workspace, 12)
        return path

    assert extra_queries(client, path, more, settles=True) == []  # the index of paths reads what is new


@pytest.mark.parametrize("url", ["localizations/", "sample/"])
def test_page__nothing_yet__says_what_to_do(cast: Cast, url: str) -> None:
    assert 'class="empty"' in page_client(cast.viewer).get(f"/w/acme/{url}").text


@pytest.mark.parametrize("url", ["localizations/", "localizations/{uuid}/", "sample/", "sample/?status=all"])
def test_page__answer_with_nothing_in_it__is_shown(cast: Cast, url: str) -> None:
    row = make_localization(cast.workspace, sampled=True, asked_at=timezone.now())

    answer = page_client(cast.viewer).get(f"/w/acme/{url.format(uuid=row.uuid)}")

    assert answer.status_code == 200
    assert row.goal in answer.text


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


def test_sample__failed_reuse__a_rewrite_can_be_asked_for(cast: Cast) -> None:
    build_scene(cast.workspace, 1)
    path = PathUse.objects.get().path
    RewriteProposal.objects.filter(path=path).delete()  # the scene's own, asked for by the failed reuse
    client = page_client(cast.reviewer)
    assert f"sample-paths/{path.uuid}/rewrite/" in client.get("/w/acme/sample/").text

    answer = client.post(f"/w/acme/sample-paths/{path.uuid}/rewrite/", {"week": "2026-W09"})

    assert answer.url == "/w/acme/sample/?week=2026-W09"
    assert RewriteProposal.objects.get(trigger="person").path == path
    page = client.get("/w/acme/sample/").text  # asked once: the page leads there instead
    proposal = RewriteProposal.objects.get(path=path)
    assert f"/w/acme/rewrites/{proposal.uuid}/" in page
    assert f"sample-paths/{path.uuid}/rewrite/" not in page

    refusal = page_client(cast.viewer).post(f"/w/acme/sample-paths/{path.uuid}/rewrite/")
    assert refusal.status_code == 403


LOCATING = {
    "locating-tags": "1", "locating-semantic": "2", "locating-structure": "0.5", "locating-min_score": "0.6",
    "locating-verify_localizations": "on",
}  # fmt: skip


def test_settings__owner_changes_the_weights__are_kept_with_an_audit_event(cast: Cast) -> None:
    cast.workspace.settings = {"paths": {"auto_approve": True}, "redaction": {"fields": ["x"]}}
    cast.workspace.save()
    client = page_client(cast.owner)

    client.post("/w/acme/settings/locating/", LOCATING)

    cast.workspace.refresh_from_db()
    paths = cast.workspace.settings["paths"]
    assert paths["weights"] == {"tags": 1.0, "semantic": 2.0, "structure": 0.5}
    assert (paths["min_score"], paths["verify_localizations"], paths["auto_approve"]) == (0.6, True, True)
    assert cast.workspace.settings["redaction"] == {"fields": ["x"]}
    event = AuditEvent.objects.get(verb="set_locate_policy")
    assert (event.old["min_score"], event.new["min_score"]) == (MIN_SCORE, 0.6)
    assert 'value="0.6"' in client.get("/w/acme/settings/").text


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"locating-min_score": "2"}, id="out of range"),
        pytest.param({"locating-tags": "nan"}, id="no number"),
        pytest.param(
            {"locating-tags": "0", "locating-semantic": "0", "locating-structure": "0"}, id="nothing counts"
        ),
    ],
)
def test_settings__bad_numbers__are_refused_with_a_sentence(cast: Cast, changed: dict[str, str]) -> None:
    answer = page_client(cast.owner).post("/w/acme/settings/locating/", LOCATING | changed, follow=True)

    assert "note-error" in answer.text
    cast.workspace.refresh_from_db()
    assert "paths" not in cast.workspace.settings


def test_settings__maintainer__is_refused(cast: Cast) -> None:
    assert page_client(cast.maintainer).post("/w/acme/settings/locating/", LOCATING).status_code == 403


def test_lab__question__shows_parts_reasons_and_prompt_and_keeps_nothing(cast: Cast) -> None:
    make_path(cast.workspace, "Cancel the flight of Ada", ["find", "cancel"], reward=0.9)
    make_path(cast.workspace, "Cancel the flight of Ada", ["find", "cancel"], reward=0.1)
    make_path(cast.workspace, "Cancel the flight of Ada", ["cancel"], result="failure", reward=0.0)

    text = page_client(cast.viewer).get("/w/acme/lab/?goal=Cancel+the+flight+of+Ada&tags=flight").text

    assert text.count('<meter min="0" max="1" value="1.0000"') >= 2
    assert "another attempt at the same goal counts" in text
    assert 'id="prompt-text"' in text
    assert "To be avoided" in text
    assert not Localization.objects.exists()


@pytest.mark.parametrize(
    "query", ["goal=x&top_k=99", "goal=x&min_score=7", "goal=x&since=never", "tags=" + "a," * 60]
)
def test_lab__bad_question__is_said_on_the_form(cast: Cast, query: str) -> None:
    answer = page_client(cast.viewer).get(f"/w/acme/lab/?{query}")

    assert answer.status_code == 200
    assert 'class="error"' in answer.text
    assert 'id="result"' not in answer.text
