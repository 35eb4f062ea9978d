"""The pages of the review inbox: who may, what they say, what a decision does."""

import pytest

from corrections.models import Assignment, Canary, ItemComment
from memory.models import Alert, AuditEvent, RewriteProposal
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_change
from tests.corrections.canaries import again, open_canary
from tests.corrections.inbox_scenes import build_inbox
from tests.memory.builders import make_alert, make_rewrite
from tests.pages import HOSTILE, extra_queries, page_faults

pytestmark = pytest.mark.django_db
KINDS = ["rewrite", "proposal", "change", "conflict", "alert", "impact", "stale", "canary"]


@pytest.mark.parametrize("kind", KINDS)
def test_item__hostile_text__opens_for_a_viewer_and_stays_text(cast: Cast, kind: str) -> None:
    row = build_inbox(cast.workspace, HOSTILE)[kind]

    assert page_faults(page_client(cast.viewer).get(f"/w/acme/review/{kind}/{row.uuid}/")) == []


@pytest.mark.parametrize("url", ["", "?kind=alert", "?q=x&assigned=me&cursor=nonsense", "?kind=nothing"])
def test_list__hostile_text__opens_for_a_viewer_and_stays_text(cast: Cast, url: str) -> None:
    build_inbox(cast.workspace, HOSTILE)

    assert page_faults(page_client(cast.viewer).get(f"/w/acme/review/{url}")) == []


def test_list__many_more_items__no_more_queries(cast: Cast) -> None:
    build_inbox(cast.workspace)

    def more() -> str:
        for _ in range(20):
            make_alert(cast.workspace)
        return "/w/acme/review/"

    assert extra_queries(page_client(cast.reviewer), "/w/acme/review/", more) == []


def test_list__nothing_waits__says_what_would_come(cast: Cast) -> None:
    answer = page_client(cast.viewer).get("/w/acme/review/")

    assert "Nothing waits for you" in answer.text


@pytest.mark.parametrize(
    ("start", "said"),
    [
        pytest.param("all", "It is published as a canary", id="canary"),
        pytest.param("never", "It is published to all tasks at once.", id="to-all"),
    ],
)
def test_item__a_change__says_how_it_would_be_published(cast: Cast, start: str, said: str) -> None:
    change = make_change(cast.workspace)
    cast.workspace.settings = {"canaries": {"start": start}}
    cast.workspace.save()

    text = page_client(cast.reviewer).get(f"/w/acme/review/change/{change.uuid}/").text

    assert said in text


def test_decide__approve_a_rewrite__goes_on_to_the_next_within_the_narrowing(cast: Cast) -> None:
    first, second = make_rewrite(cast.workspace), make_rewrite(cast.workspace)
    make_alert(cast.workspace)

    answer = page_client(cast.reviewer).post(
        f"/w/acme/review/rewrite/{second.uuid}/decide/?kind=rewrite", {"do": "approve", "revision": 1}
    )

    assert answer.headers["Location"] == f"/w/acme/review/rewrite/{first.uuid}/?kind=rewrite"
    second.refresh_from_db()
    assert second.status == "approved"


def test_decide__last_item__leads_back_to_the_inbox(cast: Cast) -> None:
    alert = make_alert(cast.workspace)

    answer = page_client(cast.reviewer).post(
        f"/w/acme/review/alert/{alert.uuid}/decide/", {"do": "reject", "reason": "Looked at it."}
    )

    assert answer.headers["Location"] == "/w/acme/review/"
    alert.refresh_from_db()
    assert (alert.note, alert.closed_by) == ("Looked at it.", "reviewer")


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        pytest.param({"do": "reject"}, 409, "Say why", id="no reason"),
        pytest.param({"do": "approve", "revision": 7}, 409, "revision", id="another revision"),
        pytest.param({"do": "explode"}, 422, "could not be read", id="no such decision"),
        pytest.param({"do": "reject", "reason": "x" * 2_001}, 422, "could not be read", id="endless reason"),
    ],
)
def test_decide__refused__says_why_and_changes_nothing(
    cast: Cast, body: dict[str, object], status: int, said: str
) -> None:
    proposal = make_rewrite(cast.workspace)

    answer = page_client(cast.reviewer).post(f"/w/acme/review/rewrite/{proposal.uuid}/decide/", body)

    assert answer.status_code == status
    assert said in answer.text
    assert RewriteProposal.objects.get(pk=proposal.pk).status == "proposed"


