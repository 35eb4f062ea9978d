"""Wishes for a rewrite: once for each, for what may be rewritten."""

import pytest
from django.db import transaction

from memory.background.rewriting import Wish, environment_changed, want_rewrite
from memory.models import Path, RewriteProposal, Workspace
from tests.builders import make_path
from tests.memory.background.drafts import wanted
from tests.memory.rewrites import DRIVE, make_failed_path

pytestmark = pytest.mark.django_db


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
