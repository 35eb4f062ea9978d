"""From a wish to a proposal: once for each wish, by whichever worker, with the guard first."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory.background import looking
from memory.background.draft_writing import write_draft
from memory.background.drafting import MAX_ATTEMPTS, claim_next
from memory.background.rewriters.port import Drafted, RewriterFailed
from memory.domain.rewriting.proposal import Rewrite
from memory.models import Alert, AuditEvent, Path, Workspace
from memory.queries.path_documents import read_path
from tests.builders import make_path
from tests.memory.background.drafts import LOCKED, Scripted, drafted, wanted
from tests.memory.rewrites import DRIVE, LOCK, REFUEL, make_failed_path

pytestmark = pytest.mark.django_db


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


def test_draft__event_and_decision_that_others_have_too__touch_nobody_and_the_most_used_node_is_first(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    path = make_failed_path(workspace, REFUEL, LOCK)
    event, stop = read_path(path).nodes[-2:]
    make_path(workspace, "Same error", (DRIVE, event, stop))
    make_path(workspace, "Refuel only", (REFUEL, DRIVE))
    for goal in ("Lock", "Lock again"):
        make_path(workspace, goal, (LOCK, DRIVE))
    rewriters.append(("align", Scripted(Drafted(Rewrite(new_nodes=("start",), reason="Only start.")))))

    proposal = drafted(wanted(path))

    assert [(row["title"], row["count"]) for row in proposal.touched] == [("lock_doors", 2), ("refuel", 1)]


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


def test_draft__rewrite_that_cannot_be_applied__is_passed_over(
    workspace: Workspace, rewriters: list[tuple[str, Any]]
) -> None:
    wrong = Scripted(Drafted(Rewrite(new_nodes=("moon",), reason="x")))
    rewriters += [("align", wrong), ("template", Scripted(LOCKED))]

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert (proposal.status, proposal.rewriter) == ("proposed", "template")