@pytest.mark.parametrize("do", ["decide", "comment", "assign"])
def test_post__viewer__is_refused(cast: Cast, do: str) -> None:
    alert = make_alert(cast.workspace)

    answer = page_client(cast.viewer).post(f"/w/acme/review/alert/{alert.uuid}/{do}/", {"text": "x"})

    assert answer.status_code == 403


def test_bulk__without_a_reason__asks_and_decides_nothing(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    items = {"item": [f"rewrite:{proposal.uuid}:1"], "do": "approve"}

    asked = page_client(cast.reviewer).get("/w/acme/review/decide/", items)
    answer = page_client(cast.reviewer).post("/w/acme/review/decide/", items)

    assert (asked.status_code, answer.status_code) == (200, 200)
    assert "needs its reason" in answer.text
    assert RewriteProposal.objects.get(pk=proposal.pk).status == "proposed"


def test_bulk__several_kinds__decides_each_and_tells_the_refused(cast: Cast) -> None:
    good, stale, alert = (
        make_rewrite(cast.workspace),
        make_rewrite(cast.workspace),
        make_alert(cast.workspace),
    )
    chosen = [f"rewrite:{good.uuid}:1", f"rewrite:{stale.uuid}:9", f"alert:{alert.uuid}", "alert:x"]

    answer = page_client(cast.reviewer).post(
        "/w/acme/review/decide/", {"item": chosen, "do": "reject", "reason": "Known."}, follow=True
    )

    statuses = [RewriteProposal.objects.get(pk=row.pk).status for row in (good, stale)]
    assert statuses == ["rejected", "proposed"]
    assert Alert.objects.get(pk=alert.pk).note == "Known."
    assert "2 items are rejected or closed." in answer.text
    assert "revision" in answer.text


def test_comment__kept_with_its_author__and_shown(cast: Cast) -> None:
    alert = make_alert(cast.workspace)
    url = f"/w/acme/review/alert/{alert.uuid}/"

    answer = page_client(cast.reviewer).post(f"{url}comment/", {"text": HOSTILE}, follow=True)

    assert page_faults(answer) == []
    assert ItemComment.objects.get().author_name == "reviewer"
    assert AuditEvent.objects.filter(verb="comment_on_item").count() == 1


def test_assign__member_and_nobody__is_kept_with_audit(cast: Cast) -> None:
    alert, client = make_alert(cast.workspace), page_client(cast.reviewer)
    url = f"/w/acme/review/alert/{alert.uuid}/assign/"

    client.post(url, {"assignee": str(cast.maintainer.uuid)})
    given = Assignment.objects.get().assignee.user
    client.post(url, {"assignee": ""})

    assert (given, Assignment.objects.count()) == (cast.maintainer, 0)
    assert AuditEvent.objects.filter(verb="assign_item").count() == 2


def test_assign__somebody_of_another_workspace__is_refused(cast: Cast) -> None:
    alert = make_alert(cast.workspace)

    answer = page_client(cast.reviewer).post(
        f"/w/acme/review/alert/{alert.uuid}/assign/", {"assignee": str(cast.outsider.uuid)}
    )

    assert answer.status_code == 422
    assert "no such member" in answer.text
    assert Assignment.objects.count() == 0


def test_item__decided_meanwhile__leads_to_its_own_page(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace, status="rejected")
    foreign = make_rewrite(cast.elsewhere, status="rejected")
    client = page_client(cast.viewer)

    answer = client.get(f"/w/acme/review/rewrite/{proposal.uuid}/")

    assert answer.headers["Location"] == f"/w/acme/rewrites/{proposal.uuid}/"
    assert client.get(f"/w/acme/review/rewrite/{foreign.uuid}/").status_code == 404


@pytest.mark.parametrize(
    ("do", "state", "status"),
    [
        pytest.param("approve", "holdout", "active", id="promoted"),
        pytest.param("reject", "rolled_back", "disabled", id="rolled back"),
    ],
)
def test_decide__held_canary__is_promoted_or_rolled_back(
    cast: Cast, do: str, state: str, status: str
) -> None:
    canary = open_canary(cast.workspace)
    Canary.objects.filter(pk=canary.pk).update(state="held")

    page_client(cast.maintainer).post(
        f"/w/acme/review/canary/{canary.uuid}/decide/", {"do": do, "reason": "seen enough"}
    )

    assert (again(canary).state, again(canary).rule.status) == (state, status)
