"""The inducer at work: proposals from recorded runs, each call once, whoever reads and however often."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from corrections.background.inducing import claim_induction, induce_backlog
from corrections.domain.inducing import Inducer, ObservedCall
from corrections.live.inducers import READERS, Reader
from corrections.models import Induction, ProposalCall, RuleProposal
from memory.actions.judge import judge_task
from memory.background.analyse import analyse_backlog
from memory.domain.experience import OutcomeDoc
from memory.models import ErrorPattern, Task, Workspace
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule
from tests.corrections.evidence import record_runs, table_runs
from tests.pages import HOSTILE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def cold() -> None:
    """No reader of the test before."""
    READERS.forget()


def induce() -> int:
    """Until nothing is new."""
    total = 0
    while done := induce_backlog(5.0):
        total += done
    return total


def snapshot(workspace: Workspace) -> list[tuple[Any, ...]]:
    rows = RuleProposal.objects.filter(workspace=workspace).order_by("key")
    return list(rows.values_list("key", "status", "caught", "failures", "hit", "good", "runs"))


def test_induce__failed_then_fixed_calls__propose_a_rule_with_its_backtest(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())

    assert induce() == 10

    proposal = RuleProposal.objects.get()
    assert (proposal.status, proposal.source, proposal.tool) == ("proposed", "inducer", "query")
    assert (proposal.caught, proposal.failures, proposal.hit, proposal.good, proposal.runs) == (3, 3, 0, 7, 3)
    assert "clients" in proposal.document["condition"]
    calls = ProposalCall.objects.filter(proposal=proposal)
    assert {call.call.input["sql"] for call in calls} == {"SELECT a FROM clients"}
    assert set(calls.values_list("role", flat=True)) == {"caught"}
    assert list(proposal.patterns.all()) == [ErrorPattern.objects.get()]


def test_induce__again_and_again__reads_nothing_twice(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    before = snapshot(cast.workspace)

    assert induce() == 0
    assert (snapshot(cast.workspace), Induction.objects.get().calls) == (before, 10)


def test_induce__the_mistake_again__gains_evidence(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    record_runs(cast.workspace, table_runs(failing=2, good=2), name="later")

    assert induce() == 4

    proposal = RuleProposal.objects.get()
    assert (proposal.caught, proposal.runs, proposal.times_proposed) == (5, 5, 2)
    assert proposal.calls.count() == 5


def test_induce__task_is_judged_after_it_was_read__is_not_told_twice(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    before = snapshot(cast.workspace)
    judge_task(task=Task.objects.first(), outcome=OutcomeDoc(result="failure", by="human"), by=SYSTEM)
    while analyse_backlog():
        pass
    moved = Task.objects.order_by("-analysed_at").first()
    induce()

    assert moved == Task.objects.first()
    assert (snapshot(cast.workspace), READERS.get(cast.workspace.pk, 0).calls) == (before, 10)


def test_induce__unfinished_task__waits(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    Task.objects.update(final=False)

    assert induce() == 0
    assert not RuleProposal.objects.exists()


def test_induce__good_call_is_hit__takes_the_proposal_back(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    record_runs(cast.workspace, [[({"sql": "SELECT a FROM clients"}, "")]] * 3, name="now there")
    induce()

    assert not RuleProposal.objects.filter(status="proposed").exists()
    assert RuleProposal.objects.get(times_proposed=1).decision_reason


def test_induce__rejected__is_never_proposed_again(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    RuleProposal.objects.update(status="rejected", decided_by="ann")
    record_runs(cast.workspace, table_runs(failing=5), name="later")
    induce()

    assert RuleProposal.objects.get().status == "rejected"
    assert RuleProposal.objects.get().caught == 3


def test_induce__nothing_but_the_calls_of_a_rejected_one__is_not_proposed_in_other_words(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    RuleProposal.objects.update(status="rejected", decided_by="ann", key="worded otherwise")
    READERS.forget()
    Induction.objects.update(cursor=0)
    induce()

    assert RuleProposal.objects.get().status == "rejected"


def test_induce__rule_says_the_same__is_noted_and_not_proposed(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    proposal = RuleProposal.objects.get()
    rule = make_rule(cast.workspace, **{**proposal.document, "name": "Mine", "description": "By hand"})
    proposal.delete()
    READERS.forget()
    Induction.objects.update(cursor=0)
    induce()

    noted = RuleProposal.objects.get()
    assert (noted.status, noted.rule) == ("withdrawn", rule)
    assert "Mine" in noted.decision_reason


def test_induce__proposed_again_by_a_person__is_not_taken_back(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    induce()
    RuleProposal.objects.update(decided_by="ann")
    record_runs(cast.workspace, [[({"sql": "SELECT a FROM clients"}, "")]] * 3, name="now there")
    induce()

    assert RuleProposal.objects.get(decided_by="ann").status == "proposed"


@pytest.mark.parametrize("runs", [pytest.param(1, id="once"), pytest.param(3, id="again and again")])
def test_induce__cold_process__reads_again_and_changes_nothing(cast: Cast, runs: int) -> None:
    record_runs(cast.workspace, table_runs())
    record_runs(cast.workspace, table_runs("people"), name="other")
    induce()
    before = snapshot(cast.workspace)
    for number in range(runs):
        READERS.forget()
        Induction.objects.update(claimed_by="another process", claimed_at=timezone.now() - timedelta(days=1))
        record_runs(cast.workspace, [[({"sql": "SELECT 1"}, "")]], name=f"news {number}")
        assert induce() == 1

    assert [row[:3] for row in snapshot(cast.workspace)] == [row[:3] for row in before]
    assert Induction.objects.get().calls == 20 + runs


def test_induce__slice_ends_after_every_call__misses_none(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs(failing=6, good=12))
    Task.objects.update(analysed_at=timezone.now())  # one moment for all, as in a batch

    counts = [induce_backlog(0.0) for _slice in range(100)]

    assert max(counts) == 1
    assert Induction.objects.get().calls == 18
    assert RuleProposal.objects.get().caught == 6


def test_induce__killed_amid_tasks_of_one_moment__counts_every_call_once(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs(failing=6, good=12))
    Task.objects.update(analysed_at=timezone.now())
    for _slice in range(7):
        induce_backlog(0.0)
    READERS.forget()

    induce()

    assert Induction.objects.get().calls == 18
    assert RuleProposal.objects.get().caught == 6


def test_induce__another_process_reads__leaves_it_alone_until_its_lease_is_up(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    now = timezone.now()
    Induction.objects.create(workspace=cast.workspace, claimed_by="another process", claimed_at=now)

    assert induce() == 0
    Induction.objects.update(claimed_at=now - timedelta(days=1))
    assert induce() == 10


def test_induce__lease_lost_while_it_reads__writes_nothing(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_runs(cast.workspace, table_runs())
    work = Reader.work

    def slow(reader: Reader, until: float) -> bool:
        Induction.objects.update(claimed_by="another process")
        return work(reader, until)

    monkeypatch.setattr(Reader, "work", slow)
    assert induce_backlog(5.0) == 0
    assert not RuleProposal.objects.exists()
    assert Induction.objects.get().cursor == 0


def test_claim__two_at_once__one_has_it(cast: Cast) -> None:
    assert claim_induction(cast.workspace.pk) is not None
    Induction.objects.update(claimed_by="another process")
    assert claim_induction(cast.workspace.pk) is None


def test_induce__more_calls_than_its_window__keeps_what_it_proposed_before(cast: Cast, settings: Any) -> None:
    settings.INDUCER_CALLS = 8
    record_runs(cast.workspace, table_runs(failing=3, good=0))
    induce()
    record_runs(cast.workspace, [[({"sql": f"SELECT {n}"}, "")] for n in range(12)], name="later")
    READERS.forget()
    induce()

    assert RuleProposal.objects.get().status == "proposed"


def test_induce__two_workspaces__learn_apart(cast: Cast) -> None:
    record_runs(cast.workspace, table_runs())
    record_runs(cast.elsewhere, [[({"sql": "SELECT a FROM clients"}, "")]] * 3)
    induce()

    assert RuleProposal.objects.get().workspace == cast.workspace
    assert {row.workspace: row.calls for row in Induction.objects.all()} == {
        cast.workspace: 10,
        cast.elsewhere: 3,
    }


def test_induce__secret_that_was_removed__is_in_no_condition(cast: Cast) -> None:
    bad = ({"mail": "joe@example.com", "n": 1}, "joe@example.com is blocked")
    good = [[({"mail": f"a{n}@example.com", "n": n}, "")] for n in range(5)]
    record_runs(cast.workspace, [[bad]] * 3 + good)
    induce()

    assert not [row for row in RuleProposal.objects.all() if "[redacted" in row.document["condition"]]


def test_induce__hostile_texts__are_data(cast: Cast) -> None:
    bad = {"sql": f"SELECT a FROM clients {HOSTILE}", HOSTILE: [HOSTILE, {"x": None}], "深": "名前\ud800"[:2]}
    record_runs(cast.workspace, [[(bad, f"Table 'clients' does not exist {HOSTILE}")]] * 3 + table_runs()[3:])
    induce()

    assert Induction.objects.get().last_error == ""
    assert RuleProposal.objects.filter(status="proposed").exists()


def test_induce__call_that_cannot_be_taken_in__is_said_and_the_others_are_read(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = Inducer.learn

    def choosy(inducer: Inducer, call: ObservedCall) -> None:
        if call.input.get("sql") == "SELECT 0 FROM goods":
            raise RecursionError("too deep")
        learn(inducer, call)

    monkeypatch.setattr(Inducer, "learn", choosy)
    record_runs(cast.workspace, table_runs())
    induce()

    assert RuleProposal.objects.get().caught == 3
    assert "too deep" in Induction.objects.get().last_error
