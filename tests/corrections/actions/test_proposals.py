"""Proposed rules: agents propose, people accept and reject, several at once, two at the same moment."""

from typing import Any
from uuid import uuid4

import pytest

from corrections.actions.proposals import (
    accept_proposal,
    decide_proposals,
    propose_again,
    reject_proposal,
)
from corrections.actions.proposing import UnknownCallError, propose_rule
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.models import ChangeRequest, Rule, RuleProposal
from memory.domain.access import Actor, NotPermitted, Scope
from memory.models import AuditEvent
from tests.conftest import Cast
from tests.corrections.builders import make_rule, make_rule_proposal, serve_at_once, weather_document
from tests.corrections.web.scenes import city_calls, city_pattern
from tests.racing import at_once

pytestmark = pytest.mark.django_db


def agent(cast: Cast) -> Actor:
    return Actor(
        kind="key", name="coach", workspace_id=cast.workspace.pk, uuid=str(uuid4()),
        scopes=frozenset((Scope.RULES_WRITE,)),
    )  # fmt: skip


def propose(cast: Cast, **changes: object) -> RuleProposal:
    document = weather_document(**changes)
    made = propose_rule(
        workspace_id=cast.workspace.pk, document=document, reason="It always fails", by=agent(cast)
    )
    return made.proposal


def test_propose__agent__waits_with_the_servers_own_backtest(cast: Cast) -> None:
    pattern = city_pattern(cast.workspace)
    task = city_calls(cast.workspace, pattern)
    made = propose_rule(
        workspace_id=cast.workspace.pk, document=weather_document(), reason="It fails", by=agent(cast),
        evidence=[(task.uuid, 0)],
    )  # fmt: skip

    row = RuleProposal.objects.get()
    assert (made.is_new, row.status, row.source, row.proposed_by) == (True, "proposed", "agent", "coach")
    assert (row.caught, row.failures, row.hit, row.good) == (3, 3, 0, 5)
    assert sorted(row.calls.values_list("role", flat=True)) == ["caught"] * 3
    assert list(row.patterns.all()) == [pattern]
    assert not Rule.objects.exists()
    assert AuditEvent.objects.filter(verb="propose_rule", actor_name="coach").count() == 1


def test_propose__hits_good_calls__is_kept_with_them(cast: Cast) -> None:
    city_calls(cast.workspace, city_pattern(cast.workspace))
    row = propose(cast, condition="input.unit == 'C'")

    assert (row.caught, row.hit, row.good) == (3, 5, 5)
    assert row.calls.filter(role="hit").count() == 5


def test_propose__the_same_rule_in_other_words__gains_evidence(cast: Cast) -> None:
    first = propose(cast)
    city_calls(cast.workspace, city_pattern(cast.workspace))
    second = propose(
        cast, name="Other name", condition=" input.city == null ||  input.city.trim() == '' ", priority=3
    )

    assert second.pk == first.pk
    row = RuleProposal.objects.get()
    assert (row.times_proposed, row.caught) == (2, 3)


@pytest.mark.parametrize(
    ("status", "word"),
    [
        pytest.param("rejected", "rejected", id="rejected before"),
        pytest.param("accepted", "accepted", id="accepted before"),
    ],
)
def test_propose__decided_before__is_refused_with_who_decided(cast: Cast, status: str, word: str) -> None:
    propose(cast)
    RuleProposal.objects.update(status=status, decided_by="ann", decision_reason="too broad")

    with pytest.raises(Refused, match=f"ann {word}"):
        propose(cast)
    assert RuleProposal.objects.get().status == status


def test_propose__rule_says_the_same__is_refused_with_its_name(cast: Cast) -> None:
    make_rule(cast.workspace, name="Old one")
    with pytest.raises(Refused, match="Old one"):
        propose(cast)


def test_propose__call_of_another_workspace_as_evidence__is_not_there(cast: Cast) -> None:
    task = city_calls(cast.elsewhere, city_pattern(cast.elsewhere))
    with pytest.raises(UnknownCallError):
        propose_rule(
            workspace_id=cast.workspace.pk, document=weather_document(), reason="x", by=agent(cast),
            evidence=[(task.uuid, 0)],
        )  # fmt: skip
    assert not RuleProposal.objects.exists()


def test_accept__reviewer__makes_a_served_rule_of_an_agent(cast: Cast) -> None:
    serve_at_once(cast.workspace)
    pattern = city_pattern(cast.workspace)
    proposal = make_rule_proposal(cast.workspace)
    proposal.patterns.add(pattern)

    made = accept_proposal(proposal=proposal, by=cast.actor("reviewer"), note="Good one")

    rule = Rule.objects.get()
    assert (made.rule, rule.status, rule.created_by_kind) == (rule, "active", "agent")
    assert (rule.created_by, list(rule.patterns.all())) == ("inducer", [pattern])
    assert made.change.status == "published"
    assert [row.actor_name for row in made.change.approvals.all()] == ["reviewer"]
    proposal.refresh_from_db()
    assert (proposal.status, proposal.rule, proposal.change) == ("accepted", rule, made.change)
    pattern.refresh_from_db()
    assert pattern.status == "covered"


