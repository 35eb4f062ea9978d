"""From a wish to a proposal: once for each wish, by whichever worker, with the guard first."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from memory.background import looking
from memory.background.draft_writing import write_draft
from memory.background.drafting import MAX_ATTEMPTS, claim_next, draft_backlog
from memory.background.rewriters.port import Drafted, DraftRequest, RewriterFailed
from memory.background.rewriting import Wish, environment_changed, want_rewrite
from memory.domain.paths.document import NodeDoc
from memory.domain.rewriting.proposal import Rewrite, apply, read_rewrite
from memory.models import Alert, AuditEvent, Path, RewriteProposal, Workspace
from memory.queries import rewrite_memory
from memory.queries.path_documents import read_path
from memory.queries.rewrite_memory import load_memory
from tests.builders import make_path
from tests.memory.rewrites import DRIVE, LOCK, REFUEL, START, make_failed_path, make_success

pytestmark = pytest.mark.django_db


class Scripted:
    """A rewriter that answers what it was told to."""

    name = "align"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[DraftRequest] = []

    def draft(self, request: DraftRequest) -> Drafted | None:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def workspace(db: None) -> Workspace:
    return Workspace.objects.create(slug="acme", name="Acme")


@pytest.fixture
def rewriters(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The rewriters that are tried, in order; fill it."""
    chosen: list[tuple[str, Any]] = []
    monkeypatch.setattr(looking, "choose_rewriters", lambda policy, wanted: chosen)
    return chosen


def wanted(path: Path, trigger: str = "reuse", **fields: Any) -> RewriteProposal:
    proposal = want_rewrite(path, trigger=trigger, wish=Wish(**{"reason": "It failed.", **fields}))
    assert proposal is not None
    return proposal


def drafted(proposal: RewriteProposal) -> RewriteProposal:
    draft_backlog()
    proposal.refresh_from_db()
    return proposal


LOCKED = Drafted(
    Rewrite(new_nodes=("refuel", LOCK, "start"), reason="Lock first."),
    transcript=[{"step": "x", "role": "user", "content": "hi"}],
    cost={"requests": 1},
)


def test_want__the_same_wish_again__is_one_row(workspace: Workspace) -> None:
    path = make_failed_path(workspace)

    one, other = wanted(path, cause="task-1"), wanted(path, cause="task-1")

    assert one.pk == other.pk
    assert (one.status, one.trigger, one.request["reason"]) == ("queued", "reuse", "It failed.")


@pytest.mark.parametrize(
    ("trigger", "rows"),
    [
        pytest.param("reuse", 1, id="asked by itself"),
        pytest.param("located", 1, id="asked by itself for another reason"),
        pytest.param("person", 3, id="people asked"),
        pytest.param("api", 3, id="agents asked"),
    ],
)
def test_want__a_proposal_waits__only_somebody_asks_again(
    workspace: Workspace, trigger: str, rows: int
) -> None:
    path = make_failed_path(workspace)
    wanted(path, "reuse", cause="first")

    for cause in ("second", "third"):
        wanted(path, trigger, cause=cause)

    assert RewriteProposal.objects.count() == rows


@pytest.mark.parametrize("change", [{"status": "historical"}, {"status": "retired"}, {"result": "template"}])
def test_want__path_that_is_not_to_be_rewritten__is_none(
    workspace: Workspace, change: dict[str, str]
) -> None:
    path = make_failed_path(workspace)
    Path.objects.filter(pk=path.pk).update(**change)
    path.refresh_from_db()

    assert want_rewrite(path, trigger="reuse", wish=Wish(reason="x")) is None


def test_want__a_part_of_a_path__asks_for_the_whole(workspace: Workspace) -> None:
    whole = make_failed_path(workspace)
    part = make_path(workspace, "a part", ("start_engine",))
    part.container, part.span_start, part.span_end = whole, 1, 1
    part.save()

    assert wanted(part).path == whole


