"""The rewrites queue and the alerts inbox: who may, what they say, what a decision does."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from memory.models import Alert, Lineage, Path, RewriteProposal
from memory.queries.path_documents import read_path
from memory.writer.paths import NewPath, add_version
from tests.builders import NOW, make_call, make_doc, make_failure, make_path, make_pattern, make_task
from tests.conftest import Cast, page_client
from tests.memory.builders import make_alert, make_rewrite
from tests.pages import HOSTILE, extra_queries, page_faults

pytestmark = pytest.mark.django_db


def build_scene(cast: Cast, rows: int) -> RewriteProposal:
    """``rows`` proposals full of hostile text, with a failure, a guard, touched paths and a transcript."""
    for number in range(rows):
        task = make_task(cast.workspace)
        call = make_call(task, HOSTILE)
        failure = make_failure(call, make_pattern(cast.workspace, HOSTILE), message=HOSTILE,
                               context={"env": HOSTILE})  # fmt: skip
        path = make_path(cast.workspace, f"{HOSTILE} {number}", [HOSTILE, "book"], tags=(HOSTILE,),
                         result="failure", reward=0.0)  # fmt: skip
        other = make_path(cast.workspace, HOSTILE, [HOSTILE])
        brief = {"uuid": str(other.uuid), "key": HOSTILE, "goal": HOSTILE, "result": "success", "reward": 1.0}
        proposal = make_rewrite(
            cast.workspace, path, failure=failure, task=task, requested_by=HOSTILE,
            request={"reason": HOSTILE, "observation": HOSTILE, "new_goal": HOSTILE},
            guard={"said": HOSTILE, "checks": [{"name": "reward", "ok": False, "said": HOSTILE}]},
            touched=[{"node": str(other.steps.get().node.uuid), "name": "x", "title": HOSTILE,
                      "change": "removed", "count": 30, "paths": [brief]}],
            transcript=[{"step": "nodes", "role": "assistant", "content": HOSTILE}],
            cost={"model": HOSTILE, "requests": 2, "tokens_in": 100, "tokens_out": 50, "price": 0.01},
        )  # fmt: skip
        make_alert(cast.workspace, path, title=HOSTILE)
    return proposal


PAGES = [
    pytest.param("rewrites/", "viewer", id="list"),
    pytest.param("rewrites/?status=all&trigger=person&path=nonsense", "viewer", id="filtered"),
    pytest.param("rewrites/{uuid}/", "reviewer", id="detail"),
    pytest.param("rewrites/{uuid}/edit/", "reviewer", id="edit"),
    pytest.param("rewrites/decide/?do=reject&rewrite={uuid}", "reviewer", id="decide"),
    pytest.param("alerts/", "reviewer", id="alerts"),
]


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__least_role__opens_and_shows_agents_text_as_text(cast: Cast, url: str, role: str) -> None:
    path = f"/w/acme/{url.format(uuid=build_scene(cast, 2).uuid)}"

    assert page_faults(page_client(getattr(cast, role)).get(path)) == []


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str, role: str) -> None:
    client = page_client(getattr(cast, role))
    few = f"/w/acme/{url.format(uuid=build_scene(cast, 3).uuid)}"

    def more() -> str:
        return f"/w/acme/{url.format(uuid=build_scene(cast, 12).uuid)}"

    assert extra_queries(client, few, more) == []


def test_detail__viewer__sees_everything_and_may_decide_nothing(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    client = page_client(cast.viewer)

    text = client.get(f"/w/acme/rewrites/{proposal.uuid}/").text

    assert "The price was never checked." in text
    assert "approve-form" not in text
    for step in ("approve", "reject", "retry", "edit"):
        assert client.post(f"/w/acme/rewrites/{proposal.uuid}/{step}/", {"revision": 1}).status_code == 403


def decide(client: Client, proposal: RewriteProposal, step: str, **fields: Any) -> Any:
    """Post a decision on what is shown now."""
    proposal.refresh_from_db()
    sent = {"revision": proposal.revision, **fields}
    return client.post(f"/w/acme/rewrites/{proposal.uuid}/{step}/", sent, follow=True)


def test_approve__one_of_two__makes_the_version_and_goes_on_to_the_other(cast: Cast) -> None:
    waiting = make_rewrite(cast.workspace)
    proposal = make_rewrite(cast.workspace)

    answer = decide(page_client(cast.reviewer), proposal, "approve")

    proposal.refresh_from_db()
    assert (proposal.status, proposal.decided_by) == ("approved", "reviewer")
    assert [node.tool for node in read_path(proposal.new_path).nodes] == ["find", "check", "book"]
    assert answer.context["proposal"] == waiting
    assert "Version 2" in answer.text
    assert f"/w/acme/rewrites/{proposal.uuid}/" in answer.text  # the way back


def test_approve__last_one__leads_to_the_empty_queue(cast: Cast) -> None:
    answer = decide(page_client(cast.reviewer), make_rewrite(cast.workspace), "approve")

    assert "nothing waits for a decision" in answer.text
    assert "Nothing waits for you" in answer.text


def test_approve__twice__makes_one_version_and_says_who_was_first(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    client = page_client(cast.reviewer)
    sent = {"revision": proposal.revision}

    codes = [client.post(f"/w/acme/rewrites/{proposal.uuid}/approve/", sent).status_code for _ in range(2)]
    text = client.get(f"/w/acme/rewrites/{proposal.uuid}/").text

    assert codes == [302, 409]
    assert Path.objects.filter(lineage=proposal.lineage).count() == 2
    assert "Approved by reviewer" in text
    assert "roll back to version 1" not in text  # a reviewer may not


def test_approve__taken_back_by_a_maintainer__is_the_old_version_again(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    decide(page_client(cast.reviewer), proposal, "approve")
    client = page_client(cast.maintainer)
    url = f"/w/acme/rewrites/{proposal.uuid}/"
    assert "roll back to version 1" in client.get(url).text

    client.post(f"/w/acme/paths/{proposal.path.uuid}/roll-back/", {"reason": "It was better before."})

    assert Path.objects.get(lineage=proposal.lineage, status="active") == proposal.path
    assert "roll back to version 1" not in client.get(url).text


def test_approve__base_changed_meanwhile__says_what_changed_and_offers_no_approval(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    other = NewPath(doc=make_doc(nodes=["other"]), origin="hand", created_by="ann")
    add_version(lineage=proposal.lineage, new=other, now=NOW, base=proposal.path)
    client = page_client(cast.reviewer)

    text = client.get(f"/w/acme/rewrites/{proposal.uuid}/").text
    answer = decide(client, proposal, "approve")

    assert "but version 2 is active now (made by ann" in text
    assert 'id="approve-form"' not in text
    assert answer.status_code == 409
    assert "version 2 is the active one" in answer.text


def test_approve__ticked_paths__get_a_version_of_their_own(cast: Cast) -> None:
    path = make_path(cast.workspace, nodes=["find", "book"], result="failure", reward=0.0)
    other = make_path(cast.workspace, "Another goal", nodes=["look", "find"])
    document = {"action": "create_rewrite", "new_nodes": ["book-2"], "reason": "No search.",
                "new_edges": [], "new_tags": [], "keep_old": True}  # fmt: skip
    brief = {
        "uuid": str(other.uuid),
        "key": other.key,
        "goal": other.goal,
        "result": "success",
        "reward": 1.0,
    }
    touched = [{"node": str(path.steps.get(position=0).node.uuid), "name": "find-1", "title": "find",
                "change": "removed", "count": 1, "paths": [brief]}]  # fmt: skip
    proposal = make_rewrite(cast.workspace, path, proposal=document, touched=touched)

    decide(page_client(cast.reviewer), proposal, "approve", carry=[str(other.uuid)])

    new = Path.objects.get(lineage=other.lineage, status="active")
    assert (new.version, [node.tool for node in read_path(new).nodes]) == (2, ["look"])


def test_detail__many_touched_paths__a_few_of_each_node_are_open(cast: Cast) -> None:
    paths = [
        {"uuid": f"00000000-0000-4000-8000-{n:012}", "key": f"task:{n} v1", "goal": f"Goal {n}",
         "result": "success", "reward": 1.0}
        for n in range(8)
    ]  # fmt: skip
    node = {"node": paths[0]["uuid"], "name": "x", "title": "book", "change": "removed", "count": 30}
    proposal = make_rewrite(cast.workspace, touched=[{**node, "paths": paths}] * 7)

    text = page_client(cast.reviewer).get(f"/w/acme/rewrites/{proposal.uuid}/").text

    assert text.count('name="carry"') == 56
    assert text.count("and 5 more paths") == 7
    assert text.count("and 2 more nodes") == 1
    assert text.count("data-all hidden") == 7


def test_reject__without_a_reason__is_refused_and_with_one_is_kept(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    client = page_client(cast.reviewer)

    refused = decide(client, proposal, "reject", reason=" ")
    assert (refused.status_code, "Say why the rewrite is rejected" in refused.text) == (409, True)

    decide(client, proposal, "reject", reason="The price is checked by the tool.")
    text = client.get(f"/w/acme/rewrites/{proposal.uuid}/").text
    assert "Rejected by reviewer" in text
    assert "The price is checked by the tool." in text


@pytest.mark.parametrize("status", ["needs_human", "given_up"])
def test_retry__of_what_nobody_drafted__is_queued_again(cast: Cast, status: str) -> None:
    proposal = make_rewrite(cast.workspace, status=status, proposal=None, last_error="align: nothing helps.")
    client = page_client(cast.reviewer)
    assert "align: nothing helps." in client.get(f"/w/acme/rewrites/{proposal.uuid}/").text

    answer = decide(client, proposal, "retry", rewriter="template")

    assert answer.context["proposal"].status == "queued"
    assert "It waits for the worker" in answer.text


def test_queued__asked_again_by_the_page__is_refreshed_once_it_is_drafted(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace, status="queued", proposal=None)
    client = page_client(cast.reviewer)
    url = f"/w/acme/rewrites/{proposal.uuid}/"

    assert "HX-Refresh" not in client.get(url, headers={"HX-Request": "true"}).headers
    RewriteProposal.objects.update(status="given_up")
    assert client.get(url, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param("{", "JSON", id="no-json"),
        pytest.param("[]", "Write an object", id="list"),
        pytest.param('{"new_nodes": ["absent"], "reason": "x"}', "has no node", id="unknown-node"),
        pytest.param('{"new_nodes": [], "reason": "x"}', "at least one node", id="empty"),
        pytest.param('{"reason": 5}', "reason", id="type"),
        pytest.param("[" * 100_000, "JSON", id="deep"),
    ],
)
@pytest.mark.parametrize("do", ["check", "save", "up:1"])
def test_edit__document_that_cannot_be_applied__is_said_and_not_saved(
    cast: Cast, document: str, said: str, do: str
) -> None:
    proposal = make_rewrite(cast.workspace)

    answer = decide(page_client(cast.reviewer), proposal, "edit", document=document, do=do)

    proposal.refresh_from_db()
    assert (answer.status_code, proposal.edited) == (200, None)
    assert said in answer.text


def test_edit__by_buttons_then_saved__is_what_is_approved(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    client = page_client(cast.reviewer)
    document = json.dumps(proposal.proposal)

    for fields in ({"do": "remove:0"}, {"do": "insert", "kind": "action", "tool": "ask", "after": "0"}):
        answer = decide(client, proposal, "edit", document=document, **fields)
        document = answer.context["form"].initial["document"]
    saved = decide(client, proposal, "edit", document=document, do="save")

    assert "still has to be approved" in saved.text
    decide(client, proposal, "approve")
    proposal.refresh_from_db()
    assert [node.tool for node in read_path(proposal.new_path).nodes] == ["ask", "check", "book"]


def test_edit__somebody_else_saved_first__is_refused_and_keeps_the_text(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace)
    client = page_client(cast.reviewer)
    document = json.dumps(proposal.proposal)
    decide(client, proposal, "edit", document=document, do="save")

    mine = document.replace("never checked", "my own reason")
    answer = client.post(
        f"/w/acme/rewrites/{proposal.uuid}/edit/", {"document": mine, "revision": 1, "do": "save"}
    )

    assert "Somebody else changed this proposal meanwhile" in answer.text
    assert "my own reason" in answer.text


def test_edit__nothing_drafted__begins_with_the_path_as_it_is(cast: Cast) -> None:
    proposal = make_rewrite(cast.workspace, status="needs_human", proposal=None)

    answer = page_client(cast.reviewer).get(f"/w/acme/rewrites/{proposal.uuid}/edit/")

    assert json.loads(answer.context["draft"].text)["new_nodes"] == ["find-1", "book-2"]
    assert answer.context["draft"].problems == {}


def test_edit__steps_with_the_same_tool__are_told_apart(cast: Cast) -> None:
    steps = [{"name": f"s{n}", "tool": "execute_sql", "params": {"cmd": f"DESCRIBE t{n}"}} for n in (1, 2)]
    rewrite = make_rewrite(cast.workspace).proposal | {"new_nodes": steps, "new_edges": []}
    proposal = make_rewrite(cast.workspace, proposal=rewrite)

    page = page_client(cast.reviewer).get(f"/w/acme/rewrites/{proposal.uuid}/edit/").text

    listed = page[page.index('class="edit-steps"') : page.index("changes-title")]
    assert "DESCRIBE t1" in listed
    assert "DESCRIBE t2" in listed


@pytest.mark.parametrize("do", ["approve", "reject"])
def test_decide__several_with_a_stale_one__decides_the_others_and_says_which_not(cast: Cast, do: str) -> None:
    proposals = [make_rewrite(cast.workspace) for _ in range(3)]
    foreign = make_rewrite(cast.elsewhere)
    seen = [f"{one.uuid}:{one.revision}" for one in (*proposals, foreign)]
    RewriteProposal.objects.filter(pk=proposals[0].pk).update(revision=9)

    answer = page_client(cast.reviewer).post(
        "/w/acme/rewrites/decide/", {"do": do, "rewrite": seen, "reason": "all alike"}, follow=True
    )

    statuses = [RewriteProposal.objects.get(pk=one.pk).status for one in (*proposals, foreign)]
    past = "approved" if do == "approve" else "rejected"
    assert statuses == ["proposed", past, past, "proposed"]
    assert f"2 rewrites are {past}." in answer.text
    assert "Somebody else changed this proposal meanwhile" in answer.text


@pytest.mark.parametrize(
    "query", ["", "do=approve", "do=approve&rewrite=nonsense", "do=steal&rewrite={uuid}"]
)
def test_decide__nothing_chosen__leads_back(cast: Cast, query: str) -> None:
    url = f"/w/acme/rewrites/decide/?{query.format(uuid=make_rewrite(cast.workspace).uuid)}"

    assert "Choose at least one rewrite." in page_client(cast.reviewer).get(url, follow=True).text


def test_list__each_status__shows_its_own(cast: Cast) -> None:
    statuses = ("queued", "needs_human", "given_up", "proposed", "approved", "rejected", "superseded")
    for status in statuses:
        make_rewrite(cast.workspace, status=status)
    client = page_client(cast.viewer)

    def listed(asked: str) -> set[str]:
        rows = client.get(f"/w/acme/rewrites/?status={asked}").context["page"].rows
        return {row.status for row in rows}

    assert {status: listed(status) for status in statuses} == {status: {status} for status in statuses}
    assert listed("") == listed("waiting") == {"needs_human", "given_up", "proposed"}
    assert listed("all") == set(statuses)


def test_alert__closed_with_a_note__resumes_only_when_asked(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    paused, resumed = make_alert(cast.workspace), make_alert(cast.workspace)

    assert "Say what you found" in client.post(f"/w/acme/alerts/{paused.uuid}/close/", follow=True).text
    client.post(f"/w/acme/alerts/{paused.uuid}/close/", {"note": "looked"})
    client.post(f"/w/acme/alerts/{resumed.uuid}/close/", {"note": "fixed", "resume": "on"})

    states = [
        (alert.closed_by, alert.note, alert.lineage.automatic_paused_at is None)
        for alert in Alert.objects.order_by("pk")
    ]
    assert states == [("reviewer", "looked", False), ("reviewer", "fixed", True)]
    again = client.post(f"/w/acme/alerts/{paused.uuid}/close/", {"note": "me too"}, follow=True)
    assert "was closed by reviewer" in again.text


def test_alerts__closed_ones__are_kept_with_note_and_can_be_resumed(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    alert = make_alert(cast.workspace, closed_at=NOW - timedelta(days=1), closed_by="ann", note="known")

    assert "No open alert" in client.get("/w/acme/alerts/").text
    assert "known" in client.get("/w/acme/alerts/?closed=1").text
    client.post(f"/w/acme/lineages/{alert.lineage.uuid}/resume/", {"reason": "better now"})

    assert Lineage.objects.get(pk=alert.lineage_id).automatic_paused_at is None


def test_alert__viewer__sees_and_may_not_close(cast: Cast) -> None:
    alert = make_alert(cast.workspace)
    client = page_client(cast.viewer)

    assert "Close the alert" not in client.get("/w/acme/alerts/").text
    assert client.post(f"/w/acme/alerts/{alert.uuid}/close/", {"note": "x"}).status_code == 403
    assert client.post(f"/w/acme/lineages/{alert.lineage.uuid}/resume/").status_code == 403