def test_accept__two_approvals_needed__waits_with_one(cast: Cast) -> None:
    cast.workspace.settings = {"changes": {"required_approvals": 2}}
    cast.workspace.save()

    made = accept_proposal(proposal=make_rule_proposal(cast.workspace), by=cast.actor("reviewer"))

    assert (made.rule.status, made.change.status) == ("draft", "open")
    assert made.change.approvals.count() == 1


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"condition": "input.city == null"}, id="condition"),
        pytest.param({"priority": 9}, id="priority"),
        pytest.param({"valid_until": "2030-01-01T00:00:00Z"}, id="window"),
        pytest.param({"description": "Said by me."}, id="description"),
    ],
)
def test_accept__edited__its_author_cannot_approve_it_alone(cast: Cast, changed: dict[str, Any]) -> None:
    proposal = make_rule_proposal(cast.workspace)

    made = accept_proposal(proposal=proposal, by=cast.actor("reviewer"), document=proposal.document | changed)

    assert (made.rule.status, made.change.status, made.rule.created_by) == ("draft", "open", "reviewer")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"priority": 900}, id="priority"),
        pytest.param({"valid_until": "2999-01-01T00:00:00Z"}, id="window"),
        pytest.param({"name": "Another name"}, id="name"),
    ],
)
def test_accept__edited_beside_condition_and_action__is_an_edit_too(
    cast: Cast, change: dict[str, object]
) -> None:
    proposal = make_rule_proposal(cast.workspace)

    made = accept_proposal(proposal=proposal, by=cast.actor("reviewer"), document=proposal.document | change)

    assert (made.rule.status, made.rule.created_by) == ("draft", "reviewer")


def test_accept__same_document_sent_along__is_no_edit(cast: Cast) -> None:
    serve_at_once(cast.workspace)
    proposal = make_rule_proposal(cast.workspace)

    made = accept_proposal(proposal=proposal, by=cast.actor("reviewer"), document=proposal.document)

    assert (made.rule.status, made.rule.created_by) == ("active", "inducer")


def test_accept__agents_own_key__does_not_count_as_an_approval(cast: Cast) -> None:
    cast.workspace.settings = {"changes": {"key_approval": True}}
    cast.workspace.save()
    proposal = propose(cast)
    key = Actor(
        kind="key", name="coach", workspace_id=cast.workspace.pk, uuid=proposal.proposed_by_uuid,
        scopes=frozenset((Scope.RULES_WRITE, Scope.REVIEW)),
    )  # fmt: skip

    made = accept_proposal(proposal=proposal, by=key)

    assert (made.rule.status, made.change.status) == ("draft", "open")


def test_accept__rule_says_the_same_meanwhile__is_refused(cast: Cast) -> None:
    proposal = make_rule_proposal(cast.workspace)
    make_rule(cast.workspace)

    with pytest.raises(Refused, match="says the same"):
        accept_proposal(proposal=proposal, by=cast.actor("owner"))
    assert (Rule.objects.count(), RuleProposal.objects.get().status) == (1, "proposed")


@pytest.mark.parametrize("role", ["viewer", "outsider"])
def test_decide__others__may_not(cast: Cast, role: str) -> None:
    proposal = make_rule_proposal(cast.workspace)
    by = cast.actor("viewer")
    if role == "outsider":
        by = Actor(kind="user", name="x", workspace_id=cast.elsewhere.pk, role=cast.actor("owner").role)
    for act in (
        lambda: accept_proposal(proposal=proposal, by=by),
        lambda: reject_proposal(proposal=proposal, by=by, reason="no"),
        lambda: propose_again(proposal=proposal, by=by),
    ):
        with pytest.raises(NotPermitted):
            act()
    assert RuleProposal.objects.get().status == "proposed"


def test_reject__then_again__waits_again(cast: Cast) -> None:
    proposal, by = make_rule_proposal(cast.workspace), cast.actor("reviewer")
    with pytest.raises(ReasonMissing):
        reject_proposal(proposal=proposal, by=by, reason="  ")
    assert reject_proposal(proposal=proposal, by=by, reason="Too broad").status == "rejected"
    with pytest.raises(Refused, match="reviewer decided before"):
        accept_proposal(proposal=proposal, by=by)
    assert propose_again(proposal=proposal, by=by).status == "proposed"
    verbs = set(AuditEvent.objects.filter(subject_type="RuleProposal").values_list("verb", flat=True))
    assert verbs == {"reject_proposal", "propose_again"}


def test_decide_all__one_is_decided_already__the_others_go_through(cast: Cast) -> None:
    serve_at_once(cast.workspace)
    rows = [
        make_rule_proposal(
            cast.workspace, document=weather_document(condition=f"input.n == {n}", name=f"R{n}")
        )
        for n in range(3)
    ]
    by = cast.actor("reviewer")
    reject_proposal(proposal=rows[1], by=by, reason="no")

    refused = decide_proposals(proposals=rows, do="accept", by=by, reason="")

    assert len(refused) == 1
    assert refused[0].startswith("R1: ")
    assert Rule.objects.filter(status="active").count() == 2


@pytest.mark.django_db(transaction=True)
def test_accept__three_at_once__makes_one_rule(cast: Cast) -> None:
    proposal = make_rule_proposal(cast.workspace)
    people = [cast.actor(role) for role in ("owner", "maintainer", "reviewer")]

    results = at_once(*(lambda by=by: accept_proposal(proposal=proposal, by=by) for by in people))

    assert sum(isinstance(result, Refused) for result in results) == 2, results
    assert (Rule.objects.count(), ChangeRequest.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_propose__the_same_rule_at_once__is_one_proposal(cast: Cast) -> None:
    results = at_once(*[lambda: propose(cast)] * 3)

    assert all(isinstance(result, RuleProposal) for result in results), results
    row = RuleProposal.objects.get()
    assert row.times_proposed == 3