def test_want__secret_in_the_reason__is_not_kept(workspace: Workspace) -> None:
    proposal = wanted(make_failed_path(workspace), reason="jane.roe@example.com complained " + "x" * 9_000)

    assert "jane.roe" not in proposal.request["reason"]
    assert len(proposal.request["reason"]) < 2_100


def test_want__unknown_trigger__is_refused(workspace: Workspace) -> None:
    with pytest.raises(ValueError, match="no trigger"):
        want_rewrite(make_failed_path(workspace), trigger="whim", wish=Wish(reason="x"))


def test_draft__success_of_the_same_goal__is_aligned_with(workspace: Workspace) -> None:
    make_success(workspace)
    path = make_failed_path(workspace)

    proposal = drafted(wanted(path))

    assert (proposal.status, proposal.rewriter) == ("proposed", "align"), proposal.last_error
    assert proposal.proposal["action"] == "create_rewrite"
    new = apply(read_path(path), read_rewrite(proposal.proposal))
    assert [node.tool for node in new.nodes] == ["refuel", "lock_doors", "start_engine"]
    assert "lock_doors" in proposal.proposal["reason"]
    assert proposal.guard["passed"] is True


def test_draft__repairs_of_other_goals__are_learnt_from(workspace: Workspace) -> None:
    for number in range(3):
        make_failed_path(workspace, goal=f"Drive to town {number}", key=f"task:run-{number}")
        make_success(workspace, goal=f"Drive to town {number}", key=f"success:run-{number}")

    proposal = drafted(wanted(make_failed_path(workspace, goal="Go shopping")))

    assert proposal.status == "proposed", proposal.last_error
    assert "lock_doors" in str(proposal.proposal["new_nodes"])


