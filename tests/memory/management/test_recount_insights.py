"""``manage.py recount_insights``."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memory.background.insights import counting
from memory.background.turns import turn
from memory.models import SpeedCell, TaskInsight, Workspace
from tests.memory.insight_scenes import build_insights


def run(*arguments: str) -> str:
    """What the command says."""
    out = StringIO()
    call_command("recount_insights", *arguments, stdout=out)
    return out.getvalue()


def cells() -> list[tuple[object, ...]]:
    return list(
        SpeedCell.objects.order_by("tool", "day", "shape").values_list("tool", "shape", "n", "buckets")
    )


def test_recount__everything__leaves_the_same_numbers(workspace: Workspace) -> None:
    build_insights(workspace, 9)
    before = cells()

    assert run("--workspace", "acme") == "9 tasks were counted.\n"

    assert cells() == before


def test_recount__tasks_without_a_row__are_found(workspace: Workspace) -> None:
    build_insights(workspace, 9)
    before = cells()
    TaskInsight.objects.all().delete()
    SpeedCell.objects.all().delete()

    assert run() == "9 tasks were counted.\n"

    assert cells() == before


def test_recount__stopped_half_way__goes_on_with_the_rest(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_insights(workspace, 9)
    before = cells()
    monkeypatch.setattr(counting, "BATCH_TASKS", 4)
    with monkeypatch.context() as patch:
        done = iter([None])

        def stop(*_: object) -> None:
            if next(done, "stop") == "stop":
                raise KeyboardInterrupt

        patch.setattr(counting, "load_runs", lambda tasks: (stop(), real(tasks))[1])
        with pytest.raises(KeyboardInterrupt):
            run()

    assert run("--go-on") == "5 tasks were counted.\n"
    assert cells() == before


real = counting.load_runs


@pytest.mark.django_db
def test_recount__unknown_workspace__is_named() -> None:
    with pytest.raises(CommandError, match="no workspace 'never'"):
        run("--workspace", "never")


@pytest.mark.skipif(connection.vendor == "postgresql", reason="on PostgreSQL workers share the backlog")
def test_recount__worker_is_counting__says_so(workspace: Workspace) -> None:
    with turn("insights"), pytest.raises(CommandError, match="try again"):
        run()
