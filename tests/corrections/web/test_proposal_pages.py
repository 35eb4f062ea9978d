"""The pages of rule proposals: who may, what they say, what a decision does."""

import pytest

from corrections.models import ProposalCall, Rule, RuleProposal
from memory.models import Workspace
from tests.builders import make_call, make_failure, make_task
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule, make_rule_proposal, serve_at_once
from tests.corrections.web.scenes import city_pattern, hostile_document
from tests.pages import HOSTILE, extra_queries, page_faults

pytestmark = pytest.mark.django_db
LIST = "/w/acme/rule-proposals/"


def make_scene(workspace: Workspace, rows: int) -> RuleProposal:
    """``rows`` proposals full of hostile text, with calls, patterns, a transcript and a rule like them."""
    for number in range(rows):
        condition = f"input.n == {number} || input.city == '<script>alert(\"x\")</script>'"
        row = make_rule_proposal(
            workspace, document=hostile_document(condition=condition), reason=HOSTILE, proposed_by=HOSTILE,
            source="agent", hit=1, last_error=HOSTILE,
            transcript=[{"step": "rule", "role": "assistant", "content": HOSTILE}], cost={"model": HOSTILE},
        )  # fmt: skip
        pattern = city_pattern(workspace, title=HOSTILE)
        row.patterns.add(pattern)
        make_rule(workspace, **hostile_document(condition=f"input.m == {number}"))
        task = make_task(workspace)
        for role in ("caught", "missed", "hit"):
            call = make_call(task, "weather_api", input={"city": HOSTILE})
            make_failure(call, pattern, message=HOSTILE)
            ProposalCall.objects.create(proposal=row, call=call, role=role)
    return row


def url_of(row: RuleProposal, step: str = "") -> str:
    return f"{LIST}{row.uuid}/{step}"


@pytest.mark.parametrize("role", ["viewer", "reviewer", "owner"])
@pytest.mark.parametrize("status", ["proposed", "queued", "given_up", "accepted", "rejected", "withdrawn"])
def test_pages__any_member__show_agents_text_as_text(cast: Cast, role: str, status: str) -> None:
    row = make_scene(cast.workspace, 2)
    RuleProposal.objects.update(status=status, decided_by=HOSTILE, decision_reason=HOSTILE)
    client = page_client(getattr(cast, role))
    urls = [f"{LIST}?status={status}", url_of(row), f"/w/acme/patterns/{row.patterns.get().uuid}/"]

    assert [fault for url in urls for fault in page_faults(client.get(url))] == []


def test_list__nothing_yet__says_how_proposals_come_about(cast: Cast) -> None:
    assert "The inducer reads every finished task" in page_client(cast.viewer).get(LIST).text


def test_list__most_evidence__comes_first_and_is_counted(cast: Cast) -> None:
    make_rule_proposal(cast.workspace, name="weak", caught=1)
    make_rule_proposal(
        cast.workspace, name="strong", caught=8, failures=9, document=hostile_document(name="strong")
    )
    text = page_client(cast.reviewer).get(LIST).text

    assert text.index("8 of 9 failures") < text.index("1 of 4 failures")


@pytest.mark.parametrize("query", ["status=x", "min_caught=x", "cursor=%00", "tool=%00", "source=nobody"])
def test_list__nonsense__is_no_error(cast: Cast, query: str) -> None:
    assert page_client(cast.viewer).get(f"{LIST}?{query}").status_code == 200


@pytest.mark.parametrize("page", ["list", "detail", "decide"])
def test_pages__more_rows__cost_no_more_queries(cast: Cast, page: str) -> None:
    def url(rows: int) -> str:
        row = make_scene(cast.workspace, rows)
        if page == "decide":
            chosen = "&".join(f"proposal={one.uuid}" for one in RuleProposal.objects.all())
            return f"{LIST}decide/?do=accept&{chosen}"
        return LIST if page == "list" else url_of(row)

    few = url(1)
    RuleProposal.objects.update(key="first", caught=5)

    def more() -> str:
        return url(4)

    assert extra_queries(page_client(cast.owner), few, more) == []


def test_accept__reviewer__is_led_to_the_next_one_and_the_rule_is_served(cast: Cast) -> None:
    serve_at_once(cast.workspace)
    first = make_rule_proposal(cast.workspace, caught=9)
    second = make_rule_proposal(cast.workspace, caught=2, document=hostile_document())
    answer = page_client(cast.reviewer).post(url_of(first, "accept/"), {"note": ""}, follow=True)

    assert answer.redirect_chain[-1][0] == url_of(second)
    assert "agents are served it" in answer.text
    assert Rule.objects.get().status == "active"


def test_reject__without_a_reason__says_so_and_decides_nothing(cast: Cast) -> None:
    row, client = make_rule_proposal(cast.workspace), page_client(cast.reviewer)

    assert "Say why" in client.post(url_of(row, "reject/"), {}).text
    assert RuleProposal.objects.get().status == "proposed"
    client.post(url_of(row, "reject/"), {"reason": "Too broad"})
    assert RuleProposal.objects.get().status == "rejected"
    client.post(url_of(row, "reopen/"), {})
    assert RuleProposal.objects.get().status == "proposed"


def test_edit_then_accept__changed_condition__becomes_the_editors_draft(cast: Cast) -> None:
    row, client = make_rule_proposal(cast.workspace), page_client(cast.reviewer)
    url = f"/w/acme/rules/new/?proposal={row.uuid}"
    page = client.get(url).text
    assert "input.city.trim()" in page
    assert f"?proposal={row.uuid}" in page
    assert "The condition starts as false" not in page
    document = '{"applies_to": {"tool": "weather_api"}, "condition": "input.city == null", ' \
        '"action_type": "PROMPT_ENHANCEMENT", "action_detail": {"text": "Ask for the city."}}'  # fmt: skip
    client.post(url, {"mode": "json", "document": document, "do": "save"})

    row.refresh_from_db()
    assert (row.status, row.rule.created_by) == ("accepted", "reviewer")
    assert row.rule.latest_version.body["condition"] == "input.city == null"


def test_decide_all__two_chosen__are_rejected_with_one_reason(cast: Cast) -> None:
    rows = [
        make_rule_proposal(cast.workspace),
        make_rule_proposal(cast.workspace, document=hostile_document()),
    ]
    client = page_client(cast.reviewer)
    chosen = {"do": "reject", "proposal": [str(row.uuid) for row in rows]}
    assert "Say why" in client.post(f"{LIST}decide/", chosen).text
    client.post(f"{LIST}decide/", chosen | {"reason": "Not now"})

    assert set(RuleProposal.objects.values_list("status", "decision_reason")) == {("rejected", "Not now")}


@pytest.mark.parametrize("step", ["accept/", "reject/", "reopen/"])
def test_decide__viewer__may_not(cast: Cast, step: str) -> None:
    row = make_rule_proposal(cast.workspace)

    assert page_client(cast.viewer).post(url_of(row, step), {"reason": "x"}).status_code == 403
    assert RuleProposal.objects.get().status == "proposed"
