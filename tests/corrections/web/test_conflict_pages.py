"""The conflict inbox, the arbitration page, rulings."""

import pytest

from corrections.models import Conflict, ConflictScan, Ruling
from tests.conftest import Cast, page_client
from tests.corrections.builders import allow_self_approval
from tests.corrections.conflicts import found, make_pair, make_ruled

pytestmark = pytest.mark.django_db


def let_authors_decide(cast: Cast) -> None:
    cast.workspace.settings = {"changes": {"self_approval": True}}
    cast.workspace.save()


def test_inbox__open_findings__are_listed_and_filtered(cast: Cast) -> None:
    conflict, _ = make_ruled(cast.workspace)
    client = page_client(cast.viewer)

    page = client.get("/w/acme/conflicts/")
    assert page.context["page"].rows == [conflict]
    assert "Shanghai" in page.content.decode()
    for query in ("kind=dead", "tool=other", "status=ruled", "verdict=not_proven", "kind=%00", "cursor=x~y"):
        assert client.get(f"/w/acme/conflicts/?{query}").status_code == 200
    assert client.get("/w/acme/conflicts/?kind=dead").context["page"].rows == []


def test_inbox__many_findings__asks_no_more_queries(
    cast: Cast, django_assert_max_num_queries: object
) -> None:
    conflict, _ = make_ruled(cast.workspace)
    for number in range(60):
        conflict.pk, conflict.uuid, conflict.dedupe = None, None, str(number)
        Conflict.objects.create(
            workspace=cast.workspace, dedupe=str(number), kind="shadowed", verdict="conflict", tool="t",
            point="before", rule_a=conflict.rule_a, version_a=1, rule_b=conflict.rule_b, version_b=1,
            frequency=number, found_at=conflict.found_at, updated_at=conflict.found_at,
        )  # fmt: skip
    client = page_client(cast.reviewer)

    with django_assert_max_num_queries(20):  # type: ignore[operator]
        first = client.get("/w/acme/conflicts/").context["page"]
    second = client.get(f"/w/acme/conflicts/?cursor={first.next_cursor}").context["page"]

    assert [row.frequency for row in first.rows[:3]] == [59, 58, 57]
    assert (len(first.rows), len(second.rows)) == (50, 11)
    assert not {row.pk for row in first.rows} & {row.pk for row in second.rows}


def test_arbitration__open__shows_both_rules_the_call_and_what_each_would_do(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)

    page = page_client(cast.reviewer).get(f"/w/acme/conflicts/{conflict.uuid}/")

    arbitration, text = page.context["arbitration"], page.content.decode()
    changed = [one.outcome.changes[0].new for one in arbitration.rules]
    assert changed == ["Shanghai", "Beijing"]
    assert [item["name"] for item in arbitration.both.items["suppressed"]] == ["Beijing"]
    assert "Not enough data" in text
    assert "0 of 0 recorded calls" in text


def test_arbitration__a_viewer__sees_no_way_to_decide(cast: Cast) -> None:
    conflict, _ = make_ruled(cast.workspace)
    client = page_client(cast.viewer)

    assert "Decide so" not in client.get(f"/w/acme/conflicts/{conflict.uuid}/").content.decode()
    refused = client.post(f"/w/acme/conflicts/{conflict.uuid}/rule/", {"verdict": "a_wins", "reason": "x"})
    assert refused.status_code == 403


def test_rule__decided_by_who_may_publish__is_in_force(cast: Cast) -> None:
    make_pair(cast.workspace)
    let_authors_decide(cast)
    conflict = found(cast.workspace)

    answer = page_client(cast.maintainer).post(
        f"/w/acme/conflicts/{conflict.uuid}/rule/", {"verdict": "b_wins", "reason": "ours"}, follow=True
    )

    assert "It is in force now." in answer.content.decode()
    assert Ruling.objects.get().status == "active"
    assert answer.context["conflict"].status == "ruled"


@pytest.mark.parametrize(
    ("form", "status", "sentence"),
    [
        pytest.param({"verdict": "a_wins"}, 422, "Say why", id="no reason"),
        pytest.param({"verdict": "accept", "reason": "x", "until": "2020-01-01"}, 409, "ended already",
                     id="over already"),
        pytest.param({"verdict": "narrow", "reason": "x", "target": "a", "condition": "input.("}, 409,
                     "condition", id="no condition"),
    ],
)  # fmt: skip
def test_rule__what_cannot_be__is_said_on_the_page(
    cast: Cast, form: dict[str, str], status: int, sentence: str
) -> None:
    conflict, _ = make_ruled(cast.workspace)

    answer = page_client(cast.reviewer).post(f"/w/acme/conflicts/{conflict.uuid}/rule/", form)

    assert (answer.status_code, sentence in answer.content.decode()) == (status, True)


def test_rule__a_reviewer_decides__the_request_is_shown_and_approved_by_another(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)
    form = {"verdict": "narrow", "reason": "ours", "target": "a", "condition": "input.country != 'CN'"}

    answer = page_client(cast.reviewer).post(f"/w/acme/conflicts/{conflict.uuid}/rule/", form, follow=True)
    assert "It waits for approval." in answer.content.decode()

    client, waiting = page_client(cast.maintainer), cast.workspace.change_requests.filter(status="open")
    assert sorted(waiting.values_list("kind", flat=True)) == ["edit", "ruling"]
    for change in waiting.order_by("kind"):
        page = client.get(f"/w/acme/changes/{change.uuid}/")
        assert page.status_code == 200
        client.post(f"/w/acme/changes/{change.uuid}/approve/", {"revision": 1})
    assert not waiting.exists()
    assert Ruling.objects.get().status == "active"


def test_rulings__ended_by_a_reviewer__waits_for_approval(cast: Cast) -> None:
    _, ruling = make_ruled(cast.workspace)
    client = page_client(cast.reviewer)
    assert "known" in client.get("/w/acme/rulings/").content.decode()

    for body in ({"reason": ""}, {"reason": "over"}, {"reason": "over"}):
        assert client.post(f"/w/acme/rulings/{ruling.uuid}/end/", body).status_code == 302

    ruling.refresh_from_db()
    assert (ruling.status, cast.workspace.change_requests.filter(kind="ruling").count()) == ("active", 1)


def test_rulings__ended_by_who_may_approve_it__says_that_it_is_ended(cast: Cast) -> None:
    _, ruling = make_ruled(cast.workspace)
    allow_self_approval(cast.workspace)

    page = page_client(cast.owner).post(
        f"/w/acme/rulings/{ruling.uuid}/end/", {"reason": "over"}, follow=True
    )

    ruling.refresh_from_db()
    assert ruling.status == "ended"
    assert "The ruling is ended." in page.text


def test_rule_page__while_its_scan_runs__asks_again_until_it_is_done(cast: Cast) -> None:
    a, _ = make_pair(cast.workspace)
    client, url = page_client(cast.viewer), f"/w/acme/rules/{a.uuid}/conflicts/"

    assert 'hx-trigger="every 1s"' in client.get(f"/w/acme/rules/{a.uuid}/").content.decode()
    assert client.get(url).status_code == 200
    found(cast.workspace)
    part = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "hx-trigger" not in part
    assert "contradictory" in part


def test_scan__asked_for_by_button__is_queued_once(cast: Cast) -> None:
    client = page_client(cast.reviewer)

    for _ in range(2):
        assert client.post("/w/acme/conflicts/scan/").status_code == 302

    assert ConflictScan.objects.filter(rule=None).count() == 1
