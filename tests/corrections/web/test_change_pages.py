"""The pages of change requests: who may open them, what they cost, that text stays text, the steps."""

from typing import Any

import pytest

from corrections.actions.changes import approve_change, comment_on_change
from corrections.actions.rules import edit_rule, take_step
from corrections.models import ChangeRequest, Rule, RuleVersion
from memory.models import Workspace
from memory.permissions import SYSTEM
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_change, make_rule, weather_document
from tests.corrections.web.scenes import hostile_document
from tests.pages import HOSTILE, extra_queries, page_faults


def hostile_change(cast: Cast, name: str = "") -> ChangeRequest:
    """A request full of hostile text, with an approval that does not count, and a comment."""
    change = make_change(cast.workspace, by=cast.actor("maintainer"), **hostile_document(name=HOSTILE + name))
    change.description = HOSTILE
    change.save(update_fields=["description"])
    comment_on_change(change=change, text=HOSTILE, by=cast.actor("reviewer"))
    return change


def post(cast: Cast, role: str, change: ChangeRequest, step: str, **body: Any) -> Any:
    path = f"/w/acme/changes/{change.uuid}/{step}/"
    return page_client(getattr(cast, role)).post(path, body, follow=True)


@pytest.mark.parametrize("path", ["changes/", "changes/?status=&q=x", "changes/{uuid}/"])
def test_page__hostile_text__stays_text(cast: Cast, path: str) -> None:
    change = hostile_change(cast)
    client = page_client(cast.viewer)
    answer = client.get("/w/acme/" + path.format(uuid=change.uuid))
    assert page_faults(answer) == []


def test_page__stale__shows_three_ways_and_rebases_in_one_click(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    take_step(rule=Rule.objects.get(pk=change.rule_id), step="disable", by=SYSTEM)
    text = page_client(cast.reviewer).get(f"/w/acme/changes/{change.uuid}/").text
    assert "The rule has changed since this was asked for" in text
    assert "Take what is served now, keep this change" in text
    assert post(cast, "reviewer", change, "approve", revision=1).status_code == 409
    assert post(cast, "maintainer", change, "rebase", revision=1).status_code == 200
    assert post(cast, "reviewer", change, "approve", revision=2).status_code == 200
    assert Rule.objects.get(pk=change.rule_id).status == "active"


def test_list__more_rows__asks_no_more_queries(cast: Cast) -> None:
    client = page_client(cast.viewer)

    def more() -> None:
        for number in range(5):
            hostile_change(cast, str(number))

    assert extra_queries(client, "/w/acme/changes/", more) == []


def test_approve__on_the_page__names_the_revision_that_was_looked_at(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    text = page_client(cast.reviewer).get(f"/w/acme/changes/{change.uuid}/").text
    assert "Approve revision 1" in text
    rule = Rule.objects.get(pk=change.rule_id)
    edit_rule(rule=rule, document=weather_document(priority=7), base_version=2, by=cast.actor("maintainer"))
    answer = post(cast, "reviewer", change, "approve", revision=1)
    assert (answer.status_code, "this is revision 2" in answer.text) == (409, True)
    answer = post(cast, "reviewer", change, "approve", revision=2)
    assert "Agents are served version 3 instead of version 1" in answer.text


def test_button__author__says_why_it_is_off(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    text = page_client(cast.maintainer).get(f"/w/acme/changes/{change.uuid}/").text
    assert "You wrote this change: somebody else has to approve it." in text
    assert "It lacks 1 approval." in text


@pytest.mark.parametrize(
    ("step", "body", "status"),
    [
        pytest.param("reject", {"reason": "no"}, "rejected", id="reject"),
        pytest.param("withdraw", {}, "withdrawn", id="withdraw"),
        pytest.param("comment", {"text": "hm"}, "open", id="comment"),
        pytest.param("schedule", {"publish_at": "2099-01-01T10:00"}, "open", id="schedule"),
    ],
)
def test_step__reviewer__is_taken(cast: Cast, step: str, body: dict[str, Any], status: str) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    assert post(cast, "reviewer", change, step, **body).status_code == 200
    assert post(cast, "viewer", change, step, **body).status_code == 403
    change.refresh_from_db()
    assert change.status == status
    if status in ("rejected", "withdrawn"):
        post(cast, "maintainer", change, "reopen")
        change.refresh_from_db()
        assert (change.status, change.revision) == ("open", 2)


def test_condition__changed__is_shown_word_by_word(cast: Cast) -> None:
    rule = make_rule(cast.workspace, condition="input.city == 'a'")
    edit_rule(rule=rule, document=weather_document(condition="input.city == 'b'"), base_version=1, by=SYSTEM)
    change = ChangeRequest.objects.get(rule=rule, status="open")
    text = page_client(cast.viewer).get(f"/w/acme/changes/{change.uuid}/").text
    assert "<del>a</del><ins>b</ins>" in text


def test_policy__owner__changes_it_on_the_page(cast: Cast) -> None:
    path = "/w/acme/changes/policy/"
    assert page_client(cast.maintainer).get(path).status_code == 403
    client = page_client(cast.owner)
    assert client.post(path, {"required_approvals": 11}).status_code == 200
    assert client.post(path, {"required_approvals": 2, "self_approval": "on"}).status_code == 302
    stored = Workspace.objects.get(pk=cast.workspace.pk).settings["changes"]
    assert (stored["required_approvals"], stored["self_approval"]) == (2, True)


def test_rule__open_request__stands_on_its_page(cast: Cast) -> None:
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    text = page_client(cast.viewer).get(f"/w/acme/rules/{change.rule.uuid}/").text
    assert f"/w/acme/changes/{change.uuid}/" in text
    assert approve_change(change=change, revision=1, by=cast.actor("reviewer")).status == "published"
    assert RuleVersion.objects.filter(rule=change.rule).count() == 2