def test_draft__guard_refuses__hands_over_without_asking_anybody(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    rewriter = Scripted(LOCKED)
    rewriters.append(("align", rewriter))

    proposal = drafted(wanted(make_failed_path(workspace, reward=0.9)))

    assert (proposal.status, rewriter.asked) == ("needs_human", [])
    assert [check["name"] for check in proposal.guard["checks"] if not check["ok"]] == ["reward"]
    assert "0.90" in proposal.guard["said"]


def test_draft__person_overrules_the_guard__is_drafted(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    rewriters.append(("align", Scripted(LOCKED)))

    proposal = drafted(wanted(make_failed_path(workspace, reward=0.9), "person", overruled_by="rosa"))

    assert (proposal.status, proposal.guard["automatic"]) == ("proposed", False)


def test_draft__rewriters_in_order__the_first_that_knows_something_is_taken(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    failed = RewriterFailed(
        "too slow", [{"step": "nodes", "role": "error", "content": "slow"}], {"requests": 2}
    )
    rewriters += [("align", Scripted(None)), ("llm", Scripted(failed)), ("template", Scripted(LOCKED))]

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert (proposal.status, proposal.rewriter) == ("proposed", "template")
    assert [entry["role"] for entry in proposal.transcript] == ["error", "user"]
    assert proposal.cost == {"requests": 1}


def test_draft__nobody_knows_anything__is_given_up_with_the_reasons(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    failed = RewriterFailed(
        "too slow", [{"step": "nodes", "role": "error", "content": "slow"}], {"requests": 2}
    )
    rewriters += [("align", Scripted(None)), ("llm", Scripted(failed)), ("template", None)]

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert proposal.status == "given_up"
    assert proposal.last_error == (
        "align: nothing that is known would help. llm: too slow template: not configured."
    )
    assert (len(proposal.transcript), proposal.cost) == (1, {"requests": 2})


def test_draft__path_changed_meanwhile__is_superseded(workspace: Workspace) -> None:
    path = make_failed_path(workspace)
    proposal = wanted(path)
    Path.objects.filter(pk=path.pk).update(status="historical")

    assert drafted(proposal).status == "superseded"


def test_draft__rewriter_breaks__is_tried_three_times_and_given_up(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    rewriter = Scripted(KeyError("oops"))
    rewriters.append(("align", rewriter))

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert (proposal.status, len(rewriter.asked)) == ("given_up", MAX_ATTEMPTS)
    assert "KeyError: 'oops'" in proposal.last_error


def test_draft__secret_in_the_rewrite__is_not_kept(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    rewriters.append(
        ("align", Scripted(Drafted(Rewrite(new_nodes=("start",), reason="Ask jane.roe@example.com"))))
    )

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert "jane.roe" not in str(proposal.proposal)


def test_draft__shared_node_goes__the_other_paths_are_listed(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    path = make_failed_path(workspace)
    other = make_path(workspace, "Refuel only", (REFUEL, DRIVE))
    make_path(workspace, "Drive only", (DRIVE,))
    rewriters.append(
        ("align", Scripted(Drafted(Rewrite(new_nodes=(LOCK, "start"), reason="No fuel needed."))))
    )

    proposal = drafted(wanted(path))

    assert [(row["name"], row["change"], row["count"]) for row in proposal.touched] == [
        ("refuel", "removed", 1)
    ]
    assert [row["uuid"] for row in proposal.touched[0]["paths"]] == [str(other.uuid)]


def test_claim__lease_is_up__is_taken_over_and_the_first_worker_writes_nothing(
    workspace: Workspace, settings: Any
) -> None:
    proposal = wanted(make_failed_path(workspace))
    now = timezone.now()
    first = claim_next(now)
    assert first is not None
    assert claim_next(now) is None

    later = now + timedelta(seconds=settings.REWRITE_LEASE_S + 1)
    second = claim_next(later)

    assert second is not None
    assert (first.pk, second.pk, second.attempt) == (proposal.pk, proposal.pk, 2)
    draft = looking.look(first)
    assert write_draft(first, draft) is False
    assert write_draft(second, draft) is True


def test_storm__the_same_draft_again_and_again__pauses_the_lineage_and_raises_one_alert(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    rewriters.append(("align", Scripted(LOCKED)))
    path = make_failed_path(workspace)
    for cause in "abcd":
        proposal = drafted(wanted(path, "api", cause=cause))

    path.lineage.refresh_from_db()
    assert path.lineage.automatic_paused_at is not None
    alert = Alert.objects.get()
    assert (alert.kind, alert.lineage, alert.closed_at) == ("rewrite_storm", path.lineage, None)
    assert [signal["name"] for signal in alert.detail["signals"] if signal["is_storm"]] == ["reasons"]
    assert (proposal.status, proposal.guard["checks"][3]["ok"]) == ("needs_human", False)
    assert AuditEvent.objects.filter(verb="pause_rewriting").count() == 1


@pytest.mark.parametrize(
    ("policy", "approved"),
    [
        pytest.param({"auto_approve": True}, True, id="the workspace said so"),
        pytest.param({}, False, id="the default"),
        pytest.param(
            {"auto_approve": True, "max_versions": "many"}, False, id="settings that cannot be read"
        ),
    ],
)
def test_policy__auto_approve__only_where_the_workspace_said_so(
    workspace: Workspace, policy: dict[str, Any], approved: bool
) -> None:
    workspace.settings = {"paths": policy}
    workspace.save()
    make_success(workspace)
    path = make_failed_path(workspace)

    proposal = drafted(wanted(path))

    path.refresh_from_db()
    assert (proposal.status == "approved", path.status == "historical") == (approved, approved)
    if approved:
        event = AuditEvent.objects.get(verb="approve_rewrite")
        assert (event.actor_kind, event.actor_name) == ("system", "auto-approve policy")
        assert "policy approves what align proposes" in event.reason


@pytest.mark.parametrize(
    ("name", "trigger", "overruled_by"),
    [
        pytest.param("llm", "reuse", "", id="a model wrote it"),
        pytest.param("align", "person", "rosa", id="a person asked"),
        pytest.param("align", "api", "rosa", id="a person overruled the guard"),
    ],
)
def test_policy__auto_approve__never_what_a_person_should_read(
    workspace: Workspace, rewriters: list[tuple[str, Any]], name: str, trigger: str, overruled_by: str
) -> None:
    workspace.settings = {"paths": {"auto_approve": True}}
    workspace.save()
    rewriters.append((name, Scripted(LOCKED)))

    path = make_failed_path(workspace, reward=0.9 if overruled_by else 0.0)

    assert drafted(wanted(path, trigger, overruled_by=overruled_by)).status == "proposed"


def test_environment__a_tool_changed__asks_for_the_paths_that_use_it(workspace: Workspace) -> None:
    used = make_failed_path(workspace)
    make_failed_path(workspace)  # nobody ever followed it
    other = make_path(workspace, "Drive", (DRIVE,))
    Path.objects.filter(pk__in=[used.pk, other.pk]).update(use_count=1)

    with transaction.atomic():
        asked = environment_changed(workspace.pk, "start_engine", 2, "input.mode: new required field")
    again = environment_changed(workspace.pk, "start_engine", 2, "input.mode: new required field")

    proposal = RewriteProposal.objects.get()
    assert (asked, again, proposal.path, proposal.trigger) == (1, 1, used, "environment")
    assert "version 2" in proposal.request["reason"]


def test_draft__rewrite_that_cannot_be_applied__is_passed_over(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    wrong = Scripted(Drafted(Rewrite(new_nodes=("moon",), reason="x")))
    rewriters += [("align", wrong), ("template", Scripted(LOCKED))]

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert (proposal.status, proposal.rewriter) == ("proposed", "template")


@pytest.mark.parametrize(
    ("confidence", "status"),
    [pytest.param(0.49, "proposed", id="a guess"), pytest.param(0.5, "approved", id="sure")],
)
def test_policy__auto_approve__only_what_the_rewriter_is_sure_of(
    workspace: Workspace, rewriters: list[tuple[str, Any]], confidence: float, status: str
) -> None:
    workspace.settings = {"paths": {"auto_approve": True}}
    workspace.save()
    rewriters.append(("align", Scripted(Drafted(LOCKED.rewrite, confidence=confidence))))

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert (proposal.status, proposal.guard["confidence"]) == (status, confidence)


def test_draft__other_environments__teach_nothing_where_the_own_one_does(workspace: Workspace) -> None:
    make_success(workspace, "Elsewhere", env={"domain": "boats"})
    make_success(workspace, "Here", env={"domain": "cars"})
    path = make_failed_path(workspace, env={"domain": "cars"})
    stranger = make_failed_path(workspace, env={"domain": "planes"})

    def goals(of: Path) -> list[str]:
        return sorted(row.goal for row in load_memory(of, "start_engine").successes)

    assert goals(path) == ["Here"]
    assert goals(stranger) == ["Elsewhere", "Here"]


def test_memory__more_successes_of_a_failed_goal_than_are_read__the_best_one_is_the_repair(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewrite_memory, "WALKS", 1)
    for reward in (0.9, 0.1, 0.2, 0.3, 0.4):
        nodes = (REFUEL, NodeDoc(name="first", tool=f"worth_{reward}"), START, DRIVE)
        make_path(workspace, "Wake the car", nodes, reward=reward)
    make_failed_path(workspace, goal="Wake the car")

    memory = load_memory(make_failed_path(workspace), "start_engine")

    assert [[node.tool for node in repair.fixed.nodes][1] for repair in memory.repairs] == ["worth_0.9"]


def test_draft__nearby_goals__are_shown_before_what_only_calls_the_same_tool(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    rewriter = Scripted(LOCKED)
    rewriters.append(("align", rewriter))
    make_path(workspace, "Start the car in the morning", (DRIVE,))
    make_success(workspace, "Bake bread")

    drafted(wanted(make_failed_path(workspace)))

    assert [path.goal for path in rewriter.asked[0].memory.successes] == [
        "Start the car in the morning",
        "Bake bread",
    ]
